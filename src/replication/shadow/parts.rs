//! The parts of stages, and stages without a part.

use std::mem::discriminant;

use cubewire_codec::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};
use cubewire_codec::{StageOptions, Stages, ladder};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Orientation,
    Velocity,
    Position,
    /// Selection of the sent cubes, and encoding of their indices.
    Delta,
    /// Arithmetic coding, replaced by changed bits.
    Coding,
    /// Arithmetic coding, replaced by all bit-packing stages that it makes unnecessary.
    CodingForPacking,
    Prediction,
    Simulation,
    RelativePosition,
    RelativeOrientation,
    ChangedFlags,
}

impl Part {
    /// A part for each field of [`StageOptions`].
    const FIELDS: [Self; 7] = [
        Self::Orientation,
        Self::Velocity,
        Self::Position,
        Self::Delta,
        Self::RelativePosition,
        Self::RelativeOrientation,
        Self::ChangedFlags,
    ];

    /// Returns the part of the field that this part belongs to. Several belong to the delta.
    pub const fn field(self) -> Self {
        match self {
            Self::Coding | Self::CodingForPacking | Self::Prediction | Self::Simulation => {
                Self::Delta
            }
            part => part,
        }
    }

    /// Sets the field of this part to its value in `from`.
    pub const fn copy(self, from: StageOptions, to: &mut StageOptions) {
        match self.field() {
            Self::Orientation => to.orientation = from.orientation,
            Self::Velocity => to.velocity = from.velocity,
            Self::Position => to.position = from.position,
            Self::RelativePosition => to.relative_position = from.relative_position,
            Self::RelativeOrientation => to.relative_orientation = from.relative_orientation,
            Self::ChangedFlags => to.changed_flags = from.changed_flags,
            _ => to.delta = from.delta,
        }
    }

    /// Whether the field of this part has the same value.
    pub fn is_same(self, one: StageOptions, other: StageOptions) -> bool {
        let mut with = one;
        self.copy(other, &mut with);
        with == one
    }

    /// Returns the parts of the fields that differ.
    pub fn changed(from: StageOptions, to: StageOptions) -> Vec<Self> {
        Self::FIELDS.into_iter().filter(|part| !part.is_same(from, to)).collect()
    }
}

/// Stages after one part was removed, completely or by one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ablated {
    pub part: Part,
    pub stages: Stages,
    /// Parts that were removed too, because they are illegal without `part`.
    pub along: Vec<Part>,
}

/// Returns all ways to remove one part, or one step of a part, from `present`. Only parts that depend on the removed part are
/// removed with it.
pub fn ablations(present: Stages) -> Vec<Ablated> {
    let mut ways = Vec::new();
    let mut lessen = |part, left: StageOptions| ways.push((part, left));
    if present.orientation != Orientation::Full {
        lessen(Part::Orientation, StageOptions { orientation: Orientation::Full, ..*present });
    }
    for &velocity in lesser_velocities(present.velocity) {
        lessen(Part::Velocity, StageOptions { velocity, ..*present });
    }
    if present.position != Position::Full {
        lessen(Part::Position, StageOptions { position: Position::Full, ..*present });
    }
    for &(part, delta) in lesser_deltas(present.delta) {
        lessen(part, StageOptions { delta, ..*present });
    }
    if let Some(packed) = bit_packed(present) {
        lessen(Part::CodingForPacking, packed);
    }
    for relative_position in lesser(&RelativePosition::ALL, present.relative_position) {
        lessen(Part::RelativePosition, StageOptions { relative_position, ..*present });
    }
    for relative_orientation in lesser(&RelativeOrientation::ALL, present.relative_orientation) {
        lessen(Part::RelativeOrientation, StageOptions { relative_orientation, ..*present });
    }
    for changed_flags in lesser(&ChangedFlags::ALL, present.changed_flags) {
        lessen(Part::ChangedFlags, StageOptions { changed_flags, ..*present });
    }
    let legal = ways.into_iter().filter_map(|(part, left)| {
        let (stages, along) = repaired(left, &DEPENDENT)?;
        Some(Ablated { part, stages, along })
    });
    legal.collect()
}

pub const NINE_BITS: Orientation = Orientation::SmallestThree { bits: 9 };

