//! Binarization of a signed residual.
//!
//! ```text
//! number of binary digits: a binary tree of three bins; from seven on, one more bin per digit |
//! sign | first digit after the leading 1 | second, of constant probability | others, as bypass bins
//! ```
//!
//! Zero has no digits and no sign.

use super::bins::{Bins, CodingObserver};
use super::coder::{BinCoder, ONE};
use super::layout::{
    FIRST, MORE, NEGATIVE, RESIDUAL_BINS, RESIDUAL_INPUTS, RESIDUAL_WEIGHT_SETS, Weights,
    residual_weights,
};
use super::mixing;

/// Number of bins on the path from the root to a leaf.
const TREE_DEPTH: u32 = 3;

const TREE_BINS: usize = (1 << TREE_DEPTH) - 1;

/// The last leaf means this many digits or more.
const MANY_DIGITS: u32 = TREE_BINS as u32;

/// Probability that the second digit after the leading 1 is set. Below ½, because small residuals are more frequent. It
/// is constant, because packets are larger if the model has to learn this probability in each context.
const SECOND_ONE: u32 = ONE / 16 * 7;

/// Larger digit counts share the contexts of their leading digits.
const MAX_CONTEXT_DIGITS: u32 = 12;

/// Bounds the numbers that hostile bytes decode to. Differences of positions have at most 19 digits.
const MAX_DIGITS: u32 = 20;

