//! The game in a page of a browser: what its address asks for, and what the page calls.
//!
//! The page itself, and the program that builds and serves it, are in `crates/web`.

mod address;
#[cfg(target_family = "wasm")]
pub mod exports;

pub use address::Address;
#[cfg(target_family = "wasm")]
pub use exports::main;
