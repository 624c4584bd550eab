//! Why a file cannot be used as a script.

use std::io;
use std::path::PathBuf;

use super::MAX_TICKS;
use super::file::{FORMAT, MAX_FILE_BYTES};

/// Why a script cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is something else.
    #[error(
        "{}: this is no script: a script is a RON file, as in \
         `(ticks: 240, steps: [(at: 60, hold: [Right])])`",
        path.display()
    )]
    NotAScript {
        /// The file.
        path: PathBuf,
    },
    /// The file is not valid RON, or has an unknown key or field.
    #[error("{}:{source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Why and where: `line:column: what`.
        source: Box<ron::error::SpannedError>,
    },
    /// A step is not later than the one before it.
    #[error("{}: step {step}: tick {at} does not come after tick {before}", path.display())]
    Order {
        /// The file.
        path: PathBuf,
        /// Which step, counted from 1.
        step: usize,
        /// Its tick.
        at: u64,
        /// The tick of the step before it.
        before: u64,
    },
    /// A step is at or after the end of the script.
    #[error("{}: step {step}: tick {at} is not before the end, tick {ticks}", path.display())]
    AfterEnd {
        /// The file.
        path: PathBuf,
        /// Which step, counted from 1.
        step: usize,
        /// Its tick.
        at: u64,
        /// Length of the script.
        ticks: u64,
    },
    /// The script lasts too long.
    #[error("{}: a script lasts {MAX_TICKS} ticks, a day, at most, and this {ticks}", path.display())]
    TooManyTicks {
        /// The file.
        path: PathBuf,
        /// Length of the script.
        ticks: u64,
    },
    /// The right half is set to the simulation.
    #[error("{}: the right half shows a lane, not the simulation", path.display())]
    NoLane {
        /// The file.
        path: PathBuf,
    },
    /// The file is too large.
    #[error("{}: a script has {MAX_FILE_BYTES} bytes at most, and this is longer", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// The checksum of a replay does not match its contents.
    #[error("{}: the replay is damaged: its checksum is {found:08x} and should be {wanted:08x}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Checksum of the contents.
        found: u32,
        /// Checksum in the file.
        wanted: u32,
    },
    /// A replay was recorded by another version of cubewire, in another format.
    #[error(
        "{}: the replay was recorded by cubewire {cubewire}, in format {format}; this is \
         cubewire {} and plays format {FORMAT}",
        path.display(),
        env!("CARGO_PKG_VERSION")
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Which version.
        cubewire: String,
        /// Which format.
        format: u32,
    },
    /// The lead-in is as long as the script, so nothing would be shown.
    #[error("{}: lead_in: {lead_in} ticks of {ticks} leave none", path.display())]
    LeadIn {
        /// The file.
        path: PathBuf,
        /// Ticks.
        lead_in: u64,
        /// Length of the script.
        ticks: u64,
    },
    /// The length of the script is 0.
    #[error("{}: ticks must be at least 1", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}
