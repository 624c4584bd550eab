//! Which packets are lost: each by itself, or many in a row.

/// Which packets are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// Each by itself.
    Independent {
        /// Fraction of packets, `0..=1`.
        probability: f64,
    },
    /// In bursts: the link is in a good state or in a bad one, moves from one to the other at random,
    /// and loses packets by its state. It begins in the good one.
    ///
    /// For every packet the link first moves and then loses, so that the time in a state counts in
    /// packets. With no loss in the good state and all lost in the bad one it is the model of E. N.
    /// Gilbert, *Capacity of a Burst-Noise Channel*, Bell System Technical Journal 39 (1960), made
    /// simpler; in general that of E. O. Elliott, *Estimates of Error Rates for Codes on Burst-Noise
    /// Channels*, Bell System Technical Journal 42 (1963).
    GilbertElliott {
        /// Probability to move from good to bad before a packet, `0..=1`.
        to_bad: f64,
        /// Probability to move from bad to good before a packet, `0..=1`. Bad times last for
        /// 1 / `to_good` packets on average.
        to_good: f64,
        /// Fraction of packets lost in the good state, `0..=1`.
        loss_in_good: f64,
        /// Fraction of packets lost in the bad state, `0..=1`.
        loss_in_bad: f64,
    },
}

impl Loss {
    /// Bursts in which every packet is lost, and none is lost in between.
    ///
    /// A burst has `mean_burst_packets` on average, at least 1, and over a long time
    /// `mean_loss_fraction` of all packets is lost, `0..=b / (b + 1)` if a burst has b: two bursts have
    /// at least one packet between them. Other arguments give what
    /// [`check`](crate::Conditions::check) refuses.
    #[must_use]
    pub const fn bursts(mean_loss_fraction: f64, mean_burst_packets: f64) -> Self {
        let to_good = 1.0 / mean_burst_packets;
        // In balance as many packets move one way as the other: (1 − loss) × to_bad = loss × to_good.
        Self::GilbertElliott {
            to_bad: to_good * mean_loss_fraction / (1.0 - mean_loss_fraction),
            to_good,
            loss_in_good: 0.0,
            loss_in_bad: 1.0,
        }
    }

    /// The fraction of packets that is lost over a long time, `0..=1`.
    #[must_use]
    pub const fn mean_fraction(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Independent { probability } => probability,
            Self::GilbertElliott {
                to_bad,
                to_good,
                loss_in_good,
                loss_in_bad,
            } => {
                // A link that never moves stays in the good state.
                let moves = (to_bad + to_good).max(f64::MIN_POSITIVE);
                let bad = to_bad / moves;
                loss_in_good + bad * (loss_in_bad - loss_in_good)
            }
        }
    }

    /// Whether a packet is lost, by two numbers in `0..1` that are drawn for it.
    pub(crate) fn loses(&self, in_bad_state: &mut bool, moves: f64, lost: f64) -> bool {
        match *self {
            Self::None => false,
            Self::Independent { probability } => lost < probability,
            Self::GilbertElliott {
                to_bad,
                to_good,
                loss_in_good,
                loss_in_bad,
            } => {
                let to_other = if *in_bad_state { to_good } else { to_bad };
                *in_bad_state ^= moves < to_other;
                lost < if *in_bad_state {
                    loss_in_bad
                } else {
                    loss_in_good
                }
            }
        }
    }

    /// Every probability, with its path in the conditions.
    pub(crate) fn probabilities_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut f64)> {
        let values = match self {
            Self::None => [None, None, None, None],
            Self::Independent { probability } => {
                [Some(("loss.probability", probability)), None, None, None]
            }
            Self::GilbertElliott {
                to_bad,
                to_good,
                loss_in_good,
                loss_in_bad,
            } => [
                Some(("loss.to_bad", to_bad)),
                Some(("loss.to_good", to_good)),
                Some(("loss.loss_in_good", loss_in_good)),
                Some(("loss.loss_in_bad", loss_in_bad)),
            ],
        };
        values.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conditions, ConditionsError};

    #[test]
    fn bursts_have_the_mean_fraction_that_was_asked_for() {
        for (fraction, burst_packets) in [(0.0, 1.0), (0.01, 3.0), (0.2, 4.0), (0.75, 3.0)] {
            let mean = Loss::bursts(fraction, burst_packets).mean_fraction();
            assert!((mean - fraction).abs() < 1e-12, "{mean} of {fraction}");
        }
    }

    #[test]
    fn the_mean_fraction_weighs_the_states_by_the_time_in_them() {
        let loss = |to_bad, to_good| Loss::GilbertElliott {
            to_bad,
            to_good,
            loss_in_good: 0.1,
            loss_in_bad: 0.5,
        };
        assert!((loss(0.1, 0.3).mean_fraction() - 0.2).abs() < 1e-12);
        assert!((loss(0.0, 0.0).mean_fraction() - 0.1).abs() < 1e-12);
        assert!((loss(0.1, 0.0).mean_fraction() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn bursts_that_cannot_be_are_refused() {
        for (fraction, burst_packets) in [
            (0.5, 0.5),
            (0.8, 3.0),
            (1.0, 3.0),
            (-0.1, 3.0),
            (0.1, f64::NAN),
        ] {
            let conditions = Conditions {
                loss: Loss::bursts(fraction, burst_packets),
                ..Conditions::PERFECT
            };
            let error = conditions.check().unwrap_err();
            assert!(matches!(error, ConditionsError::Probability { .. }));
        }
    }
}
