//! The packets of a connection and their fates. Each end has one record per connection.
//!
//! A [`Record`] keeps a [`Sample`] for each tick of the last minute. Figures for any span are computed from the
//! samples: sums as [`Totals`], fates as [`ArrivalCounts`]. Totals since a [mark](Record::mark) cover runs of any
//! length.

mod detail;
mod packet;
mod totals;

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::Stages;

use crate::clock::sequence;
use crate::feedback::Ack;

pub use detail::PacketDetail;
pub use packet::{ArrivalCounts, Fate, HEADER_BYTES, PacketArrival, PacketRecord};
pub use totals::{Accounting, Totals, TransportBytes, kbps};

/// One tick of a connection.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The simulation's tick. A viewer counts its own ticks.
    pub tick: u64,
    /// Stages of the connection, even if no snapshot was sent in this tick.
    pub stages: Stages,
    /// The budget of the connection, kilobits a second on the wire, or `None` without one.
    pub budget_kbps: Option<u32>,
    /// Requested number of ticks between two snapshots.
    pub send_interval_ticks: u32,
    /// Snapshots that were sent in this tick: one, or 0 at a lower send rate. At a receiver, the received ones.
    pub snapshots: Vec<PacketRecord>,
    /// Longest wait of a body, ticks; 0 without a budget.
    pub longest_wait_ticks: u64,
    /// Traffic of the transport.
    pub traffic: TransportBytes,
    /// Age of the newest acked snapshot, or `None` before the first ack.
    pub acked_age_ticks: Option<u16>,
    /// Number of packets that the simulated link lost in this tick on the way to the receiver.
    pub lost: usize,
    /// Number of snapshots that arrived in this tick too late to be displayed.
    pub late: usize,
    /// Number of snapshots in the jitter buffer that are not displayed yet.
    pub buffered: usize,
    /// The playout delay, in addition to the shortest time in transit.
    pub playout_delay: Duration,
    /// Number of playout stalls that began in this tick because the next snapshot was missing.
    pub stalls: usize,
    /// Time that playout stood still in this tick.
    pub starved: Duration,
    /// Time since the newest [tick input](crate::ClientConnection::push_tick_input) that has its effect in the displayed tick.
    pub input_age: Option<Duration>,
    /// Number of inputs that waited at the server, as it last reported. `None` without tick inputs.
    pub queued_inputs: Option<u8>,
    /// Distance between two predictions of the player's own body, before and after a correction, metres. `None` without a correction.
    pub correction_m: Option<f32>,
    /// Number of ticks that were simulated again for the correction, and the time that all prediction took.
    pub corrected_ticks: u32,
    /// See [`corrected_ticks`](Self::corrected_ticks).
    pub predicting: Duration,
    /// The replica error. Its tick is `None` if the connection does not measure it.
    pub replica_error: ReplicaError,
}

/// Difference between the displayed state and the simulation at the same tick. While playout is stalled, the
/// difference to the state that should be displayed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplicaError {
    /// Tick that should be displayed. `None` before the first snapshot, and after a silence longer than the history.
    pub tick: Option<f64>,
    /// Mean distance of the interacting bodies, metres; 0 without such bodies.
    pub mean_m: f32,
    /// Maximum distance of a body, metres.
    pub max_m: f32,
    /// Mean angle of the interacting bodies, degrees; 0 without such bodies.
    pub mean_degrees: f32,
    /// Maximum angle of a body, degrees.
    pub max_degrees: f32,
}

/// Ticks a second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate(u32);

impl Default for Rate {
    fn default() -> Self {
        Self(60)
    }
}

/// The last minute of a connection, and totals since a mark.
///
/// Memory is limited to a minute of samples, two packets per tick on average, and
/// [`MAX_DETAIL_BYTES`](Self::MAX_DETAIL_BYTES) of details. The default is for a connection with 60 ticks a second.
#[derive(Clone, Debug, Default)]
pub struct Record {
    rate: Rate,
    samples: VecDeque<Sample>,
    /// Number of samples at the front that have no packet details any more.
    undetailed: usize,
    /// Size of the details in all samples but the newest one, which still gets packets.
    detail_bytes: usize,
    /// Number of packets in all samples but the newest one.
    packets: usize,
    /// Sums over the samples since the mark, without the newest one.
    totals: Totals,
    /// Whether the newest sample is from before the mark.
    is_marked: bool,
    /// The newest tick with an acked snapshot.
    newest_acked: Option<u64>,
    /// Whether the settings have changed since the newest sample.
    is_switched: bool,
}

impl Record {
    /// Length of the record, seconds.
    pub const SECONDS: usize = 60;

    /// Maximum memory for packet details, bytes. The newest tick may exceed it.
    pub const MAX_DETAIL_BYTES: usize = 11 << 20;

