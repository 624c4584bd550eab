//! The tables of a search: the kinds of values, and the ranges that are searched for each.

use cubewire_codec::predict::CLASSES;
use cubewire_codec::ranges::Ranges;
use cubewire_codec::stages::{Delta, RelativeOrientation, RelativePosition};
use cubewire_codec::{GROWING_ORIENTATION_RANGES, PREDICTED_INDEX_BITS, PREDICTED_POSITION_RANGES};

use crate::cli::SearchField;

/// A table: values of one kind, and the current ranges for them.
pub(super) struct Question {
    pub(super) title: String,
    pub(super) unit: &'static str,
    /// Bits of the codec's current ranges.
    pub(super) current: Vec<u8>,
    max_bits: u8,
}

impl Question {
    /// Every set of as many ranges as the current one, each at least as wide as the one before. (The
    /// third range of an index must reach the last body and is not searched.)
    pub(super) fn sets(&self) -> Vec<Vec<u8>> {
        let mut sets = vec![vec![]];
        for _ in &self.current {
            sets = sets
                .into_iter()
                .flat_map(|set: Vec<u8>| {
                    let min_bits = set.last().copied().unwrap_or(1);
                    (min_bits..=self.max_bits).map(move |bits| [&set[..], &[bits]].concat())
                })
                .collect();
        }
        sets
    }
}

/// Most bits of a range of a position or an orientation.
pub(super) const MAX_BITS: u8 = 12;

/// The tables of a field. Components of orientations have as many bits.
pub(super) fn questions(field: SearchField, component_bits: u8) -> Vec<Question> {
    match field {
        SearchField::Position => vectors(
            "Positions",
            "the prediction",
            "bits a changed position",
            usual(RelativePosition::TWO_RANGES.range_bits()),
            PREDICTED_POSITION_RANGES,
            MAX_BITS,
        ),
        SearchField::Orientation => vectors(
            "Orientations",
            "the baseline",
            "bits a changed orientation",
            usual(RelativeOrientation::TWO_RANGES.range_bits()),
            GROWING_ORIENTATION_RANGES,
            component_bits.min(MAX_BITS),
        ),
        SearchField::Index => vec![
            index(
                "changed bodies",
                usual(Delta::RELATIVE_INDICES.range_bits()),
            ),
            index("mispredicted bodies", PREDICTED_INDEX_BITS),
        ],
    }
}

/// Bits of the two ranges of a stage that has them.
fn usual(range_bits: Option<[u8; 2]>) -> [u8; 2] {
    range_bits.expect("the stage has two ranges")
}

/// A table for two ranges relative to the baseline, and one for each class with three ranges relative
/// to `reference`.
fn vectors(
    field: &str,
    reference: &str,
    unit: &'static str,
    two: [u8; 2],
    three: [Ranges<3>; CLASSES],
    max_bits: u8,
) -> Vec<Question> {
    let all = Question {
        title: format!("{field} relative to the baseline, two ranges"),
        unit,
        current: two.to_vec(),
        max_bits,
    };
    let classes = three.iter().enumerate().map(|(class, ranges)| Question {
        title: format!("{field} relative to {reference}, three ranges, class {class}"),
        unit,
        current: ranges.bits().to_vec(),
        max_bits,
    });
    std::iter::once(all).chain(classes).collect()
}

fn index(bodies: &str, current: [u8; 2]) -> Question {
    Question {
        title: format!("Relative indices of {bodies}; a third range reaches every body"),
        unit: "bits an index in total",
        current: current.to_vec(),
        max_bits: 8,
    }
}
