//! The ranges of conditions.

use std::time::Duration;

use super::{Conditions, Jitter};
use crate::text::time;

/// Upper bound of every delay in the conditions: 60 s.
pub const MAX_DELAY: Duration = Duration::from_secs(60);

/// Upper bound of [`sigma`](Jitter::LogNormal): one packet in a hundred takes a thousand medians.
pub const MAX_SIGMA: f64 = 3.0;

/// Lower bound of the [bandwidth](crate::Bandwidth), so that no packet blocks a link for hours.
pub const MIN_BITS_PER_SECOND: u64 = 1_000;

/// A value of [`Conditions`] that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ConditionsError {
    /// A probability or fraction is outside `0..=1`.
    #[error("{field} is {value}; it must be between 0 and 1")]
    Probability {
        /// Name of the value, in the words of the [text](crate::text) form.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A delay is too long.
    #[error("{field} is {}; it must be at most {}", time(*value), time(MAX_DELAY))]
    Delay {
        /// Name of the value, in the words of the [text](crate::text) form.
        field: &'static str,
        /// Its value.
        value: Duration,
    },
    /// The maximum delay of reordering is below the minimum.
    #[error(
        "reordering: the maximum delay is {}; it must be at least the minimum, {}",
        time(*max),
        time(*min)
    )]
    Reordering {
        /// The minimum.
        min: Duration,
        /// The maximum.
        max: Duration,
    },
    /// Sigma of log-normal jitter is out of range.
    #[error("jitter: sigma is {value}; it must be between 0 and {MAX_SIGMA}")]
    Sigma {
        /// Its value.
        value: f64,
    },
    /// The bandwidth is too small.
    #[error("bandwidth is {value} bits per second; it must be at least {MIN_BITS_PER_SECOND}")]
    BitsPerSecond {
        /// Its value.
        value: u64,
    },
    /// The queue has no capacity.
    #[error("bandwidth: the queue is 0 bytes; it must be at least 1")]
    QueueBytes,
}

impl Conditions {
    /// Checks that every value is in range.
    ///
    /// # Errors
    /// [`ConditionsError`] for the first value that is not.
    pub fn check(&self) -> Result<(), ConditionsError> {
        delay("latency", self.latency)?;
        match self.jitter {
            Jitter::None => {}
            Jitter::Uniform { spread } => delay("jitter: the spread", spread)?,
            Jitter::LogNormal { median, sigma } => {
                delay("jitter: the median", median)?;
                if !(0.0..=MAX_SIGMA).contains(&sigma) {
                    return Err(ConditionsError::Sigma { value: sigma });
                }
            }
        }
        let mut loss = self.loss;
        for (field, value) in loss.probabilities_mut() {
            probability(field, *value)?;
        }
        probability("duplicate", self.duplicate_probability)?;
        if let Some(reordering) = self.reordering {
            probability("reordering", reordering.probability)?;
            let (min, max) = (reordering.min_delay, reordering.max_delay);
            delay("reordering: the minimum delay", min)?;
            delay("reordering: the maximum delay", max)?;
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
    use crate::{Bandwidth, Loss, Reordering};

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
                "latency is 61000ms; it must be at most 60000ms",
            ),
            (
                Conditions {
                    loss: Loss::Independent { probability: 1.5 },
                    ..perfect()
                },
                "loss is 1.5; it must be between 0 and 1",
            ),
            (
                Conditions {
                    duplicate_probability: f64::NAN,
                    ..perfect()
                },
                "duplicate is NaN; it must be between 0 and 1",
            ),
            (
                reordering(-0.1, 1, 2),
                "reordering is -0.1; it must be between 0 and 1",
            ),
            (
                reordering(0.1, 1, 100),
                "reordering: the maximum delay is 100000ms; it must be at most 60000ms",
            ),
            (
                reordering(0.1, 2, 1),
                "reordering: the maximum delay is 1000ms; it must be at least the minimum, 2000ms",
            ),
            (
                bandwidth(0, 1),
                "bandwidth is 0 bits per second; it must be at least 1000",
            ),
            (
                bandwidth(1_000, 0),
                "bandwidth: the queue is 0 bytes; it must be at least 1",
            ),
            (
                log_normal(3.1),
                "jitter: sigma is 3.1; it must be between 0 and 3",
            ),
            (
                log_normal(f64::INFINITY),
                "jitter: sigma is inf; it must be between 0 and 3",
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
