//! The game in a page of a browser: what its address asks for, what the page calls, and what it reads.
//!
//! The page itself, and the program that builds and serves it, are in `crates/web`.

mod address;
#[cfg(target_family = "wasm")]
pub mod exports;
mod report;

pub use address::Address;
#[cfg(target_family = "wasm")]
pub use exports::main;
pub use report::report;
