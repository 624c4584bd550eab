//! Summary of a run, as text and as JSON.

use std::collections::VecDeque;
use std::io::{self, Write};

use cubewire_cli::number;
use cubewire_codec::{BitKind, Snapshot};
use cubewire_scene::TICKS_PER_SECOND;
use serde::Serialize;

use crate::commands::args::NO_SCRIPT;
use crate::replication::{Accounting, LaneCheck, LaneMeter, Sample, Totals, kbps};
use crate::simulation::state_hash;

/// Figures of a run that are computed tick by tick and are not part of [`Totals`].
#[derive(Debug, Default)]
pub(super) struct PlayTotals {
    /// Bytes of each tick of the last second, and the maximum over all seconds.
    second: [VecDeque<usize>; Accounting::ALL.len()],
    peak_kbps: [f64; Accounting::ALL.len()],
    hash: u64,
    longest_wait_ticks: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rate {
    pub mean_kbps: f64,
    /// Highest bandwidth in any second, kilobits per second.
    pub peak_kbps: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindBits {
    pub kind: &'static str,
    pub bits_per_snapshot: f64,
}

impl KindBits {
    pub(in crate::commands) fn of(kind: BitKind, sums: &Totals) -> Self {
        Self { kind: kind.name(), bits_per_snapshot: sums.per_snapshot(sums.ledger.kind(kind)) }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub script: Option<String>,
    pub rung: &'static str,
    /// Name of the simulated network, or file of recorded delays. Null for the default.
    pub network: Option<String>,
    pub snapshots: usize,
    pub seconds: f64,
    pub article: Rate,
    pub wire: Rate,
    /// Packets per second. Fragments count separately.
    pub packets_per_second: f64,
    /// Share of the bandwidth that carries scene states to a new receiver, kilobits per second. Included in `article`
    /// and `wire`.
    pub states_kbps: f64,
    pub acks_kbps: f64,
    /// Mean number of cubes that differ from the baseline.
    pub changed_cubes: f64,
    pub payload_bytes: f64,
    pub largest_payload_bytes: usize,
    /// Payload bits by kind. Kinds without bits are left out.
    pub bits: Vec<KindBits>,
    /// Number of received and decoded snapshots, including those before the measurement started.
    pub received: u64,
    pub refused: u64,
    pub wrong: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetSummary>,
    /// Hash of all states of the simulation, bit by bit.
    pub state_hash: String,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct BudgetSummary {
    pub kbps: u32,
    pub max_second_kbps: f64,
    pub longest_wait_ticks: u64,
    /// Mean distance of the interacting cubes as shown from the simulation at the shown tick.
    pub mean_error_mm: f64,
    /// Largest distance of any cube.
    pub worst_error_mm: f64,
    /// Mean number of cubes in the packets of a tick.
    pub bodies_a_tick: f64,
    pub wrong: u64,
}

impl PlayTotals {
    pub(super) fn hash(&mut self, snapshot: &Snapshot) {
        self.hash = state_hash(self.hash, snapshot);
    }

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

    /// Summarizes a run with a budget of `kbps` kilobits per second.
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
                // A run shorter than a second has no peak, so use its mean.
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
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let script = self.script.as_deref().unwrap_or(NO_SCRIPT);
        writeln!(
            out,
            "{script}, {}{}: {} snapshots, {:.1} s",
            self.rung,
            self.network.as_ref().map_or_else(String::new, |name| format!(" over {name}")),
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
            writeln!(out, "  states   {states:>10} kbps, included above")?;
        }
        writeln!(
            out,
            "  payload  {:>10} bytes mean{:>10} bytes at most, {} packets a second\n  \
             acks     {:>10} kbps\n  \
             changed  {:>10} cubes that differ from the baseline, mean",
            number(self.payload_bytes, 1),
            number(self.largest_payload_bytes as f64, 0),
            number(self.packets_per_second, 0),
            number(self.acks_kbps, 1),
            number(self.changed_cubes, 1),
        )?;
        if let Some(budget) = &self.budget {
            writeln!(
                out,
                "  budget   {:>10} kbps, {} in the busiest second; {:.1} cubes a tick, longest wait {} ticks\n  \
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
