//! The logistic function as a table of integers, so that both sides get the same results.

use super::coder::ONE;

/// Log odds are in steps of 1/256, in −2047..=2047.
pub(crate) const MAX_LOG_ODDS: i32 = 2047;

/// Probability, in 1/[`ONE`], of log odds within ±[`MAX_LOG_ODDS`]: 1 / (1 + e^−x).
#[inline]
pub(crate) fn squash(log_odds: i32) -> u32 {
    SQUASHED[(log_odds + 2048) as usize].into()
}

/// Probabilities of log odds from −2048 on.
static SQUASHED: [u16; 4096] = squash_table();

/// e^(1/256) in 1/2^32.
const E_256TH: u128 = 4_311_777_322;

const MIN_PROBABILITY: u32 = 16;

const fn squash_table() -> [u16; 4096] {
    let mut table = [0; 4096];
    // e^(step/256) in 1/2^32: multiplied by e^(1/256) and rounded down at each step.
    let mut power = 1_u128 << 32;
    let mut step = 0;
    while step <= 2048 {
        // 1 / (1 + e^−x), as e^x / (1 + e^x).
        let mut one = ((power << 16) / (power + (1 << 32))) as u32;
        if one > ONE - MIN_PROBABILITY {
            one = ONE - MIN_PROBABILITY;
        }
        if step < 2048 {
            table[2048 + step] = one as u16;
        }
        table[2048 - step] = (ONE - one) as u16;
        power = (power * E_256TH) >> 32;
        step += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_logistic_function() {
        for log_odds in -MAX_LOG_ODDS..=MAX_LOG_ODDS {
            let exact = 65_536.0 / (1.0 + (-f64::from(log_odds) / 256.0).exp());
            let one = f64::from(squash(log_odds));
            let error = one - exact.clamp(16.0, 65_520.0);
            assert!(error.abs() <= 2.0, "{log_odds}");
        }
    }
}
