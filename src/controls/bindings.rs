//! The table of keys.

use bevy::prelude::KeyCode;

use super::Action;

/// Row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Names of the keys, separated by commas.
    pub keys: &'static str,
    /// Short description of the effect.
    pub about: &'static str,
    pub(super) effect: Effect,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// Keys that act while they are held: see [`Keyboard::held`](super::Keyboard::held).
    Hold,
    /// Triggers an action per press, while the panel takes no keyboard input.
    Press(&'static [(Trigger, Action)]),
    /// Triggers an action per press, even while the panel takes keyboard input.
    PressAlways(&'static [(Trigger, Action)]),
    /// egui or the camera handles the keys.
    Elsewhere,
}

/// Key press that triggers an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The key with this lower-case letter, without Ctrl or Command: see [`Letters`](super::Letters).
    Letter(char),
    /// The key at this position, without Ctrl or Command, unless the layout has the character of a control there.
    Key(KeyCode),
    /// A character, at any position of the keyboard layout.
    Character(&'static str),
}

/// All key and mouse controls.
pub const BINDINGS: [Binding; 31] = {
    use Effect::{Elsewhere, Hold, Press, PressAlways};
    use Trigger::{Character, Key, Letter};
    const fn row(keys: &'static str, about: &'static str, effect: Effect) -> Binding {
        Binding { keys, about, effect }
    }
    [
        row("arrow keys", "roll", Hold),
        row("Space", "blow: hover, and push cubes away", Hold),
        row("Z", "katamari: pull cubes in, and roll them along", Hold),
        row("R", "reset", Press(&[(Letter('r'), Action::Reset)])),
        row("P", "pause, resume", Press(&[(Letter('p'), Action::Pause)])),
        row("N", "step one tick", Press(&[(Letter('n'), Action::Step)])),
        row(
            "PageDown, PageUp",
            "next or previous rung of the ladder",
            Press(&[
                (Key(KeyCode::PageDown), Action::NextRung),
                (Key(KeyCode::PageUp), Action::PreviousRung),
            ]),
        ),
        row("1 to 9", "rungs 1 to 9 of the ladder, by position", Press(&FIRST_RUNGS)),
        row(
            "0, -, =, Backspace, [, ], \\",
            "rungs 10 to 16, by position on a US keyboard",
            Press(&OTHER_RUNGS),
        ),
        row(
            "V",
            "show both halves, one of them, or one over the other",
            Press(&[(Letter('v'), Action::NextView)]),
        ),
        row("L", "cut or restore the link", Press(&[(Letter('l'), Action::CutLink)])),
        row(
            "T",
            "trails: where a few cubes were in the last second",
            Press(&[(Letter('t'), Action::Trails)]),
        ),
        row(
            "B",
            "colour the cubes by bits, form, error or wait",
            Press(&[(Letter('b'), Action::CubeColors)]),
        ),
        row(
            "E",
            "draw the errors of replicas 1, 10 or 50 times as large",
            Press(&[(Letter('e'), Action::Exaggerate)]),
        ),
        row(
            "H",
            "timeline of the last minute; while paused, step through it (←, →, comma, full stop)",
            Press(&[(Letter('h'), Action::Timeline)]),
        ),
        row(
            "F1, ?",
            "explain the screen",
            Press(&[(Key(KeyCode::F1), Action::Help), (Character("?"), Action::Help)]),
        ),
        row(
            "F2",
            "the panel: whole, a slim bar, or hidden",
            PressAlways(&[(Key(KeyCode::F2), Action::Panel)]),
        ),
        row(
            "F3",
            "take the tour of the article, or leave it",
            Press(&[(Key(KeyCode::F3), Action::Tour)]),
        ),
        row("F4", "the previous step of the tour", Press(&[(Key(KeyCode::F4), Action::TourBack)])),
        row("F5", "the next step of the tour", Press(&[(Key(KeyCode::F5), Action::TourNext)])),
        row(
            "F9",
            "start or stop recording a replay",
            PressAlways(&[(Key(KeyCode::F9), Action::Replay)]),
        ),
        row(
            "F10",
            "start or stop recording a video of the screen",
            PressAlways(&[(Key(KeyCode::F10), Action::Video)]),
        ),
        row(
            "F11",
            "film the last 10, 30 or 60 seconds (not in a browser)",
            PressAlways(&[(Key(KeyCode::F11), Action::Film)]),
        ),
        row(
            "F12",
            "save a picture of the window",
            PressAlways(&[(Key(KeyCode::F12), Action::Screenshot)]),
        ),
        row(
            "Enter",
            "connect again (in `cubewire view`)",
            Press(&[(Key(KeyCode::Enter), Action::Reconnect)]),
        ),
        row("Ctrl +, Ctrl -, Ctrl 0", "size of text and panel", Elsewhere),
        row(
            "Home",
            "reset the cameras after drag and wheel",
            Press(&[(Key(KeyCode::Home), Action::ResetCamera)]),
        ),
        row("drag", "orbit, both halves together", Elsewhere),
        row("wheel", "zoom", Elsewhere),
        row("Tab", "move the focus through the panel", Elsewhere),
        row(
            "Esc",
            "leave the panel, otherwise the tour",
            Press(&[(Key(KeyCode::Escape), Action::LeaveTour)]),
        ),
    ]
};

const FIRST_RUNGS: [(Trigger, Action); 9] = [
    (Trigger::Key(KeyCode::Digit1), Action::Rung(0)),
    (Trigger::Key(KeyCode::Digit2), Action::Rung(1)),
    (Trigger::Key(KeyCode::Digit3), Action::Rung(2)),
    (Trigger::Key(KeyCode::Digit4), Action::Rung(3)),
    (Trigger::Key(KeyCode::Digit5), Action::Rung(4)),
    (Trigger::Key(KeyCode::Digit6), Action::Rung(5)),
    (Trigger::Key(KeyCode::Digit7), Action::Rung(6)),
    (Trigger::Key(KeyCode::Digit8), Action::Rung(7)),
    (Trigger::Key(KeyCode::Digit9), Action::Rung(8)),
];

const OTHER_RUNGS: [(Trigger, Action); 7] = [
    (Trigger::Key(KeyCode::Digit0), Action::Rung(9)),
    (Trigger::Key(KeyCode::Minus), Action::Rung(10)),
    (Trigger::Key(KeyCode::Equal), Action::Rung(11)),
    (Trigger::Key(KeyCode::Backspace), Action::Rung(12)),
    (Trigger::Key(KeyCode::BracketLeft), Action::Rung(13)),
    (Trigger::Key(KeyCode::BracketRight), Action::Rung(14)),
    (Trigger::Key(KeyCode::Backslash), Action::Rung(15)),
];

/// Name of the key of each rung of the ladder.
pub const RUNG_KEYS: [&str; 16] =
    ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "-", "=", "Bk", "[", "]", "\\"];

