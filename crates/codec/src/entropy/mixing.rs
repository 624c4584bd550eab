//! Probabilities of single decisions, mixed from several predictions.
//!
//! Predictions are mixed as log odds: a weighted sum, whose weights move after each decision towards
//! those that would have been better (Matt Mahoney, *Adaptive Weighing of Context Models for Lossless
//! Data Compression*, 2005). All of it is integer arithmetic, and the two functions between
//! probabilities and odds are tables in the [prior](super::prior), so that both sides get the same.

use super::coder::ONE;
use super::prior::{Prior, STATIC_STEP};

/// Predictions of one decision at most.
pub(crate) const INPUTS: usize = 8;

/// One number for each prediction of a decision; zeros where there are fewer. Sixteen bits, so that a
/// processor multiplies all of them at once.
pub(crate) type Eight = [i16; INPUTS];

/// Log odds are in steps of 1/256, from −2047 to 2047.
pub(crate) const MAX_ODDS: i32 = 2047;

/// Weights are in 1/16384, below 2.
pub(crate) const WEIGHT_ONE: i16 = 1 << 14;

/// How fast adaptive probabilities move in the end: right by this many bits.
const ADAPT_SHIFT: u32 = 5;

/// Mixes the `N` static predictions of a decision and the adaptive one: its probability out of [`ONE`],
/// and the odds of each.
#[inline]
pub(crate) fn mix<const N: usize>(
    prior: &Prior,
    weights: &Eight,
    adaptive: u16,
    contexts: [usize; N],
) -> (u32, Eight) {
    const { assert!(N < INPUTS) };
    let mut odds = [0; INPUTS];
    for (odds, context) in odds.iter_mut().zip(contexts) {
        *odds = i16::from(prior.table[context]) * STATIC_STEP;
    }
    odds[N] = prior.odds(adaptive);
    let sum: i32 = odds
        .iter()
        .zip(weights)
        .map(|(&odds, &weight)| i32::from(odds) * i32::from(weight))
        .sum();
    let mixed = (sum >> 14).clamp(-MAX_ODDS, MAX_ODDS);
    (prior.probability(mixed), odds)
}

/// Moves the weights, and the adaptive probability, after a decision.
#[inline]
pub(crate) fn learn(weights: &mut Eight, adaptive: &mut u16, odds: &Eight, one: u32, bit: bool) {
    let wanted = if bit { ONE as i32 } else { 0 };
    // Within 16 bits.
    let error = ((wanted - one as i32) >> 1) as i16;
    shift(weights, odds, error);
    adapt(adaptive, bit);
}

/// Moves each weight by its odds' part in the error. A function of its own, so that the eight stay together:
/// inlined, they are taken apart into eight single steps.
#[inline(never)]
fn shift(weights: &mut Eight, odds: &Eight, error: i16) {
    for (weight, &odds) in weights.iter_mut().zip(odds) {
        let step = (i32::from(odds * 4) * i32::from(error)) >> 16;
        *weight = weight.saturating_add(step as i16);
    }
}

/// Moves an adaptive probability after a decision.
#[inline]
pub(crate) fn adapt(adaptive: &mut u16, bit: bool) {
    let target = if bit { i32::from(u16::MAX) } else { 0 };
    let step = (target - i32::from(*adaptive)) >> ADAPT_SHIFT;
    *adaptive = (i32::from(*adaptive) + step).clamp(MIN_ADAPTIVE, MAX_ADAPTIVE) as u16;
}

const MIN_ADAPTIVE: i32 = 32;
const MAX_ADAPTIVE: i32 = ONE as i32 - 33;
