//! Records replays (F9), and videos of the window in real time (F10).
//!
//! While a video is recorded, the picture shows no notice and no red dot, since these would be in the video:
//! its length is in the title of the window, together with that of a replay.

mod replay;
mod video;

use std::fs;
use std::path::{Path, PathBuf};

use bevy::ecs::message::MessageUpdateSystems;
use bevy::prelude::*;
use bevy::time::TimeSystems;
use bevy::window::{PrimaryWindow, exit_on_all_closed};
use cubewire_scene::TICKS_PER_SECOND;

use super::InputLog;
use crate::controls::Action;
use crate::panel::PanelSystems;
use crate::view::Notices;

use video::{Progress, Videos};

pub(super) use video::SharedPicture;

/// The folder for replays, videos, pictures and exports.
#[derive(Resource, Clone, Debug)]
pub struct RecordingFolder(pub PathBuf);

/// When the notices of recordings over the picture are updated, in [`Update`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LiveSystems;

/// When the pictures of a video are requested, in [`Last`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CaptureSystems;

/// When finished videos are announced, in [`Last`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CollectSystems;

/// Records replays and videos at the press of a key. Needs [`RecordingFolder`] and [`Notices`].
#[derive(Debug)]
pub struct LivePlugin;

impl Plugin for LivePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Videos>()
            .add_observer(on_action)
            // Nothing else uses the window there.
            .add_systems(
                First,
                show_title.after(TimeSystems).after(MessageUpdateSystems),
            )
            .add_systems(
                Update,
                (video::end_if_resized, show_lengths)
                    .chain()
                    .in_set(LiveSystems)
                    .after(PanelSystems::Notices),
            )
            .add_systems(
                Last,
                (
                    video::capture.in_set(CaptureSystems),
                    video::collect.in_set(CollectSystems),
                    end.after(exit_on_all_closed)
                        .run_if(on_message::<AppExit>)
                        .in_set(CollectSystems),
                )
                    .chain(),
            );
    }
}

/// Handles F9 and F10.
fn on_action(
    action: On<Action>,
    time: Res<Time<Real>>,
    folder: Res<RecordingFolder>,
    window: Option<Single<&Window, With<PrimaryWindow>>>,
    log: Option<ResMut<InputLog>>,
    mut videos: ResMut<Videos>,
    mut notices: ResMut<Notices>,
) {
    let now = time.elapsed();
    match (*action, log) {
        (Action::Replay, Some(mut log)) if log.recorded_ticks().is_none() => log.begin(),
        (Action::Replay, Some(mut log)) => notices.show(replay::end(&mut log, &folder.0), now),
        (Action::Replay, None) => {
            let sentence = "a viewer cannot record replays; F10 records a video";
            notices.show(sentence.to_owned(), now);
        }
        (Action::Video, _) => {
            let window = window.map(Single::into_inner);
            if let Err(error) = videos.toggle(&folder.0, window, now) {
                notices.show(error.to_string(), now);
            }
        }
        _ => {}
    }
}

/// Shows the length of the replay so far over the picture, and nothing while a video is recorded.
fn show_lengths(
    time: Res<Time<Real>>,
    log: Option<Res<InputLog>>,
    videos: Res<Videos>,
    mut notices: ResMut<Notices>,
) {
    let now = time.elapsed();
    let replay = replay_seconds(log.as_deref());
    let over_picture = replay.map(|seconds| format!("replay {}", clock(seconds, 1)));
    if notices.replay != over_picture {
        notices.replay = over_picture;
    }
    let is_filmed = videos.progress(now).is_some();
    if notices.are_hidden() != is_filmed {
        notices.hide(is_filmed, now);
    }
}

/// Shows the lengths in the title of the window while a video is recorded.
fn show_title(
    time: Res<Time<Real>>,
    log: Option<Res<InputLog>>,
    videos: Res<Videos>,
    mut window: Single<&mut Window, With<PrimaryWindow>>,
    mut usual_title: Local<Option<String>>,
) {
    let wanted = match videos.progress(time.elapsed()) {
        Some(video) => {
            let usual = usual_title.get_or_insert_with(|| window.title.clone());
            Some(title(usual, video, replay_seconds(log.as_deref())))
        }
        None => usual_title.take(),
    };
    if let Some(wanted) = wanted
        && window.title != wanted
    {
        window.title = wanted;
    }
}

