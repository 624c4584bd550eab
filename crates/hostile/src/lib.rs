//! Attacks on a server over loopback, and honest viewers that measure their effect. `tests/suite/hostile.rs` of the game
//! starts the server, runs the attacks and checks the measurements.

#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::disallowed_methods,
    reason = "a library only for the game's tests, which do not run in a browser"
)]

pub mod attacks;
pub mod client;
pub mod socket;
pub mod viewer;
