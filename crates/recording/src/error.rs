//! Why a file is not a recording.

use std::io;
use std::path::PathBuf;

/// A file that is not a recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be opened.
    #[error("{path}: cannot be opened: {source}")]
    Unopenable {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Reading or decompressing failed.
    #[error("{path}: cannot be read at offset {offset} of its contents: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Bytes read before the error, decompressed.
        offset: usize,
        /// Error of the system or the decompressor.
        source: io::Error,
    },
    /// The file ends inside the header.
    #[error("{path}: ends inside the header, at offset {offset}")]
    PartialHeader {
        /// The file.
        path: PathBuf,
        /// Bytes in the file, decompressed.
        offset: usize,
    },
    /// A number of the header is out of range, or none.
    #[error(
        "{path}: {what}, at offset {offset}, is not a line with a whole number from {min} to {max}"
    )]
    Number {
        /// The file.
        path: PathBuf,
        /// The number's meaning.
        what: &'static str,
        /// Offset of the number, decompressed.
        offset: usize,
        /// Smallest number allowed.
        min: usize,
        /// Largest number allowed.
        max: usize,
    },
    /// The schema is refused.
    #[error("{path}: the schema, at offset {offset}: {reason}")]
    Schema {
        /// The file.
        path: PathBuf,
        /// Offset of the schema's text, decompressed.
        offset: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The recording is too long.
    #[error("{path}: has more than {frames} frames, the maximum, which end at offset {offset}")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The most that fit in memory.
        frames: usize,
        /// Bytes read, decompressed.
        offset: usize,
    },
    /// There is no frame to encode.
    #[error(
        "{path}: ends at offset {offset}, after {frames} frames, but at least seven are needed: six that precede the first packet and one more"
    )]
    TooShort {
        /// The file.
        path: PathBuf,
        /// Frames in the file.
        frames: usize,
        /// Bytes in the file, decompressed.
        offset: usize,
    },
    /// The file ends inside a frame.
    #[error("{path}: ends inside frame {frame}, at offset {offset}")]
    PartialFrame {
        /// The file.
        path: PathBuf,
        /// Index of the truncated frame.
        frame: usize,
        /// Bytes in the file, decompressed.
        offset: usize,
    },
    /// A value is out of range.
    #[error(
        "{path}: {field} of {noun} {index} in frame {frame}, at offset {offset}, is {value}, outside {min}..={max}"
    )]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// Name of the field.
        field: String,
        /// What has it.
        noun: &'static str,
        /// Index of what has it.
        index: usize,
        /// Index of the frame.
        frame: usize,
        /// Offset of the value in the decompressed file, in bytes.
        offset: usize,
        /// The value.
        value: i64,
        /// Smallest value allowed.
        min: i64,
        /// Largest value allowed.
        max: i64,
    },
    /// An orientation of the initial state changes when it is dequantized and quantized again, so the
    /// two sides could not start from the same floats.
    #[error(
        "{path}: orientation of {noun} {index} in frame 0, at offset {offset}, is not the quantized form of any quaternion"
    )]
    InitialCode {
        /// The file.
        path: PathBuf,
        /// What has it.
        noun: &'static str,
        /// Index of what has it.
        index: usize,
        /// Offset of the orientation in the decompressed file, in bytes.
        offset: usize,
    },
    /// The first six frames differ.
    #[error(
        "{path}: frame {frame}, at offset {offset}, differs from frame 0; the first six frames must be copies of the initial state"
    )]
    InitialFrames {
        /// The file.
        path: PathBuf,
        /// Index of the first frame that differs.
        frame: usize,
        /// Offset of that frame in the decompressed file, in bytes.
        offset: usize,
    },
}
