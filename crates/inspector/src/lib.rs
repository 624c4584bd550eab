//! Where every bit of a game's replication goes.

#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod kept;
#[doc(hidden)]
pub mod kinds;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod packet;
#[doc(hidden)]
pub mod style;
#[cfg(test)]
mod testing;
#[doc(hidden)]
pub mod waiting;
#[doc(hidden)]
pub mod widgets;
#[doc(hidden)]
pub mod words;
#[doc(hidden)]
pub mod zoom;
