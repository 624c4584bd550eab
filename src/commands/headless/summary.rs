//! The bandwidth of a run, as text and as JSON.

use std::collections::VecDeque;
use std::io::{self, Write};

use cubewire_cli::number;
use cubewire_codec::{BitKind, Snapshot};
use cubewire_scene::TICKS_PER_SECOND;
use serde::Serialize;

use crate::commands::args::NO_SCRIPT;
use crate::replication::{Accounting, LaneCheck, LaneMeter, Sample, Totals, kbps};
use crate::simulation::state_hash;

/// What the totals of a play's record do not say, as it is only known by the tick.
#[derive(Debug, Default)]
pub(super) struct PlayTotals {
    /// Bytes of each tick of the last second, and the maximum over all seconds.
    second: [VecDeque<usize>; Accounting::ALL.len()],
    peak_kbps: [f64; Accounting::ALL.len()],
    hash: u64,
    longest_wait_ticks: u64,
}

/// Mean and peak of one way to count.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rate {
    /// Mean, kilobits a second.
    pub mean_kbps: f64,
    /// The second in which most was sent, kilobits a second.
    pub peak_kbps: f64,
}

/// Bits of one kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindBits {
    /// Its name.
    pub kind: &'static str,
    /// Mean over all snapshots.
    pub bits_per_snapshot: f64,
}

impl KindBits {
    /// Those of a kind in these sums.
    pub(in crate::commands) fn of(kind: BitKind, sums: &Totals) -> Self {
        Self {
            kind: kind.name(),
            bits_per_snapshot: sums.per_snapshot(sums.ledger.kind(kind)),
        }
    }
}

/// Figures of one play, for people and, as JSON, for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The script's file, or null without one.
    pub script: Option<String>,
    /// The rung of the lane.
    pub rung: &'static str,
    /// The simulated network by name, or the file of recorded delays; null for the default.
    pub network: Option<String>,
    /// Snapshots counted.
    pub snapshots: usize,
    /// Seconds counted.
    pub seconds: f64,
    /// By [`Accounting::PayloadAndUdp`].
    pub article: Rate,
    /// By [`Accounting::OnTheWire`].
    pub wire: Rate,
    /// Packets a second, fragments counted one by one.
    pub packets_per_second: f64,
    /// What states of the scene for the receiver take of both.
    pub states_kbps: f64,
    /// Acks of snapshots, in wire accounting.
    pub acks_kbps: f64,
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
    /// What became of a budget, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetSummary>,
    /// Hash of every state of the simulation, bit by bit.
    pub state_hash: String,
}

/// How a budget was kept, and at what price.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BudgetSummary {
    /// The budget, kilobits a second on the wire.
    pub kbps: u32,
    /// The second in which most was sent, on the wire.
    pub max_second_kbps: f64,
    /// Ticks for which a cube has waited at most.
    pub longest_wait_ticks: u64,
    /// Mean distance between an interacting cube as shown and as it was in the simulation at the tick that is shown.
    pub mean_error_mm: f64,
    /// The largest distance of any cube.
    pub worst_error_mm: f64,
    /// Cubes in the packets of a tick, mean.
    pub bodies_a_tick: f64,
    /// Decoded snapshots that were not, cube by cube, what was sent.
    pub wrong: u64,
}

impl PlayTotals {
    /// Hashes the state of a tick.
    pub(super) fn hash(&mut self, snapshot: &Snapshot) {
        self.hash = state_hash(self.hash, snapshot);
    }

    /// Counts a tick.
    pub(super) fn add(&mut self, sample: &Sample) {
        self.longest_wait_ticks = self.longest_wait_ticks.max(sample.longest_wait_ticks);
        let seconds = self.second.iter_mut().zip(&mut self.peak_kbps);
        for ((second, peak_kbps), accounting) in seconds.zip(Accounting::ALL) {
            second.push_back(sample.bytes(accounting));
            if second.len() > TICKS_PER_SECOND as usize {
                second.pop_front();
            }
            if second.len() == TICKS_PER_SECOND as usize {
                *peak_kbps = peak_kbps.max(kbps(second.iter().sum(), second.len()));
            }
        }
    }

