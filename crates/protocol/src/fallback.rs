//! What a receiver asks for where the two ends do not decode each other's arithmetic coding.
//!
//! Arithmetic coding needs the same trained model and the same arithmetic at both ends. Both are compared with the
//! [`Welcome`](crate::Welcome); if they differ, the receiver asks for [`PREDICTED_POSITION`] instead, which computes
//! with integers and needs no model. What that does not find is found by packets that fail: see [`Fallback::on_failed`].

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::Stages;
use cubewire_codec::entropy::Fingerprint;
use cubewire_codec::ladder::PREDICTED_POSITION;

/// Why a receiver does without arithmetic coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum FallbackReason {
    /// The trained models differ.
    #[error("the two ends have different trained models")]
    Model,
    /// The machines compute something else from the same numbers.
    #[error("the two machines compute differently")]
    Arithmetic,
    /// Packets did not decode, though both should be the same.
    #[error("packets did not decode")]
    Failures,
}

impl FallbackReason {
    /// All of them, in the order of their codes in a [`Request`](crate::Request), from 1.
    pub(crate) const ALL: [Self; 3] = [Self::Model, Self::Arithmetic, Self::Failures];

    /// What to ask for instead of `stages`.
    #[must_use]
    pub const fn instead_of(stages: Stages) -> Option<Stages> {
        if stages.delta.is_arithmetic() {
            Some(PREDICTED_POSITION.stages)
        } else {
            None
        }
    }
}

/// Decides whether a receiver does without arithmetic coding.
///
/// With different fingerprints it does, until the next welcome. After failures it tries again, first after
/// [`FIRST_RETRY`] and then after twice the time, up to [`MAX_RETRY`].
#[derive(Clone, Debug)]
pub(crate) struct Fallback {
    mismatch: Option<FallbackReason>,
    /// Ticks of packets that failed, and when. Another packet of that tick may still decode.
    pending: VecDeque<(u64, Duration)>,
    /// [`FAILURE`] for each failure, less one for each packet that did decode.
    score: u32,
    /// When arithmetic coding is asked for again.
    retry_at: Option<Duration>,
    next_wait: Duration,
    /// When it was last asked for again.
    tried_at: Duration,
}

impl Fallback {
    pub(crate) fn new(theirs: Fingerprint, own: Fingerprint) -> Self {
        let mismatch = if theirs.model != own.model {
            Some(FallbackReason::Model)
        } else if theirs.arithmetic != own.arithmetic {
            Some(FallbackReason::Arithmetic)
        } else {
            None
        };
        Self {
            mismatch,
            pending: VecDeque::new(),
            score: 0,
            retry_at: None,
            next_wait: FIRST_RETRY,
            tried_at: Duration::ZERO,
        }
    }

    /// Why arithmetic coding is done without at `now`.
    pub(crate) fn reason(&mut self, now: Duration) -> Option<FallbackReason> {
        if self.mismatch.is_some() {
            return self.mismatch;
        }
        if self.retry_at.is_some_and(|at| now >= at) {
            self.retry_at = None;
            self.tried_at = now;
            self.pending.clear();
            self.score = 0;
        }
        self.count(now);
        if self.retry_at.is_none() && self.score >= FAILURE * MAX_FAILURES {
            if now.saturating_sub(self.tried_at) > LASTING {
                self.next_wait = FIRST_RETRY;
            }
            self.retry_at = Some(now + self.next_wait);
            self.next_wait = (self.next_wait * 2).min(MAX_RETRY);
        }
        self.retry_at.map(|_| FallbackReason::Failures)
    }

    /// An arithmetically coded packet relative to what the receiver holds, or to the initial state, does not decode, or
    /// its check fails. Neither a lost packet nor a missing baseline is a failure.
    ///
    /// A failure counts once for its tick, and not at all if another packet of that tick decodes soon: damaged copies
    /// of the sender's packets do no harm. [`MAX_FAILURES`] in a row are too many, and so is a fifth of all packets.
    pub(crate) fn on_failed(&mut self, now: Duration, tick: u64) {
        self.count(now);
        let is_known = self.pending.iter().any(|&(failed, _)| failed == tick);
        if self.retry_at.is_none() && !is_known && self.pending.len() < MAX_PENDING {
            self.pending.push_back((tick, now));
        }
    }

    /// Such a packet does decode. One that is relative to the initial state says little: it uses no adaptive state.
    pub(crate) fn on_decoded(&mut self, now: Duration, tick: u64, is_relative: bool) {
        self.pending.retain(|&(failed, _)| failed != tick);
        self.count(now);
        self.score = self.score.saturating_sub(u32::from(is_relative));
    }

    /// Counts the failures that nothing has made up for.
    fn count(&mut self, now: Duration) {
        let is_due = |&(_, at): &(u64, Duration)| now.saturating_sub(at) >= PATIENCE;
        while self.pending.pop_front_if(|failed| is_due(failed)).is_some() {
            self.score = (self.score + FAILURE).min(MAX_SCORE);
        }
    }
}

/// So many packets that decode make up for one that does not.
const FAILURE: u32 = 4;

