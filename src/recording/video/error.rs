//! The errors of video files.

use std::io;
use std::path::{Path, PathBuf};

/// Why a video cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// The extension is unknown.
    #[error("{}: the name of a video must end in {}", path.display(), super::extensions())]
    Extension {
        /// The video.
        path: PathBuf,
    },
    /// Width or height is odd: H.264 in 4:2:0 has one chroma sample for each 2×2 pixels.
    #[error("{}: an MP4 needs an even width and an even height, not {width}x{height}", path.display())]
    OddSize {
        /// The video.
        path: PathBuf,
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// The format does not support the size.
    #[error("{}: its size must be from {limits} pixels, not {width}x{height}", path.display())]
    Size {
        /// The video.
        path: PathBuf,
        /// Minimum and maximum size, as text.
        limits: &'static str,
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// The format does not support the frame rate.
    #[error("{}: {rule}, not {fps}", path.display())]
    Rate {
        /// The video.
        path: PathBuf,
        /// The supported rates, as text.
        rule: &'static str,
        /// Frames a second.
        fps: u32,
    },
    /// The length of a frame does not match the size of the video.
    #[error("{}: a frame must have {expected} bytes, not {actual}", path.display())]
    FrameLength {
        /// The video.
        path: PathBuf,
        /// Width × height × 4.
        expected: u64,
        /// Length of the frame.
        actual: usize,
    },
    /// The video has no frames.
    #[error("{}: a video must have at least one frame", path.display())]
    Empty {
        /// The video.
        path: PathBuf,
    },
    /// An earlier error made the video unusable.
    #[error("{}: the video was given up at an earlier error", path.display())]
    GivenUp {
        /// The video.
        path: PathBuf,
    },
    /// The video could not be encoded or written.
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

    /// A closure for `map_err` that adds the path.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Io {
            path: path.into(),
            source,
        }
    }
}
