//! The command line. Each file has the arguments and the implementation of one subcommand.

pub mod args;
mod figures;
pub mod headless;
pub mod key;
pub mod ladder;
pub mod play;
pub mod record;
mod security;
pub mod serve;
pub mod tour;
pub mod view;
mod warning;
pub mod window;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::controls;
use crate::game::Failure;
use crate::game::desktop::stop::{self, Stopped};

/// Play Glenn Fiedler's cube demo and see how every bit of its network traffic is used
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, args_conflicts_with_subcommands = true)]
#[command(after_help = format!(
    "Without a command, opens the window and plays:\n{}", controls::help(true)
))]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    window: window::WindowArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Take a guided tour through the article Snapshot Compression, in the window
    Tour(tour::TourArgs),
    /// Play a script without a window, as fast as possible, and print the bandwidth of one rung
    Headless(headless::HeadlessArgs),
    /// Play a script once, encode it with every rung of the ladder, and print the bandwidths
    Ladder(ladder::LadderArgs),
    /// Play, and serve viewers in other processes or on other machines
    Serve(serve::ServeArgs),
    /// Connect to a server and show its game
    View(view::ViewArgs),
    /// Play back a replay recorded with F9, and report whether every state matches the recorded one
    Play(play::PlayReplayArgs),
    /// Render a script or a replay to a video file, without a window and without dropping frames
    Record(record::RecordArgs),
    /// Make a new key for `serve` and `view`
    Key(key::KeyArgs),
}

impl Cli {
    /// Runs the command, which prints to `out`. An [`io::Error`] is a failure of `out`.
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        match self.command {
            Some(Command::Tour(args)) => args.run(out),
            Some(Command::Headless(args)) => args.run(out),
            Some(Command::Ladder(args)) => args.run(out),
            Some(Command::Serve(args)) => args.run(out),
            Some(Command::View(args)) => args.run(out),
            Some(Command::Play(args)) => args.run(out),
            Some(Command::Record(args)) => args.run(out),
            Some(Command::Key(args)) => args.run(out),
            None => self.window.run(out),
        }
    }
}

/// Parses the command line and runs the command. An error is printed to standard error, with exit code 2. After a
/// signal, the exit code is the code of the signal.
pub fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(error) = without_session() {
        return cubewire_cli::fail(error);
    }
    // Standard output is not locked, because Bevy prints to it from another thread when a system panics.
    match cubewire_cli::parse::<Cli>().run(&mut io::stdout()) {
        Ok(()) => stop::exit_code().into(),
        Err(error) if is_closed_output(&error) => stop::exit_code().into(),
        Err(error) => {
            let failed = match error.is::<io::Error>() {
                true => cubewire_cli::fail(format_args!("standard output: {error}")),
                false => cubewire_cli::fail(&error),
            };
            if error.is::<Stopped>() { stop::exit_code().into() } else { failed }
        }
    }
}

/// Restarts the program in the same process without Mesa's device-select layer if there is no `XDG_RUNTIME_DIR`.
///
/// Without a runtime directory, that layer prints the same message to standard error again and again. Returns an error
/// if the restart fails.
#[cfg(target_os = "linux")]
fn without_session() -> Option<io::Error> {
    use std::env;
    use std::os::unix::process::CommandExt;
    use std::process;

    let is_set = |name: &str| env::var_os(name).is_some();
    if is_set("XDG_RUNTIME_DIR") || is_set(NO_DEVICE_SELECT) {
        return None;
    }
    let program = match env::current_exe() {
        Ok(program) => program,
        Err(error) => return Some(error),
    };
    let mut again = process::Command::new(program);
    again.args(env::args_os().skip(1)).env(NO_DEVICE_SELECT, "1");
    Some(again.exec())
}

/// Mesa's variable that disables the device-select layer.
#[cfg(target_os = "linux")]
const NO_DEVICE_SELECT: &str = "NODEVICE_SELECT";

/// Whether the error means that standard output has no reader any more: the pipe is closed, or a signal arrived, for
/// example because the terminal was closed.
fn is_closed_output(error: &Failure) -> bool {
    let output = error.downcast_ref::<io::Error>();
    output.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe || stop::is_told())
}
