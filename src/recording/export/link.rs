//! Copies the contents of both halves as a link or as a command, to send to others, and the command for a film of a
//! replay.

use std::path::Path;

use bevy::prelude::*;
use bevy_egui::{EguiContext, PrimaryEguiContext};
use cubewire_scene::TICKS_PER_SECOND;

use crate::controls::{Action, PastFilm};
use crate::display;
use crate::recording::recorder::NO_REPLAYS;
use crate::recording::{InputLog, RecordingFolder, Script};
use crate::replication::LaneSettings;
use crate::theme::Theme;
use crate::view::{CubeColors, Halves, Notices, PaneContent, Side, ViewMode, ViewState};

/// Copies the address of the page in a browser, or the command line on a desktop.
pub(super) fn on_action(
    action: On<Action>,
    halves: Halves<'_, '_>,
    mut egui: Query<&mut EguiContext, With<PrimaryEguiContext>>,
    mut notices: ResMut<Notices>,
) {
    if *action != Action::CopyLink {
        return;
    }
    let text = match (halves.content(Side::Left), halves.content(Side::Right)) {
        (left, PaneContent::Lane(right)) => match display::address() {
            Some(address) => query(&left, &right).map(|query| address + &query),
            None => command(&left, &right),
        },
        (_, PaneContent::Simulation) => None,
    };
    let sentence = match text {
        Some(text) => {
            if let Ok(mut egui) = egui.single_mut() {
                display::copy(egui.get_mut(), &text);
            }
            format!("Copied: {text}")
        }
        None => "No link: recorded delays cannot be part of a link".to_owned(),
    };
    notices.show(sentence);
}

pub(super) fn on_film(action: On<Action>, mut commands: Commands) {
    let Action::CopyFilm(film) = *action else { return };
    commands.queue(move |world: &mut World| {
        let said = copy_film(film, world);
        let mut notices = world.resource_mut::<Notices>();
        match said {
            Ok(sentences) => sentences.into_iter().for_each(|it| notices.show(it)),
            Err(sentence) => notices.fail(sentence),
        }
    });
}

/// Returns sentences about the copied command, and about what its film shows differently.
fn copy_film(film: PastFilm, world: &mut World) -> Result<Vec<String>, String> {
    let log = world.get_resource::<InputLog>();
    let log = log.ok_or(NO_REPLAYS)?;
    let ticks = u64::from(film.seconds * TICKS_PER_SECOND);
    let script = log.replay_of_last(ticks);
    let script = script.ok_or("No replay: no tick was played")?;
    let is_after_reset = log.is_after_reset;
    let saved = script.save_numbered(&world.resource::<RecordingFolder>().0);
    let path = saved.map_err(|error| error.to_string())?;
    let view = ViewState::of(world);
    let command = film_command(&path, &view, film.frames_per_second());
    let mut egui = world.query_filtered::<&mut EguiContext, With<PrimaryEguiContext>>();
    if let Ok(mut egui) = egui.single_mut(world) {
        display::copy(egui.get_mut(), &command);
    }
    let mut said = vec![format!("Copied: {command}")];
    let differs = differences(&script, ticks, is_after_reset, &view);
    if !differs.is_empty() {
        said.push(format!("Unlike what was shown: {}", differs.join("; ")));
    }
    Ok(said)
}

/// Command that films a replay. Its film does not replace a video with the number of the replay.
fn film_command(replay: &Path, view: &ViewState, fps: u32) -> String {
    let film = replay.with_extension("film.mp4");
    let [replay, film] = [replay, &*film].map(|path| quoted(&path.to_string_lossy()));
    let colours = match view.colors {
        CubeColors::Interaction => String::new(),
        colors => format!(" --colour {colors:?}").to_lowercase(),
    };
    let theme = match view.theme {
        Theme::Dark => "",
        Theme::Light => " --theme light",
    };
    format!("cubewire record --replay {replay}{colours}{theme} --fps {fps} --out {film}")
}

/// Differences between the film of a replay of the last `ticks` ticks and the halves in these ticks.
fn differences(script: &Script, ticks: u64, is_after_reset: bool, view: &ViewState) -> Vec<String> {
    let seconds = script.ticks as f64 / f64::from(TICKS_PER_SECOND);
    let has_lane = script.right.is_some();
    let all = [
        (
            is_after_reset,
            "links and baselines start anew at the reset, so other packets are lost".to_owned(),
        ),
        (script.ticks < ticks, format!("it starts {seconds:.1} s ago, with the game")),
        (!has_lane, "a replay has no recorded delays".to_owned()),
        (view.has_turned(), "the camera is not turned".to_owned()),
        (view.mode != ViewMode::Split, "both halves are side by side".to_owned()),
        (view.has_trails, "there are no trails".to_owned()),
    ];
    all.into_iter().filter(|(differs, _)| *differs).map(|(_, how)| how).collect()
}

/// Query parameters of a page with these halves. `None` for a lane without a text form.
pub fn query(left: &PaneContent, right: &LaneSettings) -> Option<String> {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("left", &left.to_text()?);
    query.append_pair("right", &right.to_text()?);
    // Colons and commas are legal in a query, and readable.
    let readable = query.finish().replace("%3A", ":").replace("%2C", ",");
    Some(format!("?{readable}"))
}

fn command(left: &PaneContent, right: &LaneSettings) -> Option<String> {
    let [left, right] = [left.to_text()?, right.to_text()?].map(|text| quoted(&text));
    Some(format!("cubewire --left {left} --right {right}"))
}

fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ":,._-/".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_where_a_shell_needs_it() {
        let right: LaneSettings = "rung:predicted,link:4g".parse().unwrap();
        assert_eq!(
            command(&PaneContent::Simulation, &right).unwrap(),
            format!("cubewire --left simulation --right {}", right.to_text().unwrap())
        );
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_film_of_a_replay_says_where_it_differs() {
        let mut view = ViewState::default();
        (view.colors, view.theme) = (CubeColors::Bits, Theme::Light);
        let command = film_command(Path::new("a b/cubewire-1.ron"), &view, 30);
        let wanted = "cubewire record --replay 'a b/cubewire-1.ron' --colour bits --theme light \
                      --fps 30 --out 'a b/cubewire-1.film.mp4'";
        assert_eq!(command, wanted);
        let right = PaneContent::Lane(LaneSettings::default());
        let script = Script { ticks: 90, right: Some(Box::new(right)), ..Script::default() };
        let usual = ViewState::default();
        assert_eq!(differences(&script, 60, false, &usual), [""; 0]);
        let wanted = [
            "links and baselines start anew at the reset, so other packets are lost",
            "it starts 1.5 s ago, with the game",
        ];
        assert_eq!(differences(&script, 600, true, &usual), wanted);
    }
}
