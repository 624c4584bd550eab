//! Logistic mixing: the probability of a bin from several inputs.
//!
//! The inputs are log odds. Their weighted sum gives the probability, and after each bin the weights move
//! against the coding error (Matt Mahoney, *Adaptive Weighing of Context Models for Lossless Data
//! Compression*, 2005). All of it is integer arithmetic, so that both sides get the same results.

use std::hint::cold_path;

use wide::{bytemuck, i16x8, u8x16};

use super::coder::ONE;
use super::layout::{Inputs, MAX_INPUTS, TABLE_UNIT};
use super::logistic::{MAX_STRETCHED, squash, stretch};

/// Rate of adaptive probabilities: each bin moves them by 1/2⁵ of the error.
const ADAPT_SHIFT: u32 = 5;

/// From an entry of the static table in the upper half of an input to the entry times [`TABLE_UNIT`].
const TABLE_SHIFT: u32 = 8 - TABLE_UNIT.trailing_zeros();

/// The constant input.
const BIAS: i16 = 256;

/// Mixes the static inputs of a bin, its adaptive probability, and a constant. Its weights are the means of two
/// sets. Gives the probability of a set bin, out of [`ONE`], and the inputs.
#[inline(always)]
pub(crate) fn mix<const N: usize>(
    statics: [i8; N],
    weights: [&Inputs; 2],
    adaptive: u16,
) -> (u32, i16x8) {
    const { assert!(N + 2 <= MAX_INPUTS) };
    let mut entries = [0; 4];
    entries[..N].copy_from_slice(&statics.map(i8::cast_unsigned));
    let entries: u8x16 = bytemuck::cast([u32::from_ne_bytes(entries), 0, 0, 0]);
    // In the upper halves, from where they come back with their signs.
    let statics: i16x8 = i16x8::from_u8x16_low(entries) << 8;
    let mut others = [0; MAX_INPUTS];
    others[N + 1] = BIAS;
    let mut inputs = statics >> TABLE_SHIFT | i16x8::from(others);
    inputs.as_mut_array()[N] = stretch(adaptive);
    let [first, second] = weights.map(|weights| i16x8::from(*weights) >> 1);
    let sum = inputs.dot(first + second).reduce_add();
    let mixed = clamp(sum >> 14, -MAX_STRETCHED, MAX_STRETCHED);
    (squash(mixed), inputs)
}

/// How far each weight moves after a bin: in proportion to its input and the coding error.
#[inline(always)]
pub(crate) fn weight_steps(inputs: i16x8, one: u32, bin: bool) -> i16x8 {
    let target = if bin { ONE as i32 } else { 0 };
    // Halved, so that it fits 16 bits.
    let error = ((target - one as i32) >> 1) as i16;
    (inputs + inputs).mul_keep_high(i16x8::splat(error))
}

/// Moves the weights of a set.
#[inline(always)]
pub(crate) fn move_weights(weights: &mut Inputs, steps: i16x8) {
    *weights = i16x8::from(*weights).saturating_add(steps).to_array();
}

/// Updates an adaptive probability after a bin.
#[inline(always)]
pub(crate) fn adapt(adaptive: &mut u16, bin: bool) {
    let target = if bin { i32::from(u16::MAX) } else { 0 };
    let step = (target - i32::from(*adaptive)) >> ADAPT_SHIFT;
    *adaptive = clamp(i32::from(*adaptive) + step, MIN_ADAPTIVE, MAX_ADAPTIVE) as u16;
}

/// With a branch: hardly any number is out of range.
#[inline(always)]
fn clamp(number: i32, min: i32, max: i32) -> i32 {
    if (min..=max).contains(&number) {
        number
    } else {
        cold_path();
        number.clamp(min, max)
    }
}

const MIN_ADAPTIVE: i32 = 32;
const MAX_ADAPTIVE: i32 = ONE as i32 - 33;
