//! The logistic function and its inverse, as tables of integers, so that both sides get the same results.

use super::coder::ONE;

/// Log odds are in steps of 1/256, in −2047..=2047.
pub(crate) const MAX_STRETCHED: i32 = 2047;

/// Log odds of a probability out of [`ONE`]: ln(p / (1 − p)).
#[inline]
pub(crate) fn stretch(one: u16) -> i16 {
    TABLES.stretch[usize::from(one >> 4)]
}

/// The probability, out of [`ONE`], of log odds within ±[`MAX_STRETCHED`]: 1 / (1 + e^−x).
#[inline]
pub(crate) fn squash(log_odds: i32) -> u32 {
    TABLES.squash[(log_odds + 2048) as usize] as u32
}

struct Tables {
    /// By log odds from −2048.
    squash: [u16; 4096],
    /// By probability out of 4096.
    stretch: [i16; 4096],
}

static TABLES: Tables = Tables::new();

/// e^(1/256) in 1/2^32.
const E_256TH: u128 = 4_311_777_322;

const MIN_PROBABILITY: u32 = 16;

impl Tables {
    const fn new() -> Self {
        let squash = squash_table();
        Self {
            stretch: stretch_table(&squash),
            squash,
        }
    }
}

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

const fn stretch_table(squash: &[u16; 4096]) -> [i16; 4096] {
    let mut table = [0; 4096];
    let mut log_odds = -MAX_STRETCHED;
    let mut index = 0;
    while index < table.len() {
        let wanted = (index * 16 + 8) as u16;
        while log_odds < MAX_STRETCHED && squash[(log_odds + 1 + 2048) as usize] <= wanted {
            log_odds += 1;
        }
        table[index] = log_odds as i16;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squash_and_stretch_are_the_logistic_function_and_its_inverse() {
        for log_odds in -MAX_STRETCHED..=MAX_STRETCHED {
            let exact = 65_536.0 / (1.0 + (-f64::from(log_odds) / 256.0).exp());
            let one = f64::from(squash(log_odds));
            let error = one - exact.clamp(16.0, 65_520.0);
            assert!(error.abs() <= 2.0, "{log_odds}");
        }
        for one in (0..=u16::MAX).step_by(16) {
            let log_odds = f64::from(stretch(one)) / 256.0;
            let exact = (f64::from(one) + 8.0) / 65_536.0;
            let exact = (exact / (1.0 - exact)).ln().clamp(-8.0, 8.0);
            assert!((log_odds - exact).abs() < 0.05, "{one}: {log_odds} {exact}");
        }
    }
}
