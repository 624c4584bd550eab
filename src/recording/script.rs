//! Scripts: held keys by tick, as RON files. A replay is a script that was recorded during play.
//!
//! ```ron
//! (
//!     ticks: 240, // length of four seconds, then the script repeats
//!     about: "rolling to the right", // for the title card of a film; optional
//!     right: "rung:uncompressed", // initial content of the right half; optional
//!     steps: [
//!         (at: 60, hold: [Right]),
//!         (at: 120, hold: [Right, Gather], right: "rung:delta"),
//!         (at: 180, hold: []),
//!     ],
//! )
//! ```

mod file;

use std::array;
use std::collections::BTreeMap;

use cubewire_scene::{Keys, MAX_PLAYERS, TICKS_PER_SECOND};
use serde::{Deserialize, Serialize};

use super::switch::MAX_SECONDS;
use crate::view::{PaneContent, Side};

pub(super) use file::FORMAT;
pub use file::ScriptError;

/// Number of ticks between two recorded hashes.
pub(super) const HASH_EVERY: u64 = 10 * TICKS_PER_SECOND as u64;

/// Maximum length of a script in ticks: one day.
pub(super) const MAX_TICKS: u64 = MAX_SECONDS as u64 * TICKS_PER_SECOND as u64;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Length in ticks, after which the script repeats. From 1 to the ticks of a day in a file. 0 in the default, which
    /// holds no keys.
    pub ticks: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub about: Option<String>,
    /// Number of players, 1 to [`MAX_PLAYERS`]. Default: 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub players: Option<u8>,
    /// Lead-in: ticks at the start that precede the recording. They are played, but not shown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lead_in: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub left: Option<Box<PaneContent>>,
    /// Initial content of the right half, a lane.
    #[serde(default, skip_serializing_if = "is_default")]
    pub right: Option<Box<PaneContent>>,
    #[serde(deserialize_with = "file::steps")]
    pub steps: Vec<Step>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub recorded: Option<Recorded>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    pub format: u32,
    pub cubewire: String,
    /// Version of the physics engine, build profile and platform.
    pub build: String,
    /// Running hash of all states after every 600 ticks, and after the last tick.
    #[serde(deserialize_with = "file::states")]
    pub states: Vec<u64>,
    /// CRC-32 of the replay as RON without spaces, with 0 in this field.
    pub checksum: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub at: u64,
    /// Keys held from this tick until another step changes them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hold: Option<Vec<Key>>,
    /// Keys of further players, by their number from 2 on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub others: BTreeMap<u8, Vec<Key>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub reset: bool,
    /// Whether the physics engine's sets are [rebuilt](crate::simulation::RebuildSimulation), because a viewer needed
    /// their state.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rebuild: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub left: Option<Box<PaneContent>>,
    /// Content of the right half from this tick on, a lane.
    #[serde(default, skip_serializing_if = "is_default")]
    pub right: Option<Box<PaneContent>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Key {
    Left,
    Right,
    Up,
    Down,
    Blow,
    /// Z: katamari.
    Gather,
}

type Flag = fn(&mut Keys) -> &mut bool;

/// The flag of each key in [`Keys`].
const FLAGS: [(Key, Flag); 6] = [
    (Key::Left, |keys| &mut keys.left),
    (Key::Right, |keys| &mut keys.right),
    (Key::Up, |keys| &mut keys.up),
    (Key::Down, |keys| &mut keys.down),
    (Key::Blow, |keys| &mut keys.blow),
    (Key::Gather, |keys| &mut keys.gather),
];

impl Key {
    pub(super) fn of(mut held: Keys) -> Vec<Self> {
        FLAGS.into_iter().filter(|(_, flag)| *flag(&mut held)).map(|(key, _)| key).collect()
    }
}

impl Step {
    /// The keys that a player holds from this step on, if they change.
    fn keys_of(&self, player: usize) -> Option<&[Key]> {
        match player {
            0 => self.hold.as_deref(),
            _ => self.others.get(&(player as u8 + 1)).map(Vec::as_slice),
        }
    }

    pub(super) fn hold(&mut self, player: usize, held: Keys) {
        match player {
            0 => self.hold = Some(Key::of(held)),
            _ => drop(self.others.insert(player as u8 + 1, Key::of(held))),
        }
    }
}

impl Script {
    pub fn players(&self) -> usize {
        self.players.unwrap_or(1).into()
    }

