//! What the snapshots of a connection consist of, and what becomes of them.

use bevy_ecs::prelude::*;
use cubewire_protocol::Waits;
use cubewire_protocol::record::{PacketRecord, Record, Sample};

/// Measures the snapshots of a connection while it is on its entity, at a server or at a client. Without it nothing is measured,
/// and no list of a packet's bits is made.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub struct Measure {
    record: Record,
    /// Bytes on the wire up to the newest tick.
    #[cfg(feature = "server")]
    wire_bytes: Option<u64>,
    waits: Option<Waits>,
}

impl Measure {
    /// The last minute, with a [`Sample`] for each tick in which this end could send or receive. A client numbers its ticks by its
    /// estimate of the server's clock. All packets have a
    /// [detail](PacketRecord::detail) until these take too much memory.
    ///
    /// The [`wire_bytes`](cubewire_protocol::record::Traffic::wire_bytes) go from server to client, with all headers: at a server
    /// all bytes that were sent since the tick before, at a client the bytes of the snapshots.
    #[must_use]
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// At a server: who has waited in the last second, if the client has a budget.
    #[must_use]
    pub const fn waits(&self) -> Option<&Waits> {
        self.waits.as_ref()
    }

    /// Begins a tick, unless it has begun or the server's clock turns out to be behind.
    pub(crate) fn begin(&mut self, tick: u64, ticks_per_second: u16) -> &mut Sample {
        let Some(newest) = self.record.samples().back() else {
            self.record = Record::new(ticks_per_second.into());
            let first = self.record.current();
            first.tick = tick;
            return first;
        };
        if newest.tick < tick {
            let stages = newest.stages;
            self.record.begin(Sample {
                tick,
                stages,
                ..Sample::default()
            });
        }
        self.record.current()
    }

    /// Counts a snapshot that is sent or has arrived in the newest tick.
    pub(crate) fn count(&mut self, packet: PacketRecord) {
        if let Some(now) = self.begun() {
            now.stages = packet.stages;
            now.late += usize::from(packet.arrival.is_some_and(|arrival| arrival.is_late));
            now.snapshots.push(packet);
        }
    }

    /// The newest tick, if there is one. A client does not know the server's clock before the first packet.
    fn begun(&mut self) -> Option<&mut Sample> {
        let has_begun = !self.record.samples().is_empty();
        has_begun.then(|| self.record.current())
    }
}

/// The client's part.
#[cfg(feature = "client")]
impl Measure {
    /// Counts stalls in the newest tick, from the totals before it and after it.
    pub(crate) fn count_starved(&mut self, before: Starved, playout: Starved) {
        if let Some(now) = self.begun() {
            now.stalls += (playout.0 - before.0) as usize;
            now.starved += playout.1 - before.1;
        }
    }
}

/// Number and total length of stalls since the start.
#[cfg(feature = "client")]
pub(crate) type Starved = (u64, std::time::Duration);

/// The server's part.
#[cfg(feature = "server")]
impl Measure {
    /// Begins a tick of a client that has been sent that many bytes until now.
    pub(crate) fn send(
        &mut self,
        tick: u64,
        ticks_per_second: u16,
        wire_bytes: u64,
        budget: Option<crate::ByteBudget>,
        settings: &crate::ConnectionSettings,
    ) {
        let before = self.wire_bytes.replace(wire_bytes).unwrap_or(wire_bytes);
        let now = self.begin(tick, ticks_per_second);
        now.traffic.wire_bytes = (wire_bytes - before) as usize;
        now.send_interval_ticks = settings.send_interval_ticks.into();
        now.budget_kbps = budget.map(|budget| budget.bytes_per_second() / 125);
    }

    /// Notes who waits after a tick.
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
        let mut standings = Vec::new();
        sender.standings(tick, &mut standings);
        let waits = self
            .waits
            .get_or_insert_with(|| Waits::new(ticks_per_second));
        waits.record(tick, &standings);
    }

    /// Notes which snapshots have arrived, as an ack says that arrives after a tick and before the next.
    pub(crate) fn on_ack(&mut self, tick: u64, ack: &cubewire_protocol::Ack) {
        self.record.on_ack(tick + 1, ack);
    }
}
