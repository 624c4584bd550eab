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
use cubewire_recording::Recording;
use serde::Serialize;

pub(crate) use self::exchange::exchange;
use crate::cli::WalkoffArgs;
use crate::error::Failure;
use crate::rungs;
use crate::train::read_model;

/// Result of a rung on a recording.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    /// Name of the rung.
    pub(crate) codec: &'static str,
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

pub(crate) fn print(args: &WalkoffArgs, out: &mut impl Write) -> Result<(), Failure> {
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
    let mut lossy_rung = None;
    for rung in &rungs {
        let outcome = exchange(&recording, rung, path, &model);
        if !outcome.lossless {
            lossy_rung = Some(rung.name);
        }
        match args.json {
            true => {
                let row = serde_json::to_string(&outcome).expect("an outcome is plain data");
                writeln!(out, "{row}")?;
            }
            false => table.row(outcome.cells()),
        }
    }
    if !args.json {
        let packets = number(recording.packets() as f64, 0);
        writeln!(out, "{}: {packets} packets{path}\n", args.file.display())?;
        writeln!(out, "{table}")?;
    }
    lossy_rung.map_or(Ok(()), |codec| Err(lossy(codec)))
}

/// Returns an error about a rung.
pub(crate) fn lossy(codec: &str) -> Failure {
    format!("{codec}: a received packet did not decode to its frame").into()
}

/// Removes the rungs that use a model which was trained on this recording. Prints a note on standard error if rungs are
/// removed. Fails if no rung is left.
fn untrained_rungs(
    mut rungs: Vec<Rung>,
    args: &WalkoffArgs,
    recording: &Recording,
    model: &TrainedModel,
) -> Result<Vec<Rung>, Failure> {
    if !model.trained_on().contains(&recording.hash()) {
        return Ok(rungs);
    }
    let trained = format!(
        "{}: the model was trained on this recording; choose another one with --model",
        args.file.display()
    );
    let requested = rungs.len();
    rungs.retain(|rung| !rung.stages.delta.is_arithmetic());
    if rungs.is_empty() {
        return Err(trained.into());
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
