//! Access to the options of the stages by [`Part`].

use cubewire_codec::StageOptions;
use cubewire_codec::stages::{Delta, Orientation, Position, RelativeOrientation, RelativePosition};

use crate::replication::Part;

type CopyField = fn(StageOptions, &mut StageOptions);

/// A part for each field of [`StageOptions`], and a function that copies the field.
const FIELDS: [(Part, CopyField); 7] = [
    (Part::Orientation, |from, to| to.orientation = from.orientation),
    (Part::Velocity, |from, to| to.velocity = from.velocity),
    (Part::Position, |from, to| to.position = from.position),
    (Part::Delta, |from, to| to.delta = from.delta),
    (Part::RelativePosition, |from, to| to.relative_position = from.relative_position),
    (Part::RelativeOrientation, |from, to| to.relative_orientation = from.relative_orientation),
    (Part::ChangedFlags, |from, to| to.changed_flags = from.changed_flags),
];

/// Returns the part of the field that the switch of a part sets. Several switches set the delta.
pub(crate) const fn stage(part: Part) -> Part {
    match part {
        Part::Coding | Part::CodingForPacking | Part::Prediction | Part::Simulation => Part::Delta,
        part => part,
    }
}

/// Sets the field of that part to its value in `from`.
pub(crate) fn copy(part: Part, from: StageOptions, to: &mut StageOptions) {
    let fields = FIELDS.into_iter().filter(|(field, _)| *field == stage(part));
    fields.for_each(|(_, copy)| copy(from, to));
}

pub(crate) fn is_same(part: Part, one: StageOptions, other: StageOptions) -> bool {
    let mut with = one;
    copy(part, other, &mut with);
    with == one
}

pub(crate) fn changed(from: StageOptions, to: StageOptions) -> Vec<Part> {
    FIELDS.into_iter().map(|(part, _)| part).filter(|part| !is_same(*part, from, to)).collect()
}

/// Returns the same variants with their usual parameters.
pub(crate) const fn usual(mut options: StageOptions) -> StageOptions {
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

pub(super) const NINE_BITS: Orientation = Orientation::SmallestThree { bits: 9 };
