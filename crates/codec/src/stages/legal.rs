//! Legal combinations of stages.

use std::ops::Deref;

use crate::precision::StepsPerMetreError;
use crate::quantize::smallest_three::{ComponentBitsError, MAX_ARITHMETIC_BITS};
use crate::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition,
    StageOptions, Velocity,
};

/// A legal combination of options, one for each stage. Made by [`StageOptions::check`], or parsed from a
/// [text](super::text).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stages(StageOptions, Coverage);

/// The stages of [`UNCOMPRESSED`](crate::ladder::UNCOMPRESSED).
impl Default for Stages {
    fn default() -> Self {
        Self(StageOptions::UNCOMPRESSED, Coverage::Complete)
    }
}

/// Whether a packet contains all changed bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Coverage {
    /// All changed bodies.
    #[default]
    Complete,
    /// The bodies that the sender chose: see [`Baselines::carried`](crate::Baselines::carried).
    Partial,
}

impl Stages {
    /// The option of each stage.
    #[must_use]
    pub const fn options(self) -> StageOptions {
        self.0
    }

    /// Coverage of packets. A sender chooses it for each packet, so it is not one of the options.
    #[must_use]
    pub const fn coverage(self) -> Coverage {
        self.1
    }

    /// Whether packets of these stages can be [partial](Coverage::Partial).
    #[must_use]
    pub const fn can_be_partial(self) -> bool {
        !matches!(self.0.delta, Delta::Off | Delta::ArithmeticSimulated)
    }

    /// These stages with another coverage.
    ///
    /// # Errors
    /// [`IllegalStages::PartialWithoutDelta`] for partial coverage of stages that do not list changed bodies.
    pub const fn with_coverage(self, coverage: Coverage) -> Result<Self, IllegalStages> {
        if matches!(coverage, Coverage::Partial) && !self.can_be_partial() {
            return Err(IllegalStages::PartialWithoutDelta);
        }
        Ok(Self(self.0, coverage))
    }
}

impl Deref for Stages {
    type Target = StageOptions;

    fn deref(&self) -> &StageOptions {
        &self.0
    }
}

/// Reason why a combination of stages is illegal. The messages fit a tooltip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalStages {
    /// Smallest-three bits are outside 2..=15.
    #[error(transparent)]
    ComponentBits(#[from] ComponentBitsError),
    /// Steps per metre are not a power of two, or outside 32..=4096.
    #[error(transparent)]
    StepsPerMetre(#[from] StepsPerMetreError),
    /// Illegal bits of the two ranges of a stage.
    #[error(
        "ranges of {of} must have 1 to {max} bits, and the small one at most as many as the large one, not {small} \
         and {large}"
    )]
    Ranges {
        /// Name of the stage.
        of: &'static str,
        /// Maximum bits.
        max: u8,
        /// Bits of the small range.
        small: u8,
        /// Bits of the large range.
        large: u8,
    },
    /// Relative positions need delta encoding.
    #[error("relative positions need delta encoding, because they are relative to a baseline")]
    RelativePositionWithoutDelta,
    /// Relative positions need quantized positions.
    #[error(
        "relative positions need quantized positions: they are differences between whole numbers of steps"
    )]
    RelativePositionUnquantized,
    /// Predicted positions need 512 steps per metre.
    #[error(
        "predicted positions need 512 steps per metre, because their ranges were chosen for such steps"
    )]
    PredictedPositionSteps,
    /// Relative orientations need delta encoding.
    #[error("relative orientations need delta encoding, because they are relative to a baseline")]
    RelativeOrientationWithoutDelta,
    /// Relative orientations need the smallest three.
    #[error(
        "relative orientations need the smallest three: they are differences between its components"
    )]
    RelativeOrientationUnquantized,
    /// Growing ranges need 512 steps per metre, if positions are quantized.
    #[error(
        "growing ranges need 512 steps per metre if positions are quantized, because they depend on the speed in \
         such steps"
    )]
    GrowingRangesSteps,
    /// Arithmetic coding needs certain integers, and excludes the stages that it replaces.
    #[error(
        "arithmetic coding needs orientations in nine bits, positions quantized in 512 steps per metre and no \
         velocity, and replaces relative positions, relative orientations and changed flags"
    )]
    ArithmeticNotAlone,
    /// Partial packets need stages that list changed bodies.
    #[error("partial packets need stages that list changed bodies")]
    PartialWithoutDelta,
    /// Partial coverage was requested. Only a sender can choose it.
    #[error(
        "partial packets cannot be requested: the sender makes packets partial to keep within a budget"
    )]
    PartialWanted,
    /// Only the demo's scene supports the stage.
    #[error("{0} are only available in the demo's scene")]
    DemoOnly(&'static str),
    /// The scene has another number of bits per component.
    #[error("this scene's orientations have {scene} bits per component, not {bits}")]
    OtherComponentBits {
        /// Bits per component.
        bits: u8,
        /// The scene's bits per component.
        scene: u8,
    },
    /// Predictions need equal steps along all axes.
    #[error("predictions need equal steps along all axes of the scene")]
    UnequalSteps,
    /// Changed flags need delta encoding.
    #[error("changed flags need delta encoding, because they compare with a baseline")]
    ChangedFlagsWithoutDelta,
}

