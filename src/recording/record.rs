//! Films into files.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

use super::film::{Film, FilmError, Take};
use super::video::{self, VideoError};
use crate::display::no_adapter_off_screen;

/// Frames that may wait to be encoded.
const WAITING_FRAMES: usize = 4;

/// Why nothing was recorded. No file is left then.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be written.
    #[error(transparent)]
    Video(#[from] VideoError),
    /// The play cannot be filmed.
    #[error(transparent)]
    Film(#[from] FilmError),
    /// Ctrl-C was pressed before there was a frame.
    #[error("it was stopped before the first frame")]
    Stopped,
    /// Nothing can be drawn at all.
    #[error("nothing can be recorded, because {0}")]
    NoAdapter(&'static str),
}

/// Films into a file, whose kind its name says. If Ctrl-C is pressed, the file is finished with the
/// frames that there are.
///
/// # Errors
/// [`RecordError`]
pub fn record(film: &Film, path: &Path, progress: &ProgressBar) -> Result<Take, RecordError> {
    let mut sink = video::open(path, film.size.into(), film.frames_per_second)?;
    check_adapter()?;
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<u8>>(WAITING_FRAMES);
        let encoder = scope.spawn(move || {
            for frame in receiver {
                sink.add(&frame)?;
            }
            Ok(sink)
        });
        let filmed = film.shoot(|frame| {
            progress.inc(1);
            sender.send(frame).map_err(|_| Stop::Encoder)
        });
        drop(sender);
        let sink = encoder.join().expect("encoding does not panic");
        match filmed {
            Ok(take) if take.frames == 0 => Err(RecordError::Stopped),
            Ok(take) => {
                sink?.finish()?;
                Ok(take)
            }
            Err(Stop::Film(error)) => Err(error.into()),
            Err(Stop::Encoder) => match sink {
                Err(error) => Err(VideoError::into(error)),
                Ok(_) => unreachable!("it takes frames until there are no more"),
            },
        }
    })
}

/// Bevy panics where nothing can be drawn.
pub(super) fn check_adapter() -> Result<(), RecordError> {
    match no_adapter_off_screen() {
        Some(missing) => Err(RecordError::NoAdapter(missing)),
        None => Ok(()),
    }
}

/// Why filming ended early.
enum Stop {
    Film(FilmError),
    /// It failed, and says why itself.
    Encoder,
}

impl From<FilmError> for Stop {
    fn from(error: FilmError) -> Self {
        Self::Film(error)
    }
}

/// A bar on standard error, hidden where that is no terminal.
#[must_use]
pub fn progress(frames: u64) -> ProgressBar {
    let template = "{msg} {wide_bar} {pos}/{len} frames, {per_sec}, {eta} left";
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(frames).with_style(style)
}
