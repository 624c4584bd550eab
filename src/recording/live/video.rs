//! Videos of the window in real time, made of screenshots that another thread encodes.

mod plugin;
mod rate;

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use bevy::window::PrimaryWindow;

use super::SharedPicture;
use crate::files::FileError;
use crate::recording::video::Video;
use crate::view::Notices;

pub(super) use plugin::VideoPlugin;
use rate::FrameRate;

/// Frames per second, independent of the display's rate.
const FRAMES_PER_SECOND: u32 = 60;

/// Maximum number of frames that wait for the encoder. Further frames are dropped.
const MAX_WAITING_FRAMES: usize = 8;

/// The current video, and earlier videos that are still being encoded.
#[derive(Resource, Debug, Default)]
pub(super) struct Videos {
    current: Option<Capture>,
    /// Number of videos so far.
    count: u64,
    finishing: Vec<(Figures, Encoder)>,
}

/// Length of a video, number of frames, and number of pictures dropped because the encoder was too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) length: Duration,
    pub(super) frames: u64,
    pub(super) dropped: u64,
}

type Encoder = JoinHandle<Result<Video, FileError>>;

/// Picture of the window and its frame number.
type Message = (Image, u64);

#[derive(Debug)]
struct Capture {
    number: u64,
    /// Size of the window in pixels. The video's size is rounded down to even numbers.
    window: UVec2,
    /// Start on the real clock.
    start: Duration,
    rate: FrameRate,
    dropped: u64,
    sender: SyncSender<Message>,
    encoder: Encoder,
}

/// Requested screenshot with the numbers of its video and its frame.
#[derive(Component, Clone, Copy, Debug)]
struct Requested {
    capture: u64,
    frame: u64,
}

