//! A network conditioner in memory: packets that are sent into a link come out delayed, out of order,
//! duplicated, or not at all.
//!
//! A [`Link`] is one direction. Its [`Conditions`] set latency, jitter, independent or bursty loss,
//! duplication, reordering, a bottleneck with a queue, a cut, or a recorded [`Trace`]. [`PRESETS`] are
//! typical conditions, and [`text`] is the notation for a command line.
//!
//! A link is deterministic: the time is an argument and randomness comes from a seed. There are no
//! sockets, threads or clocks. Splitting messages into packets is left to the caller; each item sent is
//! one packet, which is lost or arrives as a whole.
//!
//! ```
//! use std::time::Duration;
//!
//! use cubewire_link::{Conditions, Link, Loss};
//!
//! let conditions = Conditions {
//!     latency: Duration::from_millis(50),
//!     loss: Loss::bursts(0.05, 3.0),
//!     ..Conditions::PERFECT
//! };
//! conditions.check()?;
//! let mut link = Link::new(conditions, 1);
//! for number in 0..100 {
//!     // 100 bytes of payload, and 28 of IPv4 and UDP.
//!     link.send(Duration::from_millis(10 * number), 128, number);
//! }
//! assert_eq!(link.receive(Duration::from_millis(49)), None);
//! assert_eq!(link.receive(Duration::from_millis(50)), Some(0));
//! # Ok::<(), cubewire_link::TextError>(())
//! ```

mod conditions;
mod draw;
mod link;
mod loss;
mod presets;
mod queue;
pub mod text;
mod trace;

pub use cubewire_text::TextError;

pub use conditions::{
    Bandwidth, Conditions, Jitter, MAX_DELAY, MAX_SIGMA, MIN_BITS_PER_SECOND, Reordering,
};
pub use link::{Link, LinkStats};
pub use loss::Loss;
pub use presets::{PRESETS, Preset};
pub use trace::{Trace, TraceError};
