//! Why a file is not a recording.

use std::io;
use std::path::{Path, PathBuf};

use cubewire_codec::schema::SchemaError;

/// A file that is not a recording: its message names the file, what is wrong with it, and the offset, decompressed.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {fault}")]
pub struct RecordingError {
    path: PathBuf,
    #[source]
    fault: Fault,
}

/// What is wrong. Offsets are in bytes of the decompressed file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("cannot be opened: {0}")]
    Unopenable(io::Error),
    /// Reading or decompressing failed.
    #[error("cannot be read at offset {offset} of its contents: {source}")]
    Unreadable { offset: usize, source: io::Error },
    #[error("ends inside the header, at offset {offset}")]
    PartialHeader { offset: usize },
    /// A number of the header is out of range, or none.
    #[error("{what}, at offset {offset}, is not a line with a whole number from {min} to {max}")]
    Number {
        what: &'static str,
        offset: usize,
        min: usize,
        max: usize,
    },
    /// The schema is refused.
    #[error("the schema, at offset {offset}: {reason}")]
    Schema { offset: usize, reason: SchemaError },
    /// There are more frames than fit in memory.
    #[error("has more than {frames} frames, the maximum, which end at offset {offset}")]
    TooLong { frames: usize, offset: usize },
    /// There is no frame to encode.
    #[error(
        "ends at offset {offset}, after {frames} frames, but at least seven are needed: six that precede the first packet and one more"
    )]
    TooShort { frames: usize, offset: usize },
    #[error("ends inside frame {frame}, at offset {offset}")]
    PartialFrame { frame: usize, offset: usize },
    #[error(
        "{field} of {noun} {index} in frame {frame}, at offset {offset}, is {value}, outside {min}..={max}"
    )]
    OutOfRange {
        field: String,
        noun: &'static str,
        index: usize,
        frame: usize,
        offset: usize,
        value: i64,
        min: i64,
        max: i64,
    },
    /// An orientation of the initial state changes when it is dequantized and quantized again, so the
    /// two sides could not start from the same floats.
    #[error(
        "orientation of {noun} {index} in frame 0, at offset {offset}, is not the quantized form of any quaternion"
    )]
    InitialCode {
        noun: &'static str,
        index: usize,
        offset: usize,
    },
    #[error(
        "frame {frame}, at offset {offset}, differs from frame 0; the first six frames must be copies of the initial state"
    )]
    InitialFrames { frame: usize, offset: usize },
}

impl Fault {
    /// The error of a file with this fault.
    pub(crate) fn of(self, path: &Path) -> RecordingError {
        RecordingError {
            path: path.to_owned(),
            fault: self,
        }
    }
}
