//! The stages of the codec: the options of each stage, and their legal combinations.
//!
//! Sources: Glenn Fiedler, *Snapshot Compression* (2015), and for the affine variants *Data Quantization and
//! Networking* (2025). Predicted indices, predicted positions, growing ranges, joint flags, arithmetic coding and
//! simulated scenes are additions.

mod legal;
pub mod text;

use serde::{Deserialize, Serialize};

use crate::limits::MAX_RANGE_BITS;
use crate::precision::Precision;
use crate::quantize::smallest_three::{MAX_BITS, MIN_BITS};

pub use self::legal::{Coverage, IllegalStages, Stages};
pub use crate::precision::{Orientation, Position, Velocity};

/// Selection of bodies in a packet, and coding of the selection. "Changed" means different from the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Delta {
    /// Every body is sent.
    Off,
    /// One bit for each body.
    ChangedBits,
    /// The index of each changed body, or one bit for each body if that is smaller.
    Indices,
    /// The distance from each changed body to the next, or one bit for each body if that is smaller. A distance is in
    /// the small range, the large range, or a third range for all indices.
    RelativeIndices {
        /// Bits of the small range, `1..=large`.
        small: u8,
        /// Bits of the large range, up to [`Delta::MAX_RANGE_BITS`].
        large: u8,
    },
    /// The bodies that changed between the baseline's own baseline and the baseline are predicted to change
    /// again. Relative indices list the mispredicted bodies.
    PredictedIndices,
    /// [Arithmetic coding](crate::entropy) of the changed bodies and of their residuals relative to the baseline.
    Arithmetic,
    /// Like [`Arithmetic`](Self::Arithmetic), with residuals relative to predictions. A packet can name two
    /// additional references.
    ArithmeticPredicted,
    /// Like [`ArithmeticPredicted`](Self::ArithmeticPredicted), but both ends [simulate the
    /// scene](crate::simulation). A packet carries the inputs of the scene, or bodies as long as the receiver cannot
    /// simulate.
    ArithmeticSimulated,
}

impl Delta {
    /// Maximum bits of a range of relative indices: the bits of the largest index.
    pub const MAX_RANGE_BITS: u8 = 16;
    /// Distances 1..=8 and 9..=40.
    pub const RELATIVE_INDICES: Self = Self::RelativeIndices { small: 3, large: 5 };

    /// Every variant with its usual parameters, in the order of the codes on the wire. The last two share a code; a
    /// further bit tells them apart.
    pub const ALL: [Self; 8] = [
        Self::Off,
        Self::ChangedBits,
        Self::Indices,
        Self::RELATIVE_INDICES,
        Self::PredictedIndices,
        Self::Arithmetic,
        Self::ArithmeticPredicted,
        Self::ArithmeticSimulated,
    ];

    /// Whether packets are coded arithmetically.
    pub const fn is_arithmetic(self) -> bool {
        matches!(self, Self::Arithmetic | Self::ArithmeticPredicted | Self::ArithmeticSimulated)
    }

    /// Bits of the small and the large range of relative indices; `None` for other variants.
    pub const fn range_bits(self) -> Option<[u8; 2]> {
        match self {
            Self::RelativeIndices { small, large } => Some([small, large]),
            _ => None,
        }
    }
}

/// Encoding of the position of a changed body relative to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RelativePosition {
    /// Not relative.
    Off,
    /// Difference from the baseline's position, in a small or a large range.
    TwoRanges {
        /// Bits of the small range, `1..=large`.
        small: u8,
        /// Bits of the large range, up to [`RelativePosition::MAX_RANGE_BITS`].
        large: u8,
    },
    /// Difference from a [linear prediction](crate::predict), in growing ranges that depend on the body's speed.
    Predicted,
}

impl RelativePosition {
    /// Maximum bits of a range.
    pub const MAX_RANGE_BITS: u8 = MAX_RANGE_BITS;
    /// Differences from −16 to 15 steps and from −272 to 271, as in the article.
    pub const TWO_RANGES: Self = Self::TwoRanges { small: 5, large: 9 };

