//! Records replays (F9).

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use cubewire_scene::TICKS_PER_SECOND;

use super::replay::InputLog;
use crate::controls::Action;
use crate::display;
use crate::panel::{NO_FILMS, PanelSystems};
use crate::view::Notices;

/// Reason why a viewer has no replays.
pub(super) const NO_REPLAYS: &str = "A viewer cannot record replays; F11 films the last minute";

/// Folder for replays, films, pictures and exports.
#[derive(Resource, Clone, Debug)]
pub struct RecordingFolder(pub PathBuf);

#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecorderSystems {
    /// Updates the notices of recordings, in [`Update`].
    Notices,
    /// Reports finished recordings, in [`Last`].
    Collect,
}

/// Records replays. Needs [`RecordingFolder`] and [`Notices`].
pub struct RecorderPlugin;

impl Plugin for RecorderPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(on_action)
            .add_systems(
                Update,
                show_length.in_set(RecorderSystems::Notices).after(PanelSystems::Notices),
            )
            .add_systems(
                Last,
                end.after(exit_on_all_closed)
                    .run_if(on_message::<AppExit>)
                    .in_set(RecorderSystems::Collect),
            );
    }
}

fn on_action(
    action: On<Action>,
    folder: Res<RecordingFolder>,
    log: Option<ResMut<InputLog>>,
    mut notices: ResMut<Notices>,
) {
    if *action == Action::Film && cfg!(target_family = "wasm") {
        notices.show(NO_FILMS);
    }
    if *action != Action::Replay {
        return;
    }
    match log {
        Some(mut log) if log.recorded_ticks().is_none() => log.begin(),
        Some(mut log) => notices.show(end_replay(&mut log, &folder.0)),
        None => notices.show(NO_REPLAYS),
    }
}

fn show_length(log: Option<Res<InputLog>>, mut notices: ResMut<Notices>) {
    let ticks = log.and_then(|log| log.recorded_ticks());
    let seconds = ticks.map(|ticks| ticks as f64 / f64::from(TICKS_PER_SECOND));
    notices.replay = seconds.map(|seconds| format!("Replay {}", clock(seconds)));
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

/// Formats minutes and seconds with one decimal.
fn clock(seconds: f64) -> String {
    let seconds = (seconds * 10.0).round() / 10.0;
    let minutes = (seconds / 60.0).floor();
    format!("{minutes}:{:04.1}", seconds - minutes * 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_minutes_and_seconds() {
        assert_eq!(clock(0.0), "0:00.0");
        assert_eq!(clock(59.96), "1:00.0");
        assert_eq!(clock(754.32), "12:34.3");
    }
}
