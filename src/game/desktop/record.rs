//! Encodes a film as a video file.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

use indicatif::ProgressBar;

use super::film::{Film, Take};
use super::stop::Stopped;
use crate::display::no_adapter_off_screen;
use crate::files::FileError;
use crate::game::Failure;
use crate::recording::video::Video;

/// Maximum number of frames that wait for the encoder.
const MAX_WAITING_FRAMES: usize = 4;

/// Records a film to a file. Its extension selects the format. If the program receives a signal, the file is completed
/// with the frames so far.
///
/// # Errors
/// If there is no adapter, the film cannot be drawn, or the file cannot be written. [`Stopped`] if a signal arrives
/// before the first frame. On an error, no file is left.
pub fn record(film: &Film, path: &Path, progress: &ProgressBar) -> Result<Take, Failure> {
    let mut video = Video::create(path, film.size.into(), film.frames_per_second)?;
    check_adapter()?;
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<u8>>(MAX_WAITING_FRAMES);
        let encoder = scope.spawn(move || {
            for frame in receiver {
                video.add(&frame)?;
            }
            Ok::<_, FileError>(video)
        });
        let filmed = film.shoot(|frame| {
            progress.inc(1);
            // The encoder receives until it fails.
            Ok(sender.send(frame)?)
        });
        drop(sender);
        let video = encoder.join().expect("encoding does not panic")?;
        let take = filmed?;
        if take.frames == 0 {
            return Err(Stopped("the first frame").into());
        }
        video.finish(None)?;
        Ok(take)
    })
}

/// Checks for a graphics adapter, without which Bevy panics.
pub(super) fn check_adapter() -> Result<(), Failure> {
    match no_adapter_off_screen() {
        Some(missing) => Err(format!("cannot record, because {missing}").into()),
        None => Ok(()),
    }
}