    /// Creates an empty record.
    pub fn new(ticks_per_second: u32) -> Self {
        Self {
            rate: Rate(ticks_per_second),
            totals: Totals::new(ticks_per_second),
            ..Self::default()
        }
    }

    /// Creates a record with these samples, oldest first, of a connection with 60 ticks a second.
    pub fn from_samples(samples: impl IntoIterator<Item = Sample>) -> Self {
        let mut record = Self::default();
        for sample in samples {
            record.begin(sample);
        }
        record
    }

    /// Returns the samples, oldest first, without gaps. The newest one is for the last tick.
    pub const fn samples(&self) -> &VecDeque<Sample> {
        &self.samples
    }

    /// Iterates over all packets, oldest first.
    pub fn packets(&self) -> impl DoubleEndedIterator<Item = &PacketRecord> {
        self.samples.iter().flat_map(|sample| &sample.snapshots)
    }

    /// Returns the tick of the newest sample, or `None` if the record is empty.
    pub fn newest_tick(&self) -> Option<u64> {
        Some(self.samples.back()?.tick)
    }

    /// Iterates over the newest `ticks` samples, or all if the record has fewer.
    pub fn newest(&self, ticks: usize) -> impl ExactSizeIterator<Item = &Sample> {
        self.samples.range(self.samples.len().saturating_sub(ticks)..)
    }

    /// Iterates over the samples up to a tick, or up to the newest one, newest first.
    pub fn back_from(&self, tick: Option<u64>) -> impl Iterator<Item = &Sample> {
        let samples = self.samples.iter().rev();
        samples.skip_while(move |sample| tick.is_some_and(|tick| sample.tick > tick))
    }

    /// Returns the sample of a tick.
    pub fn at(&self, tick: u64) -> Option<&Sample> {
        self.samples.get(self.index_of(tick)?)
    }

    /// Samples have no gaps, so the index follows from the tick.
    fn index_of(&self, tick: u64) -> Option<usize> {
        let newest = self.newest_tick()?;
        let back = usize::try_from(newest.checked_sub(tick)?).ok()?;
        let index = self.samples.len().checked_sub(1 + back)?;
        (self.samples[index].tick == tick).then_some(index)
    }

    /// Returns the tick before which packets that have not arrived count as lost. With acks, it is 32 ticks before
    /// the newest acked one, because an ack has a bit for each tick and older acks come first. Without acks, it
    /// is a second before the newest tick.
    pub fn settled_tick(&self) -> u64 {
        match self.newest_acked {
            Some(acked) => acked.saturating_sub(u32::BITS.into()),
            None => {
                let newest = self.newest_tick().unwrap_or(0);
                newest.saturating_sub(self.rate.0.into())
            }
        }
    }

    /// Whether any packet of the two seconds before `moment`, or before now, has arrived. Without arrivals, for
    /// example on a cut link, a comparison of costs is meaningless.
    pub fn arrives(&self, moment: Option<u64>) -> bool {
        let mut samples = self.back_from(moment).take(2 * self.rate.0 as usize);
        samples.any(|sample| {
            let mut packets = sample.snapshots.iter();
            packets.any(|packet| packet.arrival.is_some())
        })
    }

