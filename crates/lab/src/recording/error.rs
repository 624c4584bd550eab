//! Why a file is not a recording.

use std::io;
use std::path::PathBuf;

use super::{FRAME_BYTES, MAX_FRAMES};

/// A file that is not a recording.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
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
    /// The recording is too long.
    #[error("{path}: has more than {MAX_FRAMES} frames, the maximum, which end at offset {offset}")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Bytes read, decompressed.
        offset: usize,
    },
    /// There is no frame to encode.
    #[error(
        "{path}: ends at offset {offset}, after {frames} frames, but at least seven are needed: six copies of the initial state and one more frame"
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
    #[error(
        "{path}: ends inside frame {frame}, at offset {offset}: a frame is {FRAME_BYTES} bytes"
    )]
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
        "{path}: {field} of cube {cube} in frame {frame}, at offset {offset}, is {value}, outside {min}..={max}"
    )]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// Name of the field.
        field: &'static str,
        /// Index of the cube.
        cube: usize,
        /// Index of the frame.
        frame: usize,
        /// Offset of the value in the decompressed file, in bytes.
        offset: usize,
        /// The value.
        value: i32,
        /// Smallest value allowed.
        min: i32,
        /// Largest value allowed.
        max: i32,
    },
    /// An orientation of the initial state changes when it is dequantized and quantized again, so the
    /// two sides could not start from the same floats.
    #[error(
        "{path}: orientation of cube {cube} in frame 0, at offset {offset}, is not the quantized form of any quaternion"
    )]
    InitialCode {
        /// The file.
        path: PathBuf,
        /// Index of the cube.
        cube: usize,
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
