//! What can go wrong, in a sentence each.

use std::io;
use std::path::{Path, PathBuf};

/// Why a video cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// Its kind is unknown.
    #[error("{}: the name of a video must end in .mp4, .gif or .png", path.display())]
    Extension {
        /// The video.
        path: PathBuf,
    },
    /// MP4 shares the colour of a pixel with the neighbours to its right and below.
    #[error("{}: an MP4 needs an even width and an even height, not {width}x{height}", path.display())]
    OddSize {
        /// The video.
        path: PathBuf,
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// The format has no room for such a picture.
    #[error("{}: its size must be from {limits} pixels, not {width}x{height}", path.display())]
    Size {
        /// The video.
        path: PathBuf,
        /// Smallest and largest.
        limits: &'static str,
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// The format cannot time such frames.
    #[error("{}: {rule}, not {fps}", path.display())]
    Rate {
        /// The video.
        path: PathBuf,
        /// What rates there are.
        rule: &'static str,
        /// Frames a second.
        fps: u32,
    },
    /// A frame does not fit the size of the video.
    #[error("{}: a frame must have {expected} bytes, not {actual}", path.display())]
    FrameLength {
        /// The video.
        path: PathBuf,
        /// Width × height × 4.
        expected: u64,
        /// What came.
        actual: usize,
    },
    /// There is no video without frames.
    #[error("{}: a video must have at least one frame", path.display())]
    Empty {
        /// The video.
        path: PathBuf,
    },
    /// There was an error before this one.
    #[error("{}: the video was given up at an earlier error", path.display())]
    GivenUp {
        /// The video.
        path: PathBuf,
    },
    /// It could not be written or encoded.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl VideoError {
    pub(super) fn size(path: &Path, (width, height): (u32, u32), limits: &'static str) -> Self {
        Self::Size {
            path: path.into(),
            limits,
            width,
            height,
        }
    }

    /// For `map_err`.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Io {
            path: path.into(),
            source,
        }
    }
}
