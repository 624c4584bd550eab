//! The key bindings.
//!
//! [`BINDINGS`] is the one table of all keys: for input handling, the panel's list, `--help` and the README.
//! [`ControlsPlugin`] triggers an [`Action`], an event, for each key press; view, panel and recording observe
//! the actions that they handle. Keys that have an effect while they are held are read by [`held`] instead.

use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;
use cubewire_scene::Keys;

/// Something that a key press asks for.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Puts every cube back to its start.
    Reset,
    /// Pauses, or resumes.
    Pause,
    /// Pauses, and steps one tick.
    Step,
    /// Takes the selected lane to the next rung of the ladder.
    RungUp,
    /// Takes it to the rung below.
    RungDown,
    /// Takes it to this rung, counted from 0.
    Rung(usize),
    /// Cuts the link of the selected lane, or restores it.
    CutLink,
    /// Shows the halves in another way.
    NextView,
    /// Shows trails, or hides them.
    Trails,
    /// Shows the panel, or hides it.
    Panel,
    /// Starts to record a replay, or stops.
    Replay,
    /// Starts to record a video, or stops.
    Video,
    /// Connects to the server again.
    Reconnect,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The keys, as people read them.
    pub keys: &'static str,
    /// What they do, in a few words.
    pub about: &'static str,
    effect: Effect,
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    /// Keys that the player holds: see [`held`].
    Hold,
    /// A key press each, while the panel does not take text or keys.
    Press(&'static [(KeyCode, Action)]),
    /// The same, whatever the panel does.
    PressAlways(&'static [(KeyCode, Action)]),
    /// egui or the camera handles them.
    Elsewhere,
}

/// Every key and mouse control.
pub const BINDINGS: [Binding; 19] = {
    use Effect::{Elsewhere, Hold, Press, PressAlways};
    const fn row(keys: &'static str, about: &'static str, effect: Effect) -> Binding {
        Binding {
            keys,
            about,
            effect,
        }
    }
    [
        row("arrow keys", "roll", Hold),
        row("Space", "blow: hover, and push cubes away", Hold),
        row("Z", "katamari: pull cubes in, and roll them along", Hold),
        row("R", "reset", Press(&[(KeyCode::KeyR, Action::Reset)])),
        row(
            "P",
            "pause, resume",
            Press(&[(KeyCode::KeyP, Action::Pause)]),
        ),
        row(
            "N",
            "step one tick",
            Press(&[(KeyCode::KeyN, Action::Step)]),
        ),
        row(
            "PageUp, PageDown",
            "next or previous rung of the ladder",
            Press(&[
                (KeyCode::PageUp, Action::RungUp),
                (KeyCode::PageDown, Action::RungDown),
            ]),
        ),
        row("1 to 9", "rungs 1 to 9 of the ladder", Press(&FIRST_RUNGS)),
        row(
            "0, -, =, Backspace, [, ]",
            "rungs 10 to 15",
            Press(&OTHER_RUNGS),
        ),
        row(
            "V",
            "show both halves, the left, the right, or one over the other",
            Press(&[(KeyCode::KeyV, Action::NextView)]),
        ),
        row(
            "L",
            "cut or restore the link",
            Press(&[(KeyCode::KeyL, Action::CutLink)]),
        ),
        row(
            "T",
            "trails: where a few cubes were in the last second",
            Press(&[(KeyCode::KeyT, Action::Trails)]),
        ),
        row(
            "F1",
            "show or hide the panel",
            PressAlways(&[(KeyCode::F1, Action::Panel)]),
        ),
        row(
            "F9",
            "start or stop recording a replay",
            PressAlways(&[(KeyCode::F9, Action::Replay)]),
        ),
        row(
            "F10",
            "start or stop recording a video of the screen",
            PressAlways(&[(KeyCode::F10, Action::Video)]),
        ),
        row(
            "Enter",
            "connect again (in `cubewire view`)",
            Press(&[(KeyCode::Enter, Action::Reconnect)]),
        ),
        row("drag", "orbit, both halves together", Elsewhere),
        row("wheel", "zoom", Elsewhere),
        row(
            "Tab, Esc",
            "move the focus through the panel; leave the panel",
            Elsewhere,
        ),
    ]
};

const FIRST_RUNGS: [(KeyCode, Action); 9] = [
    (KeyCode::Digit1, Action::Rung(0)),
    (KeyCode::Digit2, Action::Rung(1)),
    (KeyCode::Digit3, Action::Rung(2)),
    (KeyCode::Digit4, Action::Rung(3)),
    (KeyCode::Digit5, Action::Rung(4)),
    (KeyCode::Digit6, Action::Rung(5)),
    (KeyCode::Digit7, Action::Rung(6)),
    (KeyCode::Digit8, Action::Rung(7)),
    (KeyCode::Digit9, Action::Rung(8)),
];

const OTHER_RUNGS: [(KeyCode, Action); 6] = [
    (KeyCode::Digit0, Action::Rung(9)),
    (KeyCode::Minus, Action::Rung(10)),
    (KeyCode::Equal, Action::Rung(11)),
    (KeyCode::Backspace, Action::Rung(12)),
    (KeyCode::BracketLeft, Action::Rung(13)),
    (KeyCode::BracketRight, Action::Rung(14)),
];

impl Binding {
    /// The keys of this row, each with what it asks for; none where nothing is pressed.
    #[must_use]
    pub const fn presses(&self) -> &'static [(KeyCode, Action)] {
        match self.effect {
            Effect::Press(keys) | Effect::PressAlways(keys) => keys,
            Effect::Hold | Effect::Elsewhere => &[],
        }
    }

    const fn works_while_typing(&self) -> bool {
        matches!(self.effect, Effect::PressAlways(_))
    }
}

