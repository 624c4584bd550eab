//! Two ends, a link between them, and a clock that is set by hand.

mod conditions;
mod hostile;
mod operations;
mod pair;
mod silence;
