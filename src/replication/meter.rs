//! Measurements of a lane, tick by tick. Read by panels and reports.

use std::collections::VecDeque;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::Way;
use cubewire_codec::{DecodeError, Stages};
use cubewire_inspector::graph;
use cubewire_link::LinkStats;
use cubewire_protocol::FallbackReason;
use cubewire_scene::{TICK, TICKS_PER_SECOND};

use super::displayed::ReplicaError;
use super::packet::{Arrival, PacketRecord};

/// The article's target for a snapshot stream, kilobits a second.
pub const TARGET_KBPS: f64 = 256.0;

/// Samples that a meter keeps: one minute.
pub const METER_TICKS: usize = 60 * TICKS_PER_SECOND as usize;

/// Bytes of memory for the details of packets, at most.
const MAX_DETAIL_BYTES: usize = 10 << 20;

/// How much later than usual a snapshot may come before what is shown is stale.
const STALE_AFTER: Duration = Duration::from_millis(250);

/// How bytes are counted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Accounting {
    /// A snapshot's payload in whole bytes, plus 28 for IPv4 and UDP, as in the article.
    #[default]
    PayloadAndUdp,
    /// Every datagram with the transport's headers, plus 28 bytes for IPv4 and UDP each, 48 over IPv6.
    OnTheWire,
}

impl Accounting {
    /// Both.
    pub const ALL: [Self; 2] = [Self::PayloadAndUdp, Self::OnTheWire];

    /// Its name on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PayloadAndUdp => "article",
            Self::OnTheWire => "wire",
        }
    }
}

/// Bytes that a transport sent and received for a lane, in [`Accounting::OnTheWire`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of packets that carry snapshots.
    pub wire_bytes: usize,
    /// Packets that carry snapshots: more than one for a snapshot that is fragmented.
    pub packets: usize,
    /// Bytes of snapshot acks.
    pub ack_bytes: usize,
    /// Bytes that establish and maintain the connection, in both directions: handshake, welcome, requests, the acks of
    /// both, keep-alives. Only between processes.
    pub control_bytes: usize,
}

impl Traffic {
    /// Adds the other's bytes.
    pub const fn add(&mut self, other: &Self) {
        self.wire_bytes += other.wire_bytes;
        self.packets += other.packets;
        self.ack_bytes += other.ack_bytes;
        self.control_bytes += other.control_bytes;
    }

    /// Adds what a connection has sent and received.
    pub(crate) const fn add_connection(&mut self, snapshots: &Way, acks: &Way) {
        self.add(&Self {
            wire_bytes: snapshots.packet_bytes as usize,
            packets: snapshots.packets as usize,
            ack_bytes: acks.packet_bytes as usize,
            control_bytes: (snapshots.control_bytes + acks.control_bytes) as usize,
        });
    }
}

/// One tick of a lane.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The simulation's tick; a viewer counts its own.
    pub tick: u64,
    /// Stages of the lane, whether a snapshot was sent in this tick or not.
    pub stages: Stages,
    /// The budget of the lane, kilobits a second on the wire, if it keeps to one.
    pub budget_kbps: Option<u32>,
    /// Ticks from one snapshot to the next that the lane asks for.
    pub send_interval_ticks: u32,
    /// Snapshots that were sent in this tick: one or, at a lower send rate, none. For a viewer, those that
    /// it received.
    pub snapshots: Vec<PacketRecord>,
    /// Ticks for which the body that has waited longest has waited to be sent; 0 without a budget.
    pub longest_wait_ticks: u64,
    /// What the transport sent.
    pub traffic: Traffic,
    /// Age of the newest acked snapshot; none before the first ack.
    pub acked_age_ticks: Option<u16>,
    /// Packets that the simulated link lost in this tick, on the way to the receiver.
    pub lost: usize,
    /// Snapshots that arrived in this tick too late to be shown.
    pub late: usize,
    /// Snapshots in the jitter buffer that are still to be shown.
    pub buffered: usize,
    /// The playout delay, on top of the shortest time in transit.
    pub playout_delay: Duration,
    /// Whether playout stood still, because the next snapshot had not arrived.
    pub starved: bool,
    /// The replica error, of lanes that measure it; without a tick otherwise.
    pub replica_error: ReplicaError,
}

