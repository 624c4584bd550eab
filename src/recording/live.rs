//! Records replays (F9), and videos of the window in real time (F10).

#[cfg(not(target_family = "wasm"))]
mod video;

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use cubewire_scene::TICKS_PER_SECOND;

use super::replay::InputLog;
use crate::controls::Action;
use crate::display;
use crate::panel::PanelSystems;
use crate::view::Notices;

/// Folder for replays, videos, pictures and exports.
#[derive(Resource, Clone, Debug)]
pub struct RecordingFolder(pub PathBuf);

#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiveSystems {
    /// Updates the notices of recordings, in [`Update`].
    Notices,
    /// Reports finished recordings, in [`Last`].
    Collect,
}

/// Marks a requested picture of the window that is also saved.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct SharedPicture;

/// Records replays, and on a desktop videos, when their keys are pressed. Needs [`RecordingFolder`] and [`Notices`].
pub struct LivePlugin;

impl Plugin for LivePlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(on_action)
            .add_systems(
                Update,
                show_length.in_set(LiveSystems::Notices).after(PanelSystems::Notices),
            )
            .add_systems(
                Last,
                end.after(exit_on_all_closed)
                    .run_if(on_message::<AppExit>)
                    .in_set(LiveSystems::Collect),
            );
        #[cfg(not(target_family = "wasm"))]
        app.add_plugins(video::VideoPlugin);
    }
}

fn on_action(
    action: On<Action>,
    folder: Res<RecordingFolder>,
    log: Option<ResMut<InputLog>>,
    mut notices: ResMut<Notices>,
) {
    if matches!(*action, Action::Video | Action::Film) && cfg!(target_family = "wasm") {
        notices.show("A browser cannot record a video; use `cubewire record`");
    }
    if *action != Action::Replay {
        return;
    }
    match log {
        Some(mut log) if log.recorded_ticks().is_none() => log.begin(),
        Some(mut log) => notices.show(end_replay(&mut log, &folder.0)),
        None => notices.show("A viewer cannot record replays; F10 records a video"),
    }
}

fn show_length(log: Option<Res<InputLog>>, mut notices: ResMut<Notices>) {
    let replay = replay_seconds(log.as_deref());
    let text = replay.map(|seconds| format!("Replay {}", clock(seconds, 1)));
    if notices.replay != text {
        notices.replay = text;
    }
}

fn replay_seconds(log: Option<&InputLog>) -> Option<f64> {
    let ticks = log?.recorded_ticks()?;
    Some(ticks as f64 / f64::from(TICKS_PER_SECOND))
}

fn end(folder: Res<RecordingFolder>, log: Option<ResMut<InputLog>>, mut notices: ResMut<Notices>) {
    if let Some(mut log) = log
        && log.recorded_ticks().is_some()
    {
        notices.show(end_replay(&mut log, &folder.0));
    }
}

/// Ends the recording and saves it. Returns a sentence about the result.
fn end_replay(log: &mut InputLog, folder: &Path) -> String {
    let Some(script) = log.replay() else {
        log.end();
        return "No replay: no tick was played".to_owned();
    };
    match script.save_numbered(folder) {
        Ok(path) => {
            log.end();
            let how = match display::address() {
                Some(_) => "drop it on the page to play it",
                None => "cubewire play plays it back",
            };
            format!("{}: {how}", path.display())
        }
        // The recording continues, so no tick is lost.
        Err(error) => format!("{error}; F9 tries again"),
    }
}

/// Formats minutes and seconds with `decimals` decimals.
fn clock(seconds: f64, decimals: usize) -> String {
    let scale = 10_f64.powi(decimals as i32);
    // Without decimals, round down like a clock.
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
    use super::*;

    #[test]
    fn a_clock_shows_minutes_and_seconds() {
        assert_eq!(clock(0.0, 1), "0:00.0");
        assert_eq!(clock(59.96, 1), "1:00.0");
        assert_eq!(clock(754.32, 1), "12:34.3");
        assert_eq!(clock(59.96, 0), "0:59");
        assert_eq!(clock(754.32, 0), "12:34");
    }
}
