//! Where every bit of a game's replication goes.

#[doc(hidden)]
pub mod kept;
#[doc(hidden)]
pub mod style;
#[doc(hidden)]
pub mod widgets;
#[doc(hidden)]
pub mod words;
#[doc(hidden)]
pub mod zoom;