impl StageOptions {
    /// Returns the stages with these options, if they are legal in the demo's scene.
    ///
    /// # Errors
    /// The first reason why they are illegal.
    pub const fn check(self) -> Result<Stages, IllegalStages> {
        match self.orientation {
            Orientation::SmallestThree { bits } if self.delta.is_arithmetic() && bits != 9 => {
                match self.check_parameters() {
                    Ok(()) => Err(IllegalStages::ArithmeticNotAlone),
                    Err(error) => Err(error),
                }
            }
            _ => self.check_for_any(),
        }
    }

    /// Returns the stages with these options, if they are legal in some scene.
    pub(crate) const fn check_for_any(self) -> Result<Stages, IllegalStages> {
        if let Err(error) = self.check_parameters() {
            return Err(error);
        }
        let delta = !matches!(self.delta, Delta::Off);
        if self.delta.is_arithmetic() && !self.suits_arithmetic() {
            return Err(IllegalStages::ArithmeticNotAlone);
        }
        if !matches!(self.relative_position, RelativePosition::Off) {
            if !delta {
                return Err(IllegalStages::RelativePositionWithoutDelta);
            }
            if !matches!(self.position, Position::Quantized { .. }) {
                return Err(IllegalStages::RelativePositionUnquantized);
            }
        }
        if matches!(self.relative_position, RelativePosition::Predicted)
            && !self.position.has_usual_steps()
        {
            return Err(IllegalStages::PredictedPositionSteps);
        }
        if !matches!(self.relative_orientation, RelativeOrientation::Off) {
            if !delta {
                return Err(IllegalStages::RelativeOrientationWithoutDelta);
            }
            if !matches!(self.orientation, Orientation::SmallestThree { .. }) {
                return Err(IllegalStages::RelativeOrientationUnquantized);
            }
        }
        if matches!(self.relative_orientation, RelativeOrientation::GrowingRanges)
            && matches!(self.position, Position::Quantized { .. })
            && !self.position.has_usual_steps()
        {
            return Err(IllegalStages::GrowingRangesSteps);
        }
        if !matches!(self.changed_flags, ChangedFlags::Off) && !delta {
            return Err(IllegalStages::ChangedFlagsWithoutDelta);
        }
        Ok(Stages(self, Coverage::Complete))
    }

    /// Checks the parameters of each stage.
    const fn check_parameters(&self) -> Result<(), IllegalStages> {
        if let Err(error) = self.orientation.check() {
            return Err(IllegalStages::ComponentBits(error));
        }
        if let Err(error) = self.position.check() {
            return Err(IllegalStages::StepsPerMetre(error));
        }
        let ranged = [
            (self.delta.range_bits(), Delta::MAX_RANGE_BITS, "relative indices"),
            (
                self.relative_position.range_bits(),
                RelativePosition::MAX_RANGE_BITS,
                "relative positions",
            ),
            (
                self.relative_orientation.range_bits(),
                RelativeOrientation::MAX_RANGE_BITS,
                "relative orientations with components of nine bits",
            ),
        ];
        let mut index = 0;
        while index < ranged.len() {
            let (range_bits, max, of) = ranged[index];
            if let Some([small, large]) = range_bits
                && !(1 <= small && small <= large && large <= max)
            {
                return Err(IllegalStages::Ranges { of, max, small, large });
            }
            index += 1;
        }
        Ok(())
    }

    const fn suits_arithmetic(&self) -> bool {
        self.position.has_usual_steps()
            && matches!(
                self,
                Self {
                    orientation: Orientation::SmallestThree { bits: ..=MAX_ARITHMETIC_BITS },
                    velocity: Velocity::Omitted,
                    relative_position: RelativePosition::Off,
                    relative_orientation: RelativeOrientation::Off,
                    changed_flags: ChangedFlags::Off,
                    ..
                }
            )
    }
}
