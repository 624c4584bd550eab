//! The game in a browser: the parameters of its address, the functions that the page calls, and its report.
//!
//! The page, and the program that builds and serves it, are in `crates/web`.

mod address;
#[cfg(target_family = "wasm")]
pub mod exports;
mod report;

pub use address::Address;
#[cfg(target_family = "wasm")]
pub use exports::main;
pub use report::report;
