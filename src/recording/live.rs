//! F9 writes down a replay, F10 records what is on the screen at the pace of the play.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use bevy::window::PrimaryWindow;
use cubewire_scene::TICKS_PER_SECOND;

use super::video::{Mp4, VideoError};
use super::{InputLog, Script};
use crate::files::claim;
use crate::view::Notices;

/// Frames a second, at most.
const FRAMES_PER_SECOND: u32 = 60;

/// A frame that comes a little early counts.
const SHORTEST_FRAME: Duration = Duration::from_micros(900_000 / FRAMES_PER_SECOND as u64);

/// Frames that may wait to be encoded; what comes beyond them is dropped.
const WAITING_FRAMES: usize = 8;

/// Where recordings go.
#[derive(Resource, Clone, Debug)]
pub struct RecordingFolder(pub PathBuf);

/// Has the keys for recordings. Needs [`RecordingFolder`] and [`Notices`].
#[derive(Debug)]
pub struct LivePlugin;

impl Plugin for LivePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Live>()
            .add_systems(
                Update,
                (
                    replay.run_if(resource_exists::<InputLog>),
                    no_replay.run_if(not(resource_exists::<InputLog>)),
                    video,
                )
                    .chain(),
            )
            .add_systems(
                Last,
                (capture, collect, end.run_if(on_message::<AppExit>)).chain(),
            );
    }
}

/// The video that is being recorded, and those that are being finished.
#[derive(Resource, Debug, Default)]
struct Live {
    capture: Option<Capture>,
    /// How many there were.
    captures: u64,
    finishing: Vec<(Finished, Encoder)>,
}

type Encoder = JoinHandle<Result<Mp4, VideoError>>;

/// A picture of the window, and the time at which it was seen.
type Message = (Image, Duration);

#[derive(Debug)]
struct Capture {
    number: u64,
    path: PathBuf,
    /// Pixels of the window; the video has an even number each way.
    window: UVec2,
    /// By the real clock.
    start: Duration,
    newest: Option<Duration>,
    frames: u64,
    dropped: u64,
    sender: SyncSender<Message>,
    encoder: Encoder,
}

/// What there is to say of a video.
#[derive(Clone, Debug)]
struct Finished {
    path: PathBuf,
    length: Duration,
    frames: u64,
    dropped: u64,
}

/// For which video a picture was asked for, and when, since its start.
#[derive(Component, Clone, Copy, Debug)]
struct Asked {
    capture: u64,
    at: Duration,
}

impl Capture {
    fn begin(folder: &Path, number: u64, window: UVec2, now: Duration) -> Result<Self, VideoError> {
        let path = claim(folder, "mp4").map_err(|source| VideoError::Io {
            path: folder.to_owned(),
            source,
        })?;
        let size = window / 2 * 2;
        let mut video =
            Mp4::create(&path, size.into(), FRAMES_PER_SECOND).inspect_err(|_| release(&path))?;
        let (sender, receiver) = sync_channel::<Message>(WAITING_FRAMES);
        let encoder = thread::spawn(move || {
            for (picture, at) in receiver {
                if let Some(frame) = frame(picture, window, size) {
                    video.add_at(&frame, at)?;
                }
            }
            Ok(video)
        });
        Ok(Self {
            number,
            path,
            window,
            start: now,
            newest: None,
            frames: 0,
            dropped: 0,
            sender,
            encoder,
        })
    }

    /// Whether it is time for another frame.
    fn is_due(&self, now: Duration) -> bool {
        self.newest
            .is_none_or(|newest| now >= newest + SHORTEST_FRAME)
    }

    /// Hands a picture to the encoder, or drops it if that has enough to do.
    fn add(&mut self, picture: Image, at: Duration) {
        match self.sender.try_send((picture, at)) {
            Ok(()) => self.frames += 1,
            // The encoder says itself why it is gone.
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => self.dropped += 1,
        }
    }

    fn finish(self, now: Duration) -> (Finished, Encoder) {
        // Its sender is dropped here, by which the encoder knows that there is no more.
        let finished = Finished {
            path: self.path,
            length: now - self.start,
            frames: self.frames,
            dropped: self.dropped,
        };
        (finished, self.encoder)
    }
}

impl Finished {
    fn in_words(&self) -> String {
        let dropped = match self.dropped {
            0 => "none dropped".to_owned(),
            1 => "one dropped: the encoder did not keep pace".to_owned(),
            many => format!("{many} dropped: the encoder did not keep pace"),
        };
        format!(
            "{}: {:.1} s, {} frames, {dropped}",
            self.path.display(),
            self.length.as_secs_f64(),
            self.frames
        )
    }
}

