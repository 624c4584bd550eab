//! What a play cost.

use std::collections::VecDeque;
use std::io::{self, Write};

use cubewire_codec::{BitKind, BitLedger, Snapshot};
use cubewire_scene::TICKS_PER_SECOND;
use serde::Serialize;

use crate::cli::HeadlessArgs;
use crate::replication::{Accounting, LaneCheck, LaneMeter, Sample, kbps};
use crate::simulation::state_hash;

/// Sums over the samples of a play.
#[derive(Debug, Default)]
pub(super) struct Totals {
    samples: usize,
    snapshots: usize,
    bytes: [usize; Accounting::ALL.len()],
    /// Bytes of each tick of the newest second, and the most that a second had.
    second: [VecDeque<usize>; Accounting::ALL.len()],
    peak_kbps: [f64; Accounting::ALL.len()],
    packets: usize,
    ack_bytes: usize,
    renet_ack_bytes: usize,
    ledger: BitLedger,
    changed_cubes: usize,
    largest_payload_bytes: usize,
    hash: u64,
}

/// Mean and peak of one way to count.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rate {
    /// Mean, kilobits a second.
    pub mean_kbps: f64,
    /// The second in which most was sent, kilobits.
    pub peak_kbps: f64,
}

/// Bits of one kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindBits {
    /// Which.
    pub kind: &'static str,
    /// Mean over all snapshots.
    pub bits_per_snapshot: f64,
}

/// Figures of one play, for people and, as JSON, for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The script's file, or null if nobody played.
    pub script: Option<String>,
    /// Rung that was sent with.
    pub rung: &'static str,
    /// Snapshots counted.
    pub snapshots: usize,
    /// Seconds counted.
    pub seconds: f64,
    /// By [`Accounting::Article`].
    pub article: Rate,
    /// By [`Accounting::Wire`].
    pub wire: Rate,
    /// Packets a second, fragments counted one by one.
    pub packets_per_second: f64,
    /// Our acks, in wire accounting.
    pub acks_kbps: f64,
    /// The transport's own acks, in wire accounting.
    pub transport_acks_kbps: f64,
    /// Cubes that differed from the baseline, mean.
    pub changed_cubes: f64,
    /// Mean payload of a snapshot.
    pub payload_bytes: f64,
    /// Largest payload of a snapshot.
    pub largest_payload_bytes: usize,
    /// Where the payload's bits went; kinds that took none are left out.
    pub bits: Vec<KindBits>,
    /// Snapshots that arrived and were decoded, uncounted ones included.
    pub received: u64,
    /// Packets that the decoder refused.
    pub refused: u64,
    /// Decoded snapshots that were not, cube by cube, what was sent.
    pub wrong: u64,
    /// Hash of every state of the simulation, bit by bit.
    pub state_hash: String,
}

impl Totals {
    /// Takes in the state of a tick.
    pub(super) fn hash(&mut self, snapshot: &Snapshot) {
        self.hash = state_hash(self.hash, snapshot);
    }

    /// Counts a tick.
    pub(super) fn add(&mut self, sample: &Sample) {
        self.samples += 1;
        self.snapshots += sample.snapshots;
        for (index, accounting) in Accounting::ALL.into_iter().enumerate() {
            let bytes = sample.bytes(accounting);
            self.bytes[index] += bytes;
            let second = &mut self.second[index];
            second.push_back(bytes);
            if second.len() > TICKS_PER_SECOND as usize {
                second.pop_front();
            }
            if second.len() == TICKS_PER_SECOND as usize {
                let now = kbps(second.iter().sum(), second.len());
                self.peak_kbps[index] = self.peak_kbps[index].max(now);
            }
        }
        self.packets += sample.packets;
        self.ack_bytes += sample.ack_bytes;
        self.renet_ack_bytes += sample.renet_ack_bytes;
        self.ledger.add(&sample.ledger);
        self.changed_cubes += sample.changed_cubes;
        self.largest_payload_bytes = self.largest_payload_bytes.max(sample.payload_bytes);
    }

    pub(super) fn summary(
        &self,
        args: &HeadlessArgs,
        rung: &'static str,
        meter: &LaneMeter,
        check: LaneCheck,
    ) -> Summary {
        let per_snapshot = |sum: f64| sum / self.snapshots.max(1) as f64;
        let rate = |accounting: Accounting| {
            let mean_kbps = kbps(self.bytes[accounting as usize], self.samples);
            Rate {
                mean_kbps,
                // A play of less than a second has no other.
                peak_kbps: self.peak_kbps[accounting as usize].max(mean_kbps),
            }
        };
        let bits = BitKind::ALL
            .into_iter()
            .filter(|&kind| self.ledger.kind(kind) > 0.0)
            .map(|kind| KindBits {
                kind: kind.name(),
                bits_per_snapshot: per_snapshot(self.ledger.kind(kind)),
            });
        Summary {
            script: args
                .play
                .script
                .as_ref()
                .map(|path| path.display().to_string()),
            rung,
            snapshots: self.snapshots,
            seconds: self.samples as f64 / f64::from(TICKS_PER_SECOND),
            article: rate(Accounting::Article),
            wire: rate(Accounting::Wire),
            packets_per_second: self.packets as f64 / self.samples.max(1) as f64
                * f64::from(TICKS_PER_SECOND),
            acks_kbps: kbps(self.ack_bytes, self.samples),
            transport_acks_kbps: kbps(self.renet_ack_bytes, self.samples),
            changed_cubes: per_snapshot(self.changed_cubes as f64),
            payload_bytes: per_snapshot(self.ledger.total() / 8.0),
            largest_payload_bytes: self.largest_payload_bytes,
            bits: bits.collect(),
            received: meter.received,
            refused: meter.refused,
            wrong: check.wrong,
            state_hash: format!("{:016x}", self.hash),
        }
    }
}

impl Summary {
    /// Prints it for people.
    ///
    /// # Errors
    /// Whatever writing to `out` gives.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let script = self.script.as_deref().unwrap_or("nobody plays");
        writeln!(
            out,
            "{script}, {}: {} snapshots, {:.1} s",
            self.rung, self.snapshots, self.seconds
        )?;
        for (name, rate) in [("article", self.article), ("wire", self.wire)] {
            writeln!(
                out,
                "  {name:<9}{:>10.1} kbps mean {:>10.1} kbps in the busiest second",
                rate.mean_kbps, rate.peak_kbps
            )?;
        }
        writeln!(
            out,
            "  payload  {:>10.1} bytes mean{:>10} bytes at most, {:.0} packets a second\n  \
             acks     {:>10.1} kbps ours {:>10.1} kbps the transport's\n  \
             changed  {:>10.1} cubes against the baseline, mean",
            self.payload_bytes,
            self.largest_payload_bytes,
            self.packets_per_second,
            self.acks_kbps,
            self.transport_acks_kbps,
            self.changed_cubes,
        )?;
        writeln!(out, "  bits a snapshot:")?;
        let total: f64 = self.bits.iter().map(|kind| kind.bits_per_snapshot).sum();
        for kind in &self.bits {
            writeln!(
                out,
                "    {:<14}{:>10.1}{:>7.1} %",
                kind.kind,
                kind.bits_per_snapshot,
                100.0 * kind.bits_per_snapshot / total
            )?;
        }
        writeln!(
            out,
            "  {} snapshots decoded, {} refused, {} wrong; state hash {}",
            self.received, self.refused, self.wrong, self.state_hash
        )
    }
}
