//! `cubewire-hostile`: attacks a server over loopback and measures the effect on an honest viewer.
//!
//! | module | |
//! | --- | --- |
//! | `cli` | the command line |
//! | `run` | starts the processes, runs the phases and collects the figures |
//! | `phases` | the plan: no attack, each attack alone, then all at once; the measurements of each |
//! | `judge` | the limits that the figures must meet |
//! | `figures` | the measurements of a run, and their table |
//! | `process` | the server and `cubewire view`, with log and memory |
//! | `attacks` | the attacks, with their limits |
//! | `captured` | captured datagrams, for the attackers |
//! | `viewer` | the measuring threads: the honest viewer, which records every snapshot, and newcomers |
//! | `client` | a client connection that can follow the protocol, or send anything |
//! | `socket` | UDP sockets with counters, on loopback addresses only |

#![allow(clippy::disallowed_methods, reason = "this program does not run in a browser")]

mod attacks;
mod captured;
mod cli;
mod client;
mod figures;
mod judge;
mod phases;
mod process;
mod run;
mod socket;
mod viewer;

use std::io;
use std::process::ExitCode;

use crate::cli::Cli;

fn main() -> ExitCode {
    match run::run(&cubewire_cli::parse::<Cli>(), &mut io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => cubewire_cli::fail(error),
    }
}
