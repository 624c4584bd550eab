//! What is searched: which values there are, and what they cost in given ranges.

use cubewire_codec::predict::{CLASSES, LinearPredictor};
use cubewire_codec::quantize::bounded::POSITION;
use cubewire_codec::ranges::Ranges;
use cubewire_codec::{
    GROWING_ORIENTATION_RANGES, ORIENTATION_RANGES, POSITION_RANGES, PREDICTED_INDEX_BITS,
    PREDICTED_POSITION_RANGES, RELATIVE_INDEX_BITS, Stages, index_bits, index_count_bits, ladder,
};

use crate::cli::SearchField;
use crate::pairs;
use crate::recording::{COMPONENT_BITS, CUBES, Recording};

/// Bits of a position that is not relative.
const ABSOLUTE_POSITION_BITS: u32 = POSITION[0].bits() + POSITION[1].bits() + POSITION[2].bits();

/// Bits of an orientation that is not relative.
const ABSOLUTE_ORIENTATION_BITS: u32 = 2 + 3 * COMPONENT_BITS as u32;

/// Those that look at motion.
const STAGES: Stages = ladder::PREDICTED_POSITION.stages;

/// Every table about a field.
pub(super) fn about(field: SearchField) -> Vec<Question> {
    match field {
        SearchField::Position => positions(),
        SearchField::Orientation => orientations(),
        SearchField::Index => indices(),
    }
}

/// One table: values of one sort, and today's ranges for them.
pub(super) struct Question {
    pub(super) title: String,
    pub(super) unit: &'static str,
    pub(super) today: Vec<u8>,
    widest: u8,
    /// Whether it is one of the classes that share the values among them.
    pub(super) is_a_class: bool,
    pub(super) samples: Box<dyn Fn(&Recording) -> Samples>,
}

impl Question {
    /// Every set of as many ranges as today's, each at least as wide as the one before. (The third
    /// range of an index must reach the last cube and is not searched.)
    pub(super) fn sets(&self) -> Vec<Vec<u8>> {
        let count = self.today.len();
        let mut sets = vec![vec![]];
        for _ in 0..count {
            sets = sets
                .into_iter()
                .flat_map(|set: Vec<u8>| {
                    let least = set.last().copied().unwrap_or(1);
                    (least..=self.widest).map(move |bits| [&set[..], &[bits]].concat())
                })
                .collect();
        }
        sets
    }
}

/// The values of one recording.
pub(super) enum Samples {
    /// Differences of three components; `None` where they cannot be relative.
    Vectors {
        differences: Vec<Option<[i32; 3]>>,
        absolute_bits: u32,
    },
    /// Distances less 1 to the cube named before, packet by packet.
    Distances(Vec<Vec<u32>>),
}

impl Samples {
    /// Number of values.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Vectors { differences, .. } => differences.len(),
            Self::Distances(packets) => packets.iter().map(Vec::len).sum(),
        }
    }

    pub(super) fn mean_bits(&self, bits: &[u8]) -> f64 {
        match (self, bits) {
            (
                Self::Vectors {
                    differences,
                    absolute_bits,
                },
                &[a, b],
            ) => mean_vector_bits(Ranges::new([a, b]), differences, *absolute_bits),
            (
                Self::Vectors {
                    differences,
                    absolute_bits,
                },
                &[a, b, c],
            ) => mean_vector_bits(Ranges::new([a, b, c]), differences, *absolute_bits),
            (Self::Distances(packets), &[a, b]) => {
                mean_selection_bits([a, b, index_bits(CUBES) as u8], packets)
            }
            _ => unreachable!("questions have two or three ranges, and indices two"),
        }
    }
}

fn mean_vector_bits<const N: usize>(
    ranges: Ranges<N>,
    differences: &[Option<[i32; 3]>],
    absolute_bits: u32,
) -> f64 {
    let relative = |difference: [i32; 3]| -> Option<u32> {
        difference
            .into_iter()
            .map(|component| ranges.signed_bits(component))
            .sum()
    };
    let bits: u64 = differences
        .iter()
        .map(|difference| u64::from(1 + difference.and_then(relative).unwrap_or(absolute_bits)))
        .sum();
    bits as f64 / differences.len().max(1) as f64
}

fn mean_selection_bits(bits: [u8; 3], packets: &[Vec<u32>]) -> f64 {
    let ranges = Ranges::new(bits);
    let count_bits = index_count_bits(CUBES, 1 + u32::from(bits[0]));
    let selection = |distances: &Vec<u32>| {
        let each = distances
            .iter()
            .map(|&distance| ranges.unsigned_bits(distance));
        let indices: Option<u32> = each.sum();
        let as_indices = indices.map_or(u32::MAX, |bits| count_bits + bits);
        u64::from(1 + as_indices.min(CUBES as u32))
    };
    let bits: u64 = packets.iter().map(selection).sum();
    let indices: usize = packets.iter().map(Vec::len).sum();
    bits as f64 / indices.max(1) as f64
}

