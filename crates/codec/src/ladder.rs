//! The ladder: named combinations of stages. The article's stages come first, in its order, then further ones.

#![expect(missing_docs, reason = "the summary of a rung describes it")]

use crate::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition,
    StageOptions, Stages, Velocity,
};

/// A named combination of stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Name on the command line and in tables.
    pub name: &'static str,
    /// The stage that it adds, in a sentence of at most 51 characters.
    pub summary: &'static str,
    /// Its stages.
    pub stages: Stages,
}

/// Illegal options do not compile in a constant.
const fn rung_of_options(name: &'static str, summary: &'static str, options: StageOptions) -> Rung {
    match options.check() {
        Ok(stages) => Rung { name, summary, stages },
        Err(_) => panic!("the stages of a rung are illegal"),
    }
}

const NINE_BITS: Orientation = Orientation::SmallestThree { bits: 9 };

/// 321 bits per body.
pub const UNCOMPRESSED: Rung =
    rung_of_options("uncompressed", "Every body, as 32-bit floats.", StageOptions::UNCOMPRESSED);

/// 222 bits per body. In the demo's scene, which has the article's levels, the identity arrives turned by 0.27
/// degrees: see [`Levels::Even`](crate::schema::Levels::Even).
pub const SMALLEST_THREE: Rung = rung_of_options(
    "smallest-three",
    "Three components of an orientation give the fourth.",
    StageOptions { orientation: NINE_BITS, ..UNCOMPRESSED.stages.options() },
);

/// 159 bits per body.
pub const VELOCITY: Rung = rung_of_options(
    "velocity",
    "Velocities in 11 bits a component.",
    StageOptions { velocity: Velocity::Quantized, ..SMALLEST_THREE.stages.options() },
);

/// 127 bits per body at rest, 160 moving.
pub const AT_REST: Rung = rung_of_options(
    "at-rest",
    "One bit instead of a velocity for bodies at rest.",
    StageOptions { velocity: Velocity::AtRestFlag, ..VELOCITY.stages.options() },
);

/// 126 bits per body.
pub const NO_VELOCITY: Rung = rung_of_options(
    "no-velocity",
    "No velocities, which interpolation does not need.",
    StageOptions { velocity: Velocity::Omitted, ..AT_REST.stages.options() },
);

/// 80 bits per body.
pub const POSITION: Rung = rung_of_options(
    "position",
    "Positions in whole steps, in the demo 50 bits.",
    StageOptions { position: Position::QUANTIZED, ..NO_VELOCITY.stages.options() },
);

/// One bit per body, and 80 bits for each changed body.
pub const DELTA: Rung = rung_of_options(
    "delta",
    "Only bodies that differ from the baseline.",
    StageOptions { delta: Delta::ChangedBits, ..POSITION.stages.options() },
);

pub const INDEX: Rung = rung_of_options(
    "index",
    "A list of indices if few bodies changed.",
    StageOptions { delta: Delta::Indices, ..DELTA.stages.options() },
);

pub const RELATIVE_INDEX: Rung = rung_of_options(
    "relative-index",
    "Each index as the distance from the previous one.",
    StageOptions { delta: Delta::RELATIVE_INDICES, ..INDEX.stages.options() },
);

pub const RELATIVE_POSITION: Rung = rung_of_options(
    "relative-position",
    "Positions as differences from the baseline.",
    StageOptions {
        relative_position: RelativePosition::TWO_RANGES,
        ..RELATIVE_INDEX.stages.options()
    },
);

pub const RELATIVE_ORIENTATION: Rung = rung_of_options(
    "relative-orientation",
    "Orientations as differences, if the largest stays.",
    StageOptions {
        relative_orientation: RelativeOrientation::TWO_RANGES,
        ..RELATIVE_POSITION.stages.options()
    },
);

pub const CHANGED_FLAGS: Rung = rung_of_options(
    "changed-flags",
    "Flags say whether position and orientation changed.",
    StageOptions { changed_flags: ChangedFlags::Separate, ..RELATIVE_ORIENTATION.stages.options() },
);

pub const PREDICTED_POSITION: Rung = rung_of_options(
    "predicted-position",
    "Positions as differences from a prediction.",
    StageOptions {
        delta: Delta::PredictedIndices,
        relative_position: RelativePosition::Predicted,
        relative_orientation: RelativeOrientation::GrowingRanges,
        changed_flags: ChangedFlags::Joint,
        ..CHANGED_FLAGS.stages.options()
    },
);

pub const ARITHMETIC: Rung = rung_of_options(
    "arithmetic",
    "Arithmetic coding of differences from the baseline.",
    StageOptions { delta: Delta::Arithmetic, ..DELTA.stages.options() },
);

pub const PREDICTED: Rung = rung_of_options(
    "predicted",
    "Arithmetic coding of differences from predictions.",
    StageOptions { delta: Delta::ArithmeticPredicted, ..DELTA.stages.options() },
);

pub const SIMULATED: Rung = rung_of_options(
    "simulated",
    "Both ends simulate; packets have keys and a hash.",
    StageOptions { delta: Delta::ArithmeticSimulated, ..DELTA.stages.options() },
);

/// The 20-byte state of [affine quantization](crate::quantize::affine). It is not on the ladder.
pub const AFFINE: Rung = rung_of_options(
    "affine",
    "Off the ladder: affine integers, 20 bytes a body.",
    StageOptions {
        orientation: Orientation::SmallestThree { bits: 10 },
        velocity: Velocity::Affine,
        position: Position::Affine,
        ..StageOptions::UNCOMPRESSED
    },
);

/// The rungs in order. Each adds a stage to the one before.
pub const LADDER: [Rung; 16] = [
    UNCOMPRESSED,
    SMALLEST_THREE,
    VELOCITY,
    AT_REST,
    NO_VELOCITY,
    POSITION,
    DELTA,
    INDEX,
    RELATIVE_INDEX,
    RELATIVE_POSITION,
    RELATIVE_ORIENTATION,
    CHANGED_FLAGS,
    PREDICTED_POSITION,
    ARITHMETIC,
    PREDICTED,
    SIMULATED,
];

/// Returns the rung of this name, [`AFFINE`] included.
pub fn rung(name: &str) -> Option<Rung> {
    all().find(|rung| rung.name == name)
}

/// Returns the rung with exactly these stages, [`AFFINE`] included.
pub fn rung_of(stages: Stages) -> Option<Rung> {
    all().find(|rung| rung.stages == stages)
}

/// The ladder and [`AFFINE`].
pub fn all() -> impl Iterator<Item = Rung> {
    LADDER.into_iter().chain([AFFINE])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_is_told_in_one_short_sentence() {
        for rung in all() {
            let length = rung.summary.chars().count();
            assert!((20..=51).contains(&length), "{}: {length}", rung.name);
            assert!(rung.summary.ends_with('.'), "{}", rung.name);
        }
    }
}