    /// The keys of each player.
    pub fn keys_at(&self, tick: u64) -> [Keys; MAX_PLAYERS] {
        let after = self.steps.partition_point(|step| step.at <= tick);
        array::from_fn(|player| {
            let mut keys = Keys::default();
            if player < self.players() {
                let mut before = self.steps[..after].iter().rev();
                let held = before.find_map(|step| step.keys_of(player)).unwrap_or(&[]);
                for (key, flag) in FLAGS {
                    *flag(&mut keys) = held.contains(&key);
                }
            }
            keys
        })
    }

    /// Adds a player with the keys of another script, which are all released where that one ends.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        let player = self.players() as u8 + 1;
        let ends = other.ticks < self.ticks;
        let released = ends.then(|| (other.ticks, vec![]));
        let holds = other.steps.iter().filter_map(|step| Some((step.at, step.hold.clone()?)));
        let holds: BTreeMap<_, _> = holds.chain(released).collect();
        let own = self.steps.into_iter().map(|step| (step.at, step));
        let mut steps: BTreeMap<_, _> = own.collect();
        for (at, keys) in holds {
            let step = steps.entry(at).or_insert(Step { at, ..Step::default() });
            step.others.insert(player, keys);
        }
        if self.ticks < other.ticks {
            let end = steps.entry(self.ticks).or_insert(Step { at: self.ticks, ..Step::default() });
            end.hold = Some(vec![]);
            end.others.extend((2..player).map(|player| (player, vec![])));
        }
        let ticks = self.ticks.max(other.ticks);
        Self { ticks, players: Some(player), steps: steps.into_values().collect(), ..self }
    }

    pub fn content_at(&self, tick: u64, side: Side) -> Option<&PaneContent> {
        let step = self.step_at(tick)?;
        [&step.left, &step.right][side as usize].as_deref()
    }

    pub fn content_at_start(&self, side: Side) -> Option<&PaneContent> {
        [&self.left, &self.right][side as usize].as_deref()
    }

    pub fn step_at(&self, tick: u64) -> Option<&Step> {
        let step = self.steps.binary_search_by_key(&tick, |step| step.at);
        Some(&self.steps[step.ok()?])
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn parse(text: &str) -> Result<Script, String> {
        Script::parse(text, Path::new("a.ron")).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_are_held_from_their_step_until_the_next_and_a_reset_happens_once() {
        let text =
            "(ticks: 9, steps: [(at: 2, hold: [Right, Blow], reset: true), (at: 5, hold: [])])";
        let script = parse(text).unwrap();
        let keys = Keys { right: true, blow: true, ..Keys::default() };
        for (tick, held, resets) in [
            (1, Keys::default(), false),
            (2, keys, true),
            (4, keys, false),
            (5, Keys::default(), false),
        ] {
            let is_reset = script.step_at(tick).is_some_and(|step| step.reset);
            assert_eq!((script.keys_at(tick)[0], is_reset), (held, resets), "{tick}");
        }
    }

    #[test]
    fn scripts_of_several_players_are_one_script() {
        let script = |ticks, key, at: [u64; 2]| {
            let steps = format!("(at: {}, hold: [{key}]), (at: {}, hold: [])", at[0], at[1]);
            parse(&format!("(ticks: {ticks}, steps: [{steps}])")).unwrap()
        };
        let all = script(9, "Left", [2, 8]);
        let all = all.and(&script(5, "Up", [2, 4])).and(&script(20, "Blow", [8, 12]));
        assert_eq!((all.players(), all.ticks), (3, 20));
        let wanted = |tick: u64| {
            let none = Keys::default();
            let held = |is, keys: Keys| if is { keys } else { none };
            [
                held((2..8).contains(&tick), Keys { left: true, ..none }),
                held((2..4).contains(&tick), Keys { up: true, ..none }),
                held((8..12).contains(&tick), Keys { blow: true, ..none }),
                none,
            ]
        };
        let read = parse(&ron::to_string(&all).unwrap()).unwrap();
        for script in [&all, &read] {
            assert!((0..20).all(|tick| script.keys_at(tick) == wanted(tick)));
        }
        for (text, wanted) in [
            ("(ticks: 9, players: 5, steps: [])", "a.ron: players must be 1 to 4, not 5"),
            ("(ticks: 9, players: 0, steps: [])", "a.ron: players must be 1 to 4, not 0"),
            (
                "(ticks: 9, players: 2, steps: [(at: 1), (at: 2, others: {3: []})])",
                "a.ron: step 2: player 3 of 2",
            ),
            ("(ticks: 9, steps: [(at: 1, others: {2: []})])", "a.ron: step 1: player 2 of 1"),
            (
                "(ticks: 9, players: 2, steps: [(at: 1, others: {1: []})])",
                "a.ron: step 1: the keys of player 1 are not in `others` but in `hold`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), wanted);
        }
    }

    #[test]
    fn files_that_are_no_scripts_are_told_from_scripts_with_mistakes() {
        for text in ["# Read me", "", "ticks = 9", "{\"ticks\": 9}", "// (", "/* ( */"] {
            let error = parse(text).unwrap_err();
            let wanted = ": not a script or a replay, which are RON files, for example \
                          `(ticks: 240, steps: [(at: 60, hold: [Right])])`";
            assert!(error.starts_with("a.ron:1:") && error.ends_with(wanted), "{error}");
        }
        let script = "/* a */ // b\n Script(ticks: 9, steps: [])";
        assert_eq!(parse(script).unwrap().ticks, 9);
        let attribute = "#![enable(implicit_some)]\n(ticks: 9, steps: [])";
        assert_eq!(parse(attribute).unwrap().ticks, 9);
        assert!(parse("(tick: 9)").unwrap_err().starts_with("a.ron:1:"));
    }

    #[test]
    fn a_replay_has_a_hash_for_every_ten_seconds_and_for_its_end() {
        for (ticks, wanted) in [(1, 1), (600, 1), (601, 2), (1_300, 3)] {
            for found in 0..5 {
                let mut script = Script { ticks, ..Script::default() };
                let mut recorded =
                    Recorded { format: FORMAT, states: vec![9; found], ..Recorded::default() };
                script.recorded = Some(recorded.clone());
                recorded.checksum = script.checksum();
                script.recorded = Some(recorded);
                let read = parse(&ron::to_string(&script).unwrap());
                if found == wanted {
                    assert_eq!(read, Ok(script));
                } else {
                    let error = format!(
                        "a.ron: states: {found} hashes, but a replay of {ticks} ticks has {wanted}"
                    );
                    assert_eq!(read, Err(error));
                }
            }
        }
    }

    #[test]
    fn nothing_is_read_after_the_first_step_that_is_out_of_order() {
        let rest = "(at: 1), ".repeat(1000);
        for end in ["])", "((((", "no step"] {
            let text = format!("(ticks: 9, steps: [(at: 5), {rest}{end}");
            let error = parse(&text).unwrap_err();
            assert_eq!(error, "a.ron: step 2: tick 1 does not come after tick 5");
        }
        let states = "0, ".repeat(10_000);
        let text = format!("(ticks: 9, steps: [], recorded: (states: [{states} no number");
        assert_eq!(parse(&text).unwrap_err(), "a.ron: states: more than 8640 hashes");
    }

    #[test]
    fn a_message_about_a_long_text_is_short() {
        for mark in [",", "+", "/", ":", "=", "(", "a", "é", "0"] {
            for start in ["", "rung:", "link:", "link:loss=", "stages:"] {
                let lane = format!("{start}{}", mark.repeat(1 << 20));
                let text = format!("(ticks: 9, steps: [], right: \"{lane}\")");
                // A loss with any number of zeros is legal.
                if let Err(error) = parse(&text) {
                    assert!(error.len() < 2000, "{} bytes: {mark}", error.len());
                }
            }
        }
        for deep in ["(", "[", "{", "Some(", "/*"] {
            assert!(parse(&deep.repeat(1 << 20)).is_err());
            assert!(parse(&format!("(ticks: 9, steps: {}", deep.repeat(1 << 20))).is_err());
        }
    }

    #[test]
    fn errors_state_where_they_are() {
        let error = parse("(ticks: 9, steps: [\n  (at: 2, hold: [Rihgt]),\n])").unwrap_err();
        assert!(error.starts_with("a.ron:2:") && error.contains("Rihgt"), "{error}");
        for (text, wanted) in [
            (
                "(ticks: 9, steps: [(at: 9, hold: [])])",
                "a.ron: step 1: tick 9 is not before the end at tick 9",
            ),
            ("(ticks: 0, steps: [])", "a.ron: ticks must be at least 1"),
            (
                "(ticks: 18446744073709551615, steps: [])",
                "a.ron: ticks must be at most 5184000 (one day), not 18446744073709551615",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), wanted);
        }
    }
}
