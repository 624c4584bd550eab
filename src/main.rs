//! The program: reads the command line and runs one command.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use cubewire::commands::{Cli, describe_bad_value};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => match describe_bad_value(&error) {
            Some(line) => return fail(line),
            None => error.exit(),
        },
    };
    // Not locked: Bevy prints to it when a system panics, on another thread.
    match cli.run(&mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => fail(error),
    }
}

fn fail(error: impl Display) -> ExitCode {
    // If even that cannot be written, the exit code says enough.
    let _ = writeln!(io::stderr(), "error: {error}");
    ExitCode::from(2)
}
