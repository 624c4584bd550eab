//! The stages of the codec, as a plain value.
//!
//! Sources: Glenn Fiedler, *Snapshot Compression* (2015), and for the affine variants *Data Quantization and
//! Networking* (2025). Predicted indices, predicted positions, growing ranges, joint flags and arithmetic
//! coding are additions.

pub mod text;

use crate::precision::{Precision, VelocityPrecision};
use crate::quantize::smallest_three::ComponentBitsError;

pub use crate::precision::{Orientation, Position};

/// How linear velocities are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Velocity {
    /// Three f32, 96 bits.
    Full,
    /// 32 steps per m/s inside [−32, 32): 33 bits.
    Quantized,
    /// 1 bit for a velocity of zero, 1 + 33 for any other.
    AtRestFlag,
    /// Omitted; zero at the receiver.
    Omitted,
    /// Affine-quantized difference from the baseline's velocity: 63 bits.
    Affine,
}

impl Velocity {
    /// Every variant, in the order of its codes on the wire.
    pub const ALL: [Self; 5] = [
        Self::Full,
        Self::Quantized,
        Self::AtRestFlag,
        Self::Omitted,
        Self::Affine,
    ];
}

/// Which cubes are in a packet, and how they are listed. "Changed" means different from the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delta {
    /// Every cube is sent.
    Off,
    /// One bit for each cube.
    ChangedBits,
    /// The index of each changed cube, if that is smaller than changed bits.
    Indices,
    /// The distance from each changed cube to the next, if that is smaller than changed bits.
    RelativeIndices,
    /// The cubes that changed between the baseline's own baseline and the baseline are predicted to change
    /// again, and no others. Relative indices list the cubes for which the prediction is wrong.
    PredictedIndices,
    /// [Arithmetic coding](crate::entropy) of everything: which cubes changed, and their residuals relative
    /// to the baseline.
    Arithmetic,
    /// The same with residuals relative to predictions. A packet can name two additional references.
    ArithmeticPredicted,
}

impl Delta {
    /// Every variant, in the order of its codes on the wire.
    pub const ALL: [Self; 7] = [
        Self::Off,
        Self::ChangedBits,
        Self::Indices,
        Self::RelativeIndices,
        Self::PredictedIndices,
        Self::Arithmetic,
        Self::ArithmeticPredicted,
    ];

    /// Whether packets are coded arithmetically.
    #[must_use]
    pub const fn is_arithmetic(self) -> bool {
        matches!(self, Self::Arithmetic | Self::ArithmeticPredicted)
    }
}

/// How the position of a changed cube uses the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelativePosition {
    /// It does not.
    Off,
    /// Difference from the baseline's position, in a small or a large range.
    TwoRanges,
    /// Difference from a [linear prediction](crate::predict), in growing ranges that depend on the speed.
    Predicted,
}

impl RelativePosition {
    /// Every variant, in the order of its codes on the wire.
    pub const ALL: [Self; 3] = [Self::Off, Self::TwoRanges, Self::Predicted];
}

/// How the orientation of a changed cube uses the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelativeOrientation {
    /// It does not.
    Off,
    /// Difference from the baseline's components, in a small or a large range.
    TwoRanges,
    /// The same difference, in growing ranges that depend on the speed of the baseline's motion.
    GrowingRanges,
}

impl RelativeOrientation {
    /// Every variant, in the order of its codes on the wire.
    pub const ALL: [Self; 3] = [Self::Off, Self::TwoRanges, Self::GrowingRanges];
}

/// Whether a changed cube signals which of its fields changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangedFlags {
    /// No flags: all fields are sent.
    Off,
    /// One bit for the position, one for the orientation.
    Separate,
    /// One bit where position and orientation changed and interacting did not; otherwise that bit
    /// and one for each of the three.
    Joint,
}

impl ChangedFlags {
    /// Every variant, in the order of its codes on the wire.
    pub const ALL: [Self; 3] = [Self::Off, Self::Separate, Self::Joint];
}

/// What the codec does, stage by stage.
///
/// [`Stages::check`] decides which combinations are legal. Every legal one has a [`text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stages {
    /// How orientations are written.
    pub orientation: Orientation,
    /// How linear velocities are written.
    pub velocity: Velocity,
    /// How positions are written.
    pub position: Position,
    /// Which cubes are sent.
    pub delta: Delta,
    /// How changed positions use the baseline.
    pub relative_position: RelativePosition,
    /// How changed orientations use the baseline.
    pub relative_orientation: RelativeOrientation,
    /// Whether changed cubes signal which fields changed.
    pub changed_flags: ChangedFlags,
}

/// Why a combination of stages is illegal. The messages suit a tooltip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalStages {
    /// Smallest-three bits outside 2..=15.
    #[error(transparent)]
    ComponentBits(#[from] ComponentBitsError),
    /// Relative positions without delta encoding.
    #[error(
        "relative positions need delta encoding: without a baseline there is nothing to be relative to"
    )]
    RelativePositionWithoutDelta,
    /// Relative positions of anything but steps of 1/512 m.
    #[error(
        "relative positions need quantized positions: they are differences between integers of 1/512 m"
    )]
    RelativePositionUnquantized,
    /// Relative orientations without delta encoding.
    #[error(
        "relative orientations need delta encoding: without a baseline there is nothing to be relative to"
    )]
    RelativeOrientationWithoutDelta,
    /// Relative orientations of full quaternions.
    #[error(
        "relative orientations need the smallest three: they are differences between its components"
    )]
    RelativeOrientationUnquantized,
    /// Arithmetic coding of other integers, or together with stages that it replaces.
    #[error(
        "arithmetic coding goes with orientations in nine bits, quantized positions and no velocity, \
         and takes the place of relative positions, relative orientations and changed flags"
    )]
    ArithmeticNotAlone,
    /// Changed flags without delta encoding.
    #[error(
        "changed flags need delta encoding: without a baseline nothing is known to be unchanged"
    )]
    ChangedFlagsWithoutDelta,
}