pub(super) struct ResidualBins<'s, B, O> {
    pub(super) bins: &'s mut Bins<B, O>,
    /// Slots of the first bin, by input.
    pub(super) slots: [usize; RESIDUAL_INPUTS],
    pub(super) inputs: [&'s [i16; RESIDUAL_BINS]; RESIDUAL_INPUTS],
    /// Weight sets by zone and by history, each with the selected class.
    pub(super) weights: [(&'s mut [Weights; RESIDUAL_WEIGHT_SETS], usize); 2],
}

impl<B: BinCoder, O: CodingObserver> ResidualBins<'_, B, O> {
    /// Encodes `value`. A decoder ignores it and returns the decoded value.
    pub(super) fn code(&mut self, value: i32) -> i32 {
        let size = value.unsigned_abs();
        let wanted = u32::BITS - size.leading_zeros();
        let mut digits = match B::DECODES {
            true => self.decode_tree(),
            false => self.encode_tree(wanted.min(MANY_DIGITS)),
        };
        if digits == 0 {
            return 0;
        }
        while (MANY_DIGITS..MAX_DIGITS).contains(&digits) {
            let index = MORE + (digits - MANY_DIGITS).min(6) as usize;
            if !self.bin(index, digits < wanted) {
                break;
            }
            digits += 1;
        }
        let sign = NEGATIVE + digits.min(MANY_DIGITS) as usize - 1;
        let negative = self.bin(sign, value < 0);
        let mut number = 1;
        if digits >= 2 {
            let context = digits.min(MAX_CONTEXT_DIGITS) as usize;
            let bit = self.bin(FIRST + context - 2, size >> (digits - 2) & 1 == 1);
            number = number << 1 | u32::from(bit);
        }
        if digits >= 3 {
            let bit = self.bins.bin(SECOND_ONE, size >> (digits - 3) & 1 == 1);
            number = number << 1 | u32::from(bit);
            let rest = digits - 3;
            number = number << rest | self.bins.bypass(rest, size);
        }
        let number = number.cast_signed();
        if negative { -number } else { number }
    }

    /// Codes a bin with contexts. `index` is below [`RESIDUAL_BINS`].
    #[inline(always)]
    fn bin(&mut self, index: usize, value: bool) -> bool {
        let [by_zone, by_history] = &mut self.weights;
        let inputs = self.inputs.map(|row| row[index]);
        let weights =
            [by_zone, by_history].map(|(sets, class)| &mut sets[residual_weights(index, *class)]);
        self.bins.mixed(self.slots.map(|slot| slot + index), inputs, weights, value)
    }

    /// Encodes the bins of the tree on the path to `leaf`, one after another. Returns the leaf.
    #[inline(always)]
    fn encode_tree(&mut self, leaf: u32) -> u32 {
        // Unrolled, so that the compiler knows the bounds of the indices.
        let path = 2 | u32::from(self.bin(0, leaf & 4 != 0));
        let path = path << 1 | u32::from(self.bin(path as usize - 1, leaf & 2 != 0));
        let path = path << 1 | u32::from(self.bin(path as usize - 1, leaf & 1 != 0));
        path - (1 << TREE_DEPTH)
    }

    /// Decodes the leaf of the tree. It mixes the probabilities of all bins first, because a processor can compute them in
    /// parallel. Mixing only the bins on the path would make each wait for the one before.
    #[inline(always)]
    fn decode_tree(&mut self) -> u32 {
        let rows = self.inputs.map(|row| row.first_chunk());
        let rows = rows.map(|row| row.expect("a row is longer than the tree"));
        let inputs = mixing::inputs_of_bins(rows);
        let [(by_zone, zone), (by_history, history)] = &mut self.weights;
        let indices = |bin| [*zone, *history].map(|class| residual_weights(bin, class));
        // Longer by one than needed, so that the compiler can remove the bounds checks.
        let mut probabilities = [0; TREE_BINS + 1];
        for bin in 0..TREE_BINS {
            let [zone, history] = indices(bin);
            probabilities[bin] = mixing::mix(inputs[bin], [&by_zone[zone], &by_history[history]]);
        }
        let mut path = 1;
        for _ in 0..TREE_DEPTH {
            let bin = (path - 1) & TREE_BINS;
            let one = probabilities[bin];
            let value = self.bins.coder.bin(false, one);
            let [zone, history] = indices(bin);
            let weights = [&mut by_zone[zone], &mut by_history[history]];
            mixing::update(weights, inputs[bin], one, value);
            let slots = self.slots.map(|slot| slot + bin);
            self.bins.observer.coded(&slots, value, one);
            path = path << 1 | usize::from(value);
        }
        (path - (TREE_BINS + 1)) as u32
    }
}

const _: () = assert!(NEGATIVE == TREE_BINS);
const _: () = assert!(NEGATIVE + MANY_DIGITS as usize == FIRST);
const _: () = assert!(FIRST + MAX_CONTEXT_DIGITS as usize - 1 == MORE);

/// Magnitude of a number: the class of its absolute value, 0 to 14, with growing widths. 0 is for 0 only.
#[inline]
pub(crate) fn magnitude(value: i32) -> usize {
    let size = value.unsigned_abs() as usize;
    MAGNITUDES[size.min(MAGNITUDES.len() - 1)].into()
}

/// Magnitudes by absolute value. The last one is for all larger numbers. `STEPS` has the smallest absolute value of each
/// class from 1 on. Widths grow with the values, so that few classes cover all of them. 15 classes leave a value of four
/// bits for an unknown magnitude.
static MAGNITUDES: [u8; 402] = {
    const STEPS: [usize; 14] = [1, 2, 3, 4, 6, 8, 12, 18, 27, 41, 65, 101, 171, 401];
    let mut magnitudes = [0; STEPS[13] + 1];
    let mut size = 1;
    while size < magnitudes.len() {
        let before = magnitudes[size - 1] as usize;
        let grows = before < STEPS.len() && size == STEPS[before];
        magnitudes[size] = magnitudes[size - 1] + grows as u8;
        size += 1;
    }
    magnitudes
};

/// Magnitude and sign in one number, below 30.
#[inline]
pub(crate) fn signed_magnitude(value: i32) -> usize {
    let sign = if value < 0 { 15 } else { 0 };
    sign + magnitude(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_grow() {
        let steps: Vec<_> =
            [0, 1, 2, 3, 5, 7, 11, 17, 26, 40, 64, 100, 170, 400, 401].map(magnitude).to_vec();
        assert_eq!(steps, (0..15).collect::<Vec<_>>());
        assert_eq!(signed_magnitude(-401), 29);
    }
}
