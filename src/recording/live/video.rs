//! Videos of the window in real time, made of screenshots that another thread encodes.

mod plugin;

use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Capturing, Screenshot, ScreenshotCaptured};
use bevy::window::PrimaryWindow;

use super::SharedPicture;
use crate::files::{FileError, NewFile};
use crate::recording::video::{Encoder, Video};
use crate::view::Notices;

pub(super) use plugin::VideoPlugin;

/// Frames per second, independent of the display's rate. A frame without a picture is left out, and the one before it lasts
/// longer.
const FRAMES_PER_SECOND: u32 = 60;

/// Maximum number of frames that wait for the encoder. Further frames are dropped.
const MAX_WAITING_FRAMES: usize = 8;

#[derive(Resource, Default)]
pub(super) struct Videos {
    current: Option<Capture>,
    finishing: Vec<(Figures, Encoder)>,
}

/// Length of a video, number of its pictures, and how many of them were dropped because the encoder was too slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) length: Duration,
    pub(super) frames: u64,
    pub(super) dropped: u64,
}

/// A picture and its frame number.
type Message = (Image, u64);

struct Capture {
    /// Size of the window in pixels. The video's size is rounded down to even numbers.
    window: UVec2,
    /// On the real clock. Also tells the video from earlier ones.
    start: Duration,
    next: u64,
    /// Without the length.
    figures: Figures,
    sender: SyncSender<Message>,
    encoder: Encoder,
}

impl Videos {
    pub(super) fn toggle(
        &mut self,
        folder: &Path,
        window: Option<&Window>,
        now: Duration,
    ) -> Result<(), FileError> {
        if self.current.is_some() {
            self.end(now);
        } else if let Some(window) = window {
            self.current = Some(Capture::begin(folder, window.physical_size(), now)?);
        }
        Ok(())
    }

    /// Ends the current video. Its encoder continues.
    fn end(&mut self, now: Duration) {
        self.finishing.extend(self.current.take().map(|capture| capture.finish(now)));
    }
}

impl Capture {
    fn begin(folder: &Path, window: UVec2, now: Duration) -> Result<Self, FileError> {
        let size = window / 2 * 2;
        let file = NewFile::create_numbered(folder, "mp4");
        let video = Video::in_folder(folder, file, size.into(), FRAMES_PER_SECOND)?;
        let mut newest = None;
        let (sender, encoder) = video.in_thread(MAX_WAITING_FRAMES, move |(picture, number)| {
            let pixels = is_newer(number, &mut newest).then(|| frame(picture, window, size))??;
            let seconds = number as f64 / f64::from(FRAMES_PER_SECOND);
            Some((pixels, Some(Duration::from_secs_f64(seconds))))
        });
        let figures = Figures::default();
        Ok(Self { window, start: now, next: 0, figures, sender, encoder })
    }

    /// Returns the frame number for a picture at `time` since the start of the video, or `None` to skip the picture, because
    /// the display is faster than the video.
    ///
    /// Pictures arrive slightly early or late. A frame takes a picture from its own time up to [`MAX_LAG`] frames later, so a
    /// display with the rate of the video loses at most one picture to jitter.
    fn frame_at(&mut self, time: Duration) -> Option<u64> {
        let frames = time.as_secs_f64() * f64::from(FRAMES_PER_SECOND);
        let lag = frames - self.next as f64;
        if lag < 0.0 {
            return None;
        }
        let frame = match lag < MAX_LAG {
            true => self.next,
            false => (frames - MAX_LAG + 1.0) as u64,
        };
        self.next = frame + 1;
        self.figures.frames += 1;
        Some(frame)
    }

    /// Sends a picture to the encoder, or drops it if the queue is full. A failed encoder reports its error itself.
    fn add(&mut self, picture: Image, frame: u64) {
        self.figures.dropped += u64::from(self.sender.try_send((picture, frame)).is_err());
    }

    fn figures(&self, now: Duration) -> Figures {
        Figures { length: now - self.start, ..self.figures }
    }

    /// Ends the video. Dropping the sender stops the encoder.
    fn finish(self, now: Duration) -> (Figures, Encoder) {
        (self.figures(now), self.encoder)
    }
}

/// Maximum lag of a picture in frames. Beyond it, frame numbers are skipped.
const MAX_LAG: f64 = 2.0;

/// Updates the newest frame number, and returns whether this one is newer. The graphics driver may deliver pictures out of
/// order: late ones are skipped.
fn is_newer(number: u64, newest: &mut Option<u64>) -> bool {
    let before = *newest;
    *newest = before.max(Some(number));
    *newest > before
}

