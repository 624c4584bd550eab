//! What the snapshots of a connection consist of, and what becomes of them.

use std::collections::VecDeque;
use std::time::Duration;

use bevy_ecs::prelude::*;
use cubewire_codec::{BitLedger, Packet};
use cubewire_protocol::Waits;

/// Measures the snapshots of a connection while it is on its entity, at a server or at a client. Without it nothing is measured,
/// and no list of a packet's bits is made.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub struct Measure {
    ticks: VecDeque<MeasuredTick>,
    packets: VecDeque<(u64, Packet)>,
    /// Bytes on the wire up to the newest tick.
    wire_bytes: Option<u64>,
    waits: Option<Waits>,
}

/// A tick of a connection: at a server one in which it could send, at a client one in which something could arrive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredTick {
    /// Its number, as the server counts; a client knows it by its estimate of the server's clock.
    pub tick: u64,
    /// Snapshots that were sent or have arrived: at a server one or none.
    pub packets: usize,
    /// Their bytes.
    pub payload_bytes: usize,
    /// Bytes on the wire from server to client with all headers: at a server of everything that was sent since the tick before,
    /// at a client of the snapshots.
    pub wire_bytes: usize,
    /// The bits of the snapshots by kind.
    pub ledger: BitLedger,
    /// Bodies that the snapshots carry.
    pub bodies: usize,
    /// At a server: the client's [`ByteBudget`](crate::ByteBudget), kilobits a second.
    pub budget_kbps: Option<u32>,
    /// At a server: ticks until the ack of the snapshot was processed, if it was.
    pub acked_after: Option<u64>,
    /// At a client: snapshots that arrived too late to be shown.
    pub late: usize,
    /// At a client: number of stalls of playout that began, as the next snapshot had not arrived.
    pub stalls: usize,
    /// At a client: total length of stalls in real time.
    pub starved: Duration,
}

impl Measure {
    /// Seconds of which means over a second are known: one more is kept.
    pub const SECONDS: usize = 10;

    /// How many snapshots are kept whole.
    pub const PACKETS: usize = 32;

    /// The ticks of the last [`SECONDS`](Self::SECONDS) and one before them, the oldest first, without gaps.
    #[must_use]
    pub const fn ticks(&self) -> &VecDeque<MeasuredTick> {
        &self.ticks
    }

    /// The last [`PACKETS`](Self::PACKETS) snapshots that were sent or have arrived, the oldest first: the server's tick of each,
    /// and its packet without what the transport adds. Their ledgers are [itemized](BitLedger::items).
    #[must_use]
    pub const fn packets(&self) -> &VecDeque<(u64, Packet)> {
        &self.packets
    }

    /// At a server: who has waited in the last second, if the client has a budget.
    #[must_use]
    pub const fn waits(&self) -> Option<&Waits> {
        self.waits.as_ref()
    }

    /// Begins a tick, unless it has begun; those since the newest have nothing.
    pub(crate) fn begin(&mut self, tick: u64, ticks_per_second: u16) -> &mut MeasuredTick {
        let kept = (Self::SECONDS + 1) * usize::from(ticks_per_second);
        let newest = self.ticks.back().map(|newest| newest.tick);
        // After a pause that is longer than what is kept, and when the server's clock turns out to be behind.
        let first = match newest {
            Some(newest) if tick <= newest => tick + 1,
            Some(newest) => (newest + 1).max((tick + 1).saturating_sub(kept as u64)),
            None => tick,
        };
        self.ticks.extend((first..=tick).map(|tick| MeasuredTick {
            tick,
            ..MeasuredTick::default()
        }));
        let excess = self.ticks.len().saturating_sub(kept);
        self.ticks.drain(..excess);
        let last = self.ticks.len() - 1;
        &mut self.ticks[last]
    }

    /// Counts a snapshot of a tick of the server in the newest tick.
    pub(crate) fn count(&mut self, tick: u64, packet: Packet, is_late: bool) {
        if let Some(now) = self.ticks.back_mut() {
            now.packets += 1;
            now.payload_bytes += packet.bytes.len();
            now.ledger.add(&packet.ledger);
            now.bodies += packet.sent_bodies;
            now.late += usize::from(is_late);
        }
        self.packets.push_back((tick, packet));
        let excess = self.packets.len().saturating_sub(Self::PACKETS);
        self.packets.drain(..excess);
    }
}

/// The client's part.
#[cfg(feature = "client")]
impl Measure {
    /// Counts stalls in the newest tick, from the totals before it and after it.
    pub(crate) fn count_starved(&mut self, before: Starved, playout: Starved) {
        if let Some(now) = self.ticks.back_mut() {
            now.stalls += (playout.0 - before.0) as usize;
            now.starved += playout.1 - before.1;
        }
    }
}

/// Number and total length of stalls since the start.
#[cfg(feature = "client")]
pub(crate) type Starved = (u64, Duration);

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
    ) {
        let before = self.wire_bytes.replace(wire_bytes).unwrap_or(wire_bytes);
        let now = self.begin(tick, ticks_per_second);
        now.wire_bytes = (wire_bytes - before) as usize;
        now.budget_kbps = budget.map(|budget| budget.bytes_per_second() / 125);
    }

    /// Notes who waits after a tick.
    pub(crate) fn note_waits(
        &mut self,
        tick: u64,
        ticks_per_second: u16,
        sender: &cubewire_protocol::SnapshotSender,
    ) {
        let newest = self.ticks.back();
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
        for sent in self.ticks.iter_mut().rev().filter(|sent| sent.packets > 0) {
            let back = ack.newest.0.wrapping_sub(sent.tick as u16);
            let is_acked = match back {
                0 => true,
                1..=32 => ack.earlier >> (back - 1) & 1 == 1,
                33..0x8000 => break,
                _ => false,
            };
            if is_acked && sent.acked_after.is_none() {
                sent.acked_after = Some((tick + 1).saturating_sub(sent.tick));
            }
        }
    }
}
