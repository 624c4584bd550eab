//! The table of keys.

use bevy::prelude::KeyCode;

use super::Action;

#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Names of the keys, separated by commas.
    pub keys: &'static str,
    pub about: &'static str,
    presses: Presses,
    /// Whether the presses act even while the panel takes keyboard input.
    pub(super) works_while_typing: bool,
}

#[derive(Clone, Copy, Debug)]
enum Presses {
    /// The keys act while they are held (see [`Keyboard::held`](super::Keyboard::held)), or egui or the camera handles
    /// them.
    None,
    One([(Trigger, Action); 1]),
    Many(&'static [(Trigger, Action)]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The key with this lower-case letter, without Ctrl or Command: see [`Letters`](super::Letters).
    Letter(char),
    /// The key at this position, without Ctrl or Command, unless the layout has the character of a control there.
    Key(KeyCode),
    /// A character, at any position of the keyboard layout.
    Character(&'static str),
}

const fn row(keys: &'static str, about: &'static str, presses: Presses) -> Binding {
    Binding { keys, about, presses, works_while_typing: false }
}

const fn other(keys: &'static str, about: &'static str) -> Binding {
    row(keys, about, Presses::None)
}

const fn letter(letter: char, action: Action, keys: &'static str, about: &'static str) -> Binding {
    row(keys, about, Presses::One([(Trigger::Letter(letter), action)]))
}

const fn key(key: KeyCode, action: Action, keys: &'static str, about: &'static str) -> Binding {
    row(keys, about, Presses::One([(Trigger::Key(key), action)]))
}

const fn keys(
    presses: &'static [(Trigger, Action)],
    keys: &'static str,
    about: &'static str,
) -> Binding {
    row(keys, about, Presses::Many(presses))
}

pub const BINDINGS: [Binding; 31] = [
    other("arrow keys", "roll"),
    other("Space", "blow: hover, and push cubes away"),
    other("Z", "katamari: pull cubes in, and roll them along"),
    letter('r', Action::Reset, "R", "reset"),
    letter('p', Action::Pause, "P", "pause, resume"),
    letter('n', Action::Step, "N", "step one tick"),
    keys(&NEIGHBOURS, "PageDown, PageUp", "next or previous rung of the ladder"),
    keys(&FIRST_RUNGS, "1 to 9", "rungs 1 to 9 of the ladder, by position"),
    keys(
        &OTHER_RUNGS,
        "0, -, =, Backspace, [, ], \\",
        "rungs 10 to 16, by position on a US keyboard",
    ),
    letter('v', Action::NextView, "V", "show both halves, one of them, or one over the other"),
    letter('l', Action::CutLink, "L", "cut or restore the link"),
    letter('t', Action::Trails, "T", "trails: where a few cubes were in the last second"),
    letter('b', Action::CubeColors, "B", "colour the cubes by bits, form, error or wait"),
    letter('e', Action::Exaggerate, "E", "draw the errors of replicas 1, 10 or 50 times as large"),
    letter(
        'h',
        Action::Timeline,
        "H",
        "timeline of the last minute; while paused, step through it (←, →, comma, full stop)",
    ),
    keys(&HELP, "F1, ?", "explain the screen"),
    key(KeyCode::F2, Action::Panel, "F2", "the panel: whole, a slim bar, or hidden").always(),
    key(KeyCode::F3, Action::Tour, "F3", "take the tour of the article, or leave it"),
    key(KeyCode::F4, Action::TourBack, "F4", "the previous step of the tour"),
    key(KeyCode::F5, Action::TourNext, "F5", "the next step of the tour"),
    key(KeyCode::F9, Action::Replay, "F9", "start or stop recording a replay").always(),
    key(KeyCode::F10, Action::Video, "F10", "start or stop recording a video of the screen")
        .always(),
    key(KeyCode::F11, Action::Film, "F11", "film the last 10, 30 or 60 seconds (not in a browser)")
        .always(),
    key(KeyCode::F12, Action::Screenshot, "F12", "save a picture of the window").always(),
    key(KeyCode::Enter, Action::Reconnect, "Enter", "connect again (in `cubewire view`)"),
    other("Ctrl +, Ctrl -, Ctrl 0", "size of text and panel"),
    key(KeyCode::Home, Action::ResetCamera, "Home", "reset the cameras after drag and wheel"),
    other("drag", "orbit, both halves together"),
    other("wheel", "zoom"),
    other("Tab", "move the focus through the panel"),
    key(KeyCode::Escape, Action::LeaveTour, "Esc", "leave the panel, otherwise the tour"),
];

const NEIGHBOURS: [(Trigger, Action); 2] = [
    (Trigger::Key(KeyCode::PageDown), Action::NextRung),
    (Trigger::Key(KeyCode::PageUp), Action::PreviousRung),
];

const HELP: [(Trigger, Action); 2] =
    [(Trigger::Key(KeyCode::F1), Action::Help), (Trigger::Character("?"), Action::Help)];

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

pub const RUNG_KEYS: [&str; 16] =
    ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "-", "=", "Bk", "[", "]", "\\"];

impl Binding {
    pub fn names(&self) -> Vec<&'static str> {
        self.keys.split(", ").collect()
    }

    /// Keys of this row with their actions. Empty if the row has no key presses.
    pub const fn presses(&self) -> &[(Trigger, Action)] {
        match &self.presses {
            Presses::None => &[],
            Presses::One(press) => press,
            Presses::Many(presses) => presses,
        }
    }

    const fn always(self) -> Self {
        Self { works_while_typing: true, ..self }
    }
}

/// Name of the key of an action, which is the first of its row. Empty if other actions are in the same row.
pub fn key_of(action: Action) -> &'static str {
    let row = BINDINGS.iter().find(|row| {
        let presses = row.presses();
        !presses.is_empty() && presses.iter().all(|(_, other)| *other == action)
    });
    row.and_then(|row| row.keys.split(", ").next()).unwrap_or("")
}

/// The table as aligned lines, for the command line.
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
