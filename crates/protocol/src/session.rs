//! The handshake of a connection, requests for settings, and ticks after a pause.
//!
//! ```text
//! client                     server
//! Hello    ───────────────►           the first message: version, fingerprint, schema
//!          ◄───────────────  Welcome  or Refused, with the reason
//! Request  ───────────────►           the settings that the client wants, if the server takes requests
//!          ◄───────────────  Granted  the settings in use: at once, and again when they change
//!                            or Declined, with the reason
//!          ◄───────────────  Tick     the server's tick after a pause
//! Left     ───────────────►           the reason why the client ends the connection
//! ```
//!
//! [`ClientSession`] and [`ServerSession`] are the state machines of the two ends. Time is an argument. The app
//! transports the messages reliably and in order, either as they are ([`encode`](ClientMessage::encode)) or inside
//! its own messages.

mod client;
mod contract;
mod message;
mod server;

pub use client::{ClientEvent, ClientSession, SessionError, Welcome};
pub use contract::{Contract, FallbackReason, PROTOCOL_VERSION};
pub use message::{ClientMessage, Hello, Request, ServerMessage, Settings, one_line};
pub use server::{ServerEvent, ServerSession};

pub(crate) use client::MAX_TICK;
