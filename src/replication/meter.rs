//! What was measured of a lane, tick by tick. Panels and reports read it.

use std::collections::VecDeque;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{BitLedger, DecodeError, Stages};
use cubewire_link::LinkStats;
use cubewire_scene::TICKS_PER_SECOND;

use super::transport::Purpose;

/// Samples that a meter keeps: a minute.
pub const METER_TICKS: usize = 60 * TICKS_PER_SECOND as usize;

/// How bytes are counted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Accounting {
    /// A snapshot's payload in whole bytes, plus 28 for IPv4 and UDP, as in the article.
    #[default]
    Article,
    /// What the transport hands to the socket, every fragment with its header, plus 28 each.
    Wire,
}

impl Accounting {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Article, Self::Wire];

    /// Its name on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Wire => "wire",
        }
    }
}

/// One tick of a lane.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The simulation's tick.
    pub tick: u64,
    /// Snapshots sent in it: 1, or 0 between two at a lower send rate. What is of the snapshot
    /// below is 0 then.
    pub snapshots: usize,
    /// What it was sent with.
    pub stages: Stages,
    /// The encoded snapshot.
    pub payload_bytes: usize,
    /// By [`Accounting::Article`].
    pub article_bytes: usize,
    /// By [`Accounting::Wire`].
    pub wire_bytes: usize,
    /// Packets that the snapshot went out in: more than one if it was fragmented.
    pub packets: usize,
    /// Our acks, in wire accounting.
    pub ack_bytes: usize,
    /// The transport's own acks, both ways, in wire accounting.
    pub renet_ack_bytes: usize,
    /// What makes and keeps a connection, both ways, in wire accounting: the handshake, the welcome,
    /// requests, grants, keep-alives. Only between processes.
    pub control_bytes: usize,
    /// Where the payload's bits went.
    pub ledger: BitLedger,
    /// Cubes that differ from the baseline, or from the initial state if there is none.
    pub changed_cubes: usize,
    /// Cubes that the packet carries: those, or all where the stages send every cube.
    pub sent_cubes: usize,
    /// How old the newest acked baseline is; none before the first ack.
    pub baseline_age_ticks: Option<u16>,
    /// How old the two are that were acked before it.
    pub earlier_age_ticks: [Option<u16>; 2],
    /// How old the baseline is that the packet names; none if it is relative to the initial state,
    /// or to nothing.
    pub reference_age_ticks: Option<u16>,
    /// Snapshots that arrived in this tick, but too late to be shown.
    pub late: usize,
    /// Snapshots in the receiver's playout buffer that are still to be shown.
    pub buffered: usize,
    /// How long they wait, on top of the quickest time under way.
    pub playout_delay: Duration,
    /// Whether the picture stood still, because the next snapshot had not come.
    pub starved: bool,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            tick: 0,
            snapshots: 0,
            stages: cubewire_codec::ladder::UNCOMPRESSED.stages,
            payload_bytes: 0,
            article_bytes: 0,
            wire_bytes: 0,
            packets: 0,
            ack_bytes: 0,
            renet_ack_bytes: 0,
            control_bytes: 0,
            ledger: BitLedger::new(),
            changed_cubes: 0,
            sent_cubes: 0,
            baseline_age_ticks: None,
            earlier_age_ticks: [None, None],
            reference_age_ticks: None,
            late: 0,
            buffered: 0,
            playout_delay: Duration::ZERO,
            starved: false,
        }
    }
}

impl Sample {
    /// Bytes of the snapshot.
    #[must_use]
    pub const fn bytes(&self, accounting: Accounting) -> usize {
        match accounting {
            Accounting::Article => self.article_bytes,
            Accounting::Wire => self.wire_bytes,
        }
    }

    /// Adds what went over the wire in another sample.
    pub(super) const fn add_traffic(&mut self, other: &Self) {
        self.wire_bytes += other.wire_bytes;
        self.packets += other.packets;
        self.ack_bytes += other.ack_bytes;
        self.renet_ack_bytes += other.renet_ack_bytes;
        self.control_bytes += other.control_bytes;
    }

