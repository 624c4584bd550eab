//! Sums and means over the samples of a record.

use std::time::Duration;

use cubewire_codec::{BitKind, BitLedger};
use serde::{Deserialize, Serialize};

use super::packet::PacketRecord;
use super::{Rate, Sample};

/// A way to count bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Accounting {
    /// The payload of a snapshot in whole bytes, plus 28 for IPv4 and UDP, as in the article.
    #[default]
    PayloadAndUdp,
    /// Every datagram with the transport's headers, plus 28 bytes each for IPv4 and UDP, or 48 over IPv6.
    OnTheWire,
}

impl Accounting {
    /// Both accountings.
    pub const ALL: [Self; 2] = [Self::PayloadAndUdp, Self::OnTheWire];
}

/// Bytes that a transport sent and received for a connection, in [`Accounting::OnTheWire`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportBytes {
    /// Bytes of packets that carry snapshots.
    pub wire_bytes: usize,
    /// Number of packets that carry snapshots. A fragmented snapshot has several.
    pub packets: usize,
    /// Bytes of snapshot acks.
    pub ack_bytes: usize,
    /// Bytes that establish and maintain the connection, in both directions: handshake, welcome, requests and their
    /// acks, keep-alives. Only between processes.
    pub control_bytes: usize,
}

impl TransportBytes {
    /// Adds the counts of another traffic.
    pub const fn add(&mut self, other: &Self) {
        self.wire_bytes += other.wire_bytes;
        self.packets += other.packets;
        self.ack_bytes += other.ack_bytes;
        self.control_bytes += other.control_bytes;
    }
}

/// Returns the bandwidth of `bytes` in `ticks` ticks, kilobits a second; 0 for 0 bytes.
pub fn kbps(bytes: usize, ticks: usize, ticks_per_second: u32) -> f64 {
    let bits = bytes as f64 * 8.0 * f64::from(ticks_per_second);
    bits / ticks.max(1) as f64 / 1000.0
}

/// Sums over ticks. The default has no ticks, for a connection with 60 ticks a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    pub(super) rate: Rate,
    /// Number of ticks.
    pub ticks: usize,
    /// Number of snapshots that were sent in these ticks. At a viewer, received.
    pub snapshots: usize,
    /// Size of the encoded snapshots, bytes.
    pub payload_bytes: usize,
    /// Size of the largest encoded snapshot, bytes.
    pub max_payload_bytes: usize,
    /// Bytes in [`Accounting::PayloadAndUdp`].
    pub article_bytes: usize,
    /// Bits of the payloads by kind.
    pub ledger: BitLedger,
    /// See [`PacketRecord::changed_bodies`].
    pub changed_bodies: usize,
    /// See [`PacketRecord::sent_bodies`].
    pub sent_bodies: usize,
    /// Number of packets that the simulated link lost.
    pub lost: usize,
    /// Number of snapshots that arrived too late to be displayed.
    pub late: usize,
    /// Number of playout stalls that began.
    pub stalls: u64,
    /// Number of ticks with a stall of playout.
    pub starved_ticks: u64,
    /// Total length of the stalls.
    pub starved: Duration,
    /// Traffic of the transport.
    pub traffic: TransportBytes,
    newest_tick: u64,
    /// Budget of the newest tick, kilobits a second on the wire.
    budget_kbps: Option<u32>,
    /// Number of ticks with a measured replica error.
    error_ticks: usize,
    /// Sum of the mean errors, metres.
    error_m: f64,
    /// Sum of the mean angles, degrees.
    error_degrees: f64,
    /// Maximum distance of a body, metres.
    pub max_error_m: f32,
}

impl Totals {
    /// Creates sums without ticks, for a connection with this tick rate.
    pub fn new(ticks_per_second: u32) -> Self {
        Self { rate: Rate(ticks_per_second), ..Self::default() }
    }

