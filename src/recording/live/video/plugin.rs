//! Handles the key that records videos, and shows their length in the window title.
//!
//! Notices and the red dot are hidden during a video, because they would be part of it. The window title shows the
//! lengths of the video and of a replay instead.

use bevy::ecs::message::MessageUpdateSystems;
use bevy::prelude::*;
use bevy::time::TimeSystems;
use bevy::window::{PrimaryWindow, exit_on_all_closed};

use super::{Figures, Videos, capture, collect, end_if_resized, outcome};
use crate::controls::Action;
use crate::panel::PanelSystems;
use crate::recording::live::{self, LiveSystems, RecordingFolder, clock, replay_seconds};
use crate::recording::replay::InputLog;
use crate::view::Notices;

pub(in crate::recording) struct VideoPlugin;

impl Plugin for VideoPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Videos>()
            .add_observer(on_action)
            // No other system uses the window at this point of the schedule.
            .add_systems(First, show_title.after(TimeSystems).after(MessageUpdateSystems))
            .add_systems(
                Update,
                (end_if_resized, hide_notices)
                    .chain()
                    .before(LiveSystems::Notices)
                    .after(PanelSystems::Notices),
            )
            .add_systems(
                Last,
                (
                    capture,
                    collect.in_set(LiveSystems::Collect).after(live::end),
                    end.after(exit_on_all_closed)
                        .run_if(on_message::<AppExit>)
                        .in_set(LiveSystems::Collect),
                )
                    .chain(),
            );
    }
}

fn on_action(
    action: On<Action>,
    time: Res<Time<Real>>,
    folder: Res<RecordingFolder>,
    window: Option<Single<&Window, With<PrimaryWindow>>>,
    mut videos: ResMut<Videos>,
    mut notices: ResMut<Notices>,
) {
    if *action != Action::Video {
        return;
    }
    let window = window.map(Single::into_inner);
    if let Err(error) = videos.toggle(&folder.0, window, time.elapsed()) {
        notices.fail(error.to_string());
    }
}

fn hide_notices(videos: Res<Videos>, mut notices: ResMut<Notices>) {
    let is_filmed = videos.current.is_some();
    if notices.are_hidden != is_filmed {
        notices.hide(is_filmed);
    }
}

fn show_title(
    time: Res<Time<Real>>,
    log: Option<Res<InputLog>>,
    videos: Res<Videos>,
    mut window: Single<&mut Window, With<PrimaryWindow>>,
    mut usual_title: Local<Option<String>>,
) {
    let wanted = match &videos.current {
        Some(capture) => {
            let video = capture.figures(time.elapsed());
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

/// Window title during a video: the lengths, and the usual title.
fn title(usual: &str, video: Figures, replay_seconds: Option<f64>) -> String {
    let dropped = (video.dropped > 0).then(|| format!(", {} frames dropped", video.dropped));
    let replay = replay_seconds.map(|seconds| format!(", {} replay", clock(seconds, 0)));
    format!(
        "● {} video{}{} — {usual}",
        clock(video.length.as_secs_f64(), 0),
        dropped.unwrap_or_default(),
        replay.unwrap_or_default()
    )
}

/// Ends the current video, waits for all encoders, and reports the results.
fn end(time: Res<Time<Real>>, mut videos: ResMut<Videos>, mut notices: ResMut<Notices>) {
    videos.end(time.elapsed());
    for (finished, encoder) in videos.finishing.drain(..) {
        notices.show(outcome(finished, encoder));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bevy::time::TimeUpdateStrategy;

    use super::*;
    use crate::recording::live::LivePlugin;

    #[test]
    fn a_title_names_what_is_recorded_and_what_was_dropped() {
        let video =
            |dropped| Figures { length: Duration::from_millis(12_900), frames: 700, dropped };
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
        let window = Window { title: "Cubewire".to_owned(), ..Window::default() };
        let window = app.world_mut().spawn((window, PrimaryWindow)).id();
        let update = |app: &mut App| {
            app.update();
            let hidden = app.world().resource::<Notices>().are_hidden;
            (app.world().get::<Window>(window).unwrap().title.clone(), hidden)
        };
        let usual = ("Cubewire".to_owned(), false);
        assert_eq!(update(&mut app), usual);
        app.world_mut().trigger(Action::Video);
        assert_eq!(update(&mut app), ("● 0:01 video — Cubewire".to_owned(), true));
        assert_eq!(update(&mut app), ("● 0:02 video — Cubewire".to_owned(), true));
        app.world_mut().trigger(Action::Video);
        assert_eq!(update(&mut app), usual);
        assert_eq!(update(&mut app), usual);
    }
}
