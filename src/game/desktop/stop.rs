//! Ends the program when it is told to: by Ctrl-C (SIGINT), by `kill` (SIGTERM), or because its terminal is closed
//! (SIGHUP). Whoever listens finishes its files first, and tells its viewers.
//!
//! Bevy's plugin does this for Ctrl-C alone, and for none of them in a program that `nohup` or a script's `&` has told
//! to ignore one.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bevy::prelude::*;
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::progress;

#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// The signal that has come, or 0.
static SIGNAL: AtomicUsize = AtomicUsize::new(0);
/// Whether one has come.
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Ends the app, with [`AppExit::Success`], when the program is told to end.
#[derive(Debug)]
pub struct StopPlugin;

impl Plugin for StopPlugin {
    fn build(&self, app: &mut App) {
        listen();
        app.add_systems(Update, exit.run_if(is_told));
    }
}

fn exit(mut exits: MessageWriter<AppExit>) {
    exits.write(AppExit::Success);
}

/// There is no result, because the program was told to end before something was there.
#[derive(Debug, thiserror::Error)]
#[error("it was stopped before {0}")]
pub struct Stopped(pub &'static str);

/// From now on, whoever asks [`is_told`] has to end the program. A second signal ends it at once.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        for signal in SIGNALS.into_iter().filter(|&signal| !is_ignored(signal)) {
            // Each is done in this order when the signal comes.
            let listens = flag::register_conditional_shutdown(signal, code(signal), &IS_TOLD)
                .and_then(|_| flag::register_usize(signal, &SIGNAL, signal as usize))
                .and_then(|_| flag::register(signal, &IS_TOLD));
            if let Err(error) = listens {
                warn!("signal {signal} will end the program at once: {error}");
            }
        }
    });
}

/// Whether the program was told to end, after something began to listen for it.
#[must_use]
pub fn is_told() -> bool {
    IS_TOLD.load(Ordering::SeqCst)
}

/// The exit code of a program that did what it had to: as a shell has it if a signal ended it, or 0.
#[must_use]
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => 0,
        signal => u8::try_from(code(signal as i32)).unwrap_or(1),
    }
}

/// As shells have it.
const fn code(signal: i32) -> i32 {
    128 + signal
}

/// Steps through `ticks` ticks with a progress bar. Stops early when the program is told to end, and says so on
/// standard error. Returns how many ticks were played.
///
/// # Errors
/// What `step` returns.
pub fn play<E>(ticks: usize, mut step: impl FnMut(usize) -> Result<(), E>) -> Result<usize, E> {
    listen();
    let progress = progress(ticks as u64, "ticks");
    let mut played = 0;
    while played < ticks && !is_told() {
        step(played)?;
        played += 1;
        progress.inc(1);
    }
    progress.finish_and_clear();
    say_if_early(played as u64, ticks as u64, "ticks");
    Ok(played)
}

/// Says on standard error if fewer were done than wanted.
pub fn say_if_early(done: u64, wanted: u64, unit: &str) {
    if done < wanted {
        // If it is closed, nobody waits for the line.
        let _ = writeln!(io::stderr(), "stopped after {done} of {wanted} {unit}");
    }
}

/// Whether whoever started the program had it ignore the signal, as `nohup` does: that is respected.
#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Whether the signal is ignored: not known here.
#[cfg(not(target_os = "linux"))]
fn is_ignored(_: i32) -> bool {
    false
}
