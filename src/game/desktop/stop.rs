//! Ends the program in an orderly way on Ctrl-C (SIGINT), `kill` (SIGTERM) or when its terminal closes (SIGHUP). Code
//! that polls [`is_told`] first completes its files and disconnects its viewers.
//!
//! Bevy's plugin handles only Ctrl-C, and fails if `nohup` or a script's `&` made the process ignore one of the
//! signals.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use bevy::prelude::*;
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::progress;
use crate::game::exit;

#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// The received signal, or 0.
static SIGNAL: AtomicUsize = AtomicUsize::new(0);
static IS_TOLD: AtomicBool = AtomicBool::new(false);
/// Whether the next signal ends the program at once.
static IS_URGENT: AtomicBool = AtomicBool::new(false);

/// Time after a signal in which further signals mean the same request. `timeout` sends its signal twice: to the program
/// and to its process group.
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

/// Starts listening for signals. After the first one, [`is_told`] returns true. A signal more than a second or two later
/// ends the program at once.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        for signal in SIGNALS.into_iter().filter(|&signal| !is_ignored(signal)) {
            // Actions registered for a signal run in this order.
            let listens = flag::register_conditional_shutdown(signal, code(signal), &IS_URGENT)
                .and_then(|_| flag::register_usize(signal, &SIGNAL, signal as usize))
                .and_then(|_| flag::register(signal, &IS_TOLD));
            if let Err(error) = listens {
                warn!("cannot handle signal {signal}, which will end the program at once: {error}");
            }
        }
        thread::spawn(|| {
            while !is_told() {
                thread::sleep(SAME_REQUEST);
            }
            thread::sleep(SAME_REQUEST);
            IS_URGENT.store(true, Ordering::SeqCst);
        });
    });
}

/// Whether a signal was received since the program started to listen.
pub fn is_told() -> bool {
    IS_TOLD.load(Ordering::SeqCst)
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
