//! Summary of a run, as text and as JSON.

use std::collections::VecDeque;
use std::io::{self, Write};

use cubewire_cli::number;
use cubewire_codec::{BitKind, Snapshot};
use cubewire_scene::TICKS_PER_SECOND;
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::args::NO_SCRIPT;
use crate::game::headless::LaneGame;
use crate::replication::{Accounting, LaneCheck, Sample, Totals, kbps};
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
pub struct KindBits {
    pub kind: &'static str,
    pub bits_per_snapshot: f64,
}

impl KindBits {
    pub(in crate::commands) fn of(kind: BitKind, sums: &Totals) -> Self {
        Self { kind: kind.name(), bits_per_snapshot: sums.per_snapshot(sums.ledger.kind(kind)) }
    }
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

    /// Figures of a run with a budget of `kbps` kilobits per second.
    fn budget(&self, kbps: u32, sums: &Totals, wrong: u64) -> Value {
        json!({
            "kbps": kbps,
            "max_second_kbps": self.peak_kbps[Accounting::OnTheWire as usize],
            "longest_wait_ticks": self.longest_wait_ticks,
            // Mean distance of the interacting cubes as shown from the simulation at the shown tick.
            "mean_error_mm": 1000.0 * sums.mean_error_m().unwrap_or(0.0),
            // Largest distance of any cube.
            "worst_error_mm": f64::from(1000.0 * sums.max_error_m),
            // Mean number of cubes in the packets of a tick.
            "bodies_a_tick": sums.sent_bodies as f64 / sums.ticks.max(1) as f64,
            "wrong": wrong,
        })
    }

    /// Figures of a run. `budget` is its limit in kilobits per second.
    pub(super) fn summary(
        &self,
        script: Option<String>,
        rung: &'static str,
        network: Option<String>,
        budget: Option<u32>,
        game: &LaneGame,
    ) -> Value {
        let (meter, LaneCheck { wrong, .. }) = (game.meter(), game.check());
        let sums = &meter.totals();
        let rate = |accounting: Accounting| {
            let mean_kbps = sums.kbps(accounting);
            // A run shorter than a second has no peak, so use its mean.
            let peak_kbps = self.peak_kbps[accounting as usize].max(mean_kbps);
            json!({ "mean_kbps": mean_kbps, "peak_kbps": peak_kbps })
        };
        let bits = BitKind::DEMO
            .into_iter()
            .filter(|&kind| sums.ledger.kind(kind) > 0.0)
            .map(|kind| KindBits::of(kind, sums));
        let mut summary = json!({
            "script": script,
            "rung": rung,
            // Name of the simulated network, or file of recorded delays. Null for the default.
            "network": network,
            "snapshots": sums.snapshots,
            "seconds": sums.ticks as f64 / f64::from(TICKS_PER_SECOND),
            "article": rate(Accounting::PayloadAndUdp),
            "wire": rate(Accounting::OnTheWire),
            // Fragments count separately.
            "packets_per_second": sums.packets_per_second(),
            // Share of the bandwidth that carries scene states to a new receiver. Included in `article` and `wire`.
            "states_kbps": sums.kbps_of((sums.ledger.kind(BitKind::State) / 8.0) as usize),
            "acks_kbps": sums.kbps_of(sums.traffic.ack_bytes),
            // Mean number of cubes that differ from the baseline.
            "changed_cubes": sums.per_snapshot(sums.changed_bodies as f64),
            "payload_bytes": sums.per_snapshot(sums.ledger.total() / 8.0),
            "largest_payload_bytes": sums.max_payload_bytes,
            // Payload bits by kind. Kinds without bits are left out.
            "bits": bits.collect::<Vec<_>>(),
            // Received and decoded snapshots, including those before the measurement started.
            "received": meter.received,
            "refused": meter.refused,
            "wrong": wrong,
        });
        if let Some(kbps) = budget {
            summary["budget"] = self.budget(kbps, sums, wrong);
        }
        // Hash of all states of the simulation, bit by bit.
        summary["state_hash"] = format!("{:016x}", self.hash).into();
        summary
    }
}

