//! `cubewire-lab`: measures the codec on recordings.
//!
//! | module | |
//! | --- | --- |
//! | `cli` | the command line |
//! | `record` | records the scenes of `scenes` |
//! | `pairs` | the frames of a recording with their baselines |
//! | `frames` | the frames of a recording in the precision of a rung |
//! | `rungs` | the rungs that a recording can be measured on |
//! | `walkoff` | encodes and decodes every frame on each rung, over the link of `path` |
//! | `budget` | plays a recording within budgets of bytes |
//! | `stats` | differences between frames and their cost |
//! | `train` | trains a model for arithmetic coding |
//! | `ablate` | trains and measures without each context and candidate prediction |
//! | `scenes` | scenes other than the cube demo's, simulated from a seed |
//! | `figures` | makes the figures of the documents again |

mod ablate;
mod budget;
mod cli;
mod error;
mod figures;
mod frames;
mod pairs;
mod path;
mod record;
mod rungs;
mod scenes;
mod stats;
mod train;
mod walkoff;

use std::io::{self, Write};
use std::process::ExitCode;

use cubewire_recording::Recording;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{Cli, Command};
use crate::error::LabError;

fn main() -> ExitCode {
    match run(
        cubewire_cli::parse::<Cli>().command,
        &mut io::stdout().lock(),
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => cubewire_cli::fail(error),
    }
}

fn run(command: Command, out: &mut impl Write) -> Result<(), LabError> {
    match command {
        Command::Record(args) => record::run(&args),
        Command::Walkoff(args) => walkoff::print(&args, out),
        Command::Budget(args) => budget::run(&args, out),
        Command::Stats { file } => {
            let recording = Recording::read(&file)?;
            Ok(stats::Stats::collect(&recording).print(out)?)
        }
        Command::Train(args) => train::run(&args, out),
        Command::Ablate(args) => ablate::run(&args, out),
        Command::Figures(args) => figures::run(&args, out),
    }
}

/// A progress bar on standard error, hidden if that is not a terminal.
fn progress(steps: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")
        .expect("the template is well formed");
    ProgressBar::new(steps as u64)
        .with_style(style)
        .with_message(what.to_owned())
}
