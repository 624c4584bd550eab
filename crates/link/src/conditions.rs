//! The conditions of a link and their ranges.

use std::sync::Arc;
use std::time::Duration;

use crate::{Loss, Trace};

/// Upper bound of every delay in the conditions: 60 s.
pub const MAX_DELAY: Duration = Duration::from_secs(60);

/// Upper bound of [`sigma`](Jitter::LogNormal): one packet in a hundred takes a thousand medians.
pub const MAX_SIGMA: f64 = 3.0;

/// Lower bound of the [bandwidth](Bandwidth), so that no packet blocks a link for hours.
pub const MIN_BITS_PER_SECOND: u64 = 1_000;

/// The conditions of one direction of a link. The default is [`PERFECT`](Self::PERFECT).
///
/// If the bandwidth is limited, a packet first waits in a queue. When it leaves the queue, it may be
/// lost, delayed, held back and duplicated.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// One-way delay of every packet, `0..=60 s`.
    pub latency: Duration,
    /// Variation of the delay. As on a real link, it makes packets overtake each other.
    pub jitter: Jitter,
    /// Which packets are lost.
    pub loss: Loss,
    /// Fraction of packets that arrive twice, `0..=1`. The copy has its own jitter and is not held
    /// back. A lost packet has no copy.
    pub duplicate_probability: f64,
    /// Which packets are held back, so that later ones overtake them.
    pub reordering: Option<Reordering>,
    /// Capacity of the link. Without a limit there is no queue.
    pub bandwidth: Option<Bandwidth>,
    /// Whether the link is cut: packets sent while it is cut are lost. Those in flight still arrive.
    pub cut: bool,
    /// Recorded delays and losses, which replace `latency`, `jitter`, `loss` and `reordering`. The
    /// trace starts at the first packet that is sent after it was set.
    pub trace: Option<Arc<Trace>>,
}

/// Variation of the delay, independent for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Jitter {
    /// No jitter.
    #[default]
    None,
    /// The delay is uniform in latency ± `spread`, and never below zero.
    Uniform {
        /// Largest deviation, `0..=60 s`.
        spread: Duration,
    },
    /// A log-normally distributed time is added to the latency: mostly short, with a long tail. Cut off
    /// at 60 s.
    LogNormal {
        /// Median of the added time, `0..=60 s`.
        median: Duration,
        /// Standard deviation of the natural logarithm of the added time, `0..=3`. For one packet in a
        /// hundred the added time is e^(2.33 sigma) medians or more: ten at 1.0.
        sigma: f64,
    },
}

/// Packets that are held back at random, independently of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// Fraction of packets, `0..=1`.
    pub probability: f64,
    /// Minimum of the extra delay, `0..=60 s`.
    pub min_delay: Duration,
    /// Maximum of the extra delay, `min_delay..=60 s`. Delays are uniform between the two.
    pub max_delay: Duration,
}

/// A bottleneck: packets are sent one after another and wait in a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// At least [`MIN_BITS_PER_SECOND`].
    pub bits_per_second: u64,
    /// Capacity of the queue, at least 1. The packet that is being sent is not in the queue, so an idle
    /// link accepts a packet of any size. A packet that does not fit is dropped.
    pub queue_bytes: usize,
}

/// A value of [`Conditions`] that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ConditionsError {
    /// A probability or fraction is outside `0..=1`.
    #[error("{field} is {value}, outside 0..=1")]
    Probability {
        /// Path of the field.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A delay is too long.
    #[error("{field} is {value:?}, outside 0..={MAX_DELAY:?}")]
    Delay {
        /// Path of the field.
        field: &'static str,
        /// Its value.
        value: Duration,
    },
    /// The maximum delay of reordering is below the minimum.
    #[error("reordering.max_delay is {max:?}, below reordering.min_delay, {min:?}")]
    Reordering {
        /// The minimum.
        min: Duration,
        /// The maximum.
        max: Duration,
    },
    /// Sigma of log-normal jitter is out of range.
    #[error("jitter.sigma is {value}, outside 0..={MAX_SIGMA}")]
    Sigma {
        /// Its value.
        value: f64,
    },
    /// The bandwidth is too small.
    #[error("bandwidth.bits_per_second is {value}, below {MIN_BITS_PER_SECOND}")]
    BitsPerSecond {
        /// Its value.
        value: u64,
    },
    /// The queue has no capacity.
    #[error("bandwidth.queue_bytes is 0, below 1")]
    QueueBytes,
}

impl Conditions {
    /// No delay and no loss.
    pub const PERFECT: Self = Self {
        latency: Duration::ZERO,
        jitter: Jitter::None,
        loss: Loss::None,
        duplicate_probability: 0.0,
        reordering: None,
        bandwidth: None,
        cut: false,
        trace: None,
    };

    /// Checks that every value is in range.
    ///
    /// # Errors
    /// [`ConditionsError`] for the first value that is not.
    pub fn check(&self) -> Result<(), ConditionsError> {
        delay("latency", self.latency)?;
        match self.jitter {
            Jitter::None => {}
            Jitter::Uniform { spread } => delay("jitter.spread", spread)?,
            Jitter::LogNormal { median, sigma } => {
                delay("jitter.median", median)?;
                if !(0.0..=MAX_SIGMA).contains(&sigma) {
                    return Err(ConditionsError::Sigma { value: sigma });
                }
            }
        }
        let mut loss = self.loss;
        for (field, value) in loss.probabilities_mut() {
            probability(field, *value)?;
        }
        probability("duplicate_probability", self.duplicate_probability)?;
        if let Some(reordering) = self.reordering {
            probability("reordering.probability", reordering.probability)?;
            let (min, max) = (reordering.min_delay, reordering.max_delay);
            delay("reordering.min_delay", min)?;
            delay("reordering.max_delay", max)?;
            if max < min {
                return Err(ConditionsError::Reordering { min, max });
            }
        }
        if let Some(bandwidth) = self.bandwidth {
            if bandwidth.bits_per_second < MIN_BITS_PER_SECOND {
                let value = bandwidth.bits_per_second;
                return Err(ConditionsError::BitsPerSecond { value });
            }
            if bandwidth.queue_bytes == 0 {
                return Err(ConditionsError::QueueBytes);
            }
        }
        Ok(())
    }