/// The length of the replay that is being recorded.
fn replay_seconds(log: Option<&InputLog>) -> Option<f64> {
    let ticks = log?.recorded_ticks()?;
    Some(ticks as f64 / f64::from(TICKS_PER_SECOND))
}

/// The title of the window during a video: the lengths, and the usual title.
fn title(usual: &str, video: Progress, replay_seconds: Option<f64>) -> String {
    let dropped = (video.dropped > 0).then(|| format!(", {} frames dropped", video.dropped));
    let replay = replay_seconds.map(|seconds| format!(", {} replay", clock(seconds, 0)));
    format!(
        "● {} video{}{} — {usual}",
        clock(video.length.as_secs_f64(), 0),
        dropped.unwrap_or_default(),
        replay.unwrap_or_default()
    )
}

/// Finishes every recording when the app exits.
fn end(
    time: Res<Time<Real>>,
    folder: Res<RecordingFolder>,
    log: Option<ResMut<InputLog>>,
    mut videos: ResMut<Videos>,
    mut notices: ResMut<Notices>,
) {
    let now = time.elapsed();
    if let Some(mut log) = log
        && log.recorded_ticks().is_some()
    {
        notices.show(replay::end(&mut log, &folder.0), now);
    }
    videos.finish(now, &mut notices);
}

/// Removes the placeholder of a claimed name.
pub(super) fn release(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        warn!("{}: {error}", path.display());
    }
}

/// Minutes and seconds, with one decimal or none.
fn clock(seconds: f64, decimals: usize) -> String {
    let scale = 10_f64.powi(decimals as i32);
    // What is not shown of a second is not rounded up.
    let seconds = match decimals {
        0 => seconds.floor(),
        _ => (seconds * scale).round() / scale,
    };
    let width = if decimals == 0 { 2 } else { 3 + decimals };
    let minutes = (seconds / 60.0).floor();
    format!("{minutes}:{:0width$.decimals$}", seconds - minutes * 60.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bevy::time::TimeUpdateStrategy;

    use super::*;

    #[test]
    fn a_clock_shows_minutes_and_seconds() {
        assert_eq!(clock(0.0, 1), "0:00.0");
        assert_eq!(clock(59.96, 1), "1:00.0");
        assert_eq!(clock(754.32, 1), "12:34.3");
        assert_eq!(clock(59.96, 0), "0:59");
        assert_eq!(clock(754.32, 0), "12:34");
    }

    #[test]
    fn a_title_names_what_is_recorded_and_what_was_dropped() {
        let video = |dropped| Progress {
            length: Duration::from_millis(12_900),
            dropped,
        };
        assert_eq!(title("Cubewire", video(0), None), "● 0:12 video — Cubewire");
        assert_eq!(
            title("Cubewire", video(3), Some(61.0)),
            "● 0:12 video, 3 frames dropped, 1:01 replay — Cubewire"
        );
    }

    #[test]
    fn during_a_video_its_length_is_in_the_title_and_notices_are_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, LivePlugin))
            .init_resource::<Notices>()
            .insert_resource(RecordingFolder(folder.path().to_owned()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(1)));
        let window = Window {
            title: "Cubewire".to_owned(),
            ..Window::default()
        };
        let window = app.world_mut().spawn((window, PrimaryWindow)).id();
        let update = |app: &mut App| {
            app.update();
            let hidden = app.world().resource::<Notices>().are_hidden();
            (
                app.world().get::<Window>(window).unwrap().title.clone(),
                hidden,
            )
        };
        let usual = ("Cubewire".to_owned(), false);
        assert_eq!(update(&mut app), usual);
        app.world_mut().trigger(Action::Video);
        assert_eq!(
            update(&mut app),
            ("● 0:01 video — Cubewire".to_owned(), true)
        );
        assert_eq!(
            update(&mut app),
            ("● 0:02 video — Cubewire".to_owned(), true)
        );
        app.world_mut().trigger(Action::Video);
        assert_eq!(update(&mut app), usual);
        assert_eq!(update(&mut app), usual);
    }
}
