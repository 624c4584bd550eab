//! Ends the program in an orderly way on Ctrl-C (SIGINT), `kill` (SIGTERM) or when its terminal closes (SIGHUP). Code
//! that polls [`is_told`] first completes its files and disconnects its viewers.
//!
//! Bevy's plugin handles only Ctrl-C, and fails if `nohup` or a script's `&` made the process ignore one of the
//! signals.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(unix)]
use std::{thread, time::Duration};

use bevy::prelude::*;
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
#[cfg(not(unix))]
use signal_hook::flag;
#[cfg(unix)]
use signal_hook::{iterator::Signals, low_level};

use super::progress;
#[cfg(unix)]
use crate::clock;
use crate::game::exit;

#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// The first received signal, or 0.
static SIGNAL: AtomicUsize = AtomicUsize::new(0);

/// Signals within this time after a signal repeat its request. `timeout` sends its signal twice: to the program and to its
/// process group.
#[cfg(unix)]
const SAME_REQUEST: Duration = Duration::from_secs(1);

pub struct StopPlugin;

impl Plugin for StopPlugin {
    fn build(&self, app: &mut App) {
        listen();
        app.add_systems(Update, exit.run_if(is_told));
    }
}

/// A signal ended the program before it had a result.
#[derive(Debug, thiserror::Error)]
#[error("stopped before {0}")]
pub struct Stopped(pub &'static str);

/// Starts listening for signals. After the first one, [`is_told`] returns true. A signal more than a second later ends the
/// program at once.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let signals = SIGNALS.into_iter().filter(|&signal| !is_ignored(signal));
        if let Err(error) = handle(signals) {
            warn!("cannot handle signals, which will end the program at once: {error}");
        }
    });
}

#[cfg(unix)]
fn handle(signals: impl Iterator<Item = i32>) -> io::Result<()> {
    let mut signals = Signals::new(signals)?;
    thread::spawn(move || {
        let mut signals = signals.forever();
        let Some(first) = signals.next() else { return };
        SIGNAL.store(first as usize, Ordering::SeqCst);
        let told = clock::now();
        for signal in signals {
            if told.elapsed() > SAME_REQUEST {
                low_level::exit(code(signal));
            }
        }
    });
    Ok(())
}

/// Here, no signal ends the program at once.
#[cfg(not(unix))]
fn handle(mut signals: impl Iterator<Item = i32>) -> io::Result<()> {
    signals.try_for_each(|signal| flag::register_usize(signal, &SIGNAL, signal as usize).map(drop))
}

/// Whether a signal was received since the program started to listen.
pub fn is_told() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// Exit code of a successful program: 0, or after a signal the code that shells use for it.
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => 0,
        signal => u8::try_from(code(signal as i32)).unwrap_or(1),
    }
}

/// 128 plus the signal number, as shells report it.
const fn code(signal: i32) -> i32 {
    128 + signal
}

/// Calls `step` for `ticks` ticks with a progress bar. Stops early on a signal and reports this on standard error.
/// Returns the number of ticks played.
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

/// Reports on standard error if fewer units were done than wanted.
pub fn say_if_early(done: u64, wanted: u64, unit: &str) {
    if done < wanted {
        // Ignore a closed standard error.
        let _ = writeln!(io::stderr(), "stopped after {done} of {wanted} {unit}");
    }
}

/// Whether the process was started with the signal ignored, as by `nohup`. Such signals stay ignored.
#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Whether the process ignores the signal. Unknown on this system.
#[cfg(not(target_os = "linux"))]
fn is_ignored(_: i32) -> bool {
    false
}
