//! The record of a packet: made by the end that encodes or decodes it, used by meters, panels, reports and
//! the shadow ladder.

use cubewire_codec::{BitLedger, Header, Packet, Stages};
#[cfg(test)]
use cubewire_codec::{Encoder, Limits, Plan, QuantizedSnapshot, Sequence, Snapshot};
use cubewire_scene::TICKS_PER_SECOND;

use super::HEADER_BYTES;
use super::detail::PacketDetail;

/// One encoded snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketRecord {
    /// Stages that it was encoded with.
    pub stages: Stages,
    /// Its header, if it is known.
    pub header: Option<Header>,
    /// Bytes of the encoded snapshot, without any transport's headers.
    pub payload_bytes: usize,
    /// Its bits by kind.
    pub ledger: BitLedger,
    /// Cubes that differ from the baseline, or from the initial state if there is none.
    pub changed_cubes: usize,
    /// Cubes that the packet carries: those, or all where the stages send every cube.
    pub sent_cubes: usize,
    /// Ages of the three newest snapshots that were acked when it was encoded, newest first. Known to
    /// the sender alone.
    pub acked_ages_ticks: [Option<u16>; 3],
    /// When it arrived, as far as this process knows.
    pub arrival: Option<Arrival>,
    /// Its bytes and items, while something shows them: see [`Detailed`](super::Detailed).
    pub detail: Option<Box<PacketDetail>>,
}

/// The arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Ticks after it was sent.
    pub after_ticks: u16,
    /// Whether that was too late to be shown.
    pub is_late: bool,
}

impl PacketRecord {
    /// The record of a packet, with a detail if its ledger is [itemized](BitLedger::items).
    #[must_use]
    pub fn new(packet: &Packet, stages: Stages) -> Self {
        let ledger = &packet.ledger;
        let detail = || PacketDetail::new(ledger, packet.bytes.as_slice().into());
        Self {
            stages,
            payload_bytes: packet.bytes.len(),
            ledger: ledger.by_kind(),
            changed_cubes: packet.changed_bodies,
            sent_cubes: packet.sent_bodies,
            detail: ledger.items().is_some().then(|| Box::new(detail())),
            ..Self::default()
        }
    }

    /// Age of the baseline that the packet names; none if it is relative to the initial state, or to nothing.
    #[must_use]
    pub fn reference_age_ticks(&self) -> Option<u16> {
        self.header?.baseline_age()
    }

    /// In article accounting: the payload and one IPv4 and UDP header.
    #[must_use]
    pub const fn article_bytes(&self) -> usize {
        self.payload_bytes + HEADER_BYTES
    }
}

/// The packet of a world that has moved since the `initial` one, with its bits item by item.
#[cfg(test)]
pub(crate) fn itemized(stages: Stages, initial: &Snapshot, moved: &Snapshot) -> Packet {
    let mut encoder = Encoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
    let mut current = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    current.quantize(moved, stages.precision()).unwrap();
    let mut packet = Packet {
        ledger: BitLedger::itemized(),
        ..Packet::default()
    };
    let encoded = encoder.encode(Sequence(7), stages, &current, None, &mut packet, None);
    encoded.unwrap();
    packet
}

/// What became of a packet, as far as the process of its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has arrived.
    Arrived(Arrival),
    /// It has not arrived for so long that it must be lost.
    Lost,
    /// It may still arrive.
    OnItsWay,
}

/// Ticks after which a packet that has not arrived counts as lost.
const LOST_TICKS: u64 = TICKS_PER_SECOND as u64;

impl PacketRecord {
    /// What has become of it by tick `newest`, if it was sent in tick `sent`.
    #[must_use]
    pub const fn fate(&self, sent: u64, newest: u64) -> Fate {
        match self.arrival {
            Some(arrival) => Fate::Arrived(arrival),
            None if newest.saturating_sub(sent) > LOST_TICKS => Fate::Lost,
            None => Fate::OnItsWay,
        }
    }
}
