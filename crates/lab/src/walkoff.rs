//! Encodes and decodes a recording on each rung, with the rules in `assets/recordings/README.md`.
//!
//! One packet is sent per frame. Its ack arrives after a round trip, and the baseline of a packet is the newest acked
//! frame. On a perfect link with a round trip of six frames, the baseline of frame n is frame n − 6. The decoder has
//! only the bytes of the packet and the baselines that it decoded itself. Packets of the first six frames must decode
//! exactly but are not counted.

mod exchange;

use std::io::{self, Write};
use std::sync::Arc;

use cubewire_cli::{Table, number};
use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::Rung;
use cubewire_codec::{Packet, Plan};
use cubewire_recording::Recording;
use serde::Serialize;

use self::exchange::exchange;
use crate::cli::WalkoffArgs;
use crate::error::LabError;
use crate::path::Path;
use crate::progress;
use crate::rungs;
use crate::train::read_model;

/// Result of a rung on a recording.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    /// Name of the rung.
    pub(crate) codec: &'static str,
    /// Packets sent.
    pub(crate) packets: usize,
    /// Mean packet size including the header, bytes.
    pub(crate) bytes_per_packet: f64,
    /// Mean packet size without the header, with each packet rounded up to whole bytes.
    pub(crate) body_bytes_per_packet: f64,
    /// Bandwidth at one packet per tick, kbit/s.
    pub(crate) kbps: f64,
    /// Number of packets that arrived.
    pub(crate) delivered: usize,
    /// Whether every packet that arrived decoded to the exact frame.
    pub(crate) lossless: bool,
}

pub(crate) fn print(args: &WalkoffArgs, out: &mut impl Write) -> Result<(), LabError> {
    let recording = Recording::read(&args.file)?;
    let path = args.link;
    let model = match &args.model {
        Some(path) => Arc::new(read_model(path)?),
        None if args.untrained => Arc::new(TrainedModel::untrained()),
        None => TrainedModel::shipped(),
    };
    let rungs = rungs::chosen(&args.codec, &recording.plan)?;
    let rungs = untrained_rungs(rungs, args, &recording, &model)?;

    let mut table =
        Table::new(["codec", "bytes a packet", "without header", "kbps", "delivered", "lossless"]);
    let bar = progress(rungs.len() * recording.packets(), "packets");
    let mut lossy = None;
    for rung in &rungs {
        let tally = exchange(&recording, rung, path, &model, || bar.inc(1));
        let outcome = tally.outcome(rung.name, &recording.plan);
        if !outcome.lossless {
            lossy = Some(rung.name);
        }
        if args.json {
            let row = serde_json::to_string(&outcome).expect("an outcome is plain data");
            bar.suspend(|| writeln!(out, "{row}"))?;
        } else {
            table.row(outcome.cells());
        }
    }
    bar.finish_and_clear();
    if !args.json {
        let packets = number(recording.packets() as f64, 0);
        writeln!(out, "{}: {packets} packets{path}\n", args.file.display())?;
        writeln!(out, "{table}")?;
    }
    lossy.map_or(Ok(()), |codec| Err(LabError::Lossy { codec }))
}

/// Removes the rungs that use a model which was trained on this recording, unless this is allowed. Prints a note on
/// standard error if rungs are removed. Fails if no rung is left.
fn untrained_rungs(
    mut rungs: Vec<Rung>,
    args: &WalkoffArgs,
    recording: &Recording,
    model: &TrainedModel,
) -> Result<Vec<Rung>, LabError> {
    if args.allow_trained || !model.trained_on().contains(&recording.hash()) {
        return Ok(rungs);
    }
    let trained = LabError::Trained { path: args.file.clone() };
    let requested = rungs.len();
    rungs.retain(|rung| !rung.stages.delta.is_arithmetic());
    if rungs.is_empty() {
        return Err(trained);
    }
    if rungs.len() < requested {
        // The table is complete without this note, so a failed write is ignored.
        let _ = writeln!(io::stderr(), "skipped arithmetic rungs: {trained}");
    }
    Ok(rungs)
}

impl Outcome {
    fn cells(&self) -> [String; 6] {
        let figure = |figure: f64| number(figure, 1);
        [
            self.codec.to_owned(),
            figure(self.bytes_per_packet),
            figure(self.body_bytes_per_packet),
            figure(self.kbps),
            number(self.delivered as f64, 0),
            if self.lossless { "yes" } else { "NO" }.to_owned(),
        ]
    }
}

pub(crate) fn measure(
    recording: &Recording,
    rung: &Rung,
    path: Path,
    model: &Arc<TrainedModel>,
) -> Outcome {
    exchange(recording, rung, path, model, || ()).outcome(rung.name, &recording.plan)
}

/// Counters over the packets of one rung.
#[derive(Default)]
struct Tally {
    bytes: usize,
    body_bytes: usize,
    packets: usize,
    delivered: usize,
    /// Packets that did not decode to the exact frame, including packets of the first six frames.
    wrong: usize,
}

impl Tally {
    fn sent(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.bytes.len();
        self.body_bytes += (packet.ledger.content() / 8.0).ceil() as usize;
    }

    /// Counts a packet that arrived. `is_counted` is false for the first six frames.
    fn received(&mut self, is_exact: bool, is_counted: bool) {
        self.wrong += usize::from(!is_exact);
        self.delivered += usize::from(is_counted);
    }

    fn outcome(self, codec: &'static str, plan: &Plan) -> Outcome {
        let packets = self.packets;
        let mean = |bytes: usize| bytes as f64 / packets as f64;
        Outcome {
            codec,
            packets,
            bytes_per_packet: mean(self.bytes),
            body_bytes_per_packet: mean(self.body_bytes),
            kbps: mean(self.bytes) * f64::from(plan.schema().ticks_per_second) * 8.0 / 1000.0,
            delivered: self.delivered,
            lossless: self.wrong == 0,
        }
    }
}
