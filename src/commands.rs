//! The command line: each subcommand's arguments and its run are in one file.

pub mod args;
mod error;
pub mod headless;
pub mod key;
pub mod ladder;
pub mod network;
pub mod play;
pub mod record;
mod security;
pub mod serve;
pub mod soak;
mod table;
pub mod view;
pub mod viewers;
pub mod window;

use std::error::Error;
use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};

use crate::controls;

pub use error::CommandError;

/// Play Glenn Fiedler's cube demo, and watch where every bit of its network traffic goes.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
#[command(after_help = format!(
    "Without a command, opens the window and plays:\n{}", controls::help()
))]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    window: window::WindowArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play a script without a window, as fast as possible, and print what one rung costs
    Headless(headless::HeadlessArgs),
    /// Play a script once and print what every rung of the ladder costs on that play
    Ladder(ladder::LadderArgs),
    /// Play a script once and send it with every rung over several networks; everything that arrives is
    /// compared with what was sent
    Network(network::NetworkArgs),
    /// Play, and admit viewers from other processes and machines
    Serve(serve::ServeArgs),
    /// Show what a server plays
    View(view::ViewArgs),
    /// Play to more and more viewers on this machine, and print what each costs the server
    Viewers(viewers::ViewersArgs),
    /// Play a replay recorded with F9, and report whether every state is as recorded
    Play(play::PlayReplayArgs),
    /// Film a script or a replay without a window: every frame, however long it takes
    Record(record::RecordArgs),
    /// Print a new key for `serve` and `view`
    Key,
    /// Play to viewers that come and go, with stages and networks that change every few seconds;
    /// everything that arrives is compared with what was sent
    Soak(soak::SoakArgs),
}

impl Cli {
    /// Runs the command; it prints to `out`.
    ///
    /// # Errors
    /// [`CommandError`], one line that names the thing and the place.
    pub fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        match self.command {
            Some(Command::Headless(args)) => args.run(out),
            Some(Command::Ladder(args)) => args.run(out),
            Some(Command::Network(args)) => args.run(out),
            Some(Command::Soak(args)) => args.run(out),
            Some(Command::Serve(args)) => args.run(out),
            Some(Command::View(args)) => args.run(out),
            Some(Command::Viewers(args)) => args.run(out),
            Some(Command::Play(args)) => args.run(out),
            Some(Command::Record(args)) => args.run(out),
            Some(Command::Key) => key::run(out),
            None => self.window.run(out),
        }
    }
}

/// An argument that cannot be parsed, in one line: `--rung: unknown rung …`. None for other errors, which
/// clap prints.
#[must_use]
pub fn describe_bad_value(error: &clap::Error) -> Option<String> {
    let (ErrorKind::ValueValidation, Some(reason)) = (error.kind(), error.source()) else {
        return None;
    };
    let ContextValue::String(argument) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    // `--rung <NAME>`
    let name = argument.split_whitespace().next()?;
    Some(format!("{name}: {reason}"))
}