const fn lesser_velocities(velocity: Velocity) -> &'static [Velocity] {
    match velocity {
        Velocity::Full => &[],
        Velocity::Quantized | Velocity::Affine => &[Velocity::Full],
        Velocity::AtRestFlag => &[Velocity::Quantized, Velocity::Full],
        Velocity::Omitted => &[Velocity::AtRestFlag, Velocity::Full],
    }
}

const fn lesser_deltas(delta: Delta) -> &'static [(Part, Delta)] {
    const OFF: (Part, Delta) = (Part::Delta, Delta::Off);
    const BITS: (Part, Delta) = (Part::Delta, Delta::ChangedBits);
    const NO_CODING: (Part, Delta) = (Part::Coding, Delta::ChangedBits);
    match delta {
        Delta::Off => &[],
        Delta::ChangedBits => &[OFF],
        Delta::Indices => &[BITS, OFF],
        Delta::RelativeIndices { .. } => &[(Part::Delta, Delta::Indices), BITS, OFF],
        Delta::PredictedIndices => &[(Part::Delta, Delta::RELATIVE_INDICES), BITS, OFF],
        Delta::Arithmetic => &[NO_CODING, OFF],
        Delta::ArithmeticPredicted => &[(Part::Prediction, Delta::Arithmetic), NO_CODING, OFF],
        Delta::ArithmeticSimulated => &[
            (Part::Simulation, Delta::ArithmeticPredicted),
            (Part::Prediction, Delta::Arithmetic),
            NO_CODING,
            OFF,
        ],
    }
}

/// Returns the options before the present one, the nearest first. Each option replaces the one before it. Ignores the widths of
/// ranges.
fn lesser<T: Copy>(ascending: &[T], present: T) -> impl Iterator<Item = T> {
    let is_present = |option: &T| discriminant(option) == discriminant(&present);
    let index = ascending.iter().position(is_present).unwrap_or_default();
    ascending[..index].iter().rev().copied()
}

/// Returns stages that bit-pack the same integers with all stages that arithmetic coding replaces. `None` if `present` has no
/// arithmetic coding.
fn bit_packed(present: Stages) -> Option<StageOptions> {
    let packed = match present.delta {
        Delta::Arithmetic => ladder::CHANGED_FLAGS.stages,
        Delta::ArithmeticPredicted | Delta::ArithmeticSimulated => {
            ladder::PREDICTED_POSITION.stages
        }
        _ => return None,
    };
    Some(StageOptions {
        orientation: present.orientation,
        velocity: present.velocity,
        position: present.position,
        ..*packed
    })
}

/// A change of the options of a part that can make other options legal.
pub type Repair = (Part, fn(&mut StageOptions));

/// Repairs of the parts that can depend on another part.
const DEPENDENT: [Repair; 4] = [
    (Part::RelativePosition, |it| it.relative_position = RelativePosition::Off),
    (Part::RelativeOrientation, |it| it.relative_orientation = RelativeOrientation::Off),
    (Part::ChangedFlags, |it| it.changed_flags = ChangedFlags::Off),
    (Part::Coding, |it| {
        if it.delta.is_arithmetic() {
            it.delta = Delta::ChangedBits;
        }
    }),
];

/// Makes options legal with the fewest repairs. Also returns the parts of these repairs. `None` if that is impossible.
pub fn repaired(options: StageOptions, repairs: &[Repair]) -> Option<(Stages, Vec<Part>)> {
    let mut subsets: Vec<u32> = (0..1 << repairs.len()).collect();
    subsets.sort_by_key(|subset| subset.count_ones());
    subsets.into_iter().find_map(|subset| {
        let mut options = options;
        let chosen = repairs.iter().enumerate().filter(|(bit, _)| subset & (1 << bit) != 0);
        let parts = chosen.map(|(_, (part, repair))| {
            repair(&mut options);
            *part
        });
        let parts = parts.collect();
        Some((options.check().ok()?, parts))
    })
}

