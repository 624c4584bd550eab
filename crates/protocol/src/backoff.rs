//! Backs off when snapshots that need several datagrams do not arrive.

/// Sends large snapshots less often while no acks arrive, so that they do not choke a narrow link.
///
/// A snapshot that is split into datagrams is lost if any one of them is lost. If a bottleneck drops
/// part of every snapshot, none is acked, so there is no newer baseline that would make the next ones
/// smaller: without back-off, the link never recovers. Therefore, once no ack has arrived for
/// [`ACK_TIMEOUT_TICKS`], the interval between large snapshots grows with time; each ack
/// shortens it by a quarter. The caller should also spread the datagrams of a snapshot over the
/// interval. Snapshots that fit one datagram are never delayed; those with a recent baseline usually
/// fit.
///
/// Ticks must not decrease.
#[derive(Clone, Copy, Debug, Default)]
pub struct SendBackoff {
    interval_ticks: u32,
    last_ack: Option<u64>,
    /// Tick of the newest snapshot, if it was large.
    newest_large: Option<u64>,
}

/// Ticks without an ack that delay and loss alone can explain, as a round trip by satellite takes
/// 0.6 s. 1 s at 60 Hz.
pub const ACK_TIMEOUT_TICKS: u32 = 60;

/// Upper bound of the [interval](SendBackoff::interval_ticks), such that acks still arrive before
/// their snapshots are [too old](crate::MAX_BASELINE_AGE_TICKS). 2.1 s at 60 Hz.
pub const MAX_INTERVAL_TICKS: u32 = 128;

impl SendBackoff {
    /// Whether a snapshot may be sent in this tick.
    #[must_use]
    pub fn is_due(&self, tick: u64) -> bool {
        let interval = self.interval_ticks().into();
        self.newest_large
            .is_none_or(|newest| tick >= newest.saturating_add(interval))
    }

    /// Ticks from one large snapshot to the next, over which its datagrams should be spread: from 1,
    /// all at once, to [`MAX_INTERVAL_TICKS`].
    #[must_use]
    pub fn interval_ticks(&self) -> u32 {
        self.interval_ticks.max(1)
    }

    /// Records a snapshot that was sent, in several datagrams if `is_large`, otherwise in one.
    pub fn on_sent(&mut self, tick: u64, is_large: bool) {
        let last_ack = *self.last_ack.get_or_insert(tick);
        let silence = tick.saturating_sub(last_ack);
        let overdue = silence.saturating_sub(ACK_TIMEOUT_TICKS.into());
        let interval = (overdue / 2).min(MAX_INTERVAL_TICKS.into()) as u32;
        self.interval_ticks = self.interval_ticks.max(interval);
        self.newest_large = is_large.then_some(tick);
    }

    /// Records an ack of a snapshot that was not acked before.
    pub fn on_ack(&mut self, tick: u64) {
        self.last_ack = Some(tick);
        self.interval_ticks = self.interval_ticks * 3 / 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends large snapshots whenever they are due, with acks in the ticks for which `acked` returns
    /// true. Returns the ticks in which snapshots were sent.
    fn sent(
        backoff: &mut SendBackoff,
        ticks: std::ops::Range<u64>,
        acked: impl Fn(u64) -> bool,
    ) -> Vec<u64> {
        let mut sent = Vec::new();
        for tick in ticks {
            if acked(tick) {
                backoff.on_ack(tick);
            }
            if backoff.is_due(tick) {
                backoff.on_sent(tick, true);
                sent.push(tick);
            }
        }
        sent
    }

    #[test]
    fn timely_acks_never_delay_a_snapshot() {
        let mut backoff = SendBackoff::default();
        let acked = |tick: u64| tick.is_multiple_of(u64::from(ACK_TIMEOUT_TICKS));
        assert_eq!(sent(&mut backoff, 0..1_000, acked).len(), 1_000);
    }

    #[test]
    fn silence_delays_large_snapshots_and_acks_restore_the_rate() {
        let mut backoff = SendBackoff::default();
        let silent = sent(&mut backoff, 0..1_000, |_| false);
        let intervals: Vec<_> = silent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(intervals.is_sorted());
        assert_eq!((intervals[0], *intervals.last().unwrap()), (1, 128));
        // Each interval is half as long again as the last, once the timeout has passed.
        let after = |tick: u64| silent.iter().filter(|&&sent| sent > tick).count();
        assert_eq!(after(60), 19);
        let acked = sent(&mut backoff, 1_000..3_000, |tick| tick.is_multiple_of(20));
        assert_eq!(backoff.interval_ticks(), 1);
        assert!(acked.len() > 1_500, "{}", acked.len());
    }

    #[test]
    fn small_snapshots_are_never_delayed() {
        let mut backoff = SendBackoff::default();
        sent(&mut backoff, 0..1_000, |_| false);
        assert!(!backoff.is_due(1_000));
        backoff.on_sent(1_000, false);
        for tick in 1_001..1_100 {
            assert!(backoff.is_due(tick));
            backoff.on_sent(tick, false);
        }
    }

    #[test]
    fn the_largest_tick_does_not_overflow() {
        let mut backoff = SendBackoff::default();
        backoff.on_sent(0, true);
        backoff.on_sent(u64::MAX, true);
        assert_eq!(backoff.interval_ticks(), MAX_INTERVAL_TICKS);
        assert!(backoff.is_due(u64::MAX));
        backoff.on_ack(u64::MAX);
        assert_eq!(backoff.interval_ticks(), MAX_INTERVAL_TICKS * 3 / 4);
    }
}