/// Failures that are too many, if no packet decodes.
const MAX_FAILURES: u32 = 8;

/// Twice as many: what has failed for long is not held against packets that decode.
const MAX_SCORE: u32 = 2 * FAILURE * MAX_FAILURES;

/// Failures of a second that are remembered, at most; a sender sends sixty.
const MAX_PENDING: usize = 128;

/// How long another packet of the same tick can make up for one that failed. Longer than a tick that is ahead of the
/// clock takes to come.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time until arithmetic coding is tried again for the first time.
const FIRST_RETRY: Duration = Duration::from_secs(10);

/// The same after it has failed several times.
const MAX_RETRY: Duration = Duration::from_secs(640);

/// A retry that has worked for so long has worked.
const LASTING: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Fingerprint = Fingerprint {
        model: 1,
        arithmetic: 2,
    };
    const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);

    fn at(tick: u64) -> Duration {
        TICK * tick as u32
    }

    /// The ticks at which the reason appears and disappears, if `packet` is called in each.
    fn changes(
        ticks: std::ops::Range<u64>,
        mut packet: impl FnMut(&mut Fallback, u64, bool),
    ) -> Vec<u64> {
        let mut fallback = Fallback::new(OWN, OWN);
        let (mut changes, mut was) = (Vec::new(), false);
        for tick in ticks {
            let is = fallback.reason(at(tick)).is_some();
            if is != was {
                changes.push(tick);
            }
            was = is;
            packet(&mut fallback, tick, is);
        }
        changes
    }

    #[test]
    fn different_fingerprints_are_a_reason_for_good() {
        for (model, arithmetic, reason) in [
            (1, 2, None),
            (9, 2, Some(FallbackReason::Model)),
            (1, 9, Some(FallbackReason::Arithmetic)),
            (9, 9, Some(FallbackReason::Model)),
        ] {
            let mut fallback = Fallback::new(Fingerprint { model, arithmetic }, OWN);
            for hours in [0, 1, 100] {
                assert_eq!(fallback.reason(Duration::from_secs(3600 * hours)), reason);
            }
        }
    }

    #[test]
    fn where_nothing_decodes_it_is_tried_again_after_growing_times() {
        let changes = changes(0..400_000, |fallback, tick, is_without| {
            if !is_without {
                fallback.on_failed(at(tick), tick);
            }
        });
        let lengths: Vec<_> = changes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let [waits, tries]: [Vec<u64>; 2] =
            [0, 1].map(|first| lengths.iter().skip(first).step_by(2).copied().collect());
        assert!((60..90).contains(&changes[0]), "{changes:?}");
        for (wait, seconds) in waits.iter().zip([10, 20, 40, 80, 160, 320, 640, 640]) {
            assert!(wait.abs_diff(60 * seconds) <= 2, "{waits:?}");
        }
        assert!(waits.len() >= 8);
        assert!(
            tries.iter().all(|ticks| (60..90).contains(ticks)),
            "{tries:?}"
        );
    }

    #[test]
    fn a_chain_that_breaks_again_and_again_is_given_up() {
        // The packets relative to the initial state decode, some more do, and then a round trip's do not.
        let changes = changes(0..600, |fallback, tick, _| match tick % 40 {
            0..20 => fallback.on_failed(at(tick), tick),
            place => fallback.on_decoded(at(tick), tick, place > 25),
        });
        assert!(changes[0] < 200, "{changes:?}");
    }

    #[test]
    fn damage_to_some_packets_and_to_copies_of_all_is_no_reason() {
        let some = changes(0..20_000, |fallback, tick, _| match tick % 20 {
            3 => fallback.on_failed(at(tick), tick),
            _ => fallback.on_decoded(at(tick), tick, true),
        });
        assert_eq!(some, []);
        // Before the sender's own packets arrive, of which a tenth is lost.
        let copies = changes(0..20_000, |fallback, tick, _| {
            for ahead in 0..30 {
                fallback.on_failed(at(tick), tick + ahead);
            }
            if !tick.is_multiple_of(10) {
                fallback.on_decoded(at(tick), tick, true);
            }
        });
        assert_eq!(copies, []);
        let burst = changes(0..20_000, |fallback, tick, _| {
            if tick == 100 {
                (101..130).for_each(|tick| fallback.on_failed(at(100), tick));
            }
            fallback.on_decoded(at(tick), tick, true);
        });
        assert_eq!(burst, []);
    }

    #[test]
    fn a_retry_that_lasted_starts_with_a_short_time_again() {
        let breaks = [0..100, 1_000..1_100, 10_000..10_100];
        let changes = changes(0..12_000, |fallback, tick, _| {
            if breaks.iter().any(|ticks| ticks.contains(&tick)) {
                fallback.on_failed(at(tick), tick);
            } else {
                fallback.on_decoded(at(tick), tick, true);
            }
        });
        let waits: Vec<_> = changes
            .chunks(2)
            .map(|pair| (pair[1] - pair[0]) / 60)
            .collect();
        assert_eq!(waits.len(), 3, "{changes:?}");
        assert_eq!(waits, [10, 20, 10]);
    }
}
