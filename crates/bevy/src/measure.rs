//! Measurements of a connection's snapshots.

use bevy_ecs::prelude::*;
use cubewire_protocol::WaitHistory;
use cubewire_protocol::record::{PacketRecord, Record, Sample};

/// Insert this on a connection, at a server or a client, to record its snapshots. Without it, no packet is recorded and
/// no bit lists are made.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub struct Measure {
    /// Record of the last minute, with one [`Sample`] for each tick when this end could send or receive. A client numbers
    /// the ticks by its estimate of the server's clock. Packets have a [detail](PacketRecord::detail); above a memory
    /// limit, the oldest details are dropped.
    ///
    /// [`wire_bytes`](cubewire_protocol::record::TransportBytes::wire_bytes) count the direction from server to client,
    /// including all headers. At a server they are all bytes sent since the previous tick; at a client, the bytes of
    /// the snapshots.
    pub record: Record,
    /// Server: the bodies that waited in the last second. `None` without a budget.
    pub waits: Option<WaitHistory>,
}

impl Measure {
    /// Begins a tick and returns its sample. Returns the newest sample if the tick has begun already, or if the clock
    /// estimate went back. Starts again if the whole record is later, because the component comes from another connection.
    pub(crate) fn begin(&mut self, tick: u64, ticks_per_second: u16) -> &mut Sample {
        let kept = Record::SECONDS as u64 * u64::from(ticks_per_second);
        let newest = self.record.samples().back();
        let Some(newest) = newest.filter(|newest| newest.tick <= tick + kept) else {
            self.record = Record::new(ticks_per_second.into());
            let first = self.record.current();
            first.tick = tick;
            return first;
        };
        if newest.tick < tick {
            let stages = newest.stages;
            self.record.begin(Sample { tick, stages, ..Sample::default() });
        }
        self.record.current()
    }

    /// Adds a sent or received snapshot to the newest tick.
    pub(crate) fn count(&mut self, packet: PacketRecord) {
        if let Some(now) = self.begun() {
            now.stages = packet.stages;
            now.late += usize::from(packet.arrival.is_some_and(|arrival| arrival.is_late));
            now.snapshots.push(packet);
        }
    }

    /// Returns the newest tick, or `None` before the first packet, when a client does not know the server's clock.
    pub(crate) fn begun(&mut self) -> Option<&mut Sample> {
        let has_begun = !self.record.samples().is_empty();
        has_begun.then(|| self.record.current())
    }
}

/// Recording at a server.
#[cfg(feature = "server")]
impl Measure {
    /// Begins a tick with the sample of the connection. `wire_bytes` were sent to the client since the tick before.
    pub(crate) fn send(&mut self, sample: Sample, ticks_per_second: u16, wire_bytes: usize) {
        let now = self.begin(sample.tick, ticks_per_second);
        now.traffic.wire_bytes = wire_bytes;
        now.send_interval_ticks = sample.send_interval_ticks;
        now.budget_kbps = sample.budget_kbps;
        now.acked_age_ticks = sample.acked_age_ticks;
    }

    /// Records which bodies wait after a tick.
    pub(crate) fn note_waits(
        &mut self,
        tick: u64,
        ticks_per_second: u16,
        sender: &cubewire_protocol::SnapshotSender,
    ) {
        let newest = self.record.samples().back();
        if newest.is_none_or(|newest| newest.budget_kbps.is_none()) {
            self.waits = None;
            return;
        }
        let mut send_states = Vec::new();
        sender.send_states(tick, &mut send_states);
        let waits = self.waits.get_or_insert_with(|| WaitHistory::new(ticks_per_second));
        waits.record(tick, &send_states);
    }

    /// Records an ack that arrived between `tick` and the next.
    pub(crate) fn on_ack(&mut self, tick: u64, ack: &cubewire_protocol::Ack) {
        self.record.on_ack(tick + 1, ack);
    }
}