/// Returns the same variants with their usual parameters.
pub const fn usual(mut options: StageOptions) -> StageOptions {
    if let Orientation::SmallestThree { .. } = options.orientation {
        options.orientation = NINE_BITS;
    }
    if let Position::Quantized { .. } = options.position {
        options.position = Position::QUANTIZED;
    }
    if let Delta::RelativeIndices { .. } = options.delta {
        options.delta = Delta::RELATIVE_INDICES;
    }
    if let RelativePosition::TwoRanges { .. } = options.relative_position {
        options.relative_position = RelativePosition::TWO_RANGES;
    }
    if let RelativeOrientation::TwoRanges { .. } = options.relative_orientation {
        options.relative_orientation = RelativeOrientation::TWO_RANGES;
    }
    options
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn differing(a: Stages, b: Stages) -> HashSet<Part> {
        DEPENDENT.into_iter().map(|(part, _)| part).filter(|part| !part.is_same(*a, *b)).collect()
    }

    const fn own(part: Part) -> Option<Part> {
        match part {
            Part::RelativePosition | Part::RelativeOrientation | Part::ChangedFlags => Some(part),
            Part::Delta | Part::Coding | Part::Prediction | Part::Simulation => Some(Part::Coding),
            Part::Orientation | Part::Velocity | Part::Position | Part::CodingForPacking => None,
        }
    }

    #[test]
    fn every_ablation_is_another_one_and_takes_along_only_what_depends_on_its_part() {
        for present in Stages::every_legal(&[9, 10]) {
            let mut seen = HashSet::from([present]);
            for ablated in ablations(present) {
                let Ablated { part, stages, along } = &ablated;
                let name = format!("{present}: {ablated:?}");
                assert!(seen.insert(*stages), "{name}");
                for (kept, of) in [
                    (stages.orientation == present.orientation, Part::Orientation),
                    (stages.velocity == present.velocity, Part::Velocity),
                    (stages.position == present.position, Part::Position),
                ] {
                    assert_eq!(kept, *part != of, "{name}");
                }
                if *part == Part::CodingForPacking {
                    assert!(along.is_empty(), "{name}");
                    continue;
                }
                let mut expected: HashSet<Part> = along.iter().copied().collect();
                assert_eq!(expected.len(), along.len(), "{name}");
                expected.extend(own(*part));
                assert_eq!(differing(*stages, present), expected, "{name}");
                for &dependent in along {
                    let mut more = **stages;
                    dependent.copy(*present, &mut more);
                    assert!(more.check().is_err(), "{name}: {dependent:?} could stay");
                }
            }
        }
    }

    #[test]
    fn everything_can_be_taken_away_from_changed_flags_and_nothing_from_nothing() {
        assert_eq!(ablations(ladder::UNCOMPRESSED.stages), []);
        let present = ladder::CHANGED_FLAGS.stages;
        let parts: Vec<_> =
            ablations(present).into_iter().map(|ablated| (ablated.part, ablated.along)).collect();
        let relative = [Part::RelativePosition, Part::RelativeOrientation];
        let all = [relative[0], relative[1], Part::ChangedFlags];
        assert_eq!(
            parts,
            [
                (Part::Orientation, vec![Part::RelativeOrientation]),
                (Part::Velocity, vec![]),
                (Part::Velocity, vec![]),
                (Part::Position, vec![Part::RelativePosition]),
                (Part::Delta, vec![]),
                (Part::Delta, vec![]),
                (Part::Delta, all.to_vec()),
                (Part::RelativePosition, vec![]),
                (Part::RelativeOrientation, vec![]),
                (Part::ChangedFlags, vec![]),
            ]
        );
    }

    #[test]
    fn arithmetic_coding_has_its_counterparts() {
        for (present, packed) in [
            (ladder::ARITHMETIC, ladder::CHANGED_FLAGS),
            (ladder::PREDICTED, ladder::PREDICTED_POSITION),
        ] {
            let ablations = ablations(present.stages);
            let packing = ablations.iter().find(|ablated| ablated.part == Part::CodingForPacking);
            assert_eq!(packing.unwrap().stages, packed.stages);
        }
        let predicted = ablations(ladder::PREDICTED.stages);
        let unpredicted = predicted.iter().find(|ablated| ablated.part == Part::Prediction);
        assert_eq!(unpredicted.unwrap().stages, ladder::ARITHMETIC.stages);
        let whole = &predicted[0];
        assert_eq!((whole.part, &whole.along[..]), (Part::Orientation, &[Part::Coding][..]));
    }
}
