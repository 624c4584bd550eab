//! Contexts and guesses by name, to be tried without.

use std::ops::Range;

use super::foresee::{ORIENTATION_GUESSES, POSITION_GUESSES};
use super::layout::{
    ACTIVE_CHANGES, CLASSES, Component, GUESSES, NEXT_LARGEST, RESTING_CHANGES, SAME_LARGEST,
    SAME_ORIENTATION, SAME_POSITION, SLOTS_OF_A_WAY, Site, TOGGLES,
};
use super::learned::{OF_ORIENTATION, OF_POSITION};
use super::prior::Prior;

/// Something that coding can be tried without.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// What is decided with it.
    pub decision: &'static str,
    /// What it tells.
    pub name: &'static str,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Site(Site, usize),
    Orientation(usize),
    Position(usize),
    /// Of what, and which.
    Guess(usize, usize),
}

/// Errors that make a guess the last that is chosen, and that it keeps.
pub(crate) const NEVER: u16 = u16::MAX;

impl Feature {
    /// All of them, in the order of a packet.
    pub fn all() -> impl Iterator<Item = Self> {
        let site = |(decision, site, names): (_, Site, &'static [&'static str])| {
            let inputs = names.iter().enumerate();
            inputs.map(move |(input, &name)| Self {
                decision,
                name,
                place: Place::Site(site, input),
            })
        };
        let residual = |decision, names: [&'static str; 4], place: fn(usize) -> Place| {
            let inputs = names.into_iter().enumerate();
            inputs.map(move |(input, name)| Self {
                decision,
                name,
                place: place(input),
            })
        };
        let guesses = |decision, what, names: &'static [&'static str]| {
            let guesses = names.iter().enumerate();
            guesses.map(move |(guess, &name)| Self {
                decision,
                name,
                place: Place::Guess(what, guess),
            })
        };
        SITES
            .into_iter()
            .flat_map(site)
            .chain(residual("orientation", ORIENTATION, Place::Orientation))
            .chain(residual("position", POSITION, Place::Position))
            .chain(guesses(
                "guess of the orientation",
                OF_ORIENTATION,
                &ORIENTATION_GUESSES,
            ))
            .chain(guesses(
                "guess of the position",
                OF_POSITION,
                &POSITION_GUESSES,
            ))
    }

    /// Makes a prior say nothing of it.
    pub(crate) fn silence(self, prior: &mut Prior) {
        let clear = |prior: &mut Prior, slots: Range<usize>| {
            for way in 0..2 {
                let first = way * SLOTS_OF_A_WAY;
                prior.table[first + slots.start..first + slots.end].fill(0);
            }
        };
        match self.place {
            Place::Site(site, input) => clear(prior, site.slots(input)),
            Place::Orientation(input) => {
                for axis in 0..3 {
                    clear(prior, Component::orientation(axis).slots(input));
                }
            }
            Place::Position(input) => {
                for axis in 0..3 {
                    clear(prior, Component::position(axis).slots(input));
                }
            }
            Place::Guess(what, guess) => {
                for class in 0..CLASSES {
                    prior.errors[(what * CLASSES + class) * GUESSES + guess] = NEVER;
                }
            }
        }
    }
}

const SITES: [(&str, Site, &[&str]); 7] = [
    (
        "which cubes that moved change",
        ACTIVE_CHANGES,
        &[
            "motion and turn since the baseline's own",
            "motion and turn since the earlier baseline",
        ],
    ),
    (
        "which cubes that lay change",
        RESTING_CHANGES,
        &["how near anything came"],
    ),
    (
        "interacting",
        TOGGLES,
        &[
            "how near anything came, and motion",
            "distance to the player",
        ],
    ),
    (
        "the component that is left out",
        SAME_LARGEST,
        &["how clear it is, and turn"],
    ),
    ("the next one", NEXT_LARGEST, &["how clear it is"]),
    (
        "whether the orientation is the baseline's",
        SAME_ORIENTATION,
        &["both turns", "clearance and guess"],
    ),
    (
        "whether the position is the baseline's",
        SAME_POSITION,
        &["both motions", "the orientation's residual, and motion"],
    ),
];

const ORIENTATION: [&str; 4] = [
    "residual at the baseline, and so far",
    "how far it would turn, and clearance",
    "the other guess, and clearance",
    "residual so far, and motion",
];

const POSITION: [&str; 4] = [
    "residual at the baseline, and so far",
    "how far it would move, and change of motion",
    "the other guess, and clearance",
    "residual so far, and the orientation's",
];