/// F9
fn replay(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time<Real>>,
    folder: Res<RecordingFolder>,
    mut log: ResMut<InputLog>,
    mut notices: ResMut<Notices>,
) {
    if keys.just_pressed(KeyCode::F9) {
        if log.recorded_ticks().is_none() {
            log.begin();
        } else {
            let said = end_replay(&mut log, &folder.0);
            notices.say(said, time.elapsed());
        }
    }
    let ticks = log.recorded_ticks();
    let seconds = ticks.map(|ticks| ticks as f64 / f64::from(TICKS_PER_SECOND));
    notices.replay = seconds.map(|seconds| format!("replay {}", clock(seconds)));
}

/// Ends the recording and saves it; what came of that.
fn end_replay(log: &mut InputLog, folder: &Path) -> String {
    let Some(script) = log.replay() else {
        log.end();
        return "nothing was played, so there is nothing to repeat".to_owned();
    };
    match save(&script, folder) {
        Ok(path) => {
            log.end();
            format!("{}: `cubewire play` shows it", path.display())
        }
        // Nothing is lost yet.
        Err(error) => format!("{}: {error}; F9 tries again", folder.display()),
    }
}

fn save(script: &Script, folder: &Path) -> io::Result<PathBuf> {
    let path = claim(folder, "ron")?;
    match script.save(&path) {
        Ok(()) => Ok(path),
        Err(error) => {
            release(&path);
            Err(error)
        }
    }
}

/// Gives a name back that was claimed.
fn release(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        warn!("{}: {error}", path.display());
    }
}

/// F9 where somebody else plays.
fn no_replay(keys: Res<ButtonInput<KeyCode>>, time: Res<Time<Real>>, mut notices: ResMut<Notices>) {
    if keys.just_pressed(KeyCode::F9) {
        let said = "a replay is written down where the game is played; F10 records what is seen";
        notices.say(said.to_owned(), time.elapsed());
    }
}

/// F10
fn video(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time<Real>>,
    folder: Res<RecordingFolder>,
    window: Single<&Window, With<PrimaryWindow>>,
    mut live: ResMut<Live>,
    mut notices: ResMut<Notices>,
) {
    let now = time.elapsed();
    let size = window.physical_size();
    let is_resized = (live.capture.as_ref()).is_some_and(|capture| capture.window != size);
    if is_resized {
        notices.say(
            "the video ends, as the window has another size".to_owned(),
            now,
        );
    }
    if keys.just_pressed(KeyCode::F10) || is_resized {
        if let Some(capture) = live.capture.take() {
            live.finishing.push(capture.finish(now));
        } else {
            live.captures += 1;
            match Capture::begin(&folder.0, live.captures, size, now) {
                Ok(capture) => live.capture = Some(capture),
                Err(error) => notices.say(error.to_string(), now),
            }
        }
    }
    notices.video = live.capture.as_ref().map(|capture| {
        let time = clock((now - capture.start).as_secs_f64());
        match capture.dropped {
            0 => format!("video {time}"),
            dropped => format!("video {time}, {dropped} dropped"),
        }
    });
}

/// Asks for a picture of what is drawn in this frame.
fn capture(mut commands: Commands, time: Res<Time<Real>>, mut live: ResMut<Live>) {
    let now = time.elapsed();
    let Some(capture) = live.capture.as_mut().filter(|capture| capture.is_due(now)) else {
        return;
    };
    capture.newest = Some(now);
    let asked = Asked {
        capture: capture.number,
        at: now - capture.start,
    };
    commands
        .spawn((Screenshot::primary_window(), asked))
        .observe(take);
}

fn take(mut captured: On<ScreenshotCaptured>, asked: Query<&Asked>, mut live: ResMut<Live>) {
    if let (Some(capture), Ok(asked)) = (&mut live.capture, asked.get(captured.entity))
        && capture.number == asked.capture
    {
        capture.add(std::mem::take(&mut captured.image), asked.at);
    }
}

/// The pixels of a video, as far as the picture is one of a window of that size.
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

/// Says what has become of videos that are finished.
fn collect(time: Res<Time<Real>>, mut live: ResMut<Live>, mut notices: ResMut<Notices>) {
    let now = time.elapsed();
    // An encoder that failed does not wait for F10.
    if let Some(capture) = live
        .capture
        .take_if(|capture| capture.encoder.is_finished())
    {
        live.finishing.push(capture.finish(now));
    }
    let done = live
        .finishing
        .extract_if(.., |(_, encoder)| encoder.is_finished());
    for (finished, encoder) in done {
        notices.say(outcome(&finished, encoder), now);
    }
}

