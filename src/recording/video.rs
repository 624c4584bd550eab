//! Writes video files from raw frames: H.264 in MP4, GIF, or numbered PNGs.
//!
//! Frames are written to disk one by one, so memory use does not depend on the length. The file gets its name when the
//! video is [finished](Video::finish). Equal frames give equal files, because the encoders use no clock, no random seed
//! and no threads.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

mod gif;
mod mp4;
mod png;

use clap::ValueEnum;

use crate::files::{FileError, NewFile};
use mp4::Mp4;
pub use png::write_png;

/// A video file in progress. If it is dropped before it is [finished](Self::finish), no file is left, except numbered
/// PNGs that are complete.
pub struct Video {
    path: PathBuf,
    size: (u32, u32),
    is_empty: bool,
    /// `None` after an error, so that an incomplete file is never finished.
    encoder: Option<Box<dyn Encode>>,
}

/// A thread that encodes an unfinished video.
pub(crate) type Encoder = JoinHandle<Result<Video, FileError>>;

trait Encode: Send {
    fn add(&mut self, frame: &[u8]) -> io::Result<()>;

    /// Completes the file, gives it its name and returns its path.
    fn finish(self: Box<Self>) -> io::Result<PathBuf>;

    /// Path of the file that is being written.
    fn path(&self) -> PathBuf;
}

impl Video {
    /// Starts a video. The extension of `path` selects the format: `.mp4`, `.gif` or `.png`. PNG files are numbered:
    /// `a/cubes.png` creates `a/cubes-00000.png` and so on, and replaces existing files with these names. `size` is
    /// width and height in pixels. `fps` is the number of frames per second, ignored for PNG. `max_bps` limits the mean data
    /// rate of an MP4 in bits per second, at the cost of quality. Other formats cannot have a limit.
    pub fn create(
        path: &Path,
        size: (u32, u32),
        fps: u32,
        max_bps: Option<u32>,
    ) -> Result<Self, FileError> {
        let encoder = open(path, size, fps, max_bps).map_err(FileError::at(path))?;
        Ok(Self::new(path.to_owned(), encoder, size))
    }

    /// Starts an MP4 in a new file of a folder, with the first free name of the form `name.mp4`, `name-2.mp4`.
    pub(crate) fn in_folder(
        folder: &Path,
        name: &str,
        size: (u32, u32),
        fps: u32,
    ) -> Result<Self, FileError> {
        NewFile::create_named(folder, name, "mp4")
            .and_then(|file| Mp4::begin(file, size, fps, None))
            .map(|mp4| Self::new(mp4.path(), Box::new(mp4), size))
            .map_err(FileError::at(folder))
    }

    fn new(path: PathBuf, encoder: Box<dyn Encode>, size: (u32, u32)) -> Self {
        Self { path, size, is_empty: true, encoder: Some(encoder) }
    }

    /// Appends a frame of width × height × 4 bytes: sRGB, RGBA with one byte per channel, rows from the top, no padding.
    /// Alpha is ignored. A frame of another length is an error, which leaves the video unchanged. After any other error, the
    /// video cannot be continued.
    pub fn add(&mut self, frame: &[u8]) -> Result<(), FileError> {
        let (width, height) = self.size;
        let wanted = u64::from(width) * u64::from(height) * 4;
        if frame.len() as u64 != wanted {
            let why = format!("a frame must have {wanted} bytes, not {}", frame.len());
            return Err(FileError::at(&self.path)(why));
        }
        let mut encoder = self.encoder.take().ok_or_else(|| self.given_up())?;
        encoder.add(frame).map_err(FileError::at(&encoder.path()))?;
        self.encoder = Some(encoder);
        self.is_empty = false;
        Ok(())
    }

    /// Completes the file, gives it its name and returns its path. Fails if the video has no frame, or after an earlier error.
    pub fn finish(mut self) -> Result<PathBuf, FileError> {
        let encoder = self.encoder.take().ok_or_else(|| self.given_up())?;
        if self.is_empty {
            return Err(FileError::at(&self.path)("a video must have at least one frame"));
        }
        encoder.finish().map_err(FileError::at(&self.path))
    }

