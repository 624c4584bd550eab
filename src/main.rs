//! Parses the command line and runs a command. In a browser, the page calls `cubewire::web` instead.

use std::process::ExitCode;

#[cfg(not(target_family = "wasm"))]
use cubewire::commands::main as run;
#[cfg(target_family = "wasm")]
use cubewire::web::main as run;

fn main() -> ExitCode {
    run()
}
