//! The snapshots that were sent to a receiver, and the ones that it has.

use std::collections::VecDeque;

use cubewire_codec::{Baseline, Baselines, Precision, Sequence};

use crate::clock::sequence;
use crate::ring::BaselineRing;
use crate::schedule::DeliveryState;

/// Maximum age of a baseline. If acks are missing for longer, packets are relative to the initial state. The value is
/// just above four seconds at 60 Hz. At the maximum of [240 Hz](cubewire_codec::schema::MAX_TICKS_PER_SECOND) it is
/// one second, which a satellite round trip with bad jitter can take.
pub const MAX_BASELINE_AGE_TICKS: u16 = 255;

/// Maximum number of acked snapshots that [`BaselineChoice::Smallest`](crate::BaselineChoice::Smallest) tries, newest first.
pub const CANDIDATES: usize = 8;

/// Snapshots up to this number of ticks older than the oldest possible baseline stay in memory. A packet refers to at
/// most 31 older ticks, for merging. The others are for [`SnapshotSender::offer_state`](super::SnapshotSender::offer_state):
/// 56 ticks are about a second.
const KEPT_TICKS: u64 = 56;

/// A packet this many ticks older than the newest acked one may still arrive.
const REORDERED_TICKS: u64 = 3;

/// A packet that is not acked after this number of ticks is presumed lost: two thirds of a second at 60 Hz.
const IN_FLIGHT_TICKS: u64 = 40;

/// Sent snapshots as the receiver decodes them, and their acks.
#[derive(Debug)]
pub(super) struct SentHistory {
    pub(super) ring: BaselineRing,
    /// Tick of the last packet.
    pub(super) newest: Option<u64>,
    /// Ticks of the acked snapshots, ascending.
    pub(super) acked: VecDeque<u64>,
}

impl SentHistory {
    pub(super) fn new() -> Self {
        let capacity = usize::from(MAX_BASELINE_AGE_TICKS) + 1;
        Self {
            ring: BaselineRing::new(capacity),
            newest: None,
            acked: VecDeque::with_capacity(capacity),
        }
    }

    /// Stores the snapshot of a sent packet. See [`BaselineRing::store`].
    pub(super) fn store(&mut self, tick: u64, snapshot: &mut Baseline) {
        self.ring.store(tick, snapshot);
        self.newest = Some(tick);
    }

    /// Drops acks that are too old for the packet of `tick`, and snapshots more than [`KEPT_TICKS`] older than the oldest
    /// candidate. Without acks, drops no snapshots.
    pub(super) fn forget_before(&mut self, tick: u64) {
        self.discard_acks(tick.saturating_sub(MAX_BASELINE_AGE_TICKS.into()));
        let candidates = self.acked.len().saturating_sub(CANDIDATES);
        if let Some(&oldest) = self.acked.get(candidates) {
            self.ring.forget_before(oldest.saturating_sub(KEPT_TICKS), 0);
        }
    }

    /// Drops the acks before a tick.
    pub(super) fn discard_acks(&mut self, oldest: u64) {
        while self.acked.pop_front_if(|acked| *acked < oldest).is_some() {}
    }

    /// Records an ack. Returns the snapshot, or `None` if it was acked before or is not stored any more.
    pub(super) fn ack(&mut self, tick: u64) -> Option<&Baseline> {
        let sent = self.ring.get(tick)?;
        let index = self.acked.binary_search(&tick).err()?;
        self.acked.insert(index, tick);
        Some(sent)
    }

    /// Returns the newest tick with this sequence number that is not after `newest`.
    pub(super) fn tick_of(&self, number: Sequence) -> Option<u64> {
        let newest = self.newest?;
        newest.checked_sub(sequence(newest).ticks_since(number).into())
    }

    /// Returns the tick of the newest acked snapshot.
    pub(super) fn newest_acked(&self) -> Option<u64> {
        self.acked.back().copied()
    }

    /// Returns the ticks of the two newest acked snapshots before `tick`, the newer one first.
    pub(super) fn acked_before(&self, tick: u64) -> [Option<u64>; 2] {
        let newer = self.acked.partition_point(|&acked| acked < tick);
        [1, 2].map(|back| self.acked.get(newer.checked_sub(back)?).copied())
    }

    pub(super) fn references(&self, baseline: Option<u64>) -> Baselines<'_> {
        let held = |tick: Option<u64>| self.ring.get(tick?);
        Baselines {
            baseline: held(baseline),
            additional: self.acked_before(baseline.unwrap_or(0)).map(held),
            ..Baselines::default()
        }
    }

    /// Returns the acked packets that are merged with the newest one, newest first.
    pub(super) fn merged(&self) -> Vec<&Baseline> {
        let Some((newest, baseline)) = self.held(self.newest_acked()) else {
            return Vec::new();
        };
        let reach = baseline.merge_reach() as u64;
        let ticks = self.acked.iter().rev().skip(1).copied();
        let ticks = ticks.take_while(|tick| tick + reach >= newest);
        ticks.filter_map(|tick| self.ring.get(tick)).collect()
    }

    /// Returns a tick with its snapshot, if that is still stored.
    pub(super) fn held(&self, tick: Option<u64>) -> Option<(u64, &Baseline)> {
        Some((tick?, self.ring.get(tick?)?))
    }

    /// Returns the delivery of bodies as of a tick. Acked packets with another precision do not count, because packets
    /// cannot be relative to them.
    pub(super) fn delivery(&self, precision: Precision, tick: u64) -> DeliveryState<'_> {
        let newest = self.held(self.newest_acked());
        let newest = newest.filter(|(_, newest)| newest.snapshot().precision() == precision);
        let mut ages = Vec::new();
        if let Some((_, newest)) = newest {
            ages.extend(newest.ages());
            // From the oldest packet on, so that newer packets overwrite the ages.
            for packet in self.merged().into_iter().rev() {
                let age = newest.sequence().ticks_since(packet.sequence()) as u8;
                for body in packet.carried_bodies().filter(|&body| !newest.carried(body)) {
                    ages[body] = age;
                }
            }
        }
        let newest = newest.map(|(tick, _)| tick);
        let first = newest.map_or(0, |newest| newest.saturating_sub(REORDERED_TICKS));
        let first_in_flight = first.max(tick.saturating_sub(IN_FLIGHT_TICKS));
        DeliveryState { newest, ages, first_in_flight, acked: &self.acked }
    }
}
