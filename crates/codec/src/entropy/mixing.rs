//! Logistic mixing: the probability of a bin from several inputs.
//!
//! The inputs are log odds. Their weighted sum gives the probability, and after each bin the weights move
//! against the coding error (Matt Mahoney, *Adaptive Weighing of Context Models for Lossless Data
//! Compression*, 2005). All arithmetic is in integers, so that both sides get the same results.

use std::hint::cold_path;

use wide::i16x8;

use super::coder::ONE;
use super::layout::{MAX_INPUTS, Weights};

/// Rate of adaptive probabilities: a bin moves them by 1/2⁵ of the error, so that they are a mean over about 32 bins.
const ADAPT_SHIFT: u32 = 5;

/// The constant input of every bin: log odds of 1. Its weight becomes the bias.
const BIAS: i16 = 256;

/// Returns the inputs of a bin: the static ones and the constant.
#[inline(always)]
pub(crate) fn inputs<const N: usize>(statics: [i16; N]) -> i16x8 {
    const { assert!(N < MAX_INPUTS) };
    let mut inputs = [0; MAX_INPUTS];
    inputs[..N].copy_from_slice(&statics);
    inputs[N] = BIAS;
    inputs.into()
}

/// Returns the inputs of eight bins. `statics` has one row per input, with its value for each bin.
#[inline(always)]
pub(crate) fn inputs_of_bins<const N: usize>(statics: [&[i16; 8]; N]) -> [i16x8; 8] {
    const { assert!(N < MAX_INPUTS) };
    let mut rows = [i16x8::ZERO; MAX_INPUTS];
    for (row, statics) in rows.iter_mut().zip(statics) {
        *row = i16x8::from(*statics);
    }
    rows[N] = i16x8::splat(BIAS);
    i16x8::transpose(rows)
}

/// Mixes the inputs of a bin with the mean of two sets of weights. Returns the probability that the bin is set, in
/// 1/[`ONE`].
#[inline(always)]
pub(crate) fn mix(inputs: i16x8, weights: [&Weights; 2]) -> u32 {
    // The mean of the sets. Each is halved first, so that the sum fits 16 bits.
    let [first, second] = weights.map(|weights| i16x8::from(*weights) >> 1);
    let sum = inputs.dot(first + second).reduce_add();
    // Weights are in 1/16384.
    let log_odds = clamp(sum >> 14, -MAX_LOG_ODDS, MAX_LOG_ODDS);
    SQUASHED[(log_odds + 2048) as usize].into()
}

/// Moves both sets of weights after a bin, in proportion to each input and the coding error.
#[inline(always)]
pub(crate) fn update(weights: [&mut Weights; 2], inputs: i16x8, one: u32, bin: bool) {
    let target = if bin { ONE as i32 } else { 0 };
    // Halved so that it fits 16 bits.
    let error = ((target - one as i32) >> 1) as i16;
    // 2 × input × error / 2¹⁶: a learning rate of 1/64, with inputs in 1/256 and weights in 1/16384. The high half of the
    // product is one SIMD instruction.
    let steps = (inputs + inputs).mul_keep_high(i16x8::splat(error));
    for set in weights {
        *set = i16x8::from(*set).saturating_add(steps).to_array();
    }
}

/// Updates an adaptive probability after a bin that was coded with it alone.
#[inline(always)]
pub(crate) fn adapt(adaptive: &mut u16, bin: bool) {
    let target = if bin { i32::from(u16::MAX) } else { 0 };
    let step = (target - i32::from(*adaptive)) >> ADAPT_SHIFT;
    *adaptive = clamp(i32::from(*adaptive) + step, MIN_ADAPTIVE, MAX_ADAPTIVE) as u16;
}

/// Clamps with a branch, because numbers are rarely out of range.
#[inline(always)]
fn clamp(number: i32, min: i32, max: i32) -> i32 {
    if (min..=max).contains(&number) {
        number
    } else {
        cold_path();
        number.clamp(min, max)
    }
}

/// Bounds of an adaptive probability. Both values of a bin must stay possible. The unlikely one takes up to 11 bits.
const MIN_ADAPTIVE: i32 = 32;
const MAX_ADAPTIVE: i32 = ONE as i32 - 33;

/// Log odds are in steps of 1/256, in −2047..=2047. The unlikely value of a mixed bin takes up to 11.5 bits.
pub(crate) const MAX_LOG_ODDS: i32 = 2047;

/// Probabilities of log odds from −2048 on, in 1/[`ONE`]: 1 / (1 + e^−x).
static SQUASHED: [u16; 4096] = squash_table();

/// e^(1/256) in 1/2^32.
const E_256TH: u128 = 4_311_777_322;

const fn squash_table() -> [u16; 4096] {
    let mut table = [0; 4096];
    // e^(step/256) in 1/2^32: multiplied by e^(1/256) and rounded down at each step.
    let mut power = 1_u128 << 32;
    let mut step = 0;
    while step <= 2048 {
        // 1 / (1 + e^−x), as e^x / (1 + e^x).
        let one = ((power << 16) / (power + (1 << 32))) as u32;
        if step < 2048 {
            table[2048 + step] = one as u16;
        }
        table[2048 - step] = (ONE - one) as u16;
        power = (power * E_256TH) >> 32;
        step += 1;
    }
    table
}