/// Leaves no recording unfinished.
fn end(
    time: Res<Time<Real>>,
    folder: Res<RecordingFolder>,
    log: Option<ResMut<InputLog>>,
    mut live: ResMut<Live>,
    mut notices: ResMut<Notices>,
) {
    let now = time.elapsed();
    if let Some(mut log) = log
        && log.recorded_ticks().is_some()
    {
        notices.say(end_replay(&mut log, &folder.0), now);
    }
    if let Some(capture) = live.capture.take() {
        live.finishing.push(capture.finish(now));
    }
    for (finished, encoder) in live.finishing.drain(..) {
        notices.say(outcome(&finished, encoder), now);
    }
}

fn outcome(finished: &Finished, encoder: Encoder) -> String {
    let Ok(encoded) = encoder.join() else {
        return format!("{}: the encoder failed", finished.path.display());
    };
    match encoded.and_then(|video| video.finish_at(finished.length)) {
        Ok(()) => finished.in_words(),
        Err(error) => {
            release(&finished.path);
            error.to_string()
        }
    }
}

/// Minutes, seconds and tenths.
fn clock(seconds: f64) -> String {
    let tenths = (seconds * 10.0).round() as u64;
    format!("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10)
}

#[cfg(test)]
mod tests {
    use bevy::asset::RenderAssetUsages;
    use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

    use super::*;

    #[test]
    fn a_clock_shows_minutes_seconds_and_tenths() {
        assert_eq!(clock(0.0), "0:00.0");
        assert_eq!(clock(59.96), "1:00.0");
        assert_eq!(clock(754.32), "12:34.3");
    }

    fn gone() -> VideoError {
        let path = PathBuf::from("a.mp4");
        VideoError::GivenUp { path }
    }

    fn picture(size: UVec2, bytes: Vec<u8>) -> Image {
        let size = Extent3d {
            width: size.x,
            height: size.y,
            depth_or_array_layers: 1,
        };
        let (plane, format) = (TextureDimension::D2, TextureFormat::Rgba8UnormSrgb);
        Image::new(size, plane, bytes, format, RenderAssetUsages::default())
    }

    #[test]
    fn a_frame_has_an_even_number_of_pixels_each_way() {
        let window = UVec2::new(3, 3);
        let image = picture(window, (0..3 * 3 * 4).collect());
        let kept = frame(image.clone(), window, UVec2::new(2, 2)).unwrap();
        assert_eq!(
            kept,
            [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19]
        );
        assert_eq!(frame(image, UVec2::new(5, 3), UVec2::new(4, 2)), None);
    }

    #[test]
    fn what_the_encoder_has_no_time_for_is_dropped_and_counted() {
        let (sender, receiver) = sync_channel(2);
        let mut capture = Capture {
            number: 1,
            path: PathBuf::from("a.mp4"),
            window: UVec2::new(3, 3),
            start: Duration::ZERO,
            newest: None,
            frames: 0,
            dropped: 0,
            sender,
            encoder: thread::spawn(|| Err(gone())),
        };
        for frame in 0..5 {
            capture.add(Image::default(), Duration::from_millis(frame));
        }
        let times = receiver.try_iter().map(|(_, at)| at.as_millis());
        assert!(times.eq([0, 1]));
        let (finished, _) = capture.finish(Duration::from_secs(2));
        let wanted = "a.mp4: 2.0 s, 2 frames, 3 dropped: the encoder did not keep pace";
        assert_eq!(finished.in_words(), wanted);
    }

    #[test]
    fn a_video_has_the_frames_that_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let window = UVec2::new(321, 201);
        let mut capture = Capture::begin(folder.path(), 1, window, Duration::ZERO).unwrap();
        let path = capture.path.clone();
        let bytes = vec![128; 321 * 201 * 4];
        capture.add(picture(window, bytes), Duration::ZERO);
        let (finished, encoder) = capture.finish(Duration::from_secs(1));
        let wanted = format!("{}: 1.0 s, 1 frames, none dropped", path.display());
        assert_eq!(outcome(&finished, encoder), wanted);
        assert!(fs::metadata(&path).unwrap().len() > 0);

        // Without a frame there is no video, and its name is free again.
        let empty = Capture::begin(folder.path(), 2, window, Duration::ZERO).unwrap();
        assert!(empty.path.ends_with("cubewire-2.mp4"));
        let (finished, encoder) = empty.finish(Duration::from_secs(1));
        assert!(outcome(&finished, encoder).ends_with("a video must have at least one frame"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_said() {
        let window = UVec2::new(320, 200);
        let error = Capture::begin(Path::new("no/folder"), 1, window, Duration::ZERO);
        let said = error.unwrap_err().to_string();
        assert_eq!(said, "no/folder: No such file or directory (os error 2)");
    }
}
