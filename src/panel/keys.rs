//! The keys that the panel listens to, and the list of all keys.

use bevy::prelude::*;
use bevy_egui::egui;
use bevy_egui::input::EguiWantsInput;
use cubewire_codec::ladder::LADDER;

use super::PanelState;
use super::ladder::{Step, place, step};
use crate::replication::{LaneSettings, Selected};
use crate::view::Trails;

/// F1 shows and hides the panel, whoever has the keyboard; the other keys work for the shown
/// lane, unless egui wants the keyboard.
pub(super) fn press(
    keys: Res<ButtonInput<KeyCode>>,
    wants: Option<Res<EguiWantsInput>>,
    mut state: ResMut<PanelState>,
    mut trails: Option<ResMut<Trails>>,
    lane: Option<Single<&mut LaneSettings, With<Selected>>>,
) {
    if keys.just_pressed(KeyCode::F1) {
        state.visible = !state.visible;
    }
    let Some(mut settings) = lane.map(Single::into_inner) else {
        return;
    };
    if wants.is_none_or(|egui| !egui.wants_any_keyboard_input()) {
        if keys.just_pressed(KeyCode::KeyT)
            && let Some(trails) = &mut trails
        {
            trails.shown = !trails.shown;
        }
        if keys.just_pressed(KeyCode::KeyL) {
            settings.link.cut = !settings.link.cut;
        }
        if let Some(rung) = chosen(&keys, place(settings.stages), state.last_rung) {
            let stages = LADDER[rung].stages;
            if settings.stages != stages {
                settings.stages = stages;
            }
        }
    }
    if let Some(rung) = place(settings.stages)
        && rung != state.last_rung
    {
        state.last_rung = rung;
    }
}

pub(super) fn draw(ui: &mut egui::Ui) {
    egui::Grid::new("keys").num_columns(2).show(ui, |ui| {
        for (keys, what) in KEYS {
            ui.monospace(keys);
            ui.label(what);
            ui.end_row();
        }
    });
}

/// The place on the ladder that a key pressed just now asks for.
fn chosen(keys: &ButtonInput<KeyCode>, current: Option<usize>, last_rung: usize) -> Option<usize> {
    if keys.just_pressed(KeyCode::PageUp) {
        return Some(step(current, last_rung, Step::Up));
    }
    if keys.just_pressed(KeyCode::PageDown) {
        return Some(step(current, last_rung, Step::Down));
    }
    RUNG_KEYS.into_iter().position(|key| keys.just_pressed(key))
}

/// One for each rung, in the order of the number row and the end of the one below.
const RUNG_KEYS: [KeyCode; LADDER.len()] = [
    KeyCode::Digit1,
    KeyCode::Digit2,
    KeyCode::Digit3,
    KeyCode::Digit4,
    KeyCode::Digit5,
    KeyCode::Digit6,
    KeyCode::Digit7,
    KeyCode::Digit8,
    KeyCode::Digit9,
    KeyCode::Digit0,
    KeyCode::Minus,
    KeyCode::Equal,
    KeyCode::Backspace,
    KeyCode::BracketLeft,
    KeyCode::BracketRight,
];

const KEYS: [(&str, &str); 20] = [
    ("arrows", "roll"),
    ("Space", "blow"),
    ("Z", "katamari"),
    ("R", "reset"),
    ("P", "pause"),
    ("N", "one tick"),
    ("V", "view"),
    ("T", "trails"),
    ("F1", "show or hide the panel"),
    ("F9", "write down a replay: start, stop"),
    ("F10", "record what is seen: start, stop"),
    ("PageUp", "climb to the next rung"),
    ("PageDown", "back down a rung"),
    ("1 … 9", "rungs 1 to 9"),
    ("0 - = Backspace [ ]", "rungs 10 to 15"),
    ("L", "cut the link"),
    ("mouse drag", "orbit"),
    ("wheel", "zoom"),
    ("Tab", "walk through the panel"),
    ("Esc", "give the keys back to the game"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn app() -> (App, Entity) {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, super::super::PanelPlugin::default()))
            .init_resource::<ButtonInput<KeyCode>>();
        let lane = app
            .world_mut()
            .spawn((LaneSettings::default(), Selected))
            .id();
        (app, lane)
    }

    fn tap(app: &mut App, key: KeyCode) {
        let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
        keys.reset_all();
        keys.press(key);
        app.update();
    }

    fn settings(app: &App, lane: Entity) -> LaneSettings {
        app.world().get::<LaneSettings>(lane).unwrap().clone()
    }

    #[test]
    fn every_rung_has_a_key() {
        let (mut app, lane) = app();
        for (rung, key) in LADDER.iter().zip(RUNG_KEYS) {
            tap(&mut app, key);
            assert_eq!(settings(&app, lane).stages, rung.stages, "{}", rung.name);
        }
    }

    #[test]
    fn page_keys_climb_and_descend() {
        let (mut app, lane) = app();
        tap(&mut app, KeyCode::Digit3);
        tap(&mut app, KeyCode::PageUp);
        assert_eq!(settings(&app, lane).stages, LADDER[3].stages);
        tap(&mut app, KeyCode::PageDown);
        tap(&mut app, KeyCode::PageDown);
        assert_eq!(settings(&app, lane).stages, LADDER[1].stages);
        assert_eq!(app.world().resource::<PanelState>().last_rung, 1);
    }

    #[test]
    fn l_cuts_the_link_and_f1_hides_the_panel() {
        let (mut app, lane) = app();
        tap(&mut app, KeyCode::KeyL);
        assert!(settings(&app, lane).link.cut);
        tap(&mut app, KeyCode::KeyL);
        assert!(!settings(&app, lane).link.cut);
        tap(&mut app, KeyCode::F1);
        assert!(!app.world().resource::<PanelState>().visible);
    }
}