    /// Returns the sums over samples of a connection with 60 ticks a second.
    pub fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let mut totals = Self::default();
        for sample in samples {
            totals.add(sample);
        }
        totals
    }

    /// Adds the sample of a tick.
    pub fn add(&mut self, sample: &Sample) {
        self.add_tick(&sample.snapshots);
        // Samples are added in any order.
        if sample.tick >= self.newest_tick {
            (self.newest_tick, self.budget_kbps) = (sample.tick, sample.budget_kbps);
        }
        self.lost += sample.lost;
        self.late += sample.late;
        self.stalls += sample.stalls as u64;
        self.starved_ticks += u64::from(sample.is_starved());
        self.starved += sample.starved;
        self.traffic.add(&sample.traffic);
        let error = &sample.replica_error;
        if error.tick.is_some() {
            self.error_ticks += 1;
            self.error_m += f64::from(error.mean_m);
            self.error_degrees += f64::from(error.mean_degrees);
            self.max_error_m = self.max_error_m.max(error.max_m);
        }
    }

    /// Adds a tick with its packets only.
    pub fn add_tick(&mut self, packets: &[PacketRecord]) {
        self.ticks += 1;
        for packet in packets {
            self.snapshots += 1;
            self.payload_bytes += packet.payload_bytes;
            self.max_payload_bytes = self.max_payload_bytes.max(packet.payload_bytes);
            self.article_bytes += packet.article_bytes();
            self.ledger.add(&packet.ledger);
            self.changed_bodies += packet.changed_bodies;
            self.sent_bodies += packet.sent_bodies;
        }
    }

    /// Returns the accounting for displays with a single figure: on the wire if there is a budget, because a budget
    /// limits bytes on the wire, else as in the article.
    pub const fn accounting(&self) -> Accounting {
        match self.budget_kbps {
            Some(_) => Accounting::OnTheWire,
            None => Accounting::PayloadAndUdp,
        }
    }

    /// Mean bandwidth of the snapshots, kilobits a second.
    pub fn kbps(&self, accounting: Accounting) -> f64 {
        self.kbps_of(match accounting {
            Accounting::PayloadAndUdp => self.article_bytes,
            Accounting::OnTheWire => self.traffic.wire_bytes,
        })
    }

    /// Bandwidth of `bytes` over these ticks, kilobits a second.
    pub fn kbps_of(&self, bytes: usize) -> f64 {
        kbps(bytes, self.ticks, self.rate.0)
    }

    /// Returns the budget if it limits these ticks, kilobits a second: if they take at least nine tenths of it. A
    /// sender that has to wait for its budget takes that much, and the receiver does not know whether it waits.
    pub fn held_to_kbps(&self) -> Option<u32> {
        let budget = self.budget_kbps?;
        let is_held = self.kbps(Accounting::OnTheWire) >= HELD_FRACTION * f64::from(budget);
        is_held.then_some(budget)
    }

    /// Returns `sum` divided by the number of snapshots, or by 1 without snapshots.
    pub fn per_snapshot(&self, sum: f64) -> f64 {
        sum / self.snapshots.max(1) as f64
    }

    /// Mean distance of the interacting bodies from the simulation, metres. `None` if it was not measured.
    pub fn mean_error_m(&self) -> Option<f64> {
        (self.error_ticks > 0).then(|| self.error_m / self.error_ticks as f64)
    }

    /// Mean angle between the interacting bodies and the simulation, degrees. `None` if it was not measured.
    pub fn mean_error_degrees(&self) -> Option<f64> {
        (self.error_ticks > 0).then(|| self.error_degrees / self.error_ticks as f64)
    }

    /// Number of packets a second, counting every fragment.
    pub fn packets_per_second(&self) -> f64 {
        self.traffic.packets as f64 / self.ticks.max(1) as f64 * f64::from(self.rate.0)
    }

    /// Whether snapshots were sent, and no [body changed](PacketRecord::changed_bodies).
    pub const fn is_at_rest(&self) -> bool {
        self.snapshots > 0 && self.changed_bodies == 0
    }

    /// Mean bits per sent body, without the packet header. `None` if no body was sent.
    pub fn bits_per_sent_body(&self) -> Option<f64> {
        (self.sent_bodies > 0).then(|| self.ledger.content() / self.sent_bodies as f64)
    }

    /// Fraction of the bits with this kind, 0 to 1.
    pub fn fraction(&self, kind: BitKind) -> f64 {
        let total = self.ledger.total();
        if total > 0.0 { self.ledger.kind(kind) / total } else { 0.0 }
    }
}

