#![doc = include_str!("../README.md")]

mod conditions;
mod draw;
mod link;
mod loss;
mod presets;
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