impl Videos {
    /// Starts a video, or ends the current one.
    ///
    /// # Errors
    /// If a video cannot be started.
    pub(super) fn toggle(
        &mut self,
        folder: &Path,
        window: Option<&Window>,
        now: Duration,
    ) -> Result<(), FileError> {
        match (self.current.take(), window) {
            (Some(capture), _) => self.finishing.push(capture.finish(now)),
            (None, Some(window)) => {
                self.count += 1;
                let size = window.physical_size();
                self.current = Some(Capture::begin(folder, self.count, size, now)?);
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// Figures of the current video. `None` if no video is recorded.
    pub(super) fn progress(&self, now: Duration) -> Option<Figures> {
        let capture = self.current.as_ref();
        capture.map(|capture| capture.figures(now))
    }

    /// Ends the current video, waits for all encoders, and reports the results.
    pub(super) fn finish(&mut self, now: Duration, notices: &mut Notices) {
        if let Some(capture) = self.current.take() {
            self.finishing.push(capture.finish(now));
        }
        for (finished, encoder) in self.finishing.drain(..) {
            notices.show(outcome(finished, encoder), now);
        }
    }
}

impl Capture {
    fn begin(folder: &Path, number: u64, window: UVec2, now: Duration) -> Result<Self, FileError> {
        let size = window / 2 * 2;
        let mut video = Video::create_numbered(folder, size.into(), FRAMES_PER_SECOND)?;
        let (sender, receiver) = sync_channel::<Message>(MAX_WAITING_FRAMES);
        let encoder = thread::spawn(move || {
            let frame = |picture| frame(picture, window, size);
            encode(&receiver, frame, |pixels, number| {
                video.add_at(pixels, FrameRate::time(FRAMES_PER_SECOND, number))
            })?;
            Ok(video)
        });
        Ok(Self {
            number,
            window,
            start: now,
            rate: FrameRate::new(FRAMES_PER_SECOND),
            dropped: 0,
            sender,
            encoder,
        })
    }

    /// Sends a picture to the encoder, or drops it if the queue is full.
    fn add(&mut self, picture: Image, frame: u64) {
        match self.sender.try_send((picture, frame)) {
            Ok(()) => {}
            // A failed encoder reports its error itself.
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => self.dropped += 1,
        }
    }

    fn figures(&self, now: Duration) -> Figures {
        Figures { length: now - self.start, frames: self.rate.frames(), dropped: self.dropped }
    }

    /// Ends the video. Dropping the sender stops the encoder.
    fn finish(self, now: Duration) -> (Figures, Encoder) {
        (self.figures(now), self.encoder)
    }
}

/// Encodes received pictures at their frame numbers. Repeats the previous picture for missing frames to keep the frame
/// rate, unless further pictures wait already: then the previous picture lasts longer instead.
fn encode<E>(
    pictures: &Receiver<Message>,
    pixels: impl Fn(Image) -> Option<Vec<u8>>,
    mut add: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    let mut waiting = None;
    let mut newest: Option<(Vec<u8>, u64)> = None;
    while let Some((picture, number)) = waiting.take().or_else(|| pictures.recv().ok()) {
        let Some(pixels) = pixels(picture) else {
            continue;
        };
        // The graphics driver may deliver pictures out of order. Skip late ones.
        if newest.as_ref().is_some_and(|(_, newest)| number <= *newest) {
            continue;
        }
        if let Some((before, newest)) = &newest {
            for missing in newest + 1..number {
                waiting = waiting.or_else(|| pictures.try_recv().ok());
                if waiting.is_some() {
                    break;
                }
                add(before, missing)?;
            }
        }
        add(&pixels, number)?;
        newest = Some((pixels, number));
    }
    Ok(())
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
    let resized = videos.current.take_if(|capture| capture.window != size);
    if let Some(capture) = resized {
        let now = time.elapsed();
        notices.show("The video ended because the window was resized".to_owned(), now);
        videos.finishing.push(capture.finish(now));
    }
}

/// Requests a screenshot of this frame.
fn capture(mut commands: Commands, time: Res<Time<Real>>, mut videos: ResMut<Videos>) {
    let Some(capture) = &mut videos.current else {
        return;
    };
    let Some(frame) = capture.rate.frame_at(time.elapsed() - capture.start) else {
        return;
    };
    let requested = Requested { capture: capture.number, frame };
    commands.spawn((Screenshot::primary_window(), requested)).observe(take);
}

fn take(
    mut captured: On<ScreenshotCaptured>,
    requested: Query<(&Requested, Has<SharedPicture>)>,
    mut videos: ResMut<Videos>,
) {
    if let (Some(capture), Ok((requested, is_shared))) =
        (&mut videos.current, requested.get(captured.entity))
        && capture.number == requested.capture
    {
        let picture = match is_shared {
            true => captured.image.clone(),
            false => std::mem::take(&mut captured.image),
        };
        capture.add(picture, requested.frame);
    }
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

/// Reports finished videos.
fn collect(time: Res<Time<Real>>, mut videos: ResMut<Videos>, mut notices: ResMut<Notices>) {
    let now = time.elapsed();
    // End the recording if its encoder failed.
    if let Some(capture) = videos.current.take_if(|capture| capture.encoder.is_finished()) {
        videos.finishing.push(capture.finish(now));
    }
    let done = videos.finishing.extract_if(.., |(_, encoder)| encoder.is_finished());
    for (finished, encoder) in done {
        notices.show(outcome(finished, encoder), now);
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

    #[test]
    fn frames_that_exceed_the_queue_are_dropped_and_counted() {
        let (sender, receiver) = sync_channel(2);
        let mut capture = Capture {
            number: 1,
            window: UVec2::new(3, 3),
            start: Duration::ZERO,
            rate: FrameRate::new(60),
            dropped: 0,
            sender,
            encoder: thread::spawn(|| Video::create(Path::new("a"), (2, 2), 1)),
        };
        for frame in 0..5 {
            let time = Duration::from_millis(17 * frame);
            let frame = capture.rate.frame_at(time).unwrap();
            capture.add(Image::default(), frame);
        }
        let frames = receiver.try_iter().map(|(_, frame)| frame);
        assert!(frames.eq([0, 1]));
        let (finished, _) = capture.finish(Duration::from_secs(2));
        let wanted =
            "a.mp4: 2.0 s, 1.0 frames a second, 3 frames dropped: the encoder was too slow";
        assert_eq!(finished.describe(Path::new("a.mp4")), wanted);
    }

    #[test]
    fn a_frame_without_a_picture_shows_the_one_before() {
        let encoded = |numbers: &[u64]| {
            let (sender, receiver) = sync_channel(9);
            for &number in numbers {
                let message = (picture(UVec2::ONE, vec![number as u8; 4]), number);
                sender.send(message).unwrap();
            }
            drop(sender);
            let mut frames = Vec::new();
            let pixels = |picture| frame(picture, UVec2::ONE, UVec2::ONE);
            encode(&receiver, pixels, |pixels, number| {
                frames.push((u64::from(pixels[0]), number));
                Ok::<_, ()>(())
            })
            .unwrap();
            frames
        };
        let wanted = [(0, 0), (1, 1), (1, 2), (1, 3), (4, 4)];
        assert_eq!(encoded(&[0, 1, 4]), wanted);
        assert_eq!(encoded(&[1, 0, 2]), [(1, 1), (2, 2)]);
        // The encoder is behind.
        assert_eq!(encoded(&[0, 2, 4, 5]), [(0, 0), (2, 2), (4, 4), (5, 5)]);
    }

    #[test]
    fn a_video_reports_its_frames_and_an_empty_one_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let window = UVec2::new(321, 201);
        let mut capture = Capture::begin(folder.path(), 1, window, Duration::ZERO).unwrap();
        // Two videos at once. The one that is finished first gets the number.
        let empty = Capture::begin(folder.path(), 2, window, Duration::ZERO).unwrap();
        let path = folder.path().join("cubewire-1.mp4");
        assert!(!path.exists());
        let bytes = vec![128; 321 * 201 * 4];
        let first = capture.rate.frame_at(Duration::ZERO).unwrap();
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

    #[test]
    fn a_missing_folder_is_reported() {
        let window = UVec2::new(320, 200);
        let error = Capture::begin(Path::new("no/folder"), 1, window, Duration::ZERO);
        let message = error.unwrap_err().to_string();
        assert_eq!(message, "no/folder: there is no folder no/folder");
    }
}
