//! How fast snapshots go out that need several datagrams.

/// Spaces long snapshots out, so that a way that is too narrow for them is not choked.
///
/// A snapshot that is cut into datagrams is lost with any one of them. Where a bottleneck drops some
/// of each, none arrives, nothing is acknowledged, so none gets shorter: without a limit that lasts
/// for ever. So when nothing is heard of the receiver for [`PATIENCE_TICKS`], the interval from one
/// long snapshot to the next grows with the silence; with each acknowledgement it shrinks by a
/// quarter. Over that interval the datagrams should be spread as well. Short snapshots are never
/// held back: those that come relative to a recent baseline are, as a rule.
///
/// Ticks only grow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacing {
    interval_ticks: u32,
    heard_at: Option<u64>,
    /// Tick of the newest snapshot, if that is a long one.
    newest_long: Option<u64>,
}

/// So much silence may be of delay and loss: a round trip by way of a satellite takes 0.6 s. 1 s at
/// 60 Hz.
pub const PATIENCE_TICKS: u32 = 60;

/// The longest [interval](Pacing::interval_ticks), with which acknowledgements still come before
/// their snapshots are [too old](crate::MAX_BASELINE_AGE_TICKS). 2.1 s at 60 Hz.
pub const MAX_INTERVAL_TICKS: u32 = 128;

impl Pacing {
    /// Whether a snapshot may be sent in this tick.
    #[must_use]
    pub fn is_due(&self, tick: u64) -> bool {
        let interval = self.interval_ticks().into();
        self.newest_long
            .is_none_or(|newest| tick >= newest.saturating_add(interval))
    }

    /// Ticks from a long snapshot to the next, and to spread its datagrams over: 1, which is all at
    /// once, to [`MAX_INTERVAL_TICKS`].
    #[must_use]
    pub fn interval_ticks(&self) -> u32 {
        self.interval_ticks.max(1)
    }

    /// A snapshot was sent, in one datagram or, if it `is_long`, in several.
    pub fn on_sent(&mut self, tick: u64, is_long: bool) {
        let heard_at = *self.heard_at.get_or_insert(tick);
        let silence = tick.saturating_sub(heard_at);
        let beyond_patience = silence.saturating_sub(PATIENCE_TICKS.into());
        let interval = (beyond_patience / 2).min(MAX_INTERVAL_TICKS.into()) as u32;
        self.interval_ticks = self.interval_ticks.max(interval);
        self.newest_long = is_long.then_some(tick);
    }

    /// The receiver has acknowledged something that it had not before.
    pub fn on_ack(&mut self, tick: u64) {
        self.heard_at = Some(tick);
        self.interval_ticks = self.interval_ticks * 3 / 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks in which long snapshots are sent, with acks in those that `acked` says.
    fn sent(
        pacing: &mut Pacing,
        ticks: std::ops::Range<u64>,
        acked: impl Fn(u64) -> bool,
    ) -> Vec<u64> {
        let mut sent = Vec::new();
        for tick in ticks {
            if acked(tick) {
                pacing.on_ack(tick);
            }
            if pacing.is_due(tick) {
                pacing.on_sent(tick, true);
                sent.push(tick);
            }
        }
        sent
    }

    #[test]
    fn while_acks_come_in_time_nothing_is_held_back() {
        let mut pacing = Pacing::default();
        let acked = |tick: u64| tick.is_multiple_of(u64::from(PATIENCE_TICKS));
        assert_eq!(sent(&mut pacing, 0..1_000, acked).len(), 1_000);
    }

    #[test]
    fn silence_holds_long_snapshots_back_and_acks_bring_them_forward() {
        let mut pacing = Pacing::default();
        let silent = sent(&mut pacing, 0..1_000, |_| false);
        let intervals: Vec<_> = silent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(intervals.is_sorted());
        assert_eq!((intervals[0], *intervals.last().unwrap()), (1, 128));
        // Half as long again each time, once patience is over.
        let after = |tick: u64| silent.iter().filter(|&&sent| sent > tick).count();
        assert_eq!(after(60), 19);
        let heard = sent(&mut pacing, 1_000..3_000, |tick| tick.is_multiple_of(20));
        assert_eq!(pacing.interval_ticks(), 1);
        assert!(heard.len() > 1_500, "{}", heard.len());
    }

    #[test]
    fn short_snapshots_are_never_held_back() {
        let mut pacing = Pacing::default();
        sent(&mut pacing, 0..1_000, |_| false);
        assert!(!pacing.is_due(1_000));
        pacing.on_sent(1_000, false);
        for tick in 1_001..1_100 {
            assert!(pacing.is_due(tick));
            pacing.on_sent(tick, false);
        }
    }

    #[test]
    fn the_last_tick_is_no_harm() {
        let mut pacing = Pacing::default();
        pacing.on_sent(0, true);
        pacing.on_sent(u64::MAX, true);
        assert_eq!(pacing.interval_ticks(), MAX_INTERVAL_TICKS);
        assert!(pacing.is_due(u64::MAX));
        pacing.on_ack(u64::MAX);
        assert_eq!(pacing.interval_ticks(), MAX_INTERVAL_TICKS * 3 / 4);
    }
}