    /// Every variant with its usual parameters, in the order of the codes on the wire.
    pub const ALL: [Self; 3] = [Self::Off, Self::TWO_RANGES, Self::Predicted];

    /// Bits of the small and the large range; `None` for other variants.
    pub const fn range_bits(self) -> Option<[u8; 2]> {
        match self {
            Self::TwoRanges { small, large } => Some([small, large]),
            _ => None,
        }
    }
}

/// Encoding of the orientation of a changed body relative to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RelativeOrientation {
    /// Not relative.
    Off,
    /// Difference from the baseline's components, in a small or a large range. The bits are for components
    /// of 9 bits. For other components each range has as many bits more or less, but at least 1.
    TwoRanges {
        /// Bits of the small range, `1..=large`.
        small: u8,
        /// Bits of the large range, up to [`RelativeOrientation::MAX_RANGE_BITS`].
        large: u8,
    },
    /// Difference like [`TwoRanges`](Self::TwoRanges), in growing ranges that depend on the speed of the
    /// baseline's motion.
    GrowingRanges,
}

impl RelativeOrientation {
    /// Maximum bits of a range for components of 9 bits. All differences fit it.
    pub const MAX_RANGE_BITS: u8 = 10;
    /// Differences from −16 to 15 and from −144 to 143, as in the article.
    pub const TWO_RANGES: Self = Self::TwoRanges { small: 5, large: 8 };

    /// Every variant with its usual parameters, in the order of the codes on the wire.
    pub const ALL: [Self; 3] = [Self::Off, Self::TWO_RANGES, Self::GrowingRanges];

    /// Bits of the small and the large range for components of 9 bits; `None` for other variants.
    pub const fn range_bits(self) -> Option<[u8; 2]> {
        match self {
            Self::TwoRanges { small, large } => Some([small, large]),
            _ => None,
        }
    }
}

/// Flags of a changed body that say which of its fields changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangedFlags {
    /// No flags: all fields are sent.
    Off,
    /// One bit for the position, one for the orientation.
    Separate,
    /// One bit that is 1 if position and orientation changed and interacting did not. If it is 0, one more bit
    /// for each of the three.
    Joint,
}

impl ChangedFlags {
    /// Every variant, in the order of its codes on the wire.
    pub const ALL: [Self; 3] = [Self::Off, Self::Separate, Self::Joint];
}

/// One option for each stage. [`check`](Self::check) makes [`Stages`] of a legal combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StageOptions {
    /// Encoding of orientations.
    pub orientation: Orientation,
    /// Encoding of linear velocities.
    pub velocity: Velocity,
    /// Encoding of positions.
    pub position: Position,
    /// Selection of bodies.
    pub delta: Delta,
    /// Use of the baseline for positions.
    pub relative_position: RelativePosition,
    /// Use of the baseline for orientations.
    pub relative_orientation: RelativeOrientation,
    /// Flags of changed bodies.
    pub changed_flags: ChangedFlags,
}

impl StageOptions {
    /// All fields of all bodies as floats.
    pub(crate) const UNCOMPRESSED: Self = Self {
        orientation: Orientation::Full,
        velocity: Velocity::Full,
        position: Position::Full,
        delta: Delta::Off,
        relative_position: RelativePosition::Off,
        relative_orientation: RelativeOrientation::Off,
        changed_flags: ChangedFlags::Off,
    };

    /// Precision of snapshots for these stages.
    pub const fn precision(&self) -> Precision {
        let velocity = match self.velocity {
            Velocity::AtRestFlag => Velocity::Quantized,
            velocity => velocity,
        };
        Precision { orientation: self.orientation, velocity, position: self.position }
    }

    /// Whether packets of these stages are relative to a baseline.
    pub fn uses_baseline(&self) -> bool {
        self.delta != Delta::Off
            || self.position == Position::Affine
            || self.velocity == Velocity::Affine
    }

