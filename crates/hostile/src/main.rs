//! `cubewire-hostile`: attacks a server over loopback, and measures what that costs an honest viewer.
//!
//! | module | |
//! | --- | --- |
//! | `cli` | the command line |
//! | `run` | starts everything, runs the phases, and collects the figures |
//! | `phases` | no attack, each attack alone, and all at once |
//! | `program` | programs that are run |
//! | `server` | the server: its process, its log, its memory and processor time |
//! | `viewer` | the honest viewer, which notes every snapshot |
//! | `bystander` | `cubewire view`, whose datagrams go through the relay |
//! | `newcomers` | honest viewers that come and go |
//! | `relay` | a bad network between a viewer and the server, which also captures datagrams |
//! | `attacks` | the attackers |
//! | `caller` | one connection |
//! | `wire` | sockets that count, on loopback addresses only |
//! | `figures` | what is measured in a phase |
//! | `expectations` | what must hold |
//! | `report` | the table and the JSON |

#![allow(clippy::disallowed_methods, reason = "no browser runs this program")]

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
