//! The inputs and candidates of the models by name. Each can be disabled for an ablation study.

use std::ops::Range;

use super::layout::{
    ACTIVE_CHANGES, CLASSES, DISABLED, Field, FlagContexts, NEXT_LARGEST, RESTING_CHANGES,
    ResidualContexts, SAME_LARGEST, SAME_ORIENTATION, SAME_POSITION, TOGGLES, VARIANT_SLOTS,
    Variant, error_index,
};
use super::model::TrainedModel;
use super::rigid_body::{ORIENTATION_CANDIDATES, POSITION_CANDIDATES};

/// An input of the mixer, or a candidate prediction.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// The decision that it is an input of, or the field that it predicts.
    pub decision: &'static str,
    /// The context of the input, or what the candidate assumes.
    pub name: &'static str,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// Input of a flag.
    Flag(FlagContexts, usize),
    /// Input of a field's residuals.
    Residual(Field, usize),
    Candidate(Field, usize),
    Blend(Field),
}

impl Feature {
    /// All of them, in the order of a packet.
    pub fn all() -> impl Iterator<Item = Self> {
        let flags = FLAGS.into_iter().flat_map(|(decision, flag, names)| {
            features(decision, names, move |input| Source::Flag(flag, input))
        });
        let residuals = RESIDUALS.into_iter().flat_map(|(decision, field, names)| {
            features(decision, names, move |input| Source::Residual(field, input))
        });
        let candidates = CANDIDATES.into_iter().flat_map(|(decision, field, names)| {
            features(decision, names, move |candidate| {
                Source::Candidate(field, candidate)
            })
        });
        let blends = BLENDS.into_iter().flat_map(|(decision, field, names)| {
            features(decision, names, move |_| Source::Blend(field))
        });
        flags.chain(residuals).chain(candidates).chain(blends)
    }

    /// Removes what the model has learned about it.
    pub(crate) fn disable(self, model: &mut TrainedModel) {
        match self.source {
            Source::Flag(flag, input) => clear(model, flag.slots(input)),
            Source::Residual(field, input) => {
                for axis in 0..3 {
                    clear(model, ResidualContexts::of(field, axis).slots(input));
                }
            }
            Source::Candidate(field, candidate) => {
                for class in 0..CLASSES[field as usize] {
                    model.errors[error_index(field, class) + candidate] = DISABLED;
                }
            }
            Source::Blend(field) => model.clear_blends(field),
        }
    }
}

fn features(
    decision: &'static str,
    names: &'static [&'static str],
    source: impl Fn(usize) -> Source,
) -> impl Iterator<Item = Feature> {
    names.iter().enumerate().map(move |(index, name)| Feature {
        decision,
        name,
        source: source(index),
    })
}

/// Even odds in these slots of both variants.
fn clear(model: &mut TrainedModel, slots: Range<usize>) {
    for variant in Variant::ALL {
        let table = &mut model.table[variant.part(VARIANT_SLOTS)];
        table[slots.clone()].fill(0);
    }
}

type Names = &'static [&'static str];

const FLAGS: [(&str, FlagContexts, Names); 7] = [
    (
        "active body changes",
        ACTIVE_CHANGES,
        &[
            "motion and turn since the reference's reference",
            "motion and turn since the additional reference",
        ],
    ),
    (
        "resting body changes",
        RESTING_CHANGES,
        &["distance of the nearest coded body"],
    ),
    (
        "interacting",
        TOGGLES,
        &[
            "distance of the nearest coded body, motion",
            "distance to the player",
        ],
    ),
    (
        "largest component",
        SAME_LARGEST,
        &["margin over the second largest, turn"],
    ),
    (
        "next largest component",
        NEXT_LARGEST,
        &["margin over the second largest"],
    ),
    (
        "orientation is unchanged",
        SAME_ORIENTATION,
        &["both turns", "clearance, candidate"],
    ),
    (
        "position is unchanged",
        SAME_POSITION,
        &["both motions", "orientation residual, motion"],
    ),
];

const RESIDUALS: [(&str, Field, Names); 2] = [
    (
        "orientation residual",
        Field::Orientation,
        &[
            "residuals in the reference's packet and so far",
            "difference of the reference, clearance and distance to the player",
            "difference of the secondary prediction, clearance and distance to the player",
            "residuals so far, motion (`arithmetic`) or residuals around (`predicted`)",
        ],
    ),
    (
        "position residual",
        Field::Position,
        &[
            "residuals in the reference's packet (`arithmetic`) or around (`predicted`), and so far",
            "difference of the reference, change of motion",
            "difference of the secondary prediction, clearance and distance to the player",
            "residuals so far and of the orientation",
        ],
    ),
];

const CANDIDATES: [(&str, Field, Names); 2] = [
    (
        "candidate orientation",
        Field::Orientation,
        &ORIENTATION_CANDIDATES,
    ),
    ("candidate position", Field::Position, &POSITION_CANDIDATES),
];

const BLENDS: [(&str, Field, Names); 2] = [
    ("blended orientation", Field::Orientation, &["the blend"]),
    ("blended position", Field::Position, &["the blend"]),
];
