//! Films into files.

use std::path::Path;
use std::sync::mpsc::{SendError, sync_channel};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

use super::film::{Film, FilmError, Take};
use super::video::{self, VideoError};
use crate::window::no_adapter_off_screen;

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
    if let Some(missing) = no_adapter_off_screen() {
        return Err(RecordError::NoAdapter(missing));
    }
    thread::scope(|scope| {
        // A frame, or the end. Without an end, nothing is finished.
        let (sender, receiver) = sync_channel::<Option<Vec<u8>>>(WAITING_FRAMES);
        let encoder = scope.spawn(move || {
            for frame in receiver {
                match frame {
                    Some(frame) => sink.add(&frame)?,
                    None => return sink.finish(),
                }
            }
            Ok(())
        });
        let filmed = film.shoot(|frame| {
            progress.inc(1);
            sender.send(Some(frame)).map_err(Stop::Encoder)
        });
        if filmed.is_ok() {
            // If nobody takes it, the encoder says why.
            let _ = sender.send(None);
        }
        drop(sender);
        let encoded = encoder.join().expect("encoding does not panic");
        match filmed {
            Ok(take) => encoded.map(|()| take).map_err(RecordError::from),
            Err(Stop::Film(error)) => Err(error.into()),
            Err(Stop::Encoder(gone)) => {
                encoded?;
                unreachable!("an encoder that gave up says why: {gone}")
            }
        }
    })
}

/// Why filming ended early.
enum Stop {
    Film(FilmError),
    /// The encoder takes no more.
    Encoder(SendError<Option<Vec<u8>>>),
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
