//! The table of keys.

use bevy::prelude::KeyCode;

use super::Action;
use Trigger::{Character, Key, Letter};

#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Names of the keys, separated by commas.
    pub keys: &'static str,
    pub about: &'static str,
    /// Empty if the keys act while they are held (see [`Keyboard::held`](super::Keyboard::held)), or if egui or the camera
    /// handles them.
    pub presses: &'static [(Trigger, Action)],
    /// Whether the presses act even while the panel takes keyboard input.
    pub(super) works_while_typing: bool,
    in_viewer: InViewer,
}

/// What the keys do in `cubewire view`, which has no simulation.
#[derive(Clone, Copy, Debug)]
enum InViewer {
    Same,
    Less(&'static str),
    Nothing,
    /// They do nothing elsewhere.
    Only,
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

const fn row(
    keys: &'static str,
    about: &'static str,
    presses: &'static [(Trigger, Action)],
) -> Binding {
    Binding { keys, about, presses, works_while_typing: false, in_viewer: InViewer::Same }
}

pub const BINDINGS: [Binding; 30] = [
    row("arrow keys", "roll", &[]),
    row("Space", "blow: hover, and push cubes away", &[]),
    row("Z", "katamari: pull cubes in, and roll them along", &[]),
    row("R", "reset", &[(Letter('r'), Action::Reset)]).in_game(),
    row("P", "pause, resume", &[(Letter('p'), Action::Pause)]).in_game(),
    row("N", "step one tick", &[(Letter('n'), Action::Step)]).in_game(),
    row(
        "PageDown, PageUp",
        "next or previous rung of the ladder",
        &[(Key(KeyCode::PageDown), Action::NextRung), (Key(KeyCode::PageUp), Action::PreviousRung)],
    ),
    row("1 to 9", "rungs 1 to 9 of the ladder, by position", &FIRST_RUNGS),
    row(
        "0, -, =, Backspace, [, ], \\",
        "rungs 10 to 16, by position on a US keyboard",
        &OTHER_RUNGS,
    ),
    row(
        "V",
        "show both halves, one of them, or one over the other",
        &[(Letter('v'), Action::NextView)],
    )
    .in_game(),
    row("L", "cut or restore the link", &[(Letter('l'), Action::CutLink)]),
    row("T", "trails: where a few cubes were in the last second", &[(Letter('t'), Action::Trails)]),
    row("B", "colour the cubes by bits, form, error or wait", &[(Letter('b'), Action::CubeColors)])
        .in_viewer("colour the cubes by bits or form"),
    row(
        "E",
        "draw the errors of replicas 1, 10 or 50 times as large",
        &[(Letter('e'), Action::Exaggerate)],
    )
    .in_game(),
    row(
        "H",
        "timeline of the last minute; while paused, step through it (←, →, comma, full stop)",
        &[(Letter('h'), Action::Timeline)],
    )
    .in_viewer(
        "timeline of the last minute; in the past, step through it (←, →, comma, full stop)",
    ),
    row(
        "F1, ?",
        "explain the screen",
        &[(Key(KeyCode::F1), Action::Help), (Character("?"), Action::Help)],
    ),
    row("F2", "the panel: whole, a slim bar, or hidden", &[(Key(KeyCode::F2), Action::Panel)])
        .always(),
    row("F3", "take the tour of the article, or leave it", &[(Key(KeyCode::F3), Action::Tour)])
        .in_game(),
    row("F4", "the previous step of the tour", &[(Key(KeyCode::F4), Action::TourBack)]).in_game(),
    row("F5", "the next step of the tour", &[(Key(KeyCode::F5), Action::TourNext)]).in_game(),
    row("F9", "start or stop recording a replay", &[(Key(KeyCode::F9), Action::Replay)])
        .always()
        .in_game(),
    row(
        "F11",
        "film the last 10, 30 or 60 seconds (not in a browser)",
        &[(Key(KeyCode::F11), Action::Film)],
    )
    .always(),
    row("F12", "save a picture of the window", &[(Key(KeyCode::F12), Action::Screenshot)]).always(),
    row("Enter", "connect again (in `cubewire view`)", &[(Key(KeyCode::Enter), Action::Reconnect)])
        .only_in_viewer(),
    row("Ctrl +, Ctrl -, Ctrl 0", "size of text and panel", &[]),
    row(
        "Home",
        "reset the cameras after drag and wheel",
        &[(Key(KeyCode::Home), Action::ResetCamera)],
    ),
    row("drag", "orbit, both halves together", &[]).in_viewer("orbit"),
    row("wheel", "zoom", &[]),
    row("Tab", "move the focus through the panel", &[]),
    row("Esc", "leave the panel, otherwise the tour", &[(Key(KeyCode::Escape), Action::LeaveTour)])
        .in_viewer("leave the panel, otherwise the past"),
];

const FIRST_RUNGS: [(Trigger, Action); 9] = [
    (Key(KeyCode::Digit1), Action::Rung(0)),
    (Key(KeyCode::Digit2), Action::Rung(1)),
    (Key(KeyCode::Digit3), Action::Rung(2)),
    (Key(KeyCode::Digit4), Action::Rung(3)),
    (Key(KeyCode::Digit5), Action::Rung(4)),
    (Key(KeyCode::Digit6), Action::Rung(5)),
    (Key(KeyCode::Digit7), Action::Rung(6)),
    (Key(KeyCode::Digit8), Action::Rung(7)),
    (Key(KeyCode::Digit9), Action::Rung(8)),
];

const OTHER_RUNGS: [(Trigger, Action); 7] = [
    (Key(KeyCode::Digit0), Action::Rung(9)),
    (Key(KeyCode::Minus), Action::Rung(10)),
    (Key(KeyCode::Equal), Action::Rung(11)),
    (Key(KeyCode::Backspace), Action::Rung(12)),
    (Key(KeyCode::BracketLeft), Action::Rung(13)),
    (Key(KeyCode::BracketRight), Action::Rung(14)),
    (Key(KeyCode::Backslash), Action::Rung(15)),
];

pub const RUNG_KEYS: [&str; 16] =
    ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "-", "=", "Backspace", "[", "]", "\\"];

impl Binding {
    pub fn names(&self) -> Vec<&'static str> {
        self.keys.split(", ").collect()
    }

