//! Snapshot replication between the codec and the transport, without sockets, threads or clocks:
//! time is an argument.
//!
//! The sender keeps [`SentBaselines`], the receiver a [`BaselineRing`] and a [`PlayoutBuffer`], and
//! [`Ack`]s go back. Encoding is the codec's; moving bytes is the caller's.

mod ack;
mod baselines;
mod playout;

pub use ack::{Ack, AckError};
pub use baselines::{BaselineRing, MAX_BASELINE_AGE_TICKS, RECEIVER_RING, SentBaselines};
pub use playout::{Playout, PlayoutBuffer};
