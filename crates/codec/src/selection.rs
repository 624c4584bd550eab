//! The selection: the set of bodies in a packet. The encoder writes indices if they are smaller than one bit per body.

use crate::bits::{BitField, BitStream, Direction};
use crate::decode_error::DecodeError;
use crate::flags::flagged;
use crate::ledger::BitKind;
use crate::ranges::Ranges;
use crate::stages::Delta;

/// Bits of the two small ranges of a predicted index, for distances 1..=32 and 33..=96. Mispredicted bodies are
/// farther apart than changed ones.
pub const PREDICTED_INDEX_BITS: [u8; 2] = [5, 6];

/// Number of bits of an index below `bodies`.
pub(crate) const fn index_bits(bodies: usize) -> u32 {
    usize::BITS - bodies.saturating_sub(1).leading_zeros()
}

/// Codes which bodies are in a packet, as flags in `sent`. For predicted indices, the bodies that `moved` before the
/// reference are predicted to be sent. `indices` is scratch memory.
pub(crate) fn code<D: Direction>(
    stream: &mut BitStream<'_, D>,
    delta: Delta,
    sent: &mut [bool],
    moved: &[bool],
    indices: &mut Vec<u16>,
) -> Result<(), D::Error> {
    let toggle_predicted = |flags: &mut [bool]| {
        if delta == Delta::PredictedIndices {
            flags.iter_mut().zip(moved).for_each(|(flag, moved)| *flag ^= moved);
        }
    };
    // The selection lists the mispredicted bodies.
    toggle_predicted(sent);
    code_listed(stream, delta, sent, indices)?;
    toggle_predicted(sent);
    Ok(())
}

/// Codes the flags in `listed`, as indices or as one bit per body.
fn code_listed<D: Direction>(
    stream: &mut BitStream<'_, D>,
    delta: Delta,
    listed: &mut [bool],
    indices: &mut Vec<u16>,
) -> Result<(), D::Error> {
    let mut field = stream.field(BitKind::Selection);
    if delta != Delta::ChangedBits {
        indices.clear();
        indices.extend(flagged(listed).map(|body| body as u16));
        let form = IndexForm::new(delta, listed.len());
        if field.flag(form.is_smaller_than_bits(indices, listed.len()))? {
            form.code(&mut field, indices, listed.len())?;
            listed.fill(false);
            for &index in &*indices {
                listed[usize::from(index)] = true;
            }
            return Ok(());
        }
    }
    field.follow(listed.len() as u32);
    for (body, listed) in listed.iter_mut().enumerate() {
        field.of_body(Some(body));
        *listed = field.flag(*listed)?;
    }
    Ok(())
}

/// The form with a count and indices.
#[derive(Clone, Copy)]
struct IndexForm {
    count_bits: u32,
    /// Maximum number of indices that can be smaller than one bit per body.
    max_count: usize,
    index_bits: u32,
    /// Ranges of the distance minus 1, for relative and predicted indices.
    distance: Option<Ranges<3>>,
}

impl IndexForm {
    fn new(delta: Delta, bodies: usize) -> Self {
        let index_bits = index_bits(bodies);
        let small_ranges = match delta {
            Delta::PredictedIndices => Some(PREDICTED_INDEX_BITS),
            _ => delta.range_bits(),
        };
        let distance =
            small_ranges.map(|[near, far]| Ranges::new([near, far, (index_bits as u8).max(1)]));
        let min_bits = small_ranges.map_or(index_bits, |[near, _]| 1 + u32::from(near));
        let max_count = bodies / min_bits.max(1) as usize;
        let count_bits = usize::BITS - max_count.leading_zeros();
        Self { count_bits, max_count, index_bits, distance }
    }

    /// Whether these indices take fewer bits than one per body.
    fn is_smaller_than_bits(self, indices: &[u16], bodies: usize) -> bool {
        if indices.len() > self.max_count {
            return false;
        }
        let bits: u32 = match self.distance {
            None => indices.len() as u32 * self.index_bits,
            Some(ranges) => {
                let mut min = 0;
                let distances = indices.iter().map(|&index| {
                    let distance = u32::from(index) - min;
                    min += distance + 1;
                    distance
                });
                distances.map(|distance| ranges.unsigned_bits(distance)).sum()
            }
        };
        ((self.count_bits + bits) as usize) < bodies
    }

    fn code<D: Direction>(
        self,
        field: &mut BitField<'_, '_, D>,
        indices: &mut Vec<u16>,
        bodies: usize,
    ) -> Result<(), D::Error> {
        let count = field.number(self.count_bits, indices.len() as u32)?;
        indices.resize(count as usize, 0);
        field.of_body(None);
        let index_bits = self.distance.map_or(self.index_bits, |ranges| ranges.min_bits());
        field.follow(count * index_bits);
        let mut min = 0;
        for slot in indices {
            let index = u32::from(*slot);
            let index = match &self.distance {
                Some(ranges) => min + ranges.unsigned(field, index.wrapping_sub(min))?,
                None => field.number(self.index_bits, index)?,
            };
            D::check((min..bodies as u32).contains(&index), || DecodeError::BodyIndex {
                at_bit: field.at_bit(),
                index: index as usize,
                min: min as usize,
                bodies,
            })?;
            field.were_of_body(index as usize);
            *slot = index as u16;
            min = index + 1;
        }
        Ok(())
    }
}