    /// Returns the sums over samples of the record.
    pub fn sum<'a>(&self, samples: impl IntoIterator<Item = &'a Sample>) -> Totals {
        let mut totals = Totals::of(samples);
        totals.rate = self.rate;
        totals
    }

    /// Returns the sums since the [mark](Self::mark), or since the start.
    pub fn totals(&self) -> Totals {
        let mut totals = self.totals.clone();
        if let Some(newest) = self.samples.back().filter(|_| !self.is_marked) {
            totals.add(newest);
        }
        totals
    }

    /// Restarts the [totals](Self::totals) with the next tick.
    pub fn mark(&mut self) {
        self.totals = Totals::new(self.rate.0);
        self.is_marked = !self.samples.is_empty();
    }

    /// Returns the mean bandwidth over the newest second, kilobits a second; 0 before the first tick.
    pub fn kbps(&self, accounting: Accounting) -> f64 {
        let second = self.newest(self.rate.0 as usize);
        self.sum(second).kbps(accounting)
    }

    /// Returns the end of the period for displayed means: `moment`, or else a recent tick that advances four times a
    /// second so that figures stay readable.
    pub fn steady_tick(&self, moment: Option<u64>) -> Option<u64> {
        let quarter = u64::from(self.rate.0 / 4).max(1);
        let newest = || Some(self.newest_tick()? / quarter * quarter);
        moment.or_else(newest)
    }

    /// Returns the sums over the second up to the [steady tick](Self::steady_tick), for displayed means. `None` if
    /// the settings changed during this second, because a mean would mix both.
    pub fn second(&self, moment: Option<u64>) -> Option<Totals> {
        if moment.is_none() && self.is_switched {
            return None;
        }
        let ticks = self.rate.0 as usize;
        let shown = self.back_from(moment).next()?;
        let second = self.back_from(self.steady_tick(moment)).take(ticks);
        let totals = self.sum(second.take_while(|sample| sample.is_sent_like(shown)));
        (totals.ticks == ticks).then_some(totals)
    }

    /// Memory in use for packet details, bytes.
    pub fn detail_bytes(&self) -> usize {
        self.detail_bytes + self.samples.back().map_or(0, Sample::detail_bytes)
    }

    /// Begins a tick and drops samples that are too old. Skipped ticks get empty samples.
    pub fn begin(&mut self, sample: Sample) {
        let kept = Self::SECONDS * self.rate.0 as usize;
        // A sample of tick 0 may be from before the first tick: see `current`.
        if let Some(newest) = self.newest_tick().filter(|&tick| tick > 0) {
            // After a pause that is longer than the record, every old sample is dropped.
            let first = (newest + 1).max((sample.tick + 1).saturating_sub(kept as u64));
            for tick in first..sample.tick {
                self.push(Sample { tick, ..Sample::default() });
            }
        }
        self.push(sample);
        while self.samples.len() > kept || self.packets > 2 * kept && self.samples.len() > 1 {
            let oldest = self.samples.pop_front();
            let oldest = oldest.expect("the record is not empty");
            self.undetailed = self.undetailed.saturating_sub(1);
            self.detail_bytes -= oldest.detail_bytes();
            self.packets -= oldest.snapshots.len();
        }
        while self.detail_bytes > Self::MAX_DETAIL_BYTES
            && let Some(oldest) = self.samples.get_mut(self.undetailed)
        {
            self.undetailed += 1;
            self.detail_bytes -= oldest.detail_bytes();
            for packet in &mut oldest.snapshots {
                packet.detail = None;
            }
        }
    }

    fn push(&mut self, sample: Sample) {
        if let Some(newest) = self.samples.back() {
            self.detail_bytes += newest.detail_bytes();
            self.packets += newest.snapshots.len();
            if !std::mem::take(&mut self.is_marked) {
                self.totals.add(newest);
            }
        }
        self.is_switched = false;
        self.samples.push_back(sample);
    }

    /// Returns the newest sample. Before the first tick, this is an empty sample of tick 0.
    pub fn current(&mut self) -> &mut Sample {
        if self.samples.is_empty() {
            self.samples.push_back(Sample::default());
        }
        self.samples.back_mut().expect("a sample was just pushed")
    }

    /// Records that the packets of a tick have arrived in the newest tick.
    pub fn on_arrival(&mut self, tick: u64, is_late: bool) {
        let (Some(newest), Some(index)) = (self.newest_tick(), self.index_of(tick)) else {
            return;
        };
        for packet in &mut self.samples[index].snapshots {
            packet
                .arrival
                .get_or_insert(PacketArrival { after_ticks: after(tick, newest), is_late });
        }
    }

    /// Records which sent snapshots have arrived according to an ack that is processed at tick `now`.
    pub fn on_ack(&mut self, now: u64, ack: &Ack) {
        for sample in self.samples.iter_mut().rev() {
            let tick = sample.tick;
            // The ack covers no samples from here on.
            if (33..0x8000).contains(&ack.newest.ticks_since(sequence(tick))) {
                break;
            }
            if ack.covers(sequence(tick)) {
                for packet in &mut sample.snapshots {
                    packet.acked_after_ticks.get_or_insert(after(tick, now));
                    self.newest_acked = self.newest_acked.max(Some(tick));
                }
            }
        }
    }

    /// Records that the settings change with the next tick.
    pub const fn switch(&mut self) {
        self.is_switched = true;
    }
}

fn after(tick: u64, now: u64) -> u16 {
    now.saturating_sub(tick).min(u16::MAX.into()) as u16
}

impl Sample {
    /// Whether playout stood still because the next snapshot was missing.
    pub const fn is_starved(&self) -> bool {
        !self.starved.is_zero()
    }

    /// Size of the snapshots in an accounting, bytes.
    pub fn bytes(&self, accounting: Accounting) -> usize {
        match accounting {
            Accounting::PayloadAndUdp => {
                self.snapshots.iter().map(PacketRecord::article_bytes).sum()
            }
            Accounting::OnTheWire => self.traffic.wire_bytes,
        }
    }

    /// Whether stages, budget and send interval are the same.
    pub fn is_sent_like(&self, other: &Self) -> bool {
        self.stages == other.stages
            && self.budget_kbps == other.budget_kbps
            && self.send_interval_ticks == other.send_interval_ticks
    }

    fn detail_bytes(&self) -> usize {
        let details = self.snapshots.iter();
        let details = details.filter_map(|packet| packet.detail.as_ref());
        details.map(|detail| detail.memory_bytes()).sum()
    }
}

#[cfg(test)]
mod tests;