fn print_playing(playing: &Value, out: &mut impl Write) -> io::Result<()> {
    let of = |name: &str, decimals| {
        playing[name].as_f64().map_or_else(|| "-".to_owned(), |it| number(it, decimals))
    };
    let both = |name: &str, decimals| match playing[name].as_array() {
        Some(values) => {
            let values = values.iter().filter_map(Value::as_f64).map(|it| number(it, decimals));
            values.collect::<Vec<_>>().join(" / ")
        }
        None => "-".to_owned(),
    };
    writeln!(
        out,
        "  keys     {:>10} ms to their effect, {} of them wait at the simulation; playout delay {} ms\n  \
         own cube {:>10} cm corrected while free, {} cm while it pushes; {} corrections a second\n  \
         again    {:>10} ticks a second, {} ms each time",
        of("delay_ms", 1),
        of("queue_ms", 1),
        of("playout_ms", 1),
        both("free_cm", 1),
        both("pushing_cm", 1),
        of("corrections_a_second", 2),
        of("ticks_again_a_second", 1),
        both("again_ms", 2),
    )
}

pub(super) fn print(summary: &Value, out: &mut impl Write) -> io::Result<()> {
    let real = |figure: &Value| figure.as_f64().unwrap_or_default();
    let figure = |of: &Value, name: &str, decimals| number(real(&of[name]), decimals);
    let of = |name, decimals| figure(summary, name, decimals);
    let text = |name: &str| summary[name].as_str().unwrap_or_default();
    writeln!(
        out,
        "{}, {}{}: {} snapshots, {:.1} s",
        summary["script"].as_str().unwrap_or(NO_SCRIPT),
        text("rung"),
        summary["network"].as_str().map_or_else(String::new, |name| format!(" over {name}")),
        of("snapshots", 0),
        real(&summary["seconds"])
    )?;
    for name in ["article", "wire"] {
        let [mean, peak] = ["mean_kbps", "peak_kbps"].map(|of| figure(&summary[name], of, 1));
        writeln!(out, "  {name:<9}{mean:>10} kbps mean {peak:>10} kbps in the busiest second")?;
    }
    if real(&summary["states_kbps"]) > 0.0 {
        writeln!(out, "  states   {:>10} kbps, included above", of("states_kbps", 1))?;
    }
    writeln!(
        out,
        "  payload  {:>10} bytes mean{:>10} bytes at most, {} packets a second\n  \
         acks     {:>10} kbps\n  \
         changed  {:>10} cubes that differ from the baseline, mean",
        of("payload_bytes", 1),
        of("largest_payload_bytes", 0),
        of("packets_per_second", 0),
        of("acks_kbps", 1),
        of("changed_cubes", 1),
    )?;
    if let Some(budget) = summary.get("budget") {
        writeln!(
            out,
            "  budget   {:>10} kbps, {} in the busiest second; {:.1} cubes a tick, longest wait {} ticks\n  \
             error    {:>10} mm mean, {} mm at most",
            figure(budget, "kbps", 0),
            figure(budget, "max_second_kbps", 1),
            real(&budget["bodies_a_tick"]),
            budget["longest_wait_ticks"],
            figure(budget, "mean_error_mm", 1),
            figure(budget, "worst_error_mm", 1),
        )?;
    }
    if let Some(playing) = summary.get("playing") {
        print_playing(playing, out)?;
    }
    writeln!(out, "  bits a snapshot:")?;
    let kinds = summary["bits"].as_array().into_iter().flatten();
    let kinds = kinds.map(|kind| (&kind["kind"], real(&kind["bits_per_snapshot"])));
    let total: f64 = kinds.clone().map(|(_, bits)| bits).sum();
    for (kind, bits) in kinds {
        let (kind, share) = (kind.as_str().unwrap_or_default(), 100.0 * bits / total);
        writeln!(out, "    {kind:<14}{:>10}{share:>7.1} %", number(bits, 1))?;
    }
    writeln!(
        out,
        "  {} snapshots decoded, {} refused, {} wrong; state hash {}",
        of("received", 0),
        summary["refused"],
        summary["wrong"],
        text("state_hash")
    )
}