impl Sample {
    /// Bytes of the encoded snapshots.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        let payloads = self.snapshots.iter().map(|packet| packet.payload_bytes);
        payloads.sum()
    }

    /// Whether the lane had the same stages, budget and rate.
    pub(crate) fn is_sent_like(&self, other: &Self) -> bool {
        self.stages == other.stages
            && self.budget_kbps == other.budget_kbps
            && self.send_interval_ticks == other.send_interval_ticks
    }

    fn detail_bytes(&self) -> usize {
        let details = self
            .snapshots
            .iter()
            .filter_map(|packet| packet.detail.as_ref());
        details.map(|detail| detail.memory_bytes()).sum()
    }

    /// Bytes of the snapshots.
    #[must_use]
    pub fn bytes(&self, accounting: Accounting) -> usize {
        match accounting {
            Accounting::PayloadAndUdp => {
                self.snapshots.iter().map(PacketRecord::article_bytes).sum()
            }
            Accounting::OnTheWire => self.traffic.wire_bytes,
        }
    }
}

/// The last minute of a lane.
#[derive(Component, Debug, Default)]
pub struct LaneMeter {
    samples: VecDeque<Sample>,
    /// Samples at the front whose packets have no details any more.
    undetailed: usize,
    /// Bytes of the details in all samples but the newest. A viewer still adds packets to the newest.
    detail_bytes: usize,
    /// Whether the lane was switched since the newest sample.
    is_switched: bool,
    /// What the simulated link did to the packets that carry snapshots, since the start.
    pub link: LinkStats,
    /// The first tick with the present conditions of the simulated link.
    pub link_since: u64,
    /// Snapshots decoded since the start.
    pub received: u64,
    /// Ticks since the newest snapshot arrived, or since the receiver was ready.
    pub silent_ticks: u32,
    /// Snapshots received more than once, since the start.
    pub duplicates: u64,
    /// Packets not decoded because they were too old, or numbered too far ahead, since the start.
    pub out_of_window: u64,
    /// Times that playout stopped because the next snapshot had not arrived, since the start.
    pub stalls: u64,
    /// Total length of these stalls, ticks.
    pub starved_ticks: u64,
    /// Packets that the decoder rejected since the start.
    pub refused: u64,
    /// Malformed acks since the start.
    pub refused_acks: u64,
    /// Why the decoder last rejected a packet.
    pub last_refusal: Option<DecodeError>,
    /// Why the receiving half does without arithmetic coding, if it does.
    pub fallback: Option<FallbackReason>,
}

impl LaneMeter {
    /// Oldest first; the newest is of the last tick.
    #[must_use]
    pub const fn samples(&self) -> &VecDeque<Sample> {
        &self.samples
    }

    /// The tick of the newest sample; none before there is one.
    #[must_use]
    pub fn newest_tick(&self) -> Option<u64> {
        Some(self.samples.back()?.tick)
    }

    /// The newest `ticks` samples, or fewer if there are not as many.
    pub fn newest(&self, ticks: usize) -> impl ExactSizeIterator<Item = &Sample> {
        self.samples
            .range(self.samples.len().saturating_sub(ticks)..)
    }

    /// A meter that holds these samples, oldest first.
    #[must_use]
    pub fn from_samples(samples: impl IntoIterator<Item = Sample>) -> Self {
        let mut meter = Self::default();
        for sample in samples {
            meter.begin(sample);
        }
        meter
    }

    pub(crate) fn begin(&mut self, sample: Sample) {
        self.detail_bytes += self.samples.back().map_or(0, Sample::detail_bytes);
        if self.samples.len() == METER_TICKS
            && let Some(oldest) = self.samples.pop_front()
        {
            self.undetailed = self.undetailed.saturating_sub(1);
            self.detail_bytes -= oldest.detail_bytes();
        }
        self.samples.push_back(sample);
        self.is_switched = false;
        while self.detail_bytes > MAX_DETAIL_BYTES
            && let Some(oldest) = self.samples.get_mut(self.undetailed)
        {
            self.undetailed += 1;
            self.detail_bytes -= oldest.detail_bytes();
            for packet in &mut oldest.snapshots {
                packet.detail = None;
            }
        }
    }

    /// Bytes of memory of the packets' details: at most 10 MiB, plus the newest tick.
    #[must_use]
    pub fn detail_bytes(&self) -> usize {
        self.detail_bytes + self.samples.back().map_or(0, Sample::detail_bytes)
    }

    /// The samples up to that tick, or up to the newest one; the newest first.
    pub fn back_from(&self, tick: Option<u64>) -> impl Iterator<Item = &Sample> {
        let samples = self.samples.iter().rev();
        samples.skip_while(move |sample| tick.is_some_and(|tick| sample.tick > tick))
    }