/// The table as aligned lines, for the command line.
#[must_use]
pub fn help() -> String {
    let width = BINDINGS.iter().map(|row| row.keys.len()).max().unwrap_or(0);
    let lines = BINDINGS.map(|Binding { keys, about, .. }| format!("  {keys:width$}  {about}\n"));
    lines.concat()
}

/// When keys are read, in [`RunFixedMainLoop`], before the ticks of a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControlsSystems;

/// Triggers the [`Action`] of each key that is pressed.
#[derive(Debug)]
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            RunFixedMainLoop,
            press
                .in_set(ControlsSystems)
                .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
        );
    }
}

fn press(
    keys: Res<ButtonInput<KeyCode>>,
    egui: Option<Res<EguiWantsInput>>,
    mut commands: Commands,
) {
    let is_typing = egui.is_some_and(|egui| egui.wants_any_keyboard_input());
    for binding in &BINDINGS {
        if is_typing && !binding.works_while_typing() {
            continue;
        }
        for &(key, action) in binding.presses() {
            if keys.just_pressed(key) {
                commands.trigger(action);
            }
        }
    }
}

/// What the player holds down; nothing while the panel takes keys.
#[must_use]
pub fn held(keys: &ButtonInput<KeyCode>, egui: Option<&EguiWantsInput>) -> Keys {
    if egui.is_some_and(EguiWantsInput::wants_any_keyboard_input) {
        return Keys::default();
    }
    // A key that was tapped between two frames counts as held for one.
    let holds = |key| keys.pressed(key) || keys.just_pressed(key);
    Keys {
        left: holds(KeyCode::ArrowLeft),
        right: holds(KeyCode::ArrowRight),
        up: holds(KeyCode::ArrowUp),
        down: holds(KeyCode::ArrowDown),
        blow: holds(KeyCode::Space),
        gather: holds(KeyCode::KeyZ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use cubewire_codec::ladder::LADDER;

    use super::*;

    fn presses() -> impl Iterator<Item = (KeyCode, Action)> {
        BINDINGS
            .iter()
            .flat_map(|row| row.presses().iter().copied())
    }

    #[test]
    fn no_key_and_no_action_is_there_twice() {
        let keys: HashSet<_> = presses().map(|(key, _)| key).collect();
        let actions: HashSet<_> = presses().map(|(_, action)| action).collect();
        assert_eq!(keys.len(), presses().count());
        assert_eq!(actions.len(), presses().count());
    }

    #[test]
    fn every_rung_has_a_key() {
        for (place, rung) in LADDER.iter().enumerate() {
            let has_key = presses().any(|(_, action)| action == Action::Rung(place));
            assert!(has_key, "{}", rung.name);
        }
        assert!(!presses().any(|(_, action)| action == Action::Rung(LADDER.len())));
    }
}
