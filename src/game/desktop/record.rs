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
    let video = Video::create(path, film.size.into(), film.frames_per_second)?;
    check_adapter()?;
    let shoot = |add: &mut AddFrame<'_>| {
        film.shoot(|frame| {
            progress.inc(1);
            add(frame)
        })
    };
    let (take, video) = encode(video, shoot)?;
    if take.frames == 0 {
        return Err(Stopped("the first frame").into());
    }
    video.finish(None)?;
    Ok(take)
}

/// Takes the next frame.
pub(super) type AddFrame<'a> = dyn FnMut(Vec<u8>) -> Result<(), Failure> + 'a;

/// Encodes the frames that `shoot` adds, in a second thread. Returns the result of `shoot` and the unfinished video.
///
/// # Errors
/// If a frame cannot be encoded or written, or any error of `shoot`.
pub(super) fn encode<T>(
    mut video: Video,
    shoot: impl FnOnce(&mut AddFrame<'_>) -> Result<T, Failure>,
) -> Result<(T, Video), Failure> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<u8>>(MAX_WAITING_FRAMES);
        let encoder = scope.spawn(move || {
            for frame in receiver {
                video.add(&frame)?;
            }
            Ok::<_, FileError>(video)
        });
        // The encoder receives until it fails.
        let shot = shoot(&mut |frame| Ok(sender.send(frame)?));
        drop(sender);
        let video = encoder.join().expect("encoding does not panic")?;
        Ok((shot?, video))
    })
}

/// Checks for a graphics adapter, without which Bevy panics.
pub(super) fn check_adapter() -> Result<(), Failure> {
    match no_adapter_off_screen() {
        Some(missing) => Err(format!("cannot record, because {missing}").into()),
        None => Ok(()),
    }
}
