//! Encodes a film as a video file.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

use indicatif::ProgressBar;

use super::film::{Film, FilmError, Take};
use crate::display::no_adapter_off_screen;
use crate::recording::video::{self, VideoError};

/// Frames that may wait to be encoded, at most.
const MAX_WAITING_FRAMES: usize = 4;

/// Why nothing was recorded. No file remains.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be written.
    #[error(transparent)]
    Video(#[from] VideoError),
    /// The film cannot be set up or drawn.
    #[error(transparent)]
    Film(#[from] FilmError),
    /// The program was told to end before the first frame.
    #[error("it was stopped before the first frame")]
    Stopped,
    /// There is no graphics adapter.
    #[error("nothing can be recorded, because {0}")]
    NoAdapter(&'static str),
}

/// Records a film into a file, whose extension selects the format. If the program is told to
/// end, the file is finished with the frames so far.
///
/// # Errors
/// [`RecordError`]
pub fn record(film: &Film, path: &Path, progress: &ProgressBar) -> Result<Take, RecordError> {
    let mut sink = video::open(path, film.size.into(), film.frames_per_second)?;
    check_adapter()?;
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<u8>>(MAX_WAITING_FRAMES);
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
                Ok(_) => unreachable!("the encoder receives until the channel closes"),
            },
        }
    })
}

/// Checks for a graphics adapter, without which Bevy panics.
pub(super) fn check_adapter() -> Result<(), RecordError> {
    match no_adapter_off_screen() {
        Some(missing) => Err(RecordError::NoAdapter(missing)),
        None => Ok(()),
    }
}

/// Why recording ended early.
enum Stop {
    Film(FilmError),
    /// The encoder failed; its thread returns the error.
    Encoder,
}

impl From<FilmError> for Stop {
    fn from(error: FilmError) -> Self {
        Self::Film(error)
    }
}