    /// Encodes frames in another thread, until the sender is dropped.
    pub(crate) fn in_thread(mut self) -> (SyncSender<Vec<u8>>, Encoder) {
        let (sender, receiver) = sync_channel::<Vec<u8>>(MAX_WAITING_FRAMES);
        let encoder = thread::spawn(move || {
            for frame in receiver {
                self.add(&frame)?;
            }
            Ok(self)
        });
        (sender, encoder)
    }

    fn given_up(&self) -> FileError {
        FileError::at(&self.path)("the video was abandoned after an earlier error")
    }
}

/// Number of frames that can wait for the encoder.
const MAX_WAITING_FRAMES: usize = 4;

/// Format of a video, selected by the extension of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Mp4,
    Gif,
    Png,
}

/// The extensions of all formats, as text.
pub const EXTENSIONS: &str = ".mp4, .gif or .png";

fn open(
    path: &Path,
    size: (u32, u32),
    fps: u32,
    max_bps: Option<u32>,
) -> io::Result<Box<dyn Encode>> {
    Ok(match Format::of(path) {
        Some(Format::Mp4) => Box::new(Mp4::begin(NewFile::create(path)?, size, fps, max_bps)?),
        Some(_) if max_bps.is_some() => {
            return Err(io::Error::other("only the size of an MP4 can be limited"));
        }
        Some(Format::Gif) => Box::new(gif::Gif::create(path, size, fps)?),
        Some(Format::Png) => Box::new(png::Pngs::create(path, size)?),
        None => {
            let reason = format!("the name of a video must end in {EXTENSIONS}");
            return Err(io::Error::other(reason));
        }
    })
}

impl Format {
    /// The format that the extension of `path` selects, in upper or lower case.
    pub fn of(path: &Path) -> Option<Self> {
        Self::from_str(path.extension()?.to_str()?, true).ok()
    }
}

/// Rounds a colour channel to one of 64 values. This is hardly visible, and halves the size of a picture.
pub const fn round(channel: u8) -> u8 {
    channel & 0xfc | channel >> 6
}

