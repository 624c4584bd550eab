//! Which ranges encode a field in the fewest bits.
//!
//! Every set of two or three growing ranges is tried on every value; nothing is sampled. A set is
//! judged by the mean over the recordings of its mean bits a value.

use cubewire_codec::predict::{CLASSES, Predictor};
use cubewire_codec::ranges::Ranges;
use cubewire_codec::{
    GROWING_ORIENTATION_RANGES, ORIENTATION_RANGES, POSITION_RANGES, PREDICTED_INDEX_BITS,
    PREDICTED_POSITION_RANGES, RELATIVE_INDEX_BITS, index_bits,
};
use indicatif::ProgressBar;

use crate::cli::SearchField;
use crate::pairs;
use crate::recording::{CUBES, Recording};
use crate::table::Table;

/// Bits of a position that is not relative.
const ABSOLUTE_POSITION_BITS: u32 = 50;

/// Bits of an orientation that is not relative.
const ABSOLUTE_ORIENTATION_BITS: u32 = 29;

/// Bits that say how many indices follow.
const INDEX_COUNT_BITS: u32 = 8;

/// Prints the best ranges for a field, searched on `recordings`, and what they make of `measure`.
pub(crate) fn run(
    field: SearchField,
    recordings: &[Recording],
    measure: Option<&Recording>,
    top: usize,
) {
    let questions = match field {
        SearchField::Position => positions(),
        SearchField::Orientation => orientations(),
        SearchField::Index => indices(),
    };
    let sets: usize = questions.iter().map(|question| question.sets().len()).sum();
    let bar = ProgressBar::new(sets as u64).with_message("sets of ranges");
    for question in questions {
        let samples: Vec<Samples> = recordings
            .iter()
            .map(|recording| (question.samples)(recording))
            .collect();
        let measured = measure.map(|recording| (question.samples)(recording));
        let mut ranked: Vec<Ranked> = question
            .sets()
            .into_iter()
            .map(|bits| {
                bar.inc(1);
                let each = samples.iter().map(|samples| samples.mean_bits(&bits));
                Ranked {
                    mean: each.sum::<f64>() / samples.len() as f64,
                    measured: measured.as_ref().map(|samples| samples.mean_bits(&bits)),
                    bits,
                }
            })
            .collect();
        ranked.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        bar.suspend(|| question.print(&ranked, top));
    }
    bar.finish_and_clear();
}

/// One set of ranges and what it costs.
struct Ranked {
    bits: Vec<u8>,
    mean: f64,
    measured: Option<f64>,
}

/// One table: values of one sort, and today's ranges for them.
struct Question {
    title: String,
    unit: &'static str,
    today: Vec<u8>,
    widest: u8,
    samples: Box<dyn Fn(&Recording) -> Samples>,
}

impl Question {
    /// Every set of as many ranges as today's, each at least as wide as the one before. The last
    /// range of an index must reach the last cube, so that one is fixed.
    fn sets(&self) -> Vec<Vec<u8>> {
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

    fn print(&self, ranked: &[Ranked], top: usize) {
        println!("\n{}\n", self.title);
        let measured = ranked.first().is_some_and(|row| row.measured.is_some());
        let mut header = vec!["rank", "ranges", self.unit];
        if measured {
            header.push("on --measure");
        }
        let mut table = Table::new(header);
        let today = ranked.iter().position(|row| row.bits == self.today);
        for (rank, row) in ranked.iter().enumerate() {
            if rank >= top && Some(rank) != today {
                continue;
            }
            let mark = if Some(rank) == today { ", today" } else { "" };
            let bits: Vec<String> = row.bits.iter().map(u8::to_string).collect();
            let mut cells = vec![
                format!("{}{mark}", rank + 1),
                bits.join(" "),
                format!("{:.3}", row.mean),
            ];
            cells.extend(row.measured.map(|bits| format!("{bits:.3}")));
            table.row(cells);
        }
        table.print();
    }
}

/// The values of one recording.
enum Samples {
    /// Differences of three components; `None` where they cannot be relative.
    Vectors {
        differences: Vec<Option<[i32; 3]>>,
        absolute_bits: u32,
    },
    /// Distances less 1 to the cube named before, packet by packet.
    Distances(Vec<Vec<u32>>),
}

impl Samples {
    fn mean_bits(&self, bits: &[u8]) -> f64 {
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
    let selection = |distances: &Vec<u32>| {
        let indices: u32 = distances
            .iter()
            .map(|&distance| ranges.unsigned_bits(distance).unwrap_or(u32::MAX / 1024))
            .sum();
        u64::from(1 + (INDEX_COUNT_BITS + indices).min(CUBES as u32))
    };
    let bits: u64 = packets.iter().map(selection).sum();
    bits as f64 / packets.len().max(1) as f64
}

fn positions() -> Vec<Question> {
    let two = Question {
        title: "Positions relative to the baseline, two ranges".to_owned(),
        unit: "bits a changed position",
        today: POSITION_RANGES.bits.to_vec(),
        widest: 14,
        samples: Box::new(|recording| position_differences(recording, None)),
    };
    let growing = (0..CLASSES).map(|class| Question {
        title: format!("Positions relative to the prediction, three ranges, class {class}"),
        unit: "bits a changed position",
        today: PREDICTED_POSITION_RANGES[class].bits.to_vec(),
        widest: 14,
        samples: Box::new(move |recording| position_differences(recording, Some(class))),
    });
    std::iter::once(two).chain(growing).collect()
}

fn orientations() -> Vec<Question> {
    let two = Question {
        title: "Orientations relative to the baseline, two ranges".to_owned(),
        unit: "bits a changed orientation",
        today: ORIENTATION_RANGES.bits.to_vec(),
        widest: 9,
        samples: Box::new(|recording| orientation_differences(recording, None)),
    };
    let growing = (0..CLASSES).map(|class| Question {
        title: format!("Orientations relative to the baseline, three ranges, class {class}"),
        unit: "bits a changed orientation",
        today: GROWING_ORIENTATION_RANGES[class].bits.to_vec(),
        widest: 9,
        samples: Box::new(move |recording| orientation_differences(recording, Some(class))),
    });
    std::iter::once(two).chain(growing).collect()
}

fn indices() -> Vec<Question> {
    [
        (false, "changed cubes", RELATIVE_INDEX_BITS),
        (true, "wrongly expected cubes", PREDICTED_INDEX_BITS),
    ]
    .map(|(predicted, what, today)| Question {
        title: format!("Relative indices of {what}; a third range reaches every cube"),
        unit: "bits of selection a packet",
        today: today.to_vec(),
        widest: 8,
        samples: Box::new(move |recording| distances(recording, predicted)),
    })
    .into()
}

/// Differences of changed positions to the baseline, or, for one class, to the prediction.
fn position_differences(recording: &Recording, class: Option<usize>) -> Samples {
    let mut differences = Vec::new();
    pairs::for_each(recording, |sequence, current, baseline| {
        let predictor = Predictor::new(baseline, sequence);
        let before = baseline.snapshot().positions();
        for (cube, position) in current.positions().iter().enumerate() {
            if *position == before[cube] {
                continue;
            }
            let reference = match class {
                None => before[cube],
                Some(class) => {
                    let expected = predictor.expect(cube);
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
    pairs::for_each(recording, |sequence, current, baseline| {
        let predictor = Predictor::new(baseline, sequence);
        for cube in 0..current.len() {
            let orientation = current.smallest_three(cube);
            let before = baseline.snapshot().smallest_three(cube);
            let wanted = class.is_none_or(|class| predictor.expect(cube).class == class);
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
    pairs::for_each(recording, |_, current, baseline| {
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
