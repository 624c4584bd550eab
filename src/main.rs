//! The program: reads the command line and runs one command.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use cubewire::cli::Cli;

fn main() -> ExitCode {
    match Cli::parse().run(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // If even that cannot be written, the exit code says enough.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