    /// What became of a budget of so many kilobits a second.
    pub(super) fn budget(&self, kbps: u32, sums: &Totals, wrong: u64) -> BudgetSummary {
        BudgetSummary {
            kbps,
            max_second_kbps: self.peak_kbps[Accounting::OnTheWire as usize],
            longest_wait_ticks: self.longest_wait_ticks,
            mean_error_mm: 1000.0 * sums.mean_error_m().unwrap_or(0.0),
            worst_error_mm: f64::from(1000.0 * sums.max_error_m),
            bodies_a_tick: sums.sent_bodies as f64 / sums.ticks.max(1) as f64,
            wrong,
        }
    }

    pub(super) fn summary(
        &self,
        script: Option<String>,
        rung: &'static str,
        network: Option<String>,
        meter: &LaneMeter,
        check: LaneCheck,
    ) -> Summary {
        let sums = &meter.totals();
        let rate = |accounting: Accounting| {
            let mean_kbps = sums.kbps(accounting);
            Rate {
                mean_kbps,
                // A play of less than a second has no other.
                peak_kbps: self.peak_kbps[accounting as usize].max(mean_kbps),
            }
        };
        let bits = BitKind::DEMO
            .into_iter()
            .filter(|&kind| sums.ledger.kind(kind) > 0.0)
            .map(|kind| KindBits::of(kind, sums));
        Summary {
            script,
            rung,
            network,
            snapshots: sums.snapshots,
            seconds: sums.ticks as f64 / f64::from(TICKS_PER_SECOND),
            article: rate(Accounting::PayloadAndUdp),
            wire: rate(Accounting::OnTheWire),
            packets_per_second: sums.packets_per_second(),
            states_kbps: sums.kbps_of((sums.ledger.kind(BitKind::State) / 8.0) as usize),
            acks_kbps: sums.kbps_of(sums.traffic.ack_bytes),
            changed_cubes: sums.per_snapshot(sums.changed_bodies as f64),
            payload_bytes: sums.per_snapshot(sums.ledger.total() / 8.0),
            largest_payload_bytes: sums.max_payload_bytes,
            bits: bits.collect(),
            received: meter.received,
            refused: meter.refused,
            wrong: check.wrong,
            budget: None,
            state_hash: format!("{:016x}", self.hash),
        }
    }
}

impl Summary {
    /// Prints it for people.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let script = self.script.as_deref().unwrap_or(NO_SCRIPT);
        writeln!(
            out,
            "{script}, {}{}: {} snapshots, {:.1} s",
            self.rung,
            self.network
                .as_ref()
                .map_or_else(String::new, |name| format!(" over {name}")),
            number(self.snapshots as f64, 0),
            self.seconds
        )?;
        for (name, rate) in [("article", self.article), ("wire", self.wire)] {
            writeln!(
                out,
                "  {name:<9}{:>10} kbps mean {:>10} kbps in the busiest second",
                number(rate.mean_kbps, 1),
                number(rate.peak_kbps, 1)
            )?;
        }
        if self.states_kbps > 0.0 {
            let states = number(self.states_kbps, 1);
            writeln!(out, "  states   {states:>10} kbps of these")?;
        }
        writeln!(
            out,
            "  payload  {:>10} bytes mean{:>10} bytes at most, {} packets a second\n  \
             acks     {:>10} kbps\n  \
             changed  {:>10} cubes against the baseline, mean",
            number(self.payload_bytes, 1),
            number(self.largest_payload_bytes as f64, 0),
            number(self.packets_per_second, 0),
            number(self.acks_kbps, 1),
            number(self.changed_cubes, 1),
        )?;
        if let Some(budget) = &self.budget {
            writeln!(
                out,
                "  budget   {:>10} kbps, {} in the busiest second; {:.1} cubes a tick, the longest wait {} ticks\n  \
                 error    {:>10} mm mean, {} mm at most",
                number(budget.kbps.into(), 0),
                number(budget.max_second_kbps, 1),
                budget.bodies_a_tick,
                budget.longest_wait_ticks,
                number(budget.mean_error_mm, 1),
                number(budget.worst_error_mm, 1),
            )?;
        }
        writeln!(out, "  bits a snapshot:")?;
        let total: f64 = self.bits.iter().map(|kind| kind.bits_per_snapshot).sum();
        for kind in &self.bits {
            writeln!(
                out,
                "    {:<14}{:>10}{:>7.1} %",
                kind.kind,
                number(kind.bits_per_snapshot, 1),
                100.0 * kind.bits_per_snapshot / total
            )?;
        }
        writeln!(
            out,
            "  {} snapshots decoded, {} refused, {} wrong; state hash {}",
            number(self.received as f64, 0),
            self.refused,
            self.wrong,
            self.state_hash
        )
    }
}
