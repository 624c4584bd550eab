//! `cubewire-hostile`: attacks a server over loopback and measures the effect on an honest viewer.
//!
//! | module | |
//! | --- | --- |
//! | `cli` | the command line |
//! | `run` | starts the processes, runs the phases and collects the figures |
//! | `phases` | the plan: no attack, each attack alone, then all at once |
//! | `program` | child processes |
//! | `server` | the server: its process, its log, its memory and processor time |
//! | `viewer` | the honest viewer, which records every snapshot |
//! | `bystander` | `cubewire view`, connected through the relay |
//! | `newcomers` | honest viewers that connect and leave |
//! | `relay` | a bad network between a viewer and the server; it also captures datagrams |
//! | `attacks` | the attackers |
//! | `caller` | a client connection that can send anything |
//! | `wire` | UDP sockets with counters, on loopback addresses only |
//! | `figures` | the measurements of a phase |
//! | `expectations` | the limits that the measurements must meet |
//! | `report` | the table and the JSON |

#![allow(
    clippy::disallowed_methods,
    reason = "this program does not run in a browser"
)]

mod attacks;
mod bystander;
mod caller;
mod cli;
mod error;
mod expectations;
mod figures;
mod newcomers;
mod phases;
mod program;
mod relay;
mod report;
mod run;
mod server;
mod viewer;
mod wire;

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
