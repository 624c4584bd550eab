//! Loss models: independent and in bursts.

use serde::{Deserialize, Serialize};

use crate::text::LossText;

/// Loss model of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LossText")]
pub enum Loss {
    /// No packet is lost.
    #[default]
    None,
    /// Packets are lost independently of each other.
    #[serde(rename = "")]
    Independent {
        /// Fraction of packets, `0..=1`.
        probability: f64,
    },
    /// Packets are lost in bursts. The link is in a good or a bad state, changes state at random, and
    /// has a loss probability for each state. It starts in the good state.
    ///
    /// Each packet is a transition and then a loss, so the time in a state counts in packets. With no loss in the good
    /// state and total loss in the bad one, this is a simple case of the model of E. N. Gilbert, *Capacity of a
    /// Burst-Noise Channel*, Bell System Technical Journal 39 (1960). The general case is the model of E. O. Elliott,
    /// *Estimates of Error Rates for Codes on Burst-Noise Channels*, Bell System Technical Journal 42 (1963).
    GilbertElliott {
        /// Probability of a transition from good to bad before a packet, `0..=1`.
        to_bad: f64,
        /// Probability of a transition from bad to good before a packet, `0..=1`. The bad state lasts
        /// for 1 / `to_good` packets on average.
        to_good: f64,
        /// Fraction of packets lost in the good state, `0..=1`.
        loss_in_good: f64,
        /// Fraction of packets lost in the bad state, `0..=1`.
        loss_in_bad: f64,
    },
}

impl Loss {
    /// Bursts of lost packets, without loss between them.
    ///
    /// `mean_burst_packets` is the mean length of a burst, b, at least 1. `mean_loss_fraction` is the fraction of
    /// packets lost in the long run, `0..=b / (b + 1)`, because at least one packet arrives between two bursts. Other
    /// arguments give conditions that [`check`](crate::Conditions::check) rejects.
    pub const fn bursts(mean_loss_fraction: f64, mean_burst_packets: f64) -> Self {
        let to_good = 1.0 / mean_burst_packets;
        // In equilibrium, both transitions are equally frequent: (1 − loss) × to_bad = loss × to_good.
        Self::GilbertElliott {
            to_bad: to_good * mean_loss_fraction / (1.0 - mean_loss_fraction),
            to_good,
            loss_in_good: 0.0,
            loss_in_bad: 1.0,
        }
    }

    /// Fraction of packets lost in the long run, `0..=1`.
    pub const fn mean_fraction(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Independent { probability } => probability,
            Self::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
                // Without transitions the link stays in the good state.
                let transitions = (to_bad + to_good).max(f64::MIN_POSITIVE);
                let bad = to_bad / transitions;
                loss_in_good + bad * (loss_in_bad - loss_in_good)
            }
        }
    }

    /// Whether a packet is lost, given its two random numbers in `0..1`.
    pub(crate) fn loses(&self, in_bad_state: &mut bool, transition: f64, loss: f64) -> bool {
        match *self {
            Self::None => false,
            Self::Independent { probability } => loss < probability,
            Self::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
                let to_other = if *in_bad_state { to_good } else { to_bad };
                *in_bad_state ^= transition < to_other;
                loss < if *in_bad_state { loss_in_bad } else { loss_in_good }
            }
        }
    }

    pub(crate) fn probabilities_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let values = match self {
            Self::None => [None, None, None, None],
            Self::Independent { probability } => [Some(probability), None, None, None],
            Self::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
                [to_bad, to_good, loss_in_good, loss_in_bad].map(Some)
            }
        };
        values.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_fraction_weights_the_states_by_their_duration() {
        for (fraction, burst_packets) in [(0.0, 1.0), (0.01, 3.0), (0.2, 4.0), (0.75, 3.0)] {
            let mean = Loss::bursts(fraction, burst_packets).mean_fraction();
            assert!((mean - fraction).abs() < 1e-12, "{mean} of {fraction}");
        }
        for (to_bad, to_good, mean) in [(0.1, 0.3, 0.2), (0.0, 0.0, 0.1), (0.1, 0.0, 0.5)] {
            let loss =
                Loss::GilbertElliott { to_bad, to_good, loss_in_good: 0.1, loss_in_bad: 0.5 };
            assert!((loss.mean_fraction() - mean).abs() < 1e-12, "{loss:?}");
        }
    }
}
