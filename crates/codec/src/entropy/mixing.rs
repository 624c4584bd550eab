//! Logistic mixing: the probability of a bin from several inputs.
//!
//! The inputs are log odds. Their weighted sum gives the probability, and after each bin the weights move
//! against the coding error (Matt Mahoney, *Adaptive Weighing of Context Models for Lossless Data
//! Compression*, 2005). All of it is integer arithmetic, so that both sides get the same results.

use super::coder::ONE;
use super::layout::{Inputs, MAX_INPUTS, TABLE_UNIT};
use super::logistic::{MAX_STRETCHED, squash, stretch};

/// Rate of adaptive probabilities: each bin moves them by 1/2⁵ of the error.
const ADAPT_SHIFT: u32 = 5;

/// Mixes the static inputs of a bin, which are `slots` of the model's `table`, and its adaptive probability.
/// Gives the probability of a set bin, out of [`ONE`], and the inputs.
#[inline]
pub(crate) fn mix<const N: usize>(
    table: &[i8],
    weights: &Inputs,
    adaptive: u16,
    slots: [usize; N],
) -> (u32, Inputs) {
    const { assert!(N < MAX_INPUTS) };
    let mut inputs = [0; MAX_INPUTS];
    for (input, slot) in inputs.iter_mut().zip(slots) {
        *input = i16::from(table[slot]) * TABLE_UNIT;
    }
    inputs[N] = stretch(adaptive);
    let sum: i32 = inputs
        .iter()
        .zip(weights)
        .map(|(&input, &weight)| i32::from(input) * i32::from(weight))
        .sum();
    let mixed = (sum >> 14).clamp(-MAX_STRETCHED, MAX_STRETCHED);
    (squash(mixed), inputs)
}

/// Updates the weights and the adaptive probability after a bin.
#[inline]
pub(crate) fn update(
    weights: &mut Inputs,
    adaptive: &mut u16,
    inputs: &Inputs,
    one: u32,
    bin: bool,
) {
    let target = if bin { ONE as i32 } else { 0 };
    // Halved, so that it fits 16 bits.
    let error = ((target - one as i32) >> 1) as i16;
    update_weights(weights, inputs, error);
    adapt(adaptive, bin);
}

/// Moves each weight in proportion to its input and the error. Not inlined: the compiler would split the one
/// SIMD operation into eight scalar ones.
#[inline(never)]
fn update_weights(weights: &mut Inputs, inputs: &Inputs, error: i16) {
    for (weight, &input) in weights.iter_mut().zip(inputs) {
        let step = (i32::from(input * 4) * i32::from(error)) >> 16;
        *weight = weight.saturating_add(step as i16);
    }
}

/// Updates an adaptive probability after a bin.
#[inline]
pub(crate) fn adapt(adaptive: &mut u16, bin: bool) {
    let target = if bin { i32::from(u16::MAX) } else { 0 };
    let step = (target - i32::from(*adaptive)) >> ADAPT_SHIFT;
    *adaptive = (i32::from(*adaptive) + step).clamp(MIN_ADAPTIVE, MAX_ADAPTIVE) as u16;
}

const MIN_ADAPTIVE: i32 = 32;
const MAX_ADAPTIVE: i32 = ONE as i32 - 33;