impl Binding {
    /// Names of the keys.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.keys.split(", ").collect()
    }

    /// Keys of this row with their actions. Empty if the row has no key presses.
    #[must_use]
    pub const fn presses(&self) -> &'static [(Trigger, Action)] {
        match self.effect {
            Effect::Press(keys) | Effect::PressAlways(keys) => keys,
            Effect::Hold | Effect::Elsewhere => &[],
        }
    }

    pub(super) const fn works_while_typing(&self) -> bool {
        matches!(self.effect, Effect::PressAlways(_))
    }
}

/// Name of the key of an action, which is the first of its row. Empty if other actions are in the same row.
#[must_use]
pub fn key_of(action: Action) -> &'static str {
    let row = BINDINGS.iter().find(|row| {
        let presses = row.presses();
        !presses.is_empty() && presses.iter().all(|(_, other)| *other == action)
    });
    row.and_then(|row| row.keys.split(", ").next()).unwrap_or("")
}

/// The table as aligned lines, for the command line.
#[must_use]
pub fn help() -> String {
    let width = BINDINGS.iter().map(|row| row.keys.len()).max().unwrap_or(0);
    let lines = BINDINGS.map(|Binding { keys, about, .. }| format!("  {keys:width$}  {about}\n"));
    format!("{}{LETTERS}\n", lines.concat())
}

/// Explains the position of letters on other keyboard layouts.
const LETTERS: &str = "Letters are the keys with that label. On a keyboard of another script, such as Russian, they are the keys in that position.";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use cubewire_codec::ladder::LADDER;

    use super::*;

    fn presses() -> impl Iterator<Item = (Trigger, Action)> {
        BINDINGS.iter().flat_map(|row| row.presses().iter().copied())
    }

    #[test]
    fn no_key_is_there_twice_and_every_action_has_one_row() {
        let keys: HashSet<_> = presses().map(|(key, _)| key).collect();
        assert_eq!(keys.len(), presses().count());
        for (_, action) in presses() {
            let rows = BINDINGS.iter().filter(|row| {
                let mut actions = row.presses().iter().map(|(_, action)| *action);
                actions.any(|other| other == action)
            });
            assert_eq!(rows.count(), 1, "{action:?}");
        }
    }

    #[test]
    fn every_rung_has_a_key() {
        for (index, rung) in LADDER.iter().enumerate() {
            let has_key = presses().any(|(_, action)| action == Action::Rung(index));
            assert!(has_key, "{}", rung.name);
        }
        assert!(!presses().any(|(_, action)| action == Action::Rung(LADDER.len())));
        assert_eq!(RUNG_KEYS.len(), LADDER.len());
    }

    #[test]
    fn a_button_can_name_its_key() {
        assert_eq!(key_of(Action::Reset), "R");
        assert_eq!(key_of(Action::Help), "F1");
        assert_eq!(key_of(Action::NextRung), "");
    }
}
