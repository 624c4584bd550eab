//! An imperfect network link in memory: what is sent at one end comes out at the other some time later,
//! out of order, twice, or not at all.
//!
//! A [`Link`] is one direction, and [`Conditions`] say what it does: latency, jitter, loss in bursts or
//! one by one, duplicates, reordering, a bottleneck with a queue, a cut cable, or a recorded [`Trace`].
//! [`PRESETS`] has conditions to choose from, and [`text`] is how to write others on a command line.
//!
//! Everything follows from the arguments: time is passed in, and accidents come from a seed. There are
//! no engine, sockets, threads or clocks. Cutting messages into packets is left to the caller; one thing
//! sent is one packet, and it is lost or arrives as a whole.
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
//! # Ok::<(), cubewire_link::ConditionsError>(())
//! ```

mod chance;
mod conditions;
mod link;
mod loss;
mod presets;
mod queue;
pub mod text;
mod trace;

pub use conditions::{
    Bandwidth, Conditions, ConditionsError, Jitter, LONGEST_DELAY, MAX_SIGMA, MIN_BITS_PER_SECOND,
    Reordering,
};
pub use link::{Link, LinkStats};
pub use loss::Loss;
pub use presets::{PRESETS, Preset};
pub use text::ConditionsTextError;
pub use trace::{Trace, TraceError};
