//! What a link does to what it carries, and the ranges in which that makes sense.

use std::sync::Arc;
use std::time::Duration;

use crate::{Loss, Trace};

/// The longest of every delay that can be set: 60 s.
pub const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// The largest [`sigma`](Jitter::LogNormal): one packet in a hundred takes a thousand times the median.
pub const MAX_SIGMA: f64 = 3.0;

/// The smallest [bandwidth](Bandwidth), so that no packet blocks a link for hours.
pub const MIN_BITS_PER_SECOND: u64 = 1_000;

/// What one direction of a link does to what it carries. By default it does nothing: see
/// [`PERFECT`](Self::PERFECT).
///
/// A packet first takes its place in the queue of the bandwidth, if that is limited; once it has left
/// the queue, it may be lost, delayed, held back and duplicated.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Time one way that every packet takes, `0..=60 s`.
    pub latency: Duration,
    /// How the time differs from packet to packet. As on a real link, that alone makes packets
    /// overtake each other.
    pub jitter: Jitter,
    /// Which packets are lost.
    pub loss: Loss,
    /// Fraction of packets that arrive twice, `0..=1`. The copy has jitter of its own and is not held
    /// back. A packet that is lost has no copy.
    pub duplicate_probability: f64,
    /// Which packets are held back, so that later ones overtake them.
    pub reordering: Option<Reordering>,
    /// How much the link carries. Without a limit there is no queue.
    pub bandwidth: Option<Bandwidth>,
    /// Whether the cable is cut: what is sent then is lost. What was under way still arrives.
    pub cut: bool,
    /// Recorded delays and losses, in place of `latency`, `jitter`, `loss` and `reordering`. The trace
    /// begins with the first packet that is sent after it was set.
    pub trace: Option<Arc<Trace>>,
}

/// How the delay differs from packet to packet, each by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Jitter {
    /// Not at all.
    #[default]
    None,
    /// The latency and up to `spread` more or less, evenly distributed. Never below zero.
    Uniform {
        /// `0..=60 s`.
        spread: Duration,
    },
    /// More than the latency, by a log-normally distributed time: mostly little, now and then a lot.
    /// Cut off at 60 s.
    LogNormal {
        /// Half of the packets take at most this much longer, `0..=60 s`.
        median: Duration,
        /// Standard deviation of the natural logarithm of the time, `0..=3`. One packet in a hundred
        /// takes e^(2.33 sigma) medians or more: ten at 1.0.
        sigma: f64,
    },
}

/// Packets that are held back at random, each by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// Fraction of packets, `0..=1`.
    pub probability: f64,
    /// They arrive at least this much later, `0..=60 s`.
    pub min_delay: Duration,
    /// They arrive at most this much later, `min_delay..=60 s`. In between, delays are evenly
    /// distributed.
    pub max_delay: Duration,
}

/// A bottleneck: packets go one after another, and wait in a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// At least [`MIN_BITS_PER_SECOND`].
    pub bits_per_second: u64,
    /// Bytes that can wait, at least 1. The packet that is being sent does not wait any more, so that
    /// an idle link takes any packet. One that does not fit is dropped.
    pub queue_bytes: usize,
}

/// A value of [`Conditions`] is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ConditionsError {
    /// A probability is not one.
    #[error("{field} is {value}, outside 0..=1")]
    Probability {
        /// Its path.
        field: &'static str,
        /// What it is.
        value: f64,
    },
    /// A delay is too long.
    #[error("{field} is {value:?}, outside 0..={LONGEST_DELAY:?}")]
    Delay {
        /// Its path.
        field: &'static str,
        /// What it is.
        value: Duration,
    },
    /// The delays of packets that are held back are the wrong way round.
    #[error("reordering.max_delay is {max:?}, below reordering.min_delay, {min:?}")]
    Reordering {
        /// The minimum.
        min: Duration,
        /// The maximum.
        max: Duration,
    },
    /// The spread of log-normal jitter is out of range.
    #[error("jitter.sigma is {value}, outside 0..={MAX_SIGMA}")]
    Sigma {
        /// What it is.
        value: f64,
    },
    /// The bandwidth is too small.
    #[error("bandwidth.bits_per_second is {value}, below {MIN_BITS_PER_SECOND}")]
    BitsPerSecond {
        /// What it is.
        value: u64,
    },
    /// The queue has no room.
    #[error("bandwidth.queue_bytes is 0, below 1")]
    QueueBytes,
}

impl Conditions {
    /// No delay, and nothing is lost.
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

    /// Whether every value is in its range.
    ///
    /// # Errors
    /// [`ConditionsError`] for the first that is not.
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

    /// The same with every value at the nearest that is in range, and 0 for what is not a number. What
    /// [`check`](Self::check) approves stays as it is.
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
    if value <= LONGEST_DELAY {
        return Ok(());
    }
    Err(ConditionsError::Delay { field, value })
}

/// Into `0..=most`; 0 if it is not a number.
const fn clamp(value: &mut f64, most: f64) {
    *value = value.max(0.0).min(most);
}

fn clamp_delay(value: &mut Duration) {
    *value = (*value).min(LONGEST_DELAY);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions with one value out of range each, and what the error says.
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
    fn an_error_names_the_field_its_value_and_the_range() {
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
    fn what_is_in_range_stays_as_it_is() {
        let limits = Conditions {
            latency: LONGEST_DELAY,
            jitter: Jitter::LogNormal {
                median: LONGEST_DELAY,
                sigma: MAX_SIGMA,
            },
            loss: Loss::Independent { probability: 1.0 },
            duplicate_probability: 1.0,
            reordering: Some(Reordering {
                probability: 1.0,
                min_delay: LONGEST_DELAY,
                max_delay: LONGEST_DELAY,
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
