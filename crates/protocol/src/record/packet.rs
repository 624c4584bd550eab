//! A packet, and what became of it.

use std::sync::Arc;

use cubewire_codec::{BitLedger, Header, Packet, Stages};

use super::detail::PacketDetail;
use super::totals::HEADER_BYTES;

/// One encoded snapshot: made by the end that encodes or decodes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketRecord {
    /// The sender's tick.
    pub tick: u64,
    /// Stages that it was encoded with.
    pub stages: Stages,
    /// Its header, if it is known.
    pub header: Option<Header>,
    /// Bytes of the encoded snapshot, without any transport's headers.
    pub payload_bytes: usize,
    /// Its bits by kind.
    pub ledger: BitLedger,
    /// Bodies that differ from the baseline, or from the initial state if there is none.
    pub changed_bodies: usize,
    /// Bodies that the packet carries: the changed ones, or all where the stages send every body.
    pub sent_bodies: usize,
    /// Ages of the three newest snapshots that were acked when it was encoded, newest first. Known to
    /// the sender alone.
    pub acked_ages_ticks: [Option<u16>; 3],
    /// When it arrived. At a sender only if the receiver is in the same process.
    pub arrival: Option<Arrival>,
    /// At a sender: ticks until its ack was processed, if it was.
    pub acked_after_ticks: Option<u16>,
    /// Its bytes and items, if its ledger was [itemized](BitLedger::items), and until they take too much memory.
    pub detail: Option<Arc<PacketDetail>>,
}

/// The arrival of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Ticks after it was sent. 0 at a receiver, which does not know.
    pub after_ticks: u16,
    /// Whether that was too late to be shown.
    pub is_late: bool,
}

/// What became of a packet, as far as the process of its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has arrived. One that is only known to be acked is as if it arrived in time, when its ack did.
    Arrived(Arrival),
    /// It has not arrived for so long that it must be lost.
    Lost,
    /// It may still arrive.
    OnItsWay,
}

impl PacketRecord {
    /// The record of a packet of the sender's `tick`, with a detail if its ledger is [itemized](BitLedger::items).
    #[must_use]
    pub fn new(tick: u64, packet: &Packet, stages: Stages) -> Self {
        let items = packet.ledger.items();
        Self {
            tick,
            stages,
            header: Header::decode(&packet.bytes).ok(),
            payload_bytes: packet.bytes.len(),
            ledger: packet.ledger.by_kind(),
            changed_bodies: packet.changed_bodies,
            sent_bodies: packet.sent_bodies,
            detail: items.map(|items| Arc::new(PacketDetail::new(items, &packet.bytes))),
            ..Self::default()
        }
    }

    /// As [`new`](Self::new), of a packet that has arrived.
    #[must_use]
    pub fn received(tick: u64, packet: &Packet, stages: Stages, is_late: bool) -> Self {
        Self {
            arrival: Some(Arrival {
                after_ticks: 0,
                is_late,
            }),
            ..Self::new(tick, packet, stages)
        }
    }

    /// Age of the baseline that the packet names; none if it is relative to the initial state, or to nothing.
    #[must_use]
    pub fn reference_age_ticks(&self) -> Option<u16> {
        self.header?.baseline_age()
    }

    /// The payload and one IPv4 and UDP header: see [`Accounting`](super::Accounting).
    #[must_use]
    pub const fn article_bytes(&self) -> usize {
        self.payload_bytes + HEADER_BYTES
    }

    /// What has become of it, if it was sent in tick `sent` and packets from before the tick `settled` are
    /// [lost unless they have arrived](super::Record::settled_tick).
    #[must_use]
    pub fn fate(&self, sent: u64, settled: u64) -> Fate {
        let acked = self.acked_after_ticks.map(|after_ticks| Arrival {
            after_ticks,
            is_late: false,
        });
        match self.arrival.or(acked) {
            Some(arrival) => Fate::Arrived(arrival),
            None if sent < settled => Fate::Lost,
            None => Fate::OnItsWay,
        }
    }
}
