//! Encodes a film as a video file.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar};

use super::film::{Film, Take};
use super::stop::Stopped;
use crate::display::no_adapter_off_screen;
use crate::files::FileError;
use crate::game::Failure;
use crate::recording::video::Video;

/// Maximum number of frames that wait for the encoder.
const MAX_WAITING_FRAMES: usize = 4;

/// Records a film to a file. Its extension selects the format. `max_bytes` limits the size of an MP4. If the program
/// receives a signal, the file is completed with the frames so far.
///
/// # Errors
/// If there is no adapter, the film cannot be drawn, or the file cannot be written. [`Stopped`] if a signal arrives
/// before the first frame. On an error, no file is left.
pub fn record(
    film: &Film,
    path: &Path,
    max_bytes: Option<u64>,
    progress: &ProgressBar,
) -> Result<Take, Failure> {
    let (fps, frames) = (film.frames_per_second, film.card_frames() + film.frames);
    let max_bps = max_bytes.map(|bytes| {
        let bps = bytes as f64 * 8.0 * f64::from(fps) / frames as f64;
        // A higher rate is no limit.
        bps.min(f64::from(i32::MAX)) as u32
    });
    let video = Video::create(path, film.size.into(), fps, max_bps)?;
    check_adapter()?;
    let shoot = |add: &mut AddFrame<'_>| {
        let mut pace = Pace::new(progress, film.card_frames());
        film.shoot(|frame| {
            progress.inc(1);
            pace.frame();
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
                video.add(&frame, None)?;
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

/// Measures the first frames, and reports on standard error how long a slow recording will take.
struct Pace<'a> {
    progress: &'a ProgressBar,
    /// Number of frames until the measurement starts: the title card and the first frame.
    waits: u64,
    measured: u32,
    start: Instant,
}

impl<'a> Pace<'a> {
    /// Starts the measurement, unless the recording has started already.
    fn new(progress: &'a ProgressBar, card_frames: u64) -> Self {
        let has_started = progress.position() > 0;
        Self {
            progress,
            waits: if has_started { u64::MAX } else { card_frames + 1 },
            measured: 0,
            start: Instant::now(),
        }
    }

    /// Counts a frame.
    fn frame(&mut self) {
        if self.waits > 0 {
            self.waits -= 1;
            self.start = Instant::now();
            return;
        }
        self.measured += 1;
        if self.measured == MEASURED_FRAMES {
            let frame = self.start.elapsed() / MEASURED_FRAMES;
            let frames = self.progress.length().unwrap_or_default() - self.progress.position();
            if let Some(sentence) = estimate(frame, frames) {
                // Ignore a closed standard error.
                self.progress.suspend(|| drop(writeln!(io::stderr(), "{sentence}")));
            }
        }
    }
}

/// Says how long `frames` frames take. `None` if it is less than a minute.
fn estimate(frame: Duration, frames: u64) -> Option<String> {
    let all = frame.saturating_mul(u32::try_from(frames).unwrap_or(u32::MAX));
    (all > NOTABLE).then(|| {
        let rate = 1.0 / frame.as_secs_f64();
        format!(
            "{frames} frames at {rate:.1} a second take about {}; a graphics card or a smaller --size is faster",
            HumanDuration(all)
        )
    })
}

/// Number of frames that are measured.
const MEASURED_FRAMES: u32 = 5;

/// A longer recording is reported beforehand.
const NOTABLE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_recording_is_announced_with_its_length() {
        let frame = Duration::from_millis(500);
        assert_eq!(estimate(frame, 100), None);
        assert_eq!(
            estimate(frame, 8_640).unwrap(),
            "8640 frames at 2.0 a second take about 72 minutes; a graphics card or a smaller --size is faster"
        );
    }
}
