//! The values of a recording, and their cost in given ranges.

use cubewire_codec::predict::{CLASSES, LinearPredictor};
use cubewire_codec::ranges::Ranges;
use cubewire_codec::{QuantizedSnapshot, Stages, index_bits, index_count_bits, ladder};
use cubewire_recording::Recording;

use super::questions::MAX_BITS;
use crate::cli::SearchField;
use crate::error::LabError;
use crate::pairs;
use crate::rungs;

/// The values of one table in one recording.
pub(super) enum Samples {
    Vectors(Vectors),
    Distances(Distances),
}

/// The values of a recording for each table of a field, in the order of
/// [`questions`](super::questions::questions).
///
/// # Errors
/// If the scene of the recording has no stages that predict from motion.
pub(super) fn samples(field: SearchField, recording: &Recording) -> Result<Vec<Samples>, LabError> {
    let stages = rungs::in_scene(&ladder::PREDICTED_POSITION, &recording.plan)?.stages;
    Ok(match field {
        SearchField::Position => position_differences(recording, stages),
        SearchField::Orientation => orientation_differences(recording, stages),
        SearchField::Index => index_distances(recording, stages),
    })
}

impl Samples {
    /// Mean bits of a value in ranges of these bits.
    pub(super) fn mean_bits(&self, bits: &[u8]) -> f64 {
        match (self, bits) {
            (Self::Vectors(vectors), &[a, b]) => {
                let ranges = Ranges::new([a, b]);
                vectors.mean_bits(&costs(|size| ranges.signed_bits(size)))
            }
            (Self::Vectors(vectors), &[a, b, c]) => {
                let ranges = Ranges::new([a, b, c]);
                vectors.mean_bits(&costs(|size| ranges.signed_bits(size)))
            }
            (Self::Distances(distances), &[a, b]) => distances.mean_bits([a, b]),
            _ => unreachable!("vectors have two or three ranges, and indices two"),
        }
    }
}

/// Differences of three components.
pub(super) struct Vectors {
    /// The sizes of the components: n for the numbers n and −1 − n, which take the same bits.
    sizes: Vec<[u16; 3]>,
    /// Number of values that cannot be encoded as differences.
    absolute: usize,
    absolute_bits: u32,
}

/// Greater than the size of any number in three ranges.
const MAX_SIZE: u16 = 3 << (MAX_BITS - 1);

/// The cost of a component that is beyond the last range: more than that of three others.
const BEYOND: u16 = 1 << 12;

/// Bits of a component by its size.
fn costs(bits: impl Fn(i32) -> Option<u32>) -> Vec<u16> {
    let in_range = (0..).map_while(|size| Some(bits(size)? as u16));
    let mut costs: Vec<u16> = in_range.collect();
    costs.resize(usize::from(MAX_SIZE) + 1, BEYOND);
    costs
}

impl Vectors {
    const fn new(absolute_bits: u32) -> Self {
        Self {
            sizes: Vec::new(),
            absolute: 0,
            absolute_bits,
        }
    }

    /// Adds a difference, or `None` for a value that cannot be encoded as one.
    fn push(&mut self, difference: Option<[i32; 3]>) {
        let Some(difference) = difference else {
            self.absolute += 1;
            return;
        };
        let size = |component: i32| {
            let size = if component < 0 { !component } else { component };
            size.min(MAX_SIZE.into()) as u16
        };
        self.sizes.push(difference.map(size));
    }

    const fn len(&self) -> usize {
        self.sizes.len() + self.absolute
    }

    fn mean_bits(&self, costs: &[u16]) -> f64 {
        let cost = |size: u16| costs[usize::from(size)];
        let relative: u64 = self
            .sizes
            .iter()
            .map(|&[x, y, z]| {
                let bits = cost(x) + cost(y) + cost(z);
                if bits < BEYOND {
                    u64::from(bits)
                } else {
                    u64::from(self.absolute_bits)
                }
            })
            .sum();
        let absolute = self.absolute as u64 * u64::from(self.absolute_bits);
        let flags = self.len() as u64;
        (flags + relative + absolute) as f64 / self.len().max(1) as f64
    }
}

/// Distances, less 1, between the indices of consecutive bodies, for each packet.
pub(super) struct Distances {
    /// Bodies, or slots, of the scene.
    bodies: usize,
    packets: Vec<Vec<u16>>,
}

