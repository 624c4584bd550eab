//! Selections as the second decoder reads them: which cubes follow.
//!
//! Section numbers in comments are those of `WIRE.md`.

use crate::second_bits::{Bits, binary_digits, check};
use crate::second_kept::Kept;
use crate::second_stages::{OFF, RELATIVE_INDICES, Stages};

/// The selection (section 6): for each cube, whether it follows.
pub(crate) fn read_selection(
    bits: &mut Bits,
    stages: Stages,
    cubes: usize,
    baseline: Option<&Kept>,
) -> Result<Vec<bool>, String> {
    let index_width = binary_digits(cubes.saturating_sub(1) as u64);
    let widest = index_width.max(1);
    let delta = stages.codes[3];
    let (most, ranges) = match delta {
        OFF => return Ok(vec![true; cubes]),
        1 => return (0..cubes).map(|_| bits.bit()).collect(), // changed bits
        2 => (cubes / widest as usize, None),                 // indices
        RELATIVE_INDICES => {
            let [small, large] = stages.ranges[0];
            (cubes / (1 + small) as usize, Some([small, large, widest]))
        }
        _ => (cubes / 6, Some([5, 6, widest])), // predicted indices
    };
    let mut written = vec![false; cubes];
    if bits.bit()? {
        let count = bits.number(binary_digits(most as u64))?;
        check(count <= cubes as i64, "more indices than cubes")?;
        let mut previous = -1;
        for _ in 0..count {
            let index = match ranges {
                None => bits.number(index_width)?,
                Some(widths) => previous + 1 + bits.unsigned_in(&widths)?,
            };
            check(index > previous, "indices that do not ascend")?;
            check(index < cubes as i64, "an index of no cube")?;
            written[index as usize] = true;
            previous = index;
        }
    } else {
        for bit in &mut written {
            *bit = bits.bit()?;
        }
    }
    // Predicted indices list the cubes for which the prediction is wrong.
    if let (4, Some(kept)) = (delta, baseline) {
        for (bit, moved) in written.iter_mut().zip(&kept.moved) {
            *bit ^= moved;
        }
    }
    Ok(written)
}