    /// Description of the keys in a window with the game or in a viewer. `None` if they have no effect there.
    pub const fn about_in(&self, has_game: bool) -> Option<&'static str> {
        match (has_game, self.in_viewer) {
            (true, InViewer::Only) | (false, InViewer::Nothing) => None,
            (false, InViewer::Less(about)) => Some(about),
            _ => Some(self.about),
        }
    }

    const fn always(self) -> Self {
        Self { works_while_typing: true, ..self }
    }

    const fn in_game(self) -> Self {
        Self { in_viewer: InViewer::Nothing, ..self }
    }

    const fn only_in_viewer(self) -> Self {
        Self { in_viewer: InViewer::Only, ..self }
    }

    const fn in_viewer(self, about: &'static str) -> Self {
        Self { in_viewer: InViewer::Less(about), ..self }
    }
}

/// Whether an action does something, in a window with the game or in a viewer.
pub fn works(action: Action, has_game: bool) -> bool {
    // These have no keys, and need the game's inputs or its whole state.
    let needs_game = matches!(action, Action::CopyLink | Action::CopyFilm(_));
    let mut rows = BINDINGS.iter();
    let row = rows.find(|row| row.presses.iter().any(|(_, other)| *other == action));
    (has_game || !needs_game) && row.is_none_or(|row| row.about_in(has_game).is_some())
}

/// Name of the key of an action, which is the first of its row. Empty if other actions are in the same row.
pub fn key_of(action: Action) -> &'static str {
    let row = BINDINGS.iter().find(|row| {
        !row.presses.is_empty() && row.presses.iter().all(|(_, other)| *other == action)
    });
    row.and_then(|row| row.keys.split(", ").next()).unwrap_or("")
}

/// The table as aligned lines, for the command line.
pub fn help(has_game: bool) -> String {
    let width = BINDINGS.iter().map(|row| row.keys.len()).max().unwrap_or(0);
    let rows = BINDINGS.iter().filter_map(|row| Some((row.keys, row.about_in(has_game)?)));
    let lines = rows.map(|(keys, about)| format!("  {keys:width$}  {about}\n"));
    format!("{}{LETTERS}\n", lines.collect::<String>())
}

/// Explains the position of letters on other keyboard layouts.
const LETTERS: &str = "Letters are the keys with that label. On a keyboard of another script, such as Russian, they are the keys in that position.";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use cubewire_codec::ladder::LADDER;

    use super::*;

    fn presses() -> impl Iterator<Item = (Trigger, Action)> {
        BINDINGS.iter().flat_map(|row| row.presses.iter().copied())
    }

    #[test]
    fn no_key_is_there_twice_and_every_action_has_one_row() {
        let keys: HashSet<_> = presses().map(|(key, _)| key).collect();
        assert_eq!(keys.len(), presses().count());
        for (_, action) in presses() {
            let rows = BINDINGS.iter().filter(|row| {
                let mut actions = row.presses.iter().map(|(_, action)| *action);
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
    fn a_viewer_has_no_keys_of_the_game_and_its_actions_agree() {
        let about = |keys: &str, has_game| {
            BINDINGS.iter().find(|row| row.keys == keys).unwrap().about_in(has_game)
        };
        for keys in ["R", "P", "V", "E", "F3", "F9"] {
            assert!(about(keys, true).is_some() && about(keys, false).is_none(), "{keys}");
        }
        assert_eq!((about("Enter", true), about("L", true)), (None, about("L", false)));
        assert_ne!(about("B", true), about("B", false));
        for (action, in_viewer) in [
            (Action::Pause, false),
            (Action::CopyLink, false),
            (Action::CutLink, true),
            (Action::SaveCsv, true),
        ] {
            assert!(works(action, true));
            assert_eq!(works(action, false), in_viewer, "{action:?}");
        }
        assert!(!works(Action::Reconnect, true));
        assert!(!help(false).contains("tour") && help(false).contains("connect again"));
        assert!(help(true).contains("tour") && !help(true).contains("connect again"));
    }

    #[test]
    fn a_button_can_name_its_key() {
        assert_eq!(key_of(Action::Reset), "R");
        assert_eq!(key_of(Action::Help), "F1");
        assert_eq!(key_of(Action::NextRung), "");
    }
}
