//! Names of the inputs and candidates of the models. Each can be disabled for an ablation study.
//!
//! Comments in `entropy` give savings from the ablation in `crates/lab/FIGURES.md`: the growth of packets of two recordings
//! if the model is trained without the feature, on `predicted` unless they say otherwise.

use std::ops::Range;

use super::blend::BLENDED;
use super::layout::{
    ACTIVE_CHANGES, BLENDS, CLASSES, DISABLED, FlagContexts, NEXT_LARGEST, PoseField,
    RESTING_CHANGES, ResidualContexts, SAME_LARGEST, SAME_ORIENTATION, SAME_POSITION, TOGGLES,
    VARIANT_SLOTS, Variant, blend_index, error_index,
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
    part: Part,
    /// Index among the features of the decision.
    index: usize,
}

/// The part of the model that a feature belongs to.
#[derive(Clone, Copy, Debug)]
enum Part {
    Flag(FlagContexts),
    Residual(PoseField),
    Candidate(PoseField),
    Blend(PoseField),
}

impl Feature {
    /// All features, in the order of a packet.
    pub fn all() -> impl Iterator<Item = Self> {
        FEATURES.into_iter().flat_map(|(decision, part, names)| {
            names.iter().enumerate().map(move |(index, name)| Self { decision, name, part, index })
        })
    }

    /// Removes the feature from the model.
    pub(crate) fn disable(self, model: &mut TrainedModel) {
        match self.part {
            Part::Flag(flag) => clear(model, flag.slots(self.index)),
            Part::Residual(field) => {
                for axis in 0..3 {
                    clear(model, ResidualContexts::of(field, axis).slots(self.index));
                }
            }
            Part::Candidate(field) => {
                for class in 0..CLASSES[field as usize] {
                    model.errors[error_index(field, class) + self.index] = DISABLED;
                }
            }
            // A blend of weights 0 equals the selected candidate.
            Part::Blend(field) => {
                let blends = &mut model.blends[blend_index(field, 0)..];
                blends[..2 * BLENDS[field as usize]].fill([0; BLENDED]);
            }
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

/// Decisions, each with its part of the model and the names of its features.
const FEATURES: [(&str, Part, &[&str]); 13] = [
    (
        "active body changes",
        Part::Flag(ACTIVE_CHANGES),
        &[
            "motion and turn since the reference's reference",
            "motion and turn since the additional reference",
        ],
    ),
    ("resting body changes", Part::Flag(RESTING_CHANGES), &["distance of the nearest coded body"]),
    (
        "interacting",
        Part::Flag(TOGGLES),
        &["distance of the nearest coded body, motion", "distance to the player"],
    ),
    ("largest component", Part::Flag(SAME_LARGEST), &["margin over the second largest, turn"]),
    ("next largest component", Part::Flag(NEXT_LARGEST), &["margin over the second largest"]),
    (
        "orientation is unchanged",
        Part::Flag(SAME_ORIENTATION),
        &["both turns", "clearance, candidate"],
    ),
    (
        "position is unchanged",
        Part::Flag(SAME_POSITION),
        &["both motions", "orientation residual, motion"],
    ),
    (
        "orientation residual",
        Part::Residual(PoseField::Orientation),
        &[
            "residuals in the reference's packet and so far",
            "difference of the reference, clearance and distance to the player",
            "difference of the secondary prediction, clearance and distance to the player",
            "residuals so far, motion (`arithmetic`) or residuals around (`predicted`)",
        ],
    ),
    (
        "position residual",
        Part::Residual(PoseField::Position),
        &[
            "residuals in the reference's packet (`arithmetic`) or around (`predicted`), and so far",
            "difference of the reference, change of motion",
            "difference of the secondary prediction, clearance and distance to the player",
            "residuals so far and of the orientation",
        ],
    ),
    ("candidate orientation", Part::Candidate(PoseField::Orientation), &ORIENTATION_CANDIDATES),
    ("candidate position", Part::Candidate(PoseField::Position), &POSITION_CANDIDATES),
    ("blended orientation", Part::Blend(PoseField::Orientation), &["the blend"]),
    ("blended position", Part::Blend(PoseField::Position), &["the blend"]),
];
