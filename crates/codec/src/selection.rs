//! The selection: which cubes are in a packet.
//!
//! ```text
//! changed bits       cubes × 1
//! indices            1 = 0 | cubes × 1
//!                    1 = 1 | count | count × index
//! ```
//!
//! Indices, relative indices and predicted indices use the second form. The encoder measures the size of the
//! indices with a sink that only counts, and uses them if they are smaller than a bit for every cube.

use bitstream_io::BitWrite;

use crate::flags::{flag_differing, flagged};
use crate::ledger::{BitKind, BitLedger};
use crate::ranges::Ranges;
use crate::sink::Sink;
use crate::source::{DecodeError, Source};
use crate::stages::Delta;

/// Bits of a predicted index in its two small ranges: distances 1..=32 and 33..=96. Mispredicted cubes are
/// farther apart than changed ones.
pub const PREDICTED_INDEX_BITS: [u8; 2] = [5, 6];

/// Bits that hold any index of `cubes` cubes.
#[must_use]
pub const fn index_bits(cubes: usize) -> u32 {
    usize::BITS - cubes.saturating_sub(1).leading_zeros()
}

/// Memory that is reused from packet to packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    named: Vec<bool>,
    indices: Vec<u16>,
    counted: BitLedger,
}

/// How many indices can be smaller than changed bits if the shortest takes `min_bits`.
const fn max_index_count(cubes: usize, min_bits: u32) -> usize {
    let divisor = if min_bits == 0 { 1 } else { min_bits };
    cubes / divisor as usize
}

/// Bits of the count before indices of which the shortest takes `min_bits`.
#[must_use]
pub const fn index_count_bits(cubes: usize, min_bits: u32) -> u32 {
    usize::BITS - max_index_count(cubes, min_bits).leading_zeros()
}

/// Writes which cubes are in the packet: those that `changed`. Those that `moved` are predicted to change.
pub(crate) fn put<W: BitWrite>(
    sink: &mut Sink<'_, W>,
    delta: Delta,
    changed: &[bool],
    moved: &[bool],
    scratch: &mut Scratch,
) {
    let Scratch {
        named,
        indices,
        counted,
    } = scratch;
    named.clear();
    named.resize(changed.len(), false);
    match delta {
        Delta::PredictedIndices => flag_differing(named, changed, moved),
        _ => named.copy_from_slice(changed),
    }
    let form = match delta {
        Delta::Off
        | Delta::Arithmetic
        | Delta::ArithmeticPredicted
        | Delta::ArithmeticSimulated => return,
        Delta::ChangedBits => None,
        Delta::Indices | Delta::RelativeIndices { .. } | Delta::PredictedIndices => {
            indices.clear();
            indices.extend(flagged(named).map(|cube| cube as u16));
            let form = IndexForm::new(delta, changed.len());
            let smaller = form.is_smaller_than_bits(counted, indices, changed.len());
            sink.put_flag(BitKind::Selection, smaller);
            smaller.then_some(form)
        }
    };
    match form {
        Some(form) => form.put(sink, indices),
        None => put_bits(sink, named),
    }
}

/// Reads what [`put`] wrote, into a flag for each cube: whether it is `sent`.
pub(crate) fn take(
    source: &mut Source<'_>,
    delta: Delta,
    moved: &[bool],
    sent: &mut Vec<bool>,
) -> Result<(), DecodeError> {
    sent.clear();
    match delta {
        Delta::Off
        | Delta::Arithmetic
        | Delta::ArithmeticPredicted
        | Delta::ArithmeticSimulated => {
            sent.resize(moved.len(), true);
            return Ok(());
        }
        Delta::PredictedIndices => sent.extend_from_slice(moved),
        Delta::ChangedBits | Delta::Indices | Delta::RelativeIndices { .. } => {
            sent.resize(moved.len(), false);
        }
    }
    if delta != Delta::ChangedBits && source.take_flag(BitKind::Selection)? {
        IndexForm::new(delta, sent.len()).take(source, sent)
    } else {
        take_bits(source, sent)
    }
}

fn put_bits<W: BitWrite>(sink: &mut Sink<'_, W>, named: &[bool]) {
    for (cube, &named) in named.iter().enumerate() {
        sink.of_cube(cube);
        sink.put_flag(BitKind::Selection, named);
    }
}

fn take_bits(source: &mut Source<'_>, sent: &mut [bool]) -> Result<(), DecodeError> {
    for (cube, sent) in sent.iter_mut().enumerate() {
        source.of_cube(cube);
        *sent ^= source.take_flag(BitKind::Selection)?;
    }
    Ok(())
}

/// A count and that many indices.
#[derive(Clone, Copy)]
struct IndexForm {
    count_bits: u32,
    max_count: usize,
    index_bits: u32,
    /// Ranges of a distance less 1, where indices are relative.
    distance: Option<Ranges<3>>,
}

impl IndexForm {
    fn new(delta: Delta, cubes: usize) -> Self {
        let index_bits = index_bits(cubes);
        let small_ranges = match delta {
            Delta::PredictedIndices => Some(PREDICTED_INDEX_BITS),
            _ => delta.range_bits(),
        };
        let distance =
            small_ranges.map(|[near, far]| Ranges::new([near, far, (index_bits as u8).max(1)]));
        let min_bits = small_ranges.map_or(index_bits, |[near, _]| 1 + u32::from(near));
        Self {
            count_bits: index_count_bits(cubes, min_bits),
            max_count: max_index_count(cubes, min_bits),
            index_bits,
            distance,
        }
    }

    fn is_smaller_than_bits(self, counted: &mut BitLedger, indices: &[u16], cubes: usize) -> bool {
        if indices.len() > self.max_count {
            return false;
        }
        counted.reset();
        let mut counter = Sink::counter(counted);
        self.put(&mut counter, indices);
        counter.counted_bits() < cubes as u64
    }

    fn put<W: BitWrite>(self, sink: &mut Sink<'_, W>, indices: &[u16]) {
        sink.of_no_cube();
        sink.put(BitKind::Selection, self.count_bits, indices.len() as u32);
        let mut least = 0;
        for &index in indices {
            sink.of_cube(usize::from(index));
            match &self.distance {
                Some(ranges) => {
                    let distance = ranges.unsigned(u32::from(index) - least);
                    let word = distance.expect("the last range reaches every cube");
                    sink.put_word(BitKind::Selection, word);
                }
                None => sink.put(BitKind::Selection, self.index_bits, u32::from(index)),
            }
            least = u32::from(index) + 1;
        }
    }

    fn take(self, source: &mut Source<'_>, sent: &mut [bool]) -> Result<(), DecodeError> {
        let cubes = sent.len();
        let count = source.take(BitKind::Selection, self.count_bits)? as usize;
        let mut least = 0;
        for _ in 0..count {
            let index = match &self.distance {
                Some(ranges) => least + ranges.take_unsigned(source, BitKind::Selection)? as usize,
                None => source.take(BitKind::Selection, self.index_bits)? as usize,
            };
            if index < least || index >= cubes {
                return Err(DecodeError::CubeIndex {
                    at_bit: source.at_bit(),
                    index,
                    min: least,
                    cubes,
                });
            }
            sent[index] ^= true;
            least = index + 1;
        }
        Ok(())
    }
}