fn positions() -> Vec<Question> {
    vectors(
        "Positions",
        "the prediction",
        "bits a changed position",
        (POSITION_RANGES, PREDICTED_POSITION_RANGES),
        12,
        position_differences,
    )
}

fn orientations() -> Vec<Question> {
    vectors(
        "Orientations",
        "the baseline",
        "bits a changed orientation",
        (ORIENTATION_RANGES, GROWING_ORIENTATION_RANGES),
        9,
        orientation_differences,
    )
}

/// One table for two ranges and the difference to the baseline, and one for each class with three
/// ranges and the difference to `reference`.
fn vectors(
    field: &str,
    reference: &str,
    unit: &'static str,
    (two, three): (Ranges<2>, [Ranges<3>; CLASSES]),
    widest: u8,
    differences: fn(&Recording, Option<usize>) -> Samples,
) -> Vec<Question> {
    let question = |title, today, class: Option<usize>| Question {
        title,
        unit,
        today,
        widest,
        is_a_class: class.is_some(),
        samples: Box::new(move |recording| differences(recording, class)),
    };
    let all = question(
        format!("{field} relative to the baseline, two ranges"),
        two.bits().to_vec(),
        None,
    );
    let classes = three.into_iter().enumerate().map(|(class, today)| {
        question(
            format!("{field} relative to {reference}, three ranges, class {class}"),
            today.bits().to_vec(),
            Some(class),
        )
    });
    std::iter::once(all).chain(classes).collect()
}

fn indices() -> Vec<Question> {
    [
        (false, "changed cubes", RELATIVE_INDEX_BITS),
        (true, "wrongly expected cubes", PREDICTED_INDEX_BITS),
    ]
    .map(|(predicted, what, today)| Question {
        title: format!("Relative indices of {what}; a third range reaches every cube"),
        unit: "bits an index, all told",
        today: today.to_vec(),
        widest: 8,
        is_a_class: false,
        samples: Box::new(move |recording| distances(recording, predicted)),
    })
    .into()
}

/// Differences of changed positions to the baseline, or, for one class, to the prediction.
fn position_differences(recording: &Recording, class: Option<usize>) -> Samples {
    let mut differences = Vec::new();
    pairs::for_each(recording, STAGES, |sequence, current, baseline| {
        let predictor = LinearPredictor::new(baseline, sequence);
        let before = baseline.snapshot().positions();
        for (cube, position) in current.positions().iter().enumerate() {
            if *position == before[cube] {
                continue;
            }
            let reference = match class {
                None => before[cube],
                Some(class) => {
                    let expected = predictor.predict(cube);
                    if expected.class != class {
                        continue;
                    }
                    expected.position
                }
            };
            let difference = std::array::from_fn(|axis| position[axis] - reference[axis]);
            differences.push(Some(difference));
        }
    });
    Samples::Vectors {
        differences,
        absolute_bits: ABSOLUTE_POSITION_BITS,
    }
}

/// Differences of changed orientations to the baseline, of one class or of all.
fn orientation_differences(recording: &Recording, class: Option<usize>) -> Samples {
    let mut differences = Vec::new();
    pairs::for_each(recording, STAGES, |sequence, current, baseline| {
        let predictor = LinearPredictor::new(baseline, sequence);
        for cube in 0..current.len() {
            let orientation = current.smallest_three(cube);
            let before = baseline.snapshot().smallest_three(cube);
            let wanted = class.is_none_or(|class| predictor.predict(cube).class == class);
            if orientation == before || !wanted {
                continue;
            }
            let difference = std::array::from_fn(|slot| {
                i32::from(orientation.components[slot]) - i32::from(before.components[slot])
            });
            differences.push((orientation.largest == before.largest).then_some(difference));
        }
    });
    Samples::Vectors {
        differences,
        absolute_bits: ABSOLUTE_ORIENTATION_BITS,
    }
}

/// Distances between changed cubes, or between those that did not do as the baseline's motion
/// lets expect.
fn distances(recording: &Recording, predicted: bool) -> Samples {
    let mut packets = Vec::new();
    let mut changed = Vec::new();
    pairs::for_each(recording, STAGES, |_, current, baseline| {
        let mut least = 0;
        let mut packet = Vec::new();
        current.compare(baseline.snapshot(), &mut changed);
        for (cube, &changed) in changed.iter().enumerate() {
            if changed != (predicted && baseline.moved()[cube]) {
                packet.push(cube as u32 - least);
                least = cube as u32 + 1;
            }
        }
        packets.push(packet);
    });
    Samples::Distances(packets)
}
