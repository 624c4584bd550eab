//! What every chain of packets starts from: learned from recordings, the same on both sides, and
//! read only.

use std::sync::{Arc, OnceLock};

use super::layout::{ADAPTIVE_SLOTS, CONTEXT_SLOTS, ERROR_SLOTS, WEIGHT_SETS};
use super::mixing::{Eight, INPUTS, MAX_ODDS, WEIGHT_ONE};

/// Log odds of the table are in steps of so many 1/256.
pub(crate) const STATIC_STEP: i16 = 16;

/// A prior, as `cubewire-lab train` makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prior {
    /// Hashes of what it was trained on.
    trained_on: Vec<u64>,
    /// Log odds of decisions in their contexts, in steps of [`STATIC_STEP`].
    pub(crate) table: Vec<i8>,
    /// What chains begin with.
    pub(crate) weights: Vec<Eight>,
    pub(crate) adaptive: Vec<u16>,
    pub(crate) errors: Vec<u16>,
    functions: &'static Functions,
}

/// Why bytes are no prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriorError {
    /// They begin otherwise.
    #[error("not a prior: the first bytes are not {:?}", str::from_utf8(MAGIC).unwrap_or_default())]
    Magic,
    /// They are of another version of this crate, or damaged.
    #[error("a prior that was trained on {trained_on} recordings has {expected} bytes, not {got}")]
    Length {
        /// Recordings, as it says.
        trained_on: usize,
        /// As it should be.
        expected: usize,
        /// As it is.
        got: usize,
    },
}

const MAGIC: &[u8; 8] = b"CWPRIOR1";

/// Between log odds and probabilities.
#[derive(Debug, PartialEq, Eq)]
struct Functions {
    /// Out of 65536, by log odds from −2048.
    probabilities: [u16; 4096],
    /// Log odds, by probability out of 4096.
    odds: [i16; 4096],
}

/// The logistic function, from a table of its logarithms' powers: each step of odds is a factor of
/// e^(1/256), multiplied up in 64-bit integers.
fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let mut probabilities = [0; 4096];
        // e^(step/256) in 1/2^32, from e^(1/256), rounded down at each step.
        let mut power = 1_u128 << 32;
        for step in 0..=2048_usize {
            // 1 / (1 + e^−x), as e^x / (1 + e^x).
            let one = ((power << 16) / (power + (1 << 32))) as u32;
            let one = one.clamp(16, 65_520);
            if 2048 + step < 4096 {
                probabilities[2048 + step] = one as u16;
            }
            probabilities[2048 - step] = (65_536 - one) as u16;
            power = (power * E_256TH) >> 32;
        }
        let mut odds = [0; 4096];
        let mut step: i32 = -MAX_ODDS;
        for (place, odds) in odds.iter_mut().enumerate() {
            let wanted = (place * 16 + 8) as u16;
            while step < MAX_ODDS && probabilities[(step + 1 + 2048) as usize] <= wanted {
                step += 1;
            }
            *odds = step as i16;
        }
        Functions {
            probabilities,
            odds,
        }
    })
}

/// e^(1/256) in 1/2^32.
const E_256TH: u128 = 4_311_777_322;

impl Prior {
    /// One that knows nothing.
    #[must_use]
    pub fn blank() -> Self {
        Self {
            trained_on: Vec::new(),
            table: vec![0; CONTEXT_SLOTS],
            weights: vec![[WEIGHT_ONE / 3; INPUTS]; WEIGHT_SETS],
            adaptive: vec![1 << 15; ADAPTIVE_SLOTS],
            errors: vec![FIRST_ERROR; ERROR_SLOTS],
            functions: functions(),
        }
    }

    /// The one that comes with this crate.
    #[must_use]
    pub fn shipped() -> Arc<Self> {
        static SHIPPED: OnceLock<Arc<Prior>> = OnceLock::new();
        let shipped = SHIPPED.get_or_init(|| {
            let bytes = include_bytes!("../../prior.bin");
            Arc::new(Self::from_bytes(bytes).expect("a test reads it"))
        });
        Arc::clone(shipped)
    }

    /// Hashes of the recordings that it was trained on, as whoever trained it gave them.
    #[must_use]
    pub fn trained_on(&self) -> &[u64] {
        &self.trained_on
    }

    pub(crate) fn set_trained_on(&mut self, hashes: Vec<u64>) {
        self.trained_on = hashes;
    }

