//! The conditions of a link.

mod range;

use std::sync::Arc;
use std::time::Duration;

use cubewire_text::{Ms, Spelling};
use serde::{Deserialize, Serialize};

pub use self::range::{MAX_DELAY, MAX_SIGMA, MIN_BITS_PER_SECOND};
use crate::{Loss, Trace};

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
}

impl Default for Conditions {
    fn default() -> Self {
        Self::PERFECT
    }
}
