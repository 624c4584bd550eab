//! Encodes a film as a video file.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar};

use super::film::{Film, Take};
use super::stop::Stopped;
use crate::display::no_adapter_off_screen;
use crate::game::Failure;
use crate::recording::video::Video;

/// Records a film to a file. Its extension selects the format. `max_bytes` limits the size of an MP4. Calls `begins` when
/// all settings are checked and the first frame is drawn. If the program receives a signal, the file is completed with the
/// frames so far.
///
/// # Errors
/// If there is no adapter, the film cannot be drawn, or the file cannot be written. [`Stopped`] if a signal arrives
/// before the first frame. On an error, no file is left.
pub fn record(
    film: &Film,
    path: &Path,
    max_bytes: Option<u64>,
    progress: &ProgressBar,
    begins: impl FnOnce(),
) -> Result<Take, Failure> {
    let (fps, frames) = (film.frames_per_second, film.card_frames() + film.frames);
    let max_bps = max_bytes.map(|bytes| {
        let bps = bytes as f64 * 8.0 * f64::from(fps) / frames as f64;
        // A higher rate is no limit.
        bps.min(f64::from(i32::MAX)) as u32
    });
    let video = Video::create(path, film.size.into(), fps, max_bps)?;
    check_adapter()?;
    let mut begins = Some(begins);
    let shoot = |add: &mut AddFrame<'_>| {
        film.shoot(|frame| {
            if let Some(begins) = begins.take() {
                progress.suspend(begins);
            }
            progress.inc(1);
            announce(progress, film.card_frames());
            add(frame)
        })
    };
    let (take, video) = encode(video, shoot)?;
    if take.frames == 0 {
        return Err(Stopped("the first frame").into());
    }
    video.finish()?;
    Ok(take)
}

pub(super) type AddFrame<'a> = dyn FnMut(Vec<u8>) -> Result<(), Failure> + 'a;

/// Encodes the frames that `shoot` adds, in a second thread. Returns the result of `shoot` and the unfinished video.
pub(super) fn encode<T>(
    video: Video,
    shoot: impl FnOnce(&mut AddFrame<'_>) -> Result<T, Failure>,
) -> Result<(T, Video), Failure> {
    let (sender, encoder) = video.in_thread();
    // The encoder receives until it fails.
    let shot = shoot(&mut |frame| Ok(sender.send(frame)?));
    drop(sender);
    let video = encoder.join().expect("encoding does not panic")?;
    Ok((shot?, video))
}

/// Checks for a graphics adapter, without which Bevy panics.
pub(super) fn check_adapter() -> Result<(), Failure> {
    match no_adapter_off_screen() {
        Some(missing) => Err(format!("cannot record, because {missing}").into()),
        None => Ok(()),
    }
}

/// Measures the first frames after the title card, and reports on standard error how long a slow recording will take.
fn announce(progress: &ProgressBar, card_frames: u64) {
    // In a series, the position does not start again, so only the first film is announced.
    if progress.position() == card_frames + 1 {
        progress.reset_elapsed();
    } else if progress.position() == card_frames + 1 + MEASURED_FRAMES {
        let frames = progress.length().unwrap_or_default() - progress.position();
        let rate = MEASURED_FRAMES as f64 / progress.elapsed().as_secs_f64();
        if let Some(sentence) = estimate(rate, frames) {
            // Ignore a closed standard error.
            progress.suspend(|| drop(writeln!(io::stderr(), "{sentence}")));
        }
    }
}

/// Says how long `frames` frames take at `rate` frames per second. `None` if it is less than a minute.
fn estimate(rate: f64, frames: u64) -> Option<String> {
    let all = Duration::try_from_secs_f64(frames as f64 / rate).ok()?;
    (all > NOTABLE).then(|| {
        format!(
            "{frames} frames at {rate:.1} a second take about {}; a graphics card or a smaller --size is faster",
            HumanDuration(all)
        )
    })
}

const MEASURED_FRAMES: u64 = 5;

/// A longer recording is reported beforehand.
const NOTABLE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_recording_is_announced_with_its_length() {
        assert_eq!(estimate(2.0, 100), None);
        assert_eq!(
            estimate(2.0, 8_640).unwrap(),
            "8640 frames at 2.0 a second take about 72 minutes; a graphics card or a smaller --size is faster"
        );
    }
}
