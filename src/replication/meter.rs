//! A lane's packet record and counters, for panels and reports.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::{DirectionTraffic, MessageBuffer, Traffic};
use cubewire_codec::DecodeError;
#[cfg(test)]
use cubewire_codec::{
    BitLedger, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence, Snapshot, Stages,
};
use cubewire_link::LinkStats;
use cubewire_protocol::FallbackReason;
use cubewire_protocol::record::{self, ArrivalCounts, Record, Sample, TransportBytes};
use cubewire_scene::{TICK, TICKS_PER_SECOND};

/// The article's target bandwidth, kilobits per second.
pub const TARGET_KBPS: f64 = 256.0;

/// Number of samples that a meter keeps: one minute of ticks.
pub const METER_TICKS: usize = Record::SECONDS * TICKS_PER_SECOND as usize;

/// Delay beyond the send interval after which a lane counts as stale.
const STALE_AFTER: Duration = Duration::from_millis(250);

/// Records the [detail](record::PacketRecord::detail) of a lane's packets while this component exists.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Detailed;

#[derive(Component, Debug, Default, Deref, DerefMut)]
pub struct LaneMeter {
    #[deref]
    pub record: Record,
    /// Counters of the simulated link towards the receiver, since the start.
    pub link: LinkStats,
    /// The first tick with the current link conditions.
    pub link_since: u64,
    pub received: u64,
    /// Ticks since the newest snapshot arrived, or since the receiver started.
    pub silent_ticks: u32,
    pub duplicates: u64,
    /// Packets dropped since the start because they were too old or too far ahead to decode.
    pub out_of_window: u64,
    pub refused: u64,
    pub last_refusal: Option<DecodeError>,
    /// Why the receiving half uses no arithmetic coding. `None` if it can.
    pub fallback: Option<FallbackReason>,
}

impl LaneMeter {
    pub fn from_samples(samples: impl IntoIterator<Item = Sample>) -> Self {
        Self { record: Record::from_samples(samples), ..Self::default() }
    }

    /// Fates of the snapshots of the last `seconds`, without those from before the current link conditions.
    pub fn arrivals(&self, seconds: u32) -> ArrivalCounts {
        let samples = self.newest((seconds * TICKS_PER_SECOND) as usize);
        let samples = samples.filter(|sample| sample.tick >= self.link_since);
        ArrivalCounts::of(self, samples)
    }

    /// Time without a newer snapshot. `None` up to a limit: the sum of the send interval, 250 ms, and `frame`, the length of
    /// the newest frame. Snapshots are received only at the start of a frame.
    pub fn stale(&self, send_interval_ticks: u32, frame: Duration) -> Option<Duration> {
        let age = TICK * self.silent_ticks;
        let interval = TICK * send_interval_ticks;
        (age > interval + STALE_AFTER + frame).then_some(age)
    }

    /// Adds the traffic of this tick, in the direction of snapshots and in the direction of acks.
    pub(crate) fn count_traffic(&mut self, snapshots: &DirectionTraffic, acks: &DirectionTraffic) {
        self.current().traffic.add(&TransportBytes {
            wire_bytes: snapshots.packet_bytes as usize,
            packets: snapshots.packets as usize,
            ack_bytes: acks.packet_bytes as usize,
            control_bytes: (snapshots.control_bytes + acks.control_bytes) as usize,
        });
    }
}

/// Traffic of a connection that its lane's meter has already counted.
#[derive(Component, Debug, Default)]
pub(crate) struct Counted(Traffic);

impl Counted {
    /// Returns the traffic of the connection since the last call.
    pub(super) fn advance(&mut self, buffer: &MessageBuffer) -> Traffic {
        let before = std::mem::replace(&mut self.0, buffer.traffic);
        buffer.traffic.since(&before)
    }
}

/// An exponential moving average. `None` before the first measurement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean(pub(super) Option<f64>);

impl Mean {
    const WEIGHT: f64 = 0.05;

    pub(super) fn add(&mut self, measured: f64) {
        let before = self.0.unwrap_or(measured);
        self.0 = Some(before + Self::WEIGHT * (measured - before));
    }

    /// The average. 0 before the first measurement.
    pub fn get(self) -> f64 {
        self.0.unwrap_or(0.0)
    }
}

/// Kilobits per second for `bytes` sent in `ticks` ticks. 0 for zero ticks.
pub fn kbps(bytes: usize, ticks: usize) -> f64 {
    record::kbps(bytes, ticks, TICKS_PER_SECOND)
}

/// Formats a distance: `3.9 mm`, `150 mm`, or `2.7 m`.
pub fn millimetres(metres: f64) -> String {
    let mm = 1000.0 * metres;
    match mm < 999.5 {
        true => format!("{mm:.*} mm", usize::from(mm < 99.95)),
        false => format!("{metres:.1} m"),
    }
}

/// A tick with a snapshot of this size.
#[cfg(test)]
pub(crate) fn sample(tick: u64, payload_bytes: usize) -> Sample {
    let snapshot = record::PacketRecord { payload_bytes, ..record::PacketRecord::default() };
    Sample { tick, snapshots: vec![snapshot], ..Sample::default() }
}

/// Encodes a moved world against the `initial` one, with an itemized ledger.
#[cfg(test)]
pub(crate) fn itemized(stages: Stages, initial: &Snapshot, moved: &Snapshot) -> Packet {
    let mut encoder = Encoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
    let mut current = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    current.quantize(moved, stages.precision()).unwrap();
    let mut packet = Packet { ledger: BitLedger::itemized(), ..Packet::default() };
    encoder.encode(Sequence(7), stages, &current, None, &mut packet, None).unwrap();
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
            // The frame was long, and snapshots are received at its start.
            (1, 54, long, false),
        ] {
            let meter = LaneMeter { silent_ticks, ..LaneMeter::default() };
            let stale = is_stale.then_some(TICK * silent_ticks);
            assert_eq!(meter.stale(send_interval_ticks, frame), stale, "{silent_ticks}");
        }
    }

    #[test]
    fn a_distance_below_100_mm_has_a_decimal() {
        assert_eq!(millimetres(0.003_94), "3.9 mm");
        assert_eq!(millimetres(0.099_96), "100 mm");
    }

    #[test]
    fn a_smoothed_figure_approaches_what_is_measured() {
        let mut mean = Mean::default();
        mean.add(4.0);
        assert_eq!(mean.get(), 4.0);
        for _ in 0..200 {
            mean.add(2.0);
        }
        assert!(mean.get() < 2.01);
    }
}
