//! The conditions of a link.

use std::sync::Arc;
use std::time::Duration;

use cubewire_text::{Ms, Spelling, TextError};
use serde::{Deserialize, Serialize};

use crate::text::NOTATION;
use crate::{Loss, Trace};

/// Upper bound of every delay in the conditions: 60 s.
pub const MAX_DELAY: Duration = Duration::from_secs(60);

/// Upper bound of [`sigma`](Jitter::LogNormal). At this value, one packet in a hundred takes a thousand medians.
pub const MAX_SIGMA: f64 = 3.0;

/// Lower bound of the [bandwidth](crate::Bandwidth), so that no packet blocks a link for hours.
pub const MIN_BITS_PER_SECOND: u64 = 1_000;

/// The conditions of one direction of a link. The default is [`PERFECT`](Self::PERFECT).
///
/// If the bandwidth is limited, a packet first waits in a queue. When it leaves the queue, it may be
/// lost, delayed, held back and duplicated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// One-way delay of every packet, `0..=60 s`.
    #[serde(with = "Ms")]
    pub latency: Duration,
    /// Variation of the delay. As on a real link, it makes packets overtake each other.
    pub jitter: Jitter,
    /// Loss model.
    pub loss: Loss,
    /// Fraction of packets that arrive twice, `0..=1`. The copy has separate jitter and is not held
    /// back. A lost packet has no copy.
    #[serde(rename = "duplicate")]
    pub duplicate_probability: f64,
    /// Packets that are held back, so that later ones overtake them.
    pub reordering: Option<Reordering>,
    /// Capacity of the link. Without a limit there is no queue.
    pub bandwidth: Option<Bandwidth>,
    /// Whether the link is cut. Packets sent while it is cut are lost. Packets in flight still arrive.
    pub cut: bool,
    /// Recorded delays and losses, which replace `latency`, `jitter`, `loss` and `reordering`. The
    /// trace starts at the first packet that is sent after it was set.
    #[serde(skip)]
    pub trace: Option<Arc<Trace>>,
}

/// Variation of the delay, independent for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Jitter {
    /// No jitter.
    #[default]
    None,
    /// The delay is uniform in latency ± `spread`, and never below zero.
    Uniform {
        /// Largest deviation, `0..=60 s`.
        #[serde(with = "Ms")]
        spread: Duration,
    },
    /// A log-normally distributed time is added to the latency: mostly short, with a long tail. Cut off at 60 s.
    LogNormal {
        /// Median of the added time, `0..=60 s`.
        #[serde(with = "Ms")]
        median: Duration,
        /// Standard deviation of the natural logarithm of the added time, `0..=3`. For one packet in a
        /// hundred, the added time is at least e^(2.33 sigma) medians: ten at 1.0.
        sigma: f64,
    },
}

/// Random packets that are held back, independently of each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reordering {
    /// Fraction of packets, `0..=1`.
    pub probability: f64,
    /// Minimum of the extra delay, `0..=60 s`.
    #[serde(with = "Ms")]
    pub min_delay: Duration,
    /// Maximum of the extra delay, `min_delay..=60 s`. Delays are uniform between the two.
    #[serde(with = "Ms")]
    pub max_delay: Duration,
}

/// A bottleneck: packets are sent one after another and wait in a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Rate, at least [`MIN_BITS_PER_SECOND`].
    pub bits_per_second: u64,
    /// Capacity of the queue, at least 1. The packet that is being sent is not in the queue, so an idle
    /// link accepts a packet of any size. A packet that does not fit is dropped.
    pub queue_bytes: usize,
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

    /// Checks that every value is in its range.
    ///
    /// # Errors
    /// [`TextError`] for the first value out of range. It names the nearest value in range.
    pub fn check(&self) -> Result<(), TextError> {
        let nearest = NOTATION.written(&self.clone().clamped())?;
        let mut both = NOTATION.written(self)?.into_iter().zip(nearest);
        let differing = both.find(|(given, nearest)| given != nearest);
        differing.map_or(Ok(()), |((condition, given), (_, nearest))| {
            Err(TextError::Other(format!(
                "{condition} is {given}, which is out of range; the nearest in range is {nearest}"
            )))
        })
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
        for value in self.loss.probabilities_mut() {
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

    #[test]
    fn what_is_out_of_range_is_clamped_and_named_with_the_nearest_in_range() {
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
            bandwidth: Some(Bandwidth { bits_per_second, queue_bytes }),
            ..perfect()
        };
        let latency = Conditions { latency: Duration::from_secs(61), ..perfect() };
        let loss =
            |probability| Conditions { loss: Loss::Independent { probability }, ..perfect() };
        let duplicate = Conditions { duplicate_probability: f64::NAN, ..perfect() };
        let (median, sigma) = (Duration::ZERO, f64::INFINITY);
        let sigma = Conditions { jitter: Jitter::LogNormal { median, sigma }, ..perfect() };
        for (conditions, condition, given, nearest) in [
            (latency, "latency", "61000ms", "60000ms"),
            (sigma, "jitter", "log-normal/0ms/inf", "log-normal/0ms/3"),
            (loss(1.5), "loss", "1.5", "1"),
            (loss(-1.0), "loss", "-1", "0"),
            (duplicate, "duplicate", "NaN", "0"),
            (reordering(-0.1, 1, 100), "reordering", "-0.1/1000ms/100000ms", "0/1000ms/60000ms"),
            (reordering(0.1, 2, 1), "reordering", "0.1/2000ms/1000ms", "0.1/2000ms/2000ms"),
            (bandwidth(0, 0), "bandwidth", "0/0", "1000/1"),
        ] {
            let error = conditions.check().unwrap_err().to_string();
            let wanted = format!(
                "{condition} is {given}, which is out of range; the nearest in range is {nearest}"
            );
            assert_eq!(error, wanted);
            assert_eq!(conditions.clamped().check(), Ok(()), "{wanted}");
        }
    }
}
