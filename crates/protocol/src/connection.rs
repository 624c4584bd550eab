//! One connection: the state machines of its two ends. Time is an argument.
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
//! The app transports these messages reliably and in order, together with its own: a message that does not begin with [`SESSION`]
//! belongs to the app. Packets, and the acks and inputs of the client, are unreliable datagrams.

mod client;
mod contract;
mod input_clock;
mod input_queue;
mod message;
mod report;
mod send;
mod sending;
mod server;
mod tick_inputs;
mod upstream;

use std::time::Duration;

use cubewire_codec::Snapshot;

pub use client::{ClientConnection, ClientEvent, SessionError, Welcome};
pub use contract::{Contract, FallbackReason, PROTOCOL_VERSION};
pub use message::{ClientMessage, Hello, Request, SESSION, ServerMessage, Settings, one_line};
pub use report::{InputReport, MAX_OWN_BYTES};
pub use sending::{Extras, RateControl, SendJob, SentPacket, encode_jobs};
pub use server::{Received, ServerConnection, ServerEvent};
pub use upstream::MAX_REPEATED_BYTES;

pub(crate) use client::MAX_TICK;

/// Connects a client with a server in the same process. The server's tick and state at time `now` are `tick` and `initial`.
///
/// # Errors
/// The reason why an end refuses the other, or the initial state.
pub fn connect(
    client: &mut ClientConnection,
    server: &mut ServerConnection,
    now: Duration,
    tick: u64,
    initial: &Snapshot,
) -> Result<(), String> {
    while let Some(message) = client.poll_message() {
        if server.on_message(&message)? == ServerEvent::Hello {
            server.welcome(now, tick, initial).map_err(|error| error.to_string())?;
        }
    }
    while let Some(message) = server.poll_message() {
        client.on_message(now, &message).map_err(|error| error.to_string())?;
    }
    Ok(())
}