impl Figures {
    fn describe(self, path: &Path) -> String {
        let dropped = match self.dropped {
            0 => "no frames dropped".to_owned(),
            1 => "1 frame dropped: the encoder was too slow".to_owned(),
            many => format!("{many} frames dropped: the encoder was too slow"),
        };
        let seconds = self.length.as_secs_f64();
        format!(
            "{}: {seconds:.1} s, {:.1} frames a second, {dropped}",
            path.display(),
            (self.frames - self.dropped) as f64 / seconds.max(1.0 / f64::from(FRAMES_PER_SECOND)),
        )
    }
}

/// Ends the video if the window was resized, because all frames of a video have the same size.
fn end_if_resized(
    time: Res<Time<Real>>,
    window: Single<&Window, With<PrimaryWindow>>,
    mut videos: ResMut<Videos>,
    mut notices: ResMut<Notices>,
) {
    let size = window.physical_size();
    if videos.current.as_ref().is_some_and(|capture| capture.window != size) {
        notices.show("The video ended because the window was resized");
        videos.end(time.elapsed());
    }
}

fn capture(
    mut commands: Commands,
    time: Res<Time<Real>>,
    pending: Query<Entity, (With<Screenshot>, Without<Capturing>)>,
    mut videos: ResMut<Videos>,
) {
    let Some(capture) = &mut videos.current else {
        return;
    };
    let Some(frame) = capture.frame_at(time.elapsed() - capture.start) else {
        return;
    };
    let start = capture.start;
    let take = move |mut captured: On<ScreenshotCaptured>,
                     shared: Query<(), With<SharedPicture>>,
                     mut videos: ResMut<Videos>| {
        // The video may have ended by now.
        if let Some(capture) = videos.current.as_mut().filter(|capture| capture.start == start) {
            let picture = match shared.contains(captured.entity) {
                true => captured.image.clone(),
                false => std::mem::take(&mut captured.image),
            };
            capture.add(picture, frame);
        }
    };
    // The renderer takes one picture per frame, so use the one that was requested to be saved.
    let mut picture = match pending.iter().next() {
        Some(picture) => commands.entity(picture),
        None => commands.spawn(Screenshot::primary_window()),
    };
    picture.observe(take);
}

/// Pixels of a frame, cropped to `size`. `None` if the picture does not have the size of the window.
fn frame(picture: Image, window: UVec2, size: UVec2) -> Option<Vec<u8>> {
    let picture = picture.try_into_dynamic().ok()?.into_rgba8();
    if picture.dimensions() != (window.x, window.y) {
        return None;
    }
    let kept = size.x as usize * 4;
    let mut frame = Vec::with_capacity(kept * size.y as usize);
    let rows = picture.as_raw().chunks_exact(window.x as usize * 4);
    for row in rows.take(size.y as usize) {
        frame.extend_from_slice(&row[..kept]);
    }
    Some(frame)
}

fn collect(time: Res<Time<Real>>, mut videos: ResMut<Videos>, mut notices: ResMut<Notices>) {
    // End the recording if its encoder failed.
    if videos.current.as_ref().is_some_and(|capture| capture.encoder.is_finished()) {
        videos.end(time.elapsed());
    }
    let done = videos.finishing.extract_if(.., |(_, encoder)| encoder.is_finished());
    for (finished, encoder) in done {
        notices.show(outcome(finished, encoder));
    }
}

