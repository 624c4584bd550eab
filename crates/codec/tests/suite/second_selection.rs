//! Reads selections in the second decoder.
//!
//! Section numbers in comments refer to `WIRE.md`.

use crate::second_bits::{Bits, binary_digits, check};
use crate::second_kept::Kinetic;
use crate::second_stages::{OFF, RELATIVE_INDICES, Stages};

/// Reads the selection (section 6). Returns whether each body follows.
pub(crate) fn read_selection(
    bits: &mut Bits,
    stages: Stages,
    reference: &[Kinetic],
) -> Result<Vec<bool>, String> {
    let bodies = reference.len();
    let index_width = binary_digits(bodies.saturating_sub(1) as u64);
    let widest = index_width.max(1);
    let delta = stages.codes[3];
    let (most, ranges) = match delta {
        OFF => return Ok(vec![true; bodies]),
        1 => return (0..bodies).map(|_| bits.bit()).collect(), // changed bits
        2 => (bodies / widest as usize, None),                 // indices
        RELATIVE_INDICES => {
            let [small, large] = stages.ranges[0];
            (bodies / (1 + small) as usize, Some([small, large, widest]))
        }
        _ => (bodies / 6, Some([5, 6, widest])), // predicted indices
    };
    let mut written = vec![false; bodies];
    if bits.bit()? {
        let count = bits.number(binary_digits(most as u64))?;
        check(count <= bodies as i64, "more indices than bodies")?;
        let mut previous = -1;
        for _ in 0..count {
            let index = match ranges {
                None => bits.number(index_width)?,
                Some(widths) => previous + 1 + bits.unsigned_in(&widths)?,
            };
            check(index > previous, "indices that do not ascend")?;
            check(index < bodies as i64, "an index of no body")?;
            written[index as usize] = true;
            previous = index;
        }
    } else {
        for bit in &mut written {
            *bit = bits.bit()?;
        }
    }
    // Predicted indices list the mispredicted bodies.
    if delta == 4 {
        for (bit, before) in written.iter_mut().zip(reference) {
            *bit ^= before.moved;
        }
    }
    Ok(written)
}