    /// Counts a packet from the sender to the receiver, with its IP and UDP headers.
    pub(super) const fn count_down(&mut self, purpose: Purpose, bytes: usize) {
        match purpose {
            Purpose::Snapshots => {
                self.wire_bytes += bytes;
                self.packets += 1;
            }
            Purpose::RenetAck => self.renet_ack_bytes += bytes,
            Purpose::Control => self.control_bytes += bytes,
        }
    }

    /// Counts a packet the other way.
    pub(super) const fn count_up(&mut self, purpose: Purpose, bytes: usize) {
        match purpose {
            Purpose::Snapshots => self.ack_bytes += bytes,
            Purpose::RenetAck => self.renet_ack_bytes += bytes,
            Purpose::Control => self.control_bytes += bytes,
        }
    }
}

/// The last minute of a lane.
#[derive(Component, Debug, Default)]
pub struct LaneMeter {
    samples: VecDeque<Sample>,
    /// What the link has done with the packets that carry snapshots, since the start.
    pub link: LinkStats,
    /// Snapshots decoded since the start.
    pub received: u64,
    /// Snapshots that arrived again, since the start.
    pub duplicates: u64,
    /// Packets that were not decoded because their place was taken by newer ones, or because they
    /// were numbered far ahead, since the start.
    pub out_of_window: u64,
    /// Times that the picture stopped because the next snapshot had not come, since the start.
    pub hitches: u64,
    /// Packets that the decoder refused since the start.
    pub refused: u64,
    /// Acks that were none, since the start.
    pub refused_acks: u64,
    /// Packets that did not even reach the transport, since the start.
    pub hostile: u64,
    /// Why the decoder refused, the last time.
    pub last_refusal: Option<DecodeError>,
}

impl LaneMeter {
    /// Oldest first; the newest is of the last tick.
    #[must_use]
    pub const fn samples(&self) -> &VecDeque<Sample> {
        &self.samples
    }

    /// The newest `ticks` samples, or fewer if there are not as many.
    pub fn newest(&self, ticks: usize) -> impl ExactSizeIterator<Item = &Sample> {
        self.samples
            .range(self.samples.len().saturating_sub(ticks)..)
    }

    /// Mean over the newest second, kilobits a second.
    #[must_use]
    pub fn kbps(&self, accounting: Accounting) -> f64 {
        let second = self.newest(TICKS_PER_SECOND as usize);
        let ticks = second.len();
        let bytes: usize = second.map(|sample| sample.bytes(accounting)).sum();
        kbps(bytes, ticks)
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

    pub(super) fn begin(&mut self, sample: Sample) {
        if self.samples.len() == METER_TICKS {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// The sample of this tick.
    pub(super) fn current(&mut self) -> &mut Sample {
        if self.samples.is_empty() {
            self.samples.push_back(Sample::default());
        }
        self.samples.back_mut().expect("one was just put in")
    }

    /// Logs the first.
    pub(super) fn refuse_packet(&mut self, why: &dyn std::error::Error) {
        self.hostile += 1;
        if self.hostile == 1 {
            warn!("a hostile packet, and perhaps more: {why}");
        }
    }

    pub(super) fn refuse(&mut self, error: DecodeError) {
        self.refused += 1;
        self.last_refusal = Some(error);
    }
}

/// Kilobits a second of `bytes` sent in `ticks` ticks; 0 if there were none.
#[must_use]
pub fn kbps(bytes: usize, ticks: usize) -> f64 {
    if ticks == 0 {
        return 0.0;
    }
    let seconds = ticks as f64 / f64::from(TICKS_PER_SECOND);
    bytes as f64 * 8.0 / 1000.0 / seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kilobit_is_a_thousand_bits() {
        // The facts' example: 36 152.625 + 32 bytes, 60 times a second.
        assert!((kbps(36_185 * 60, 60) - 17_368.8).abs() < 0.05);
        assert_eq!(kbps(100, 0), 0.0);
    }

    #[test]
    fn a_meter_keeps_a_minute() {
        let mut meter = LaneMeter::default();
        for tick in 0..5_000 {
            meter.begin(Sample {
                tick,
                article_bytes: 125,
                ..Sample::default()
            });
        }
        assert_eq!(meter.samples().len(), METER_TICKS);
        assert_eq!(
            meter.newest(10).map(|sample| sample.tick).min(),
            Some(4_990)
        );
        assert!((meter.kbps(Accounting::Article) - 60.0).abs() < 1e-9);
    }
}
