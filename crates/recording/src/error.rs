//! Errors about invalid recordings.

use std::io;
use std::path::{Path, PathBuf};

use cubewire_codec::schema::SchemaError;

/// Error about a file that is not a valid recording. The message has the path, the fault, and its offset in the
/// decompressed file.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {fault}")]
pub struct RecordingError {
    path: PathBuf,
    #[source]
    fault: Fault,
}

/// Fault of a file. Offsets are in bytes of the decompressed file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("cannot be opened: {0}")]
    Unopenable(io::Error),
    /// Reading or decompressing failed.
    #[error("cannot be read at offset {offset} of its contents: {source}")]
    Unreadable { offset: usize, source: io::Error },
    #[error("ends inside the header, at offset {offset}")]
    PartialHeader { offset: usize },
    /// A number of the header is malformed or out of range.
    #[error("{what}, at offset {offset}, must be a line with {}", expected(*min, *max))]
    Number { what: &'static str, offset: usize, min: usize, max: usize },
    /// The schema is not valid.
    #[error("the schema, at offset {offset}: {reason}")]
    Schema { offset: usize, reason: SchemaError },
    /// The frames do not fit in memory.
    #[error("has more than the maximum of {frames} frames, which end at offset {offset}")]
    TooLong { frames: usize, offset: usize },
    /// There are too few frames to encode any.
    #[error(
        "ends at offset {offset} after {frames} frames, but needs at least seven: six before the first packet, and \
         one to encode"
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
    /// Dequantizing and quantizing an orientation of the initial state changes it, so sender and receiver could not
    /// start from the same floats.
    #[error(
        "orientation of {noun} {index} in frame 0, at offset {offset}, is not the quantized form of any quaternion"
    )]
    InitialCode { noun: &'static str, index: usize, offset: usize },
    #[error(
        "frame {frame}, at offset {offset}, differs from frame 0; the first six frames must be copies of the initial state"
    )]
    InitialFrames { frame: usize, offset: usize },
}

impl Fault {
    /// Adds the path to the fault.
    pub(crate) fn of(self, path: &Path) -> RecordingError {
        RecordingError { path: path.to_owned(), fault: self }
    }
}

/// Describes the valid numbers in an error message.
fn expected(min: usize, max: usize) -> String {
    match min == max {
        true => format!("the number {min}"),
        false => format!("a whole number from {min} to {max}"),
    }
}