impl Distances {
    /// Mean bits of an index, including its share of the flag and the count of each packet. A packet has a
    /// bit for every body instead where that is smaller.
    fn mean_bits(&self, [a, b]: [u8; 2]) -> f64 {
        let ranges = Ranges::new([a, b, index_bits(self.bodies).max(1) as u8]);
        let costs: Vec<u32> = (0..self.bodies as u32)
            .map(|distance| ranges.unsigned_bits(distance))
            .collect::<Option<_>>()
            .expect("the last range reaches every body");
        let count_bits = index_count_bits(self.bodies, 1 + u32::from(a));
        let selection = |distances: &Vec<u16>| {
            let indices = distances
                .iter()
                .map(|&distance| costs[usize::from(distance)]);
            let bits = count_bits + indices.sum::<u32>();
            u64::from(1 + bits.min(self.bodies as u32))
        };
        let bits: u64 = self.packets.iter().map(selection).sum();
        let indices: usize = self.packets.iter().map(Vec::len).sum();
        bits as f64 / indices.max(1) as f64
    }
}

/// Bodies that are in both snapshots.
fn staying<'s>(
    now: &'s QuantizedSnapshot,
    then: &'s QuantizedSnapshot,
) -> impl Iterator<Item = usize> + 's {
    let stays = |&body: &usize| now.life(body).is_some() && now.life(body) == then.life(body);
    (0..now.len()).filter(stays)
}

/// One table for all values and one for each class.
fn by_class(absolute_bits: u32) -> (Vectors, [Vectors; CLASSES]) {
    let new = || Vectors::new(absolute_bits);
    (new(), std::array::from_fn(|_| new()))
}

fn into_samples((all, classes): (Vectors, [Vectors; CLASSES])) -> Vec<Samples> {
    let tables = std::iter::once(all).chain(classes);
    tables.map(Samples::Vectors).collect()
}

/// Differences of changed positions from the baseline, and for each class from the prediction.
fn position_differences(recording: &Recording, stages: Stages) -> Vec<Samples> {
    let absolute = recording.plan.bounds().iter().map(|bounds| bounds.bits());
    let (mut all, mut classes) = by_class(absolute.sum());
    pairs::for_each(recording, stages, |sequence, current, baseline| {
        let predictor = LinearPredictor::new(baseline, sequence);
        for body in staying(current, baseline.snapshot()) {
            let position = current.position(body);
            let before = baseline.snapshot().position(body);
            if position == before {
                continue;
            }
            let difference =
                |from: [i32; 3]| Some(std::array::from_fn(|axis| position[axis] - from[axis]));
            let expected = predictor.predict(body);
            all.push(difference(before));
            classes[expected.class].push(difference(expected.position));
        }
    });
    into_samples((all, classes))
}

/// Differences of changed orientations from the baseline, of all bodies and of each class.
fn orientation_differences(recording: &Recording, stages: Stages) -> Vec<Samples> {
    let component_bits = u32::from(recording.plan.schema().component_bits);
    let (mut all, mut classes) = by_class(2 + 3 * component_bits);
    pairs::for_each(recording, stages, |sequence, current, baseline| {
        let predictor = LinearPredictor::new(baseline, sequence);
        for body in staying(current, baseline.snapshot()) {
            let orientation = current.smallest_three(body);
            let before = baseline.snapshot().smallest_three(body);
            if orientation == before {
                continue;
            }
            let difference = (orientation.largest == before.largest).then(|| {
                std::array::from_fn(|slot| {
                    i32::from(orientation.components[slot]) - i32::from(before.components[slot])
                })
            });
            all.push(difference);
            classes[predictor.predict(body).class].push(difference);
        }
    });
    into_samples((all, classes))
}

/// Distances between changed bodies, and between bodies that the baseline's motion mispredicts.
fn index_distances(recording: &Recording, stages: Stages) -> Vec<Samples> {
    let (mut of_changed, mut of_mispredicted) = (Vec::new(), Vec::new());
    let mut changed = Vec::new();
    pairs::for_each(recording, stages, |_, current, baseline| {
        current.compare(baseline.snapshot(), &mut changed);
        of_changed.push(distances(changed.iter().copied()));
        let moved = baseline.moved().iter();
        of_mispredicted.push(distances(
            changed
                .iter()
                .zip(moved)
                .map(|(changed, moved)| changed != moved),
        ));
    });
    let bodies = recording.frames[0].len();
    let samples = [of_changed, of_mispredicted].map(|packets| Distances { bodies, packets });
    samples.map(Samples::Distances).into()
}

/// For each selected body, how many unselected ones are between it and the selected one before.
fn distances(selected: impl Iterator<Item = bool>) -> Vec<u16> {
    let mut next = 0;
    let indices = (0..).zip(selected).filter(|&(_, selected)| selected);
    indices
        .map(|(index, _)| {
            let distance = index - next;
            next = index + 1;
            distance
        })
        .collect()
}