    /// The tick up to which figures on the screen are means: that of the past which is shown, or the newest that
    /// keeps them steady, so that they change four times a second.
    #[must_use]
    pub fn steady_tick(&self, moment: Option<u64>) -> Option<u64> {
        let newest = || Some(self.newest_tick()? / STEADY_TICKS * STEADY_TICKS);
        moment.or_else(newest)
    }

    /// The sample of that tick, by the tick of its sender.
    #[must_use]
    pub fn at(&self, tick: u64) -> Option<&Sample> {
        self.samples.get(self.index_of(tick)?)
    }

    fn index_of(&self, tick: u64) -> Option<usize> {
        let newest = self.newest_tick()?;
        let back = usize::try_from(newest.checked_sub(tick)?).ok()?;
        let index = self.samples.len().checked_sub(1 + back)?;
        (self.samples[index].tick == tick).then_some(index)
    }

    /// Whether any packet of the last two seconds has arrived, until a moment or now. While none does, as through a link that
    /// is cut, how many times less it costs says nothing.
    #[must_use]
    pub fn arrives(&self, moment: Option<u64>) -> bool {
        let mut samples = self.back_from(moment).take(2 * TICKS_PER_SECOND as usize);
        samples.any(|sample| {
            let mut packets = sample.snapshots.iter();
            packets.any(|packet| packet.arrival.is_some())
        })
    }

    /// How long no newer snapshot has arrived, once that is longer than it should be where one is sent every
    /// `send_interval_ticks`. `frame` is the time that the newest frame spans: snapshots are received at its start.
    #[must_use]
    pub fn stale(&self, send_interval_ticks: u32, frame: Duration) -> Option<Duration> {
        let age = TICK * self.silent_ticks;
        let interval = TICK * send_interval_ticks;
        (age > interval + STALE_AFTER + frame).then_some(age)
    }

    /// Notes that the packet that was sent in that tick has arrived in this one.
    pub(crate) fn record_arrival(&mut self, tick: u64, is_late: bool) {
        let (Some(newest), Some(index)) = (self.newest_tick(), self.index_of(tick)) else {
            return;
        };
        for packet in &mut self.samples[index].snapshots {
            packet.arrival.get_or_insert(Arrival {
                after_ticks: (newest - tick).min(u64::from(u16::MAX)) as u16,
                is_late,
            });
        }
    }

    /// Notes that what is sent from the next tick on is not what was sent so far.
    pub(super) const fn switch(&mut self) {
        self.is_switched = true;
    }

    /// Whether no tick has been sent with the present settings yet.
    pub(super) const fn is_switched(&self) -> bool {
        self.is_switched
    }

    /// The sample of this tick.
    pub(crate) fn current(&mut self) -> &mut Sample {
        if self.samples.is_empty() {
            self.samples.push_back(Sample::default());
        }
        self.samples.back_mut().expect("a sample was just pushed")
    }

    pub(super) fn refuse(&mut self, error: DecodeError) {
        self.refused += 1;
        self.last_refusal = Some(error);
    }
}

/// Kilobits a second of `bytes` in `ticks` ticks; 0 if there were none.
#[must_use]
pub fn kbps(bytes: usize, ticks: usize) -> f64 {
    graph::kbps(bytes, ticks, TICKS_PER_SECOND)
}

/// A distance as text: 3.9 mm, 150 mm, or 2.7 m.
#[must_use]
pub fn millimetres(metres: f64) -> String {
    let mm = 1000.0 * metres;
    match mm < 999.5 {
        true => format!("{mm:.*} mm", usize::from(mm < 99.95)),
        false => format!("{metres:.1} m"),
    }
}

/// See [`LaneMeter::steady_tick`].
const STEADY_TICKS: u64 = 15;

#[cfg(test)]
mod tests {
    use cubewire_codec::BitLedger;

    use super::*;
    use crate::replication::PacketDetail;

    #[test]
    fn a_kilobit_is_a_thousand_bits() {
        // The article's example: 36 152.625 + 32 bytes, 60 times a second.
        assert!((kbps(36_185 * 60, 60) - 17_368.8).abs() < 0.05);
        assert_eq!(kbps(0, 0), 0.0);
    }

