//! Legal combinations of stages.

use std::ops::Deref;

use crate::precision::Precision;
use crate::quantize::smallest_three::{MAX_ARITHMETIC_BITS, MAX_BITS, MIN_BITS};
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
    pub const fn options(self) -> StageOptions {
        self.0
    }

    /// Coverage of packets. A sender chooses it for each packet, so it is not one of the options.
    pub const fn coverage(self) -> Coverage {
        self.1
    }

    /// Whether packets of these stages can be [partial](Coverage::Partial).
    pub const fn can_be_partial(self) -> bool {
        !matches!(self.0.delta, Delta::Off | Delta::ArithmeticSimulated)
    }

    /// These stages with another coverage.
    ///
    /// # Errors
    /// [`IllegalStages::Combination`] for partial coverage of stages that do not list changed bodies.
    pub const fn with_coverage(self, coverage: Coverage) -> Result<Self, IllegalStages> {
        if matches!(coverage, Coverage::Partial) && !self.can_be_partial() {
            let reason = "partial packets need stages that list changed bodies";
            return Err(IllegalStages::Combination(reason));
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
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum IllegalStages {
    #[error("a smallest-three component has {MIN_BITS} to {MAX_BITS} bits, not {0}")]
    ComponentBits(u8),
    #[error(
        "quantized positions have a power of two from {min} to {max} steps per metre, not {0}",
        min = Position::MIN_STEPS,
        max = Position::MAX_STEPS
    )]
    StepsPerMetre(u16),
    #[error(
        "ranges of {of} must have 1 to {max} bits, and the small one at most as many as the large one, not {small} \
         and {large}"
    )]
    Ranges { of: &'static str, max: u8, small: u8, large: u8 },
    /// A stage needs another stage, or excludes it.
    #[error("{0}")]
    Combination(&'static str),
    /// Partial coverage was requested. Only a sender can choose it.
    #[error(
        "partial packets cannot be requested: the sender makes packets partial to keep within a budget"
    )]
    PartialWanted,
    #[error("the schema has no {0}")]
    Unsupported(&'static str),
    #[error("this scene's orientations have {scene} bits per component, not {bits}")]
    OtherComponentBits { bits: u8, scene: u8 },
}

const ARITHMETIC: IllegalStages = IllegalStages::Combination(
    "arithmetic coding needs orientations in nine bits, positions quantized in 512 steps per metre and no velocity, and \
     replaces relative positions, relative orientations and changed flags",
);

impl Precision {
    pub(crate) const fn check(&self) -> Result<(), IllegalStages> {
        if let Orientation::SmallestThree { bits } = self.orientation
            && (bits < MIN_BITS || bits > MAX_BITS)
        {
            return Err(IllegalStages::ComponentBits(bits));
        }
        match self.position {
            Position::Quantized { steps_per_metre: steps }
                if !steps.is_power_of_two()
                    || steps < Position::MIN_STEPS
                    || steps > Position::MAX_STEPS =>
            {
                Err(IllegalStages::StepsPerMetre(steps))
            }
            _ => Ok(()),
        }
    }
}

impl StageOptions {
    /// Returns the stages with these options, if they are legal in a scene that supports everything, with nine bits per
    /// component.
    ///
    /// # Errors
    /// The first reason why they are illegal.
    pub const fn check(self) -> Result<Stages, IllegalStages> {
        match self.orientation {
            Orientation::SmallestThree { bits } if self.delta.is_arithmetic() && bits != 9 => {
                match self.check_parameters() {
                    Ok(()) => Err(ARITHMETIC),
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
        if self.delta.is_arithmetic() && !self.suits_arithmetic() {
            return Err(ARITHMETIC);
        }
        let has_delta = !matches!(self.delta, Delta::Off);
        let is_quantized = matches!(self.position, Position::Quantized { .. });
        let has_usual_steps = self.position.has_usual_steps();
        let relative_position = !matches!(self.relative_position, RelativePosition::Off);
        let is_predicted = matches!(self.relative_position, RelativePosition::Predicted);
        let relative_orientation = !matches!(self.relative_orientation, RelativeOrientation::Off);
        let grows = matches!(self.relative_orientation, RelativeOrientation::GrowingRanges);
        let reason = if relative_position && !has_delta {
            "relative positions need delta encoding, because they are relative to a baseline"
        } else if relative_position && !is_quantized {
            "relative positions need quantized positions: they are differences between whole numbers of steps"
        } else if is_predicted && !has_usual_steps {
            "predicted positions need 512 steps per metre, because their ranges were chosen for such steps"
        } else if relative_orientation && !has_delta {
            "relative orientations need delta encoding, because they are relative to a baseline"
        } else if relative_orientation && matches!(self.orientation, Orientation::Full) {
            "relative orientations need the smallest three: they are differences between its components"
        } else if grows && is_quantized && !has_usual_steps {
            "growing ranges need 512 steps per metre if positions are quantized, because they depend on the speed in \
             such steps"
        } else if !matches!(self.changed_flags, ChangedFlags::Off) && !has_delta {
            "changed flags need delta encoding, because they compare with a baseline"
        } else {
            return Ok(Stages(self, Coverage::Complete));
        };
        Err(IllegalStages::Combination(reason))
    }

    const fn check_parameters(&self) -> Result<(), IllegalStages> {
        if let Err(error) = self.precision().check() {
            return Err(error);
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
