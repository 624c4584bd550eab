//! Names of the inputs and candidates of the models. Each can be disabled for an ablation study.

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
    /// The decision that uses the input, or the field that the candidate predicts.
    pub decision: &'static str,
    /// The context of the input, or the assumption of the candidate.
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
    /// All features, in the order of a packet.
    pub fn all() -> impl Iterator<Item = Self> {
        FEATURES.into_iter().flat_map(|(decision, source, names)| {
            let features = names.iter().enumerate();
            features.map(move |(index, name)| Self { decision, name, source: source(index) })
        })
    }

    /// Removes the feature from the model.
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

/// Sets the slots of both variants to even odds.
fn clear(model: &mut TrainedModel, slots: Range<usize>) {
    for variant in Variant::ALL {
        let table = &mut model.table[variant.part(VARIANT_SLOTS)];
        table[slots.clone()].fill(0);
    }
}

/// A decision or a field, a function from the index of a feature to its source, and the names of its features.
type Features = (&'static str, fn(usize) -> Source, &'static [&'static str]);

const FEATURES: [Features; 13] = [
    (
        "active body changes",
        |input| Source::Flag(ACTIVE_CHANGES, input),
        &[
            "motion and turn since the reference's reference",
            "motion and turn since the additional reference",
        ],
    ),
    (
        "resting body changes",
        |input| Source::Flag(RESTING_CHANGES, input),
        &["distance of the nearest coded body"],
    ),
    (
        "interacting",
        |input| Source::Flag(TOGGLES, input),
        &["distance of the nearest coded body, motion", "distance to the player"],
    ),
    (
        "largest component",
        |input| Source::Flag(SAME_LARGEST, input),
        &["margin over the second largest, turn"],
    ),
    (
        "next largest component",
        |input| Source::Flag(NEXT_LARGEST, input),
        &["margin over the second largest"],
    ),
    (
        "orientation is unchanged",
        |input| Source::Flag(SAME_ORIENTATION, input),
        &["both turns", "clearance, candidate"],
    ),
    (
        "position is unchanged",
        |input| Source::Flag(SAME_POSITION, input),
        &["both motions", "orientation residual, motion"],
    ),
    (
        "orientation residual",
        |input| Source::Residual(Field::Orientation, input),
        &[
            "residuals in the reference's packet and so far",
            "difference of the reference, clearance and distance to the player",
            "difference of the secondary prediction, clearance and distance to the player",
            "residuals so far, motion (`arithmetic`) or residuals around (`predicted`)",
        ],
    ),
    (
        "position residual",
        |input| Source::Residual(Field::Position, input),
        &[
            "residuals in the reference's packet (`arithmetic`) or around (`predicted`), and so far",
            "difference of the reference, change of motion",
            "difference of the secondary prediction, clearance and distance to the player",
            "residuals so far and of the orientation",
        ],
    ),
    (
        "candidate orientation",
        |candidate| Source::Candidate(Field::Orientation, candidate),
        &ORIENTATION_CANDIDATES,
    ),
    (
        "candidate position",
        |candidate| Source::Candidate(Field::Position, candidate),
        &POSITION_CANDIDATES,
    ),
    ("blended orientation", |_| Source::Blend(Field::Orientation), &["the blend"]),
    ("blended position", |_| Source::Blend(Field::Position), &["the blend"]),
];