    /// Whether packets of these stages use the displacement of bodies [before](crate::motion) their reference.
    pub(crate) fn uses_displacements(&self) -> bool {
        let is_predicting = self.delta.is_arithmetic() || self.predicts_positions();
        is_predicting && self.position.has_usual_steps()
    }

    /// Whether bit-packed bodies need predictions, for their positions or for the classes of growing ranges.
    pub(crate) fn predicts_positions(&self) -> bool {
        self.relative_position == RelativePosition::Predicted
            || self.relative_orientation == RelativeOrientation::GrowingRanges
    }

    /// Every combination of variants with their usual parameters, legal or not, with each of `component_bits` for the
    /// smallest three.
    fn every(component_bits: &[u8]) -> Vec<Self> {
        let smallest_three = component_bits.iter().map(|&bits| Orientation::SmallestThree { bits });
        let orientations: Vec<_> = smallest_three.chain([Orientation::Full]).collect();
        let mut every = vec![Self::UNCOMPRESSED];
        macro_rules! with_each {
            ($($stage:ident: $values:expr,)*) => {$(
                let copies = |&options: &Self| {
                    $values.iter().map(move |&$stage| Self { $stage, ..options })
                };
                every = every.iter().flat_map(copies).collect();
            )*};
        }
        with_each! {
            orientation: orientations,
            velocity: Velocity::ALL,
            position: Position::ALL,
            delta: Delta::ALL,
            relative_position: RelativePosition::ALL,
            relative_orientation: RelativeOrientation::ALL,
            changed_flags: ChangedFlags::ALL,
        }
        every
    }

    /// Replaces some of the parameters by random ones that are legal for each stage.
    fn with_parameters(mut self, below: &mut impl FnMut(u8) -> u8) -> Self {
        let mut ranges = |usual: Option<[u8; 2]>, max: u8| {
            usual?;
            let large = below(max) + 1;
            let small = below(large) + 1;
            (below(2) == 0).then_some((small, large))
        };
        if let Some((small, large)) = ranges(self.delta.range_bits(), Delta::MAX_RANGE_BITS) {
            self.delta = Delta::RelativeIndices { small, large };
        }
        let max = RelativePosition::MAX_RANGE_BITS;
        if let Some((small, large)) = ranges(self.relative_position.range_bits(), max) {
            self.relative_position = RelativePosition::TwoRanges { small, large };
        }
        let max = RelativeOrientation::MAX_RANGE_BITS;
        if let Some((small, large)) = ranges(self.relative_orientation.range_bits(), max) {
            self.relative_orientation = RelativeOrientation::TwoRanges { small, large };
        }
        if let Position::Quantized { steps_per_metre } = &mut self.position
            && below(2) == 0
        {
            let doublings = (Position::MAX_STEPS / Position::MIN_STEPS).ilog2() as u8;
            *steps_per_metre = Position::MIN_STEPS << below(doublings + 1);
        }
        self
    }
}

impl Stages {
    /// Every legal combination of variants with their usual parameters, with each of `component_bits` for the
    /// smallest three.
    pub fn every_legal(component_bits: &[u8]) -> impl Iterator<Item = Self> {
        StageOptions::every(component_bits).into_iter().filter_map(|options| options.check().ok())
    }

    /// All stages that a header can contain, whether or not a scene supports them: every combination of variants that
    /// is legal in some scene, complete and partial. Each is returned with the usual parameters, and once more with
    /// random ones. `below` returns a random number less than its argument.
    ///
    /// For tests, so that they try everything that a decoder accepts and not only what an encoder sends.
    pub fn every_readable(mut below: impl FnMut(u8) -> u8) -> impl Iterator<Item = Self> {
        let component_bits: Vec<u8> = (MIN_BITS..=MAX_BITS).collect();
        StageOptions::every(&component_bits)
            .into_iter()
            .flat_map(move |usual| [usual, usual.with_parameters(&mut below)])
            .filter_map(|options| options.check_for_any().ok())
            .flat_map(|stages| {
                let coverages = [Coverage::Complete, Coverage::Partial];
                coverages.map(|coverage| stages.with_coverage(coverage).ok())
            })
            .flatten()
    }
}
