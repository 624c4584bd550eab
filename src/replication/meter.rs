//! The record of a lane, and what else is counted of it. Read by panels and reports.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::Way;
use cubewire_codec::DecodeError;
#[cfg(test)]
use cubewire_codec::{
    BitLedger, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence, Snapshot, Stages,
};
use cubewire_link::LinkStats;
use cubewire_protocol::FallbackReason;
use cubewire_protocol::record::{self, ArrivalCounts, Record, Sample, Traffic};
use cubewire_scene::{TICK, TICKS_PER_SECOND};

/// The article's target for a snapshot stream, kilobits a second.
pub const TARGET_KBPS: f64 = 256.0;

/// Samples that a meter keeps: one minute.
pub const METER_TICKS: usize = Record::SECONDS * TICKS_PER_SECOND as usize;

/// How much later than usual a snapshot may come before what is shown is stale.
const STALE_AFTER: Duration = Duration::from_millis(250);

/// While a lane has this component, its packets are recorded with their [detail](record::PacketRecord::detail).
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Detailed;

/// The record of a lane, and counts since its start of what is no packet of it.
#[derive(Component, Debug, Default, Deref, DerefMut)]
pub struct LaneMeter {
    /// The last minute, and totals since the start.
    #[deref]
    pub record: Record,
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
    /// A meter that holds these samples, oldest first.
    #[must_use]
    pub fn from_samples(samples: impl IntoIterator<Item = Sample>) -> Self {
        Self {
            record: Record::from_samples(samples),
            ..Self::default()
        }
    }

    /// What became of the snapshots of the last seconds, without those of the link as it was before.
    #[must_use]
    pub fn arrivals(&self, seconds: u32) -> ArrivalCounts {
        let samples = self.newest((seconds * TICKS_PER_SECOND) as usize);
        let samples = samples.filter(|sample| sample.tick >= self.link_since);
        ArrivalCounts::of(self, samples)
    }

    /// How long no newer snapshot has arrived, once that is longer than it should be where one is sent every
    /// `send_interval_ticks`. `frame` is the time that the newest frame spans: snapshots are received at its start.
    #[must_use]
    pub fn stale(&self, send_interval_ticks: u32, frame: Duration) -> Option<Duration> {
        let age = TICK * self.silent_ticks;
        let interval = TICK * send_interval_ticks;
        (age > interval + STALE_AFTER + frame).then_some(age)
    }

    /// Counts what a connection has sent and received in this tick.
    pub(crate) fn count_traffic(&mut self, snapshots: &Way, acks: &Way) {
        self.current().traffic.add(&Traffic {
            wire_bytes: snapshots.packet_bytes as usize,
            packets: snapshots.packets as usize,
            ack_bytes: acks.packet_bytes as usize,
            control_bytes: (snapshots.control_bytes + acks.control_bytes) as usize,
        });
    }

    pub(super) fn refuse(&mut self, error: DecodeError) {
        self.refused += 1;
        self.last_refusal = Some(error);
    }
}

/// Kilobits a second of `bytes` in `ticks` ticks; 0 if there were none.
#[must_use]
pub fn kbps(bytes: usize, ticks: usize) -> f64 {
    record::kbps(bytes, ticks, TICKS_PER_SECOND)
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

#[cfg(test)]
mod tests {
    use super::*;

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
