//! `cubewire-lab`: measures the codec on recordings.
//!
//! | module | |
//! | --- | --- |
//! | `cli` | the command line |
//! | `recording` | the files it reads |
//! | `walkoff` | every rung, encoded and decoded, over a link: [`path`] |
//! | `stats` | what changes, and what that costs, drawn by `plot` |
//! | `search` | which ranges would be best |
//! | `train` | a prior for arithmetic coding |
//! | `export` | fields as text |

mod ablate;
mod cli;
mod error;
mod export;
mod pairs;
mod path;
mod plot;
mod recording;
mod search;
mod stats;
mod table;
mod train;
mod walkoff;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{Cli, Command};
use crate::error::LabError;
use crate::recording::Recording;

fn main() -> ExitCode {
    let outcome = run(Cli::parse().command, &mut io::stdout().lock());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // If even that cannot be written, the exit code says enough.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command, out: &mut impl Write) -> Result<(), LabError> {
    match command {
        Command::Walkoff(args) => walkoff::print(&args, out),
        Command::Stats(args) => {
            let recording = Recording::read(&args.file)?;
            if let Some(folder) = &args.plot {
                plot::make_folder(folder)?;
            }
            let stats = stats::Stats::collect(&recording);
            stats.print(out)?;
            if let Some(folder) = &args.plot {
                plot::draw(&stats, folder)?;
            }
            Ok(())
        }
        Command::Search(args) => {
            let recordings = args
                .files
                .iter()
                .map(|file| Recording::read(file))
                .collect::<Result<Vec<_>, _>>()?;
            let measure = args.measure.as_deref().map(Recording::read).transpose()?;
            search::run(
                args.field,
                &recordings,
                measure.as_ref(),
                usize::from(args.top),
                out,
            )
        }
        Command::Train(args) => train::run(&args, out),
        Command::Ablate(args) => ablate::run(&args, out),
        Command::Export(args) => {
            let recording = Recording::read(&args.file)?;
            export::run(&recording, &args, out)
        }
    }
}

/// A bar on standard error, hidden where that is no terminal.
fn progress(steps: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")
        .expect("the template is well formed");
    ProgressBar::new(steps as u64)
        .with_style(style)
        .with_message(what.to_owned())
}
