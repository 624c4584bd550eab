//! `cubewire-lab`: measures the codec on recordings.
//!
//! | module | |
//! | --- | --- |
//! | `cli` | the command line |
//! | `record` | records the scenes of `scenes` |
//! | `frames` | quantizes the frames of a recording to the precision of a rung |
//! | `rungs` | adapts rungs to a scene |
//! | `walkoff` | encodes and decodes every frame on each rung, over the simulated link of `path` |
//! | `train` | trains a model for arithmetic coding |
//! | `ablate` | sizes without each context and each candidate prediction of arithmetic coding |
//! | `scenes` | scenes other than the cube demo, simulated from a seed |
//! | `figures` | generates the figures in the documents |

mod ablate;
mod cli;
mod error;
mod figures;
mod frames;
mod path;
mod record;
mod rungs;
mod scenes;
mod train;
mod walkoff;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::error::Failure;

fn main() -> ExitCode {
    match run(cubewire_cli::parse::<Cli>().command, &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => match failure.downcast_ref::<io::Error>() {
            // The reader of standard output closed it. This is not a failure.
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Some(error) => cubewire_cli::fail(format!("standard output: {error}")),
            None => cubewire_cli::fail(failure),
        },
    }
}

fn run(command: Command, out: &mut impl Write) -> Result<(), Failure> {
    match command {
        Command::Record(args) => record::run(&args),
        Command::Walkoff(args) => walkoff::print(&args, out),
        Command::Train(args) => train::run(&args, out),
        Command::Ablate(args) => ablate::run(&args, out),
        Command::Figures(args) => figures::run(&args, out),
    }
}