/// Fraction of its budget that a limited sender takes at least. Measured in a rolling ball within 16 to 256 kbps: 90 %
/// to 100 % in every second, because a packet waits until it can be filled.
const HELD_FRACTION: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ReplicaError;

    fn sample(payload_bytes: usize) -> Sample {
        Sample {
            snapshots: vec![PacketRecord {
                payload_bytes,
                changed_bodies: 5,
                sent_bodies: 5,
                ..PacketRecord::default()
            }],
            traffic: TransportBytes {
                wire_bytes: payload_bytes + 40,
                packets: 2,
                ..TransportBytes::default()
            },
            ..Sample::default()
        }
    }

    #[test]
    fn ticks_between_snapshots_count_as_time_and_not_as_packets() {
        let between = Sample::default();
        for (samples, packets, kbps) in [
            (vec![sample(100), sample(300)], 120.0, 109.44),
            (vec![sample(100), between.clone(), sample(300), between], 60.0, 54.72),
        ] {
            let totals = Totals::of(&samples);
            assert_eq!(totals.ticks, samples.len());
            assert_eq!(totals.max_payload_bytes, 300);
            assert_eq!(totals.per_snapshot(totals.payload_bytes as f64), 200.0);
            assert_eq!(totals.packets_per_second(), packets);
            assert!((totals.kbps(Accounting::PayloadAndUdp) - kbps).abs() < 1e-9);
            assert_eq!(totals.bits_per_sent_body(), Some(0.0));
        }
    }

    #[test]
    fn ticks_whose_error_is_not_known_do_not_count_for_its_mean() {
        let erring = |mean_m, max_m| Sample {
            replica_error: ReplicaError {
                tick: Some(3.5),
                mean_m,
                max_m,
                ..ReplicaError::default()
            },
            ..Sample::default()
        };
        let totals = Totals::of(&[erring(0.25, 2.0), Sample::default(), erring(0.75, 1.0)]);
        assert_eq!(totals.mean_error_m(), Some(0.5));
        assert_eq!(totals.max_error_m, 2.0);
        assert_eq!(Totals::of(&[Sample::default()]).mean_error_m(), None);
    }

    #[test]
    fn a_budget_holds_if_the_packets_take_most_of_it() {
        // 100 bytes with their headers take 67.2 kbps on the wire.
        let held = |budget_kbps| {
            let sample = Sample { budget_kbps, ..sample(100) };
            Totals::of(&[sample]).held_to_kbps()
        };
        for budget in [64, 68, 74] {
            assert_eq!(held(Some(budget)), Some(budget));
        }
        assert_eq!(held(Some(75)), None);
        assert_eq!(held(None), None);
        let samples = [(7, Some(64)), (8, None)].map(|(tick, budget_kbps)| Sample {
            tick,
            budget_kbps,
            ..sample(100)
        });
        let [before, after] = &samples;
        for samples in [[before, after], [after, before]] {
            assert_eq!(Totals::of(samples).held_to_kbps(), None);
        }
    }

    #[test]
    fn without_changed_bodies_there_is_no_mean_of_them() {
        let mut still = sample(7);
        still.snapshots[0].sent_bodies = 0;
        let totals = Totals::of(&[still]);
        assert_eq!(totals.bits_per_sent_body(), None);
        assert_eq!(totals.fraction(BitKind::Header), 0.0);
    }
}