    #[test]
    fn a_meter_keeps_a_minute() {
        let mut meter = LaneMeter::default();
        for tick in 0..5_000 {
            let packet = PacketRecord {
                payload_bytes: 97,
                ..PacketRecord::default()
            };
            meter.begin(Sample {
                tick,
                snapshots: vec![packet],
                ..Sample::default()
            });
        }
        assert_eq!(meter.samples().len(), METER_TICKS);
        assert_eq!(
            meter.newest(10).map(|sample| sample.tick).min(),
            Some(4_990)
        );
        assert!((meter.kbps(Accounting::PayloadAndUdp) - 60.0).abs() < 1e-9);
    }

    #[test]
    fn details_that_come_after_their_tick_has_begun_are_counted_and_bounded() {
        let detailed = |bytes: usize| PacketRecord {
            detail: Some(Box::new(PacketDetail::new(
                &BitLedger::itemized(),
                vec![0; bytes].into(),
            ))),
            ..PacketRecord::default()
        };
        // Two minutes of small ones, and of some that reach the bound.
        for bytes in [1, 300, 20_000] {
            let mut meter = LaneMeter::default();
            for tick in 0..2 * METER_TICKS as u64 {
                meter.begin(Sample {
                    tick,
                    // As a sender does, and as a viewer does.
                    snapshots: (tick % 5 == 0)
                        .then(|| detailed(bytes))
                        .into_iter()
                        .collect(),
                    ..Sample::default()
                });
                if tick % 3 > 0 {
                    meter.current().snapshots.push(detailed(bytes));
                }
                if tick % 100 == 0 {
                    let kept: usize = meter.samples().iter().map(Sample::detail_bytes).sum();
                    assert_eq!(meter.detail_bytes(), kept, "{bytes} bytes, tick {tick}");
                    let newest = meter.samples().back().map_or(0, Sample::detail_bytes);
                    assert!(kept <= MAX_DETAIL_BYTES + newest, "{kept}");
                }
            }
            let is_detailed = |sample: &Sample| sample.detail_bytes() > 0;
            assert!(meter.newest(100).any(is_detailed), "{bytes}");
            (0..=METER_TICKS as u64).for_each(|tick| {
                meter.begin(Sample {
                    tick,
                    ..Sample::default()
                });
            });
            assert_eq!(meter.detail_bytes(), 0, "{bytes}");
        }
    }

    #[test]
    fn figures_are_of_a_whole_second_with_the_settings_of_the_moment() {
        let sample = |tick, budget_kbps, payload_bytes| Sample {
            tick,
            budget_kbps,
            snapshots: vec![PacketRecord {
                payload_bytes,
                ..PacketRecord::default()
            }],
            ..Sample::default()
        };
        let meter = |ticks| {
            LaneMeter::from_samples((0..ticks).map(|tick| match tick {
                ..100 => sample(tick, None, 972),
                _ => sample(tick, Some(64), 97),
            }))
        };
        let kbps = |ticks, moment| {
            let second = meter(ticks).second(moment)?;
            Some(second.kbps(Accounting::PayloadAndUdp).round())
        };
        assert_eq!([kbps(60, None), kbps(61, None)], [None, Some(480.0)]);
        // A budget is switched on in tick 100; figures are up to a tick that is a multiple of 15.
        for (ticks, expected) in [
            (100, Some(480.0)),
            (101, None),
            (165, None),
            (166, Some(60.0)),
        ] {
            assert_eq!(kbps(ticks, None), expected, "{ticks}");
        }
        // In the past, up to that very tick.
        for (moment, expected) in [
            (99, Some(480.0)),
            (100, None),
            (158, None),
            (159, Some(60.0)),
        ] {
            assert_eq!(kbps(400, Some(moment)), expected, "{moment}");
        }
    }

    #[test]
    fn a_lane_is_stale_a_quarter_of_a_second_after_a_snapshot_was_due() {
        let long = Duration::from_millis(900);
        for (send_interval_ticks, silent_ticks, frame, is_stale) in [
            (1, 17, TICK, false),
            (1, 18, TICK, true),
            (6, 22, TICK, false),
            (6, 23, TICK, true),
            // They arrived in the long frame that has ended.
            (1, 54, long, false),
        ] {
            let meter = LaneMeter {
                silent_ticks,
                ..LaneMeter::default()
            };
            let stale = is_stale.then_some(TICK * silent_ticks);
            assert_eq!(
                meter.stale(send_interval_ticks, frame),
                stale,
                "{silent_ticks}"
            );
        }
    }

    #[test]
    fn a_distance_below_100_mm_has_a_decimal() {
        assert_eq!(millimetres(0.003_94), "3.9 mm");
        assert_eq!(millimetres(0.099_96), "100 mm");
    }
}