    /// Clamps every value to its range; NaN becomes 0. Conditions that pass [`check`](Self::check) are
    /// returned unchanged.
    #[must_use]
    pub fn clamped(mut self) -> Self {
        clamp_delay(&mut self.latency);
        match &mut self.jitter {
            Jitter::None => {}
            Jitter::Uniform { spread } => clamp_delay(spread),
            Jitter::LogNormal { median, sigma } => {
                clamp_delay(median);
                clamp(sigma, MAX_SIGMA);
            }
        }
        for (_, value) in self.loss.probabilities_mut() {
            clamp(value, 1.0);
        }
        clamp(&mut self.duplicate_probability, 1.0);
        if let Some(reordering) = &mut self.reordering {
            clamp(&mut reordering.probability, 1.0);
            clamp_delay(&mut reordering.min_delay);
            clamp_delay(&mut reordering.max_delay);
            reordering.max_delay = reordering.max_delay.max(reordering.min_delay);
        }
        if let Some(bandwidth) = &mut self.bandwidth {
            bandwidth.bits_per_second = bandwidth.bits_per_second.max(MIN_BITS_PER_SECOND);
            bandwidth.queue_bytes = bandwidth.queue_bytes.max(1);
        }
        self
    }
}

impl Default for Conditions {
    fn default() -> Self {
        Self::PERFECT
    }
}

fn probability(field: &'static str, value: f64) -> Result<(), ConditionsError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(ConditionsError::Probability { field, value })
}

fn delay(field: &'static str, value: Duration) -> Result<(), ConditionsError> {
    if value <= MAX_DELAY {
        return Ok(());
    }
    Err(ConditionsError::Delay { field, value })
}

/// Clamps to `0..=max`; NaN becomes 0.
const fn clamp(value: &mut f64, max: f64) {
    *value = value.max(0.0).min(max);
}

fn clamp_delay(value: &mut Duration) {
    *value = (*value).min(MAX_DELAY);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions with one value out of range, and the error message.
    fn out_of_range() -> [(Conditions, &'static str); 10] {
        let perfect = || Conditions::PERFECT;
        let reordering = |probability, min_delay, max_delay| Conditions {
            reordering: Some(Reordering {
                probability,
                min_delay: Duration::from_secs(min_delay),
                max_delay: Duration::from_secs(max_delay),
            }),
            ..perfect()
        };
        let bandwidth = |bits_per_second, queue_bytes| Conditions {
            bandwidth: Some(Bandwidth {
                bits_per_second,
                queue_bytes,
            }),
            ..perfect()
        };
        let log_normal = |sigma| Conditions {
            jitter: Jitter::LogNormal {
                median: Duration::ZERO,
                sigma,
            },
            ..perfect()
        };
        [
            (
                Conditions {
                    latency: Duration::from_secs(61),
                    ..perfect()
                },
                "latency is 61s, outside 0..=60s",
            ),
            (
                Conditions {
                    loss: Loss::Independent { probability: 1.5 },
                    ..perfect()
                },
                "loss.probability is 1.5, outside 0..=1",
            ),
            (
                Conditions {
                    duplicate_probability: f64::NAN,
                    ..perfect()
                },
                "duplicate_probability is NaN, outside 0..=1",
            ),
            (
                reordering(-0.1, 1, 2),
                "reordering.probability is -0.1, outside 0..=1",
            ),
            (
                reordering(0.1, 1, 100),
                "reordering.max_delay is 100s, outside 0..=60s",
            ),
            (
                reordering(0.1, 2, 1),
                "reordering.max_delay is 1s, below reordering.min_delay, 2s",
            ),
            (
                bandwidth(0, 1),
                "bandwidth.bits_per_second is 0, below 1000",
            ),
            (bandwidth(1_000, 0), "bandwidth.queue_bytes is 0, below 1"),
            (log_normal(3.1), "jitter.sigma is 3.1, outside 0..=3"),
            (
                log_normal(f64::INFINITY),
                "jitter.sigma is inf, outside 0..=3",
            ),
        ]
    }

    #[test]
    fn errors_name_the_field_its_value_and_the_range() {
        for (conditions, message) in out_of_range() {
            assert_eq!(conditions.check().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn clamped_conditions_are_in_range() {
        for (conditions, message) in out_of_range() {
            assert_eq!(conditions.clamped().check(), Ok(()), "{message}");
        }
    }

    #[test]
    fn clamping_keeps_conditions_that_are_in_range() {
        let limits = Conditions {
            latency: MAX_DELAY,
            jitter: Jitter::LogNormal {
                median: MAX_DELAY,
                sigma: MAX_SIGMA,
            },
            loss: Loss::Independent { probability: 1.0 },
            duplicate_probability: 1.0,
            reordering: Some(Reordering {
                probability: 1.0,
                min_delay: MAX_DELAY,
                max_delay: MAX_DELAY,
            }),
            bandwidth: Some(Bandwidth {
                bits_per_second: MIN_BITS_PER_SECOND,
                queue_bytes: 1,
            }),
            cut: true,
            trace: None,
        };
        for conditions in [limits, Conditions::default()] {
            assert_eq!(conditions.check(), Ok(()));
            assert_eq!(conditions.clone().clamped(), conditions);
        }
    }
}
