//! Snapshot replication between the codec and the transport, without sockets, threads or clocks:
//! time is an argument.
//!
//! ```text
//! snapshot ─▶ SnapshotSender ─▶ packet ── any link ──▶ SnapshotReceiver ─▶ PlayoutBuffer ─▶ picture
//!                    ▲                                        │
//!                    └───────────── Feedback ◀────────────────┘
//! ```
//!
//! Packets may be lost, late, repeated or out of order, and so may feedback. A packet is relative
//! to a snapshot that the receiver has acknowledged, or to the [`Welcome`]'s initial state, so none
//! needs any other to arrive. [`Pacing`] says when the way is too narrow for long ones. Moving bytes is
//! the caller's work.

mod clock;
mod delay;
mod feedback;
mod interpolation;
mod pacing;
mod playout;
mod receiver;
mod request;
mod ring;
mod sender;
mod welcome;

pub use clock::SenderClock;
pub use delay::{AdaptiveDelay, playout_delay};
pub use feedback::{Ack, Feedback, FeedbackError};
pub use interpolation::{Interpolation, MAX_EXTRAPOLATION_SECONDS};
pub use pacing::{MAX_INTERVAL_TICKS, PATIENCE_TICKS, Pacing};
pub use playout::{Playout, PlayoutBuffer};
pub use receiver::{Arrival, RECEIVER_RING, Received, SnapshotReceiver};
pub use request::{Grant, GrantError, Request, RequestError};
pub use ring::BaselineRing;
pub use sender::{
    BaselineChoice, CANDIDATES, MAX_BASELINE_AGE_TICKS, SendError, Sent, SnapshotSender,
};
pub use welcome::{PROTOCOL_VERSION, Welcome, WelcomeError};