    /// Reads what [`Self::to_bytes`] writes.
    ///
    /// # Errors
    /// [`PriorError`] if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PriorError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(PriorError::Magic)?;
        let count = rest.first().copied().unwrap_or(0) as usize;
        let sizes = [
            1,
            8 * count,
            2 * WEIGHT_SETS * INPUTS,
            2 * ADAPTIVE_SLOTS,
            2 * ERROR_SLOTS,
            CONTEXT_SLOTS,
        ];
        let expected = MAGIC.len() + sizes.iter().sum::<usize>();
        if bytes.len() != expected {
            return Err(PriorError::Length {
                trained_on: count,
                expected,
                got: bytes.len(),
            });
        }
        let mut rest = rest;
        let [_, hashes, weights, adaptive, errors, table] = sizes.map(|size| {
            let (part, after) = rest.split_at(size);
            rest = after;
            part
        });
        let words = |part: &[u8]| -> Vec<u16> {
            let words = part.as_chunks().0.iter();
            words.map(|word| u16::from_le_bytes(*word)).collect()
        };
        Ok(Self {
            trained_on: hashes
                .as_chunks()
                .0
                .iter()
                .map(|hash| u64::from_le_bytes(*hash))
                .collect(),
            weights: words(weights)
                .as_chunks()
                .0
                .iter()
                .map(|set: &[u16; INPUTS]| set.map(u16::cast_signed))
                .collect(),
            adaptive: words(adaptive),
            errors: words(errors),
            table: table.iter().map(|odds| odds.cast_signed()).collect(),
            functions: functions(),
        })
    }

    /// As a file:
    ///
    /// ```text
    /// "CWPRIOR1" | recordings 8 | hashes 64 each | weights 16 each | adaptive probabilities 16 each |
    /// errors of expectations 16 each | log odds 8 each
    /// ```
    ///
    /// Little endian.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let count = self.trained_on.len().min(u8::MAX.into());
        bytes.push(count as u8);
        let hashes = self.trained_on[..count].iter();
        bytes.extend(hashes.flat_map(|hash| hash.to_le_bytes()));
        let weights = self.weights.iter().flatten();
        bytes.extend(weights.flat_map(|weight| weight.to_le_bytes()));
        bytes.extend(self.adaptive.iter().flat_map(|one| one.to_le_bytes()));
        bytes.extend(self.errors.iter().flat_map(|error| error.to_le_bytes()));
        bytes.extend(self.table.iter().map(|odds| odds.cast_unsigned()));
        bytes
    }

    /// Log odds of a probability out of 65536.
    pub(crate) fn odds(&self, one: u16) -> i16 {
        self.functions.odds[usize::from(one >> 4)]
    }

    /// Probability, out of 65536, of log odds within ±[`MAX_ODDS`].
    pub(crate) fn probability(&self, odds: i32) -> u32 {
        self.functions.probabilities[(odds + 2048) as usize].into()
    }
}

/// What expectations are taken to miss by before anything is known.
const FIRST_ERROR: u16 = 1600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prior_comes_back_from_its_bytes_and_others_are_refused() {
        let mut prior = Prior::blank();
        prior.set_trained_on(vec![7, u64::MAX]);
        prior.table[5] = -9;
        prior.weights[3][1] = -7_000;
        prior.adaptive[1] = 9;
        prior.errors[2] = 77;
        let bytes = prior.to_bytes();
        assert_eq!(Prior::from_bytes(&bytes), Ok(prior));
        assert_eq!(Prior::from_bytes(b"zstd"), Err(PriorError::Magic));
        assert_eq!(Prior::from_bytes(&[]), Err(PriorError::Magic));
        for length in [8, 9, bytes.len() - 1] {
            let error = Prior::from_bytes(&bytes[..length]).unwrap_err();
            assert!(matches!(error, PriorError::Length { .. }));
        }
    }

    #[test]
    fn odds_and_probabilities_are_the_logistic_function() {
        let prior = Prior::blank();
        for odds in -MAX_ODDS..=MAX_ODDS {
            let exact = 65_536.0 / (1.0 + (-f64::from(odds) / 256.0).exp());
            let one = f64::from(prior.probability(odds));
            assert!((one - exact.clamp(16.0, 65_520.0)).abs() <= 2.0, "{odds}");
        }
        for one in (0..=u16::MAX).step_by(16) {
            let odds = f64::from(prior.odds(one)) / 256.0;
            let exact = (f64::from(one) + 8.0) / 65_536.0;
            let exact = (exact / (1.0 - exact)).ln().clamp(-8.0, 8.0);
            assert!((odds - exact).abs() < 0.05, "{one}: {odds} {exact}");
        }
    }
}