impl Stages {
    /// Every field of every cube as floats.
    pub(crate) const UNCOMPRESSED: Self = Self {
        orientation: Orientation::Full,
        velocity: Velocity::Full,
        position: Position::Full,
        delta: Delta::Off,
        relative_position: RelativePosition::Off,
        relative_orientation: RelativeOrientation::Off,
        changed_flags: ChangedFlags::Off,
    };

    /// Checks whether this combination is legal.
    ///
    /// # Errors
    /// The first reason why it is not.
    pub const fn check(&self) -> Result<(), IllegalStages> {
        let delta = !matches!(self.delta, Delta::Off);
        if let Err(error) = self.orientation.check() {
            return Err(IllegalStages::ComponentBits(error));
        }
        if self.delta.is_arithmetic() && !self.suits_arithmetic() {
            return Err(IllegalStages::ArithmeticNotAlone);
        }
        if !matches!(self.relative_position, RelativePosition::Off) {
            if !delta {
                return Err(IllegalStages::RelativePositionWithoutDelta);
            }
            if !matches!(self.position, Position::Quantized) {
                return Err(IllegalStages::RelativePositionUnquantized);
            }
        }
        if !matches!(self.relative_orientation, RelativeOrientation::Off) {
            if !delta {
                return Err(IllegalStages::RelativeOrientationWithoutDelta);
            }
            if !matches!(self.orientation, Orientation::SmallestThree { .. }) {
                return Err(IllegalStages::RelativeOrientationUnquantized);
            }
        }
        if !matches!(self.changed_flags, ChangedFlags::Off) && !delta {
            return Err(IllegalStages::ChangedFlagsWithoutDelta);
        }
        Ok(())
    }

    const fn suits_arithmetic(&self) -> bool {
        matches!(
            self,
            Self {
                orientation: Orientation::SmallestThree { bits: 9 },
                velocity: Velocity::Omitted,
                position: Position::Quantized,
                relative_position: RelativePosition::Off,
                relative_orientation: RelativeOrientation::Off,
                changed_flags: ChangedFlags::Off,
                ..
            }
        )
    }

    /// The precision of snapshots under these stages.
    #[must_use]
    pub const fn precision(&self) -> Precision {
        Precision {
            orientation: self.orientation,
            velocity: match self.velocity {
                Velocity::Full => VelocityPrecision::Full,
                Velocity::Quantized | Velocity::AtRestFlag => VelocityPrecision::Quantized,
                Velocity::Omitted => VelocityPrecision::Omitted,
                Velocity::Affine => VelocityPrecision::Affine,
            },
            position: self.position,
        }
    }

    /// Whether packets of these stages are relative to a baseline.
    #[must_use]
    pub const fn uses_baseline(&self) -> bool {
        !matches!(self.delta, Delta::Off)
            || matches!(self.position, Position::Affine)
            || matches!(self.velocity, Velocity::Affine)
    }

    /// Every legal combination, with each of `component_bits` for the smallest three.
    pub fn every_legal(component_bits: &[u8]) -> impl Iterator<Item = Self> {
        let orientations = component_bits
            .iter()
            .map(|&bits| Orientation::SmallestThree { bits })
            .chain([Orientation::Full]);
        let mut legal = Vec::new();
        for orientation in orientations {
            for velocity in Velocity::ALL {
                for position in Position::ALL {
                    for delta in Delta::ALL {
                        for relative_position in RelativePosition::ALL {
                            for relative_orientation in RelativeOrientation::ALL {
                                for changed_flags in ChangedFlags::ALL {
                                    legal.push(Self {
                                        orientation,
                                        velocity,
                                        position,
                                        delta,
                                        relative_position,
                                        relative_orientation,
                                        changed_flags,
                                    });
                                }
                            }
                        }
                    }
                }
            }
        }
        legal.into_iter().filter(|stages| stages.check().is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder;

    #[test]
    fn every_refusal_has_its_own_reason() {
        let top = ladder::CHANGED_FLAGS.stages;
        let refused = [
            (
                Stages {
                    orientation: Orientation::SmallestThree { bits: 16 },
                    ..top
                },
                IllegalStages::ComponentBits(ComponentBitsError { bits: 16 }),
            ),
            (
                Stages {
                    delta: Delta::Off,
                    ..top
                },
                IllegalStages::RelativePositionWithoutDelta,
            ),
            (
                Stages {
                    position: Position::Affine,
                    ..top
                },
                IllegalStages::RelativePositionUnquantized,
            ),
            (
                Stages {
                    delta: Delta::Off,
                    relative_position: RelativePosition::Off,
                    ..top
                },
                IllegalStages::RelativeOrientationWithoutDelta,
            ),
            (
                Stages {
                    orientation: Orientation::Full,
                    ..top
                },
                IllegalStages::RelativeOrientationUnquantized,
            ),
            (
                Stages {
                    delta: Delta::Off,
                    relative_position: RelativePosition::Off,
                    relative_orientation: RelativeOrientation::Off,
                    ..top
                },
                IllegalStages::ChangedFlagsWithoutDelta,
            ),
        ];
        for (stages, reason) in refused {
            assert_eq!(stages.check(), Err(reason));
        }
    }

    #[test]
    fn every_rung_is_among_the_legal_combinations() {
        let legal: Vec<Stages> = Stages::every_legal(&[9, 10]).collect();
        for rung in ladder::LADDER.iter().chain([&ladder::AFFINE]) {
            assert!(legal.contains(&rung.stages), "{}", rung.name);
        }
    }
}