fn unsupported((width, height): (u32, u32), limits: &str) -> io::Error {
    io::Error::other(format!("its size must be from {limits} pixels, not {width}x{height}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Test picture: a sky, boxes that move 4 pixels per frame, and fine detail like text.
    pub(super) fn scene((width, height): (u32, u32), n: u32) -> Vec<u8> {
        let pixel = |x: u32, y: u32| {
            if (x + 4 * n) % 96 < 32 && y % 64 > 40 {
                [214, 41, 31, 255]
            } else if y % 64 < 10 && x % 7 < 3 && (x / 3 + y).is_multiple_of(2) {
                [20, 20, 24, 255]
            } else {
                [204, 214, (224 - y * 64 / height) as u8, 255]
            }
        };
        let rows = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        rows.flat_map(|(x, y)| pixel(x, y)).collect()
    }

    /// Writes a video of the first pictures of the scene.
    pub(super) fn write(path: &Path, size: (u32, u32), fps: u32, frames: u32) {
        let mut video = Video::create(path, size, fps, None).unwrap();
        for n in 0..frames {
            video.add(&scene(size, n)).unwrap();
        }
        video.finish().unwrap();
    }

    fn refusal(name: &str, size: (u32, u32), fps: u32) -> String {
        let folder = tempfile::tempdir().unwrap();
        let error = Video::create(&folder.path().join(name), size, fps, None).err().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let text = error.to_string();
        let (path, reason) = text.split_once(": ").unwrap();
        assert!(path.ends_with(name), "{text}");
        reason.to_owned()
    }

    #[test]
    fn what_cannot_be_written_is_rejected_with_the_reason() {
        let extension = "the name of a video must end in .mp4, .gif or .png";
        assert_eq!(refusal("a.mkv", (64, 64), 60), extension);
        assert_eq!(refusal("mp4", (64, 64), 60), extension);
        let even = "an MP4 needs an even width and an even height, not ";
        assert_eq!(refusal("a.mp4", (1281, 720), 60), format!("{even}1281x720"));
        assert_eq!(refusal("a.mp4", (64, 65), 60), format!("{even}64x65"));
        let size = "its size must be from 16x16 to 3840x2160 or 2160x3840 pixels, not ";
        assert_eq!(refusal("a.mp4", (2162, 2162), 60), format!("{size}2162x2162"));
        assert_eq!(refusal("a.mp4", (0, 0), 60), format!("{size}0x0"));
        let size = "its size must be from 1x1 to 65535x65535 pixels, not ";
        assert_eq!(refusal("a.gif", (65_536, 64), 50), format!("{size}65536x64"));
        assert_eq!(refusal("a.png", (64, 0), 50), format!("{size}64x0"));
        let rates = "a GIF counts time in hundredths of a second, so it must have \
                     1, 2, 4, 5, 10, 20, 25 or 50 frames a second, not ";
        assert_eq!(refusal("a.gif", (64, 64), 30), format!("{rates}30"));
        assert_eq!(refusal("a.gif", (64, 64), 100), format!("{rates}100"));
        let rates = "an MP4 must have 1 to 1000 frames a second, not ";
        assert_eq!(refusal("a.mp4", (64, 64), 0), format!("{rates}0"));
        assert_eq!(refusal("a.mp4", (64, 64), u32::MAX), format!("{rates}4294967295"));
        for name in ["no/folder/a.mp4", "no/folder/a.gif"] {
            assert!(refusal(name, (64, 64), 50).starts_with("there is no folder "));
        }
    }

    #[test]
    fn a_frame_of_another_size_is_rejected_and_the_video_continues() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.mp4", "a.gif", "a.png"] {
            let mut video = Video::create(&folder.path().join(name), (64, 32), 50, None).unwrap();
            for length in [0, 64 * 32 * 3, 64 * 32 * 4 + 1] {
                let error = video.add(&vec![0; length]).unwrap_err().to_string();
                let text = format!("{name}: a frame must have 8192 bytes, not {length}");
                assert!(error.ends_with(&text), "{error}");
            }
            video.add(&[0; 8192]).unwrap();
            video.finish().unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn unfinished_and_empty_videos_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.mp4", "a.gif", "a.png"] {
            let create = || Video::create(&folder.path().join(name), (64, 64), 50, None).unwrap();
            let error = create().finish().unwrap_err().to_string();
            assert!(error.ends_with("at least one frame"), "{error}");
            if name != "a.png" {
                create().add(&scene((64, 64), 0)).unwrap();
            }
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn equal_frames_make_equal_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.mp4", "a.gif", "a.png"] {
            let files = ["1", "2"].map(|part| {
                let folder = folder.path().join(part);
                fs::create_dir_all(&folder).unwrap();
                write(&folder.join(name), (192, 128), 50, 20);
                let name = if name == "a.png" { "a-00019.png" } else { name };
                fs::read(folder.join(name)).unwrap()
            });
            assert!(files[0] == files[1], "{name}");
        }
    }

    /// Runs itself again in a process that can only write files of one or two kilobytes.
    #[cfg(unix)]
    #[test]
    fn a_failed_write_gives_up_the_video_and_leaves_no_file() {
        const LIMITED: &str = "VIDEO_TEST_WITH_SMALL_FILES";
        if std::env::var_os(LIMITED).is_none() {
            let script = r#"trap '' XFSZ; ulimit -f 2; exec "$0" --exact "$1""#;
            let name = thread::current().name().unwrap().to_owned();
            let mut limited = std::process::Command::new("sh");
            limited.args(["-c", script]).arg(std::env::current_exe().unwrap()).arg(name);
            let output = limited.env(LIMITED, "1").output().unwrap();
            assert!(output.status.success(), "{output:?}");
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let names = ["a.mp4", "a.gif", "a.png"];
        // Small videos stay in the write buffer until they are finished.
        for (side, name) in [56, 480].into_iter().flat_map(|side| names.map(|name| (side, name))) {
            let mut video =
                Video::create(&folder.path().join(name), (side, side), 50, None).unwrap();
            let noise = |n: u32| n.wrapping_mul(2_654_435_769).rotate_left(9) as u8;
            let frame: Vec<u8> = (0..side * side * 4).map(noise).collect();
            let error = if let Err(error) = video.add(&frame) {
                assert!(video.add(&frame).is_err());
                assert!(video.finish().is_err());
                error.to_string()
            } else {
                video.finish().unwrap_err().to_string()
            };
            assert!(error.ends_with(": File too large"), "{error}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