fn outcome(finished: Figures, encoder: Encoder) -> String {
    let Ok(encoded) = encoder.join() else {
        return "No video: the encoder failed".to_owned();
    };
    match encoded.and_then(|video| video.finish(Some(finished.length))) {
        Ok(path) => finished.describe(&path),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::thread;

    use bevy::asset::RenderAssetUsages;
    use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

    use super::*;

    fn picture(size: UVec2, bytes: Vec<u8>) -> Image {
        let size = Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 };
        let (plane, format) = (TextureDimension::D2, TextureFormat::Rgba8UnormSrgb);
        Image::new(size, plane, bytes, format, RenderAssetUsages::default())
    }

    #[test]
    fn a_frame_is_cropped_to_even_width_and_height() {
        let window = UVec2::new(3, 3);
        let image = picture(window, (0..3 * 3 * 4).collect());
        let kept = frame(image.clone(), window, UVec2::new(2, 2)).unwrap();
        assert_eq!(kept, [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19]);
        assert_eq!(frame(image, UVec2::new(5, 3), UVec2::new(4, 2)), None);
    }

    /// Returns a capture with a queue of `waiting` pictures, which its encoder does not read.
    fn idle(waiting: usize) -> (Capture, Receiver<Message>) {
        let (sender, receiver) = sync_channel(waiting);
        let encoder = thread::spawn(|| Video::create(Path::new("a"), (2, 2), 1, None));
        let (start, figures) = (Duration::ZERO, Figures::default());
        let window = UVec2::new(3, 3);
        (Capture { window, start, next: 0, figures, sender, encoder }, receiver)
    }

    #[test]
    fn frames_that_exceed_the_queue_are_dropped_and_counted() {
        let (mut capture, receiver) = idle(2);
        for frame in 0..5 {
            let frame = capture.frame_at(Duration::from_millis(17 * frame)).unwrap();
            capture.add(Image::default(), frame);
        }
        assert!(receiver.try_iter().map(|(_, frame)| frame).eq([0, 1]));
        let (finished, _) = capture.finish(Duration::from_secs(2));
        let wanted =
            "a.mp4: 2.0 s, 1.0 frames a second, 3 frames dropped: the encoder was too slow";
        assert_eq!(finished.describe(Path::new("a.mp4")), wanted);
    }

    #[test]
    fn pictures_that_arrive_out_of_order_are_skipped() {
        for (numbers, wanted) in [(&[0, 1, 4], &[0, 1, 4][..]), (&[1, 0, 2], &[1, 2])] {
            let mut newest = None;
            let added = numbers.iter().filter(|&&number| is_newer(number, &mut newest));
            assert!(added.eq(wanted), "{numbers:?}");
        }
    }

    /// Frame numbers of the pictures of a display in ten seconds, and the number of pictures. Each picture is early or late by
    /// up to `jitter` frames of the display. `stutters` returns whether the display is frozen at a time in seconds.
    fn film(rate: f64, jitter: f64, stutters: fn(f64) -> bool) -> (Vec<u64>, usize) {
        let mut random = 1_u64;
        let times = (0..(10.0 * rate) as u64).map(|picture| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let by = (random >> 40) as f64 / f64::from(1 << 23) - 1.0;
            ((picture as f64 + by * jitter) / rate).max(0.0)
        });
        let times: Vec<_> = times.filter(|&time| !stutters(time)).collect();
        let (mut capture, _) = idle(1);
        let mut frames = Vec::new();
        for &time in &times {
            let wanted = time * f64::from(FRAMES_PER_SECOND);
            if let Some(frame) = capture.frame_at(Duration::from_secs_f64(time)) {
                let lag = wanted - frame as f64;
                assert!((-0.001..2.001).contains(&lag), "frame {frame} at {time} s");
                frames.push(frame);
            }
            let ahead = capture.next as f64 - wanted;
            assert!(ahead.abs() < 1.001, "{ahead} frames ahead at {time} s");
        }
        assert!(frames.is_sorted_by(|one, other| one < other));
        (frames, times.len())
    }

    #[test]
    fn a_video_has_its_rate_on_every_display() {
        for display in [24.0, 50.0, 59.94, 60.0, 60.06, 75.0, 90.0, 120.0, 144.0, 165.0, 240.0] {
            for jitter in [0.0, 0.2, 0.4] {
                let (frames, pictures) = film(display, jitter, |_| false);
                // Every frame has a separate picture if there are enough.
                let few = frames.len().abs_diff(pictures.min(600));
                assert!(few <= 3, "{} of {pictures} at {display} Hz", frames.len());
            }
            let (frames, _) = film(display, 0.2, |time| time % 1.7 <= 0.4);
            assert!(frames.windows(2).any(|pair| pair[1] - pair[0] > 20), "{display} Hz");
        }
        for jitter in [0.0, 0.1, 0.2, 0.4, 0.49] {
            let (frames, pictures) = film(60.0, jitter, |_| false);
            assert!(frames.len() >= 599 && pictures - frames.len() <= 1, "{}", frames.len());
        }
    }

    #[test]
    fn a_video_reports_its_frames_and_an_empty_one_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let window = UVec2::new(321, 201);
        let mut capture = Capture::begin(folder.path(), window, Duration::ZERO).unwrap();
        // Two videos at once. The one that is finished first gets the number.
        let empty = Capture::begin(folder.path(), window, Duration::ZERO).unwrap();
        let path = folder.path().join("cubewire-1.mp4");
        assert!(!path.exists());
        let bytes = vec![128; 321 * 201 * 4];
        let first = capture.frame_at(Duration::ZERO).unwrap();
        capture.add(picture(window, bytes), first);
        let (finished, encoder) = capture.finish(Duration::from_secs(1));
        let wanted = format!("{}: 1.0 s, 1.0 frames a second, no frames dropped", path.display());
        assert_eq!(outcome(finished, encoder), wanted);
        assert!(fs::metadata(&path).unwrap().len() > 0);

        // A video without frames is not saved.
        let (finished, encoder) = empty.finish(Duration::from_secs(1));
        assert!(outcome(finished, encoder).ends_with("a video must have at least one frame"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
