//! Packets and their fates.

use std::iter::Sum;
use std::sync::Arc;

use cubewire_codec::{BitLedger, Header, Packet, Stages};

use super::detail::PacketDetail;
use super::{Record, Sample};

/// Size of IPv4 and UDP headers, bytes. In-memory packets count as if they had them.
pub const HEADER_BYTES: usize = 28;

/// One encoded snapshot, recorded by the end that encodes or decodes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketRecord {
    /// The sender's tick.
    pub tick: u64,
    /// Stages of the packet.
    pub stages: Stages,
    /// The header, or `None` if it is not known.
    pub header: Option<Header>,
    /// Size of the encoded snapshot without transport headers, bytes.
    pub payload_bytes: usize,
    /// Bits by kind.
    pub ledger: BitLedger,
    /// Number of bodies that changed since an earlier snapshot: the baseline of the packet. If the packet names no
    /// baseline, the one that the sender would use, or at a receiver the newest snapshot before. The initial state if
    /// there is no earlier snapshot.
    pub changed_bodies: usize,
    /// Number of bodies in the packet: the changed ones, or all if the stages send every body.
    pub sent_bodies: usize,
    /// Ages of the three newest acked snapshots when the packet was encoded, newest first. Only the sender knows them.
    pub acked_ages_ticks: [Option<u16>; 3],
    /// Arrival of the packet. At a sender, only known if the receiver is in the same process.
    pub arrival: Option<PacketArrival>,
    /// At a sender, ticks until the ack of the packet was processed. `None` without an ack.
    pub acked_after_ticks: Option<u16>,
    /// Bytes and items of the packet, if its ledger was [itemized](BitLedger::items). Dropped when the record's
    /// details take too much memory.
    pub detail: Option<Arc<PacketDetail>>,
}

/// The arrival of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketArrival {
    /// Ticks after it was sent; 0 at a receiver, which does not know.
    pub after_ticks: u16,
    /// Whether it was too late to be displayed.
    pub is_late: bool,
}

/// Fate of a packet as far as the sender's process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has arrived. If only the ack is known, it counts as in time, with the delay of the ack.
    Arrived(PacketArrival),
    /// It counts as lost because too much time has passed.
    Lost,
    /// It may still arrive.
    InFlight,
}

impl PacketRecord {
    /// Creates the record of a packet of the sender's `tick`. It has a detail if the packet's ledger is
    /// [itemized](BitLedger::items).
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

    /// Like [`new`](Self::new), for a packet that has arrived.
    pub fn received(tick: u64, packet: &Packet, stages: Stages, is_late: bool) -> Self {
        Self {
            arrival: Some(PacketArrival { after_ticks: 0, is_late }),
            ..Self::new(tick, packet, stages)
        }
    }

    /// Returns the age of the baseline that the packet names, or `None` if it does not name one.
    pub fn reference_age_ticks(&self) -> Option<u16> {
        self.header?.baseline_age()
    }

    /// Size of the payload with one IPv4 and UDP header, bytes: see [`Accounting`](super::Accounting).
    pub const fn article_bytes(&self) -> usize {
        self.payload_bytes + HEADER_BYTES
    }

    /// Returns the fate of the packet, which was sent in tick `sent`. Packets from before the tick `settled` [count
    /// as lost](Record::settled_tick) if they have not arrived.
    pub fn fate(&self, sent: u64, settled: u64) -> Fate {
        let acked =
            self.acked_after_ticks.map(|after_ticks| PacketArrival { after_ticks, is_late: false });
        match self.arrival.or(acked) {
            Some(arrival) => Fate::Arrived(arrival),
            None if sent < settled => Fate::Lost,
            None => Fate::InFlight,
        }
    }
}

/// Number of snapshots that arrived in time, that arrived late, and that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalCounts(pub [usize; 3]);

impl ArrivalCounts {
    /// Counts the snapshots in samples of a record.
    pub fn of<'a>(record: &Record, samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let settled = record.settled_tick();
        let mut sum = Self::default();
        for sample in samples {
            sum.add(sample, settled);
        }
        sum
    }

    /// Percentage of lost snapshots, 0 to 100.
    pub fn lost_percent(self) -> f64 {
        self.percent(2)
    }

    /// Percentage of one of the three counts, 0 to 100.
    pub fn percent(self, index: usize) -> f64 {
        let all: usize = self.0.iter().sum();
        100.0 * self.0[index] as f64 / all.max(1) as f64
    }

    /// Adds a sample of a record with this [settled tick](Record::settled_tick).
    pub fn add(&mut self, sample: &Sample, settled: u64) {
        let [in_time, late, lost] = &mut self.0;
        // Losses of the simulated link are known at once, other losses after a while.
        for packet in &sample.snapshots {
            match packet.fate(sample.tick, settled) {
                Fate::Arrived(arrival) if arrival.is_late => *late += 1,
                Fate::Arrived(_) => *in_time += 1,
                Fate::Lost => *lost += 1,
                Fate::InFlight => *lost += usize::from(sample.lost > 0),
            }
        }
        // At a viewer, a lost packet leaves the tick without a snapshot.
        if sample.snapshots.is_empty() {
            *lost += sample.lost;
        }
    }
}

impl Sum for ArrivalCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |Self(sum), Self(more)| {
            Self([0, 1, 2].map(|index| sum[index] + more[index]))
        })
    }
}
