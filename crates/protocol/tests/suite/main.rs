//! A sender and a receiver with a simulated link between them and a virtual clock.

mod conditions;
mod hostile;
mod operations;
mod pair;
mod silence;
