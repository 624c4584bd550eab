//! Encodes and decodes a recording, rung by rung, under the contest's terms.
//!
//! A packet goes out every frame and is acked after a round trip; the baseline of the next is the
//! newest acked one. On a perfect link of six frames that is frame n against frame n − 6. Each
//! side has only what it has sent or received: a decoder sees the bytes of one packet and the
//! baselines that it decoded itself.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::Rung;
use cubewire_codec::{
    Baseline, CubeState, Decoder, Encoder, Limits, Packet, QuantizedSnapshot, References, Sequence,
    Snapshot,
};
use cubewire_protocol::BaselineRing;
use glam::Vec3;
use serde::Serialize;

use crate::cli::{Codecs, WalkoffArgs};
use crate::error::LabError;
use crate::path::{Path, time};
use crate::progress;
use crate::recording::{BASELINE_FRAMES, Recording};
use crate::table::Table;
use crate::train::read_prior;

/// Frames and packets a second.
const RATE: f64 = 60.0;

/// Oldest baseline that the sender uses, in frames. Then it starts again from the initial state.
const OLDEST_BASELINE: usize = 256;

/// Size of an ack. The bandwidth has no limit, so that sizes do not count.
const ACK_BYTES: usize = 2;

/// Snapshots that the receiver holds: the oldest baseline, and as long again under way.
const RECEIVER_HISTORY: usize = 2 * OLDEST_BASELINE;

/// What a rung made of a recording.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    /// Name of the rung.
    pub(crate) codec: &'static str,
    /// Packets sent.
    pub(crate) packets: usize,
    /// Mean size in whole bytes, header included.
    pub(crate) bytes_per_packet: f64,
    /// Mean size in whole bytes without the header's bits.
    pub(crate) body_bytes_per_packet: f64,
    /// Thousand bits a second at 60 packets a second.
    pub(crate) kbps: f64,
    /// Median time to encode a packet and keep what the receiver will have.
    pub(crate) encode_us: f64,
    /// Median time to decode a packet.
    pub(crate) decode_us: f64,
    /// Whether every delivered packet decoded to the exact frame.
    pub(crate) lossless: bool,
    /// What came through. Given only if the link's conditions were named.
    #[serde(flatten)]
    pub(crate) link: Option<Received>,
}

/// What came through the link.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Received {
    /// Packets that arrived.
    delivered: usize,
    /// Packets that decoded to the exact frame.
    decoded: usize,
}

/// Runs what the command line asks for and prints a row for each rung.
pub(crate) fn print(args: &WalkoffArgs, out: &mut impl Write) -> Result<(), LabError> {
    let recording = Recording::read(&args.file)?;
    let path = Path {
        loss: args.loss.unwrap_or(0.0),
        reorder: args.reorder.unwrap_or(0.0),
        rtt_frames: args
            .rtt_frames
            .map_or(BASELINE_FRAMES, |frames| frames as usize),
        seed: args.seed.unwrap_or(0),
    };
    // The keys of the link are there if any of its conditions was named.
    let linked = args.loss.is_some()
        || args.reorder.is_some()
        || args.rtt_frames.is_some()
        || args.seed.is_some();
    let mut header = vec![
        "codec",
        "bytes a packet",
        "without header",
        "kbps",
        "encode µs",
        "decode µs",
        "lossless",
    ];
    if linked {
        header.extend(["delivered", "decoded"]);
    }
    let mut table = Table::new(header);
    let Codecs(mut rungs) = args.codec.clone();
    let prior = match &args.prior {
        Some(path) => Arc::new(read_prior(path)?),
        None => TrainedModel::shipped(),
    };
    if !args.allow_trained && prior.trained_on().contains(&recording.hash()) {
        let trained = LabError::Trained {
            path: args.file.clone(),
        };
        let asked = rungs.len();
        rungs.retain(|rung| !rung.stages.delta.is_arithmetic());
        if rungs.is_empty() {
            return Err(trained);
        }
        if rungs.len() < asked {
            // If that cannot be written, the table is still right.
            let _ = writeln!(io::stderr(), "left out: {trained}");
        }
    }
    let bar = progress(rungs.len() * recording.packets(), "packets");
    let mut lossy = None;
    for rung in &rungs {
        let tally = run(&recording, rung, path, &prior, || bar.inc(1));
        let outcome = tally.outcome(rung.name, linked);
        if !outcome.lossless {
            lossy = Some(rung.name);
        }
        if args.json {
            bar.suspend(|| -> Result<(), LabError> {
                serde_json::to_writer(&mut *out, &outcome)?;
                Ok(writeln!(out)?)
            })?;
        } else {
            table.row(outcome.cells());
        }
    }
    bar.finish_and_clear();
    if !args.json {
        writeln!(
            out,
            "{}: {} packets\n",
            args.file.display(),
            recording.packets()
        )?;
        table.print(out)?;
    }
    lossy.map_or(Ok(()), |codec| Err(LabError::Lossy { codec }))
}

impl Outcome {
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![
            self.codec.to_owned(),
            format!("{:.1}", self.bytes_per_packet),
            format!("{:.1}", self.body_bytes_per_packet),
            format!("{:.1}", self.kbps),
            format!("{:.1}", self.encode_us),
            format!("{:.1}", self.decode_us),
            if self.lossless { "yes" } else { "NO" }.to_owned(),
        ];
        if let Some(Received { delivered, decoded }) = self.link {
            cells.extend([delivered.to_string(), decoded.to_string()]);
        }
        cells
    }
}

/// A packet under way, and what it must decode to.
#[derive(Clone)]
struct Sent {
    bytes: Vec<u8>,
    kept: Baseline,
}

/// What a rung makes of a recording on a path.
pub(crate) fn measure(
    recording: &Recording,
    rung: &Rung,
    path: Path,
    prior: &Arc<TrainedModel>,
) -> Outcome {
    run(recording, rung, path, prior, || ()).outcome(rung.name, false)
}

/// Sends a recording through the link on one rung. `tick` is called after each packet.
fn run(
    recording: &Recording,
    rung: &Rung,
    path: Path,
    prior: &Arc<TrainedModel>,
    tick: impl Fn(),
) -> Tally {
    let mut frames = Frames::new(recording, rung);
    let initial = frames.state(0);
    let stages = rung.stages;
    let limits = Limits::default();
    let proven = "a recording's values are checked when it is read";
    let encoder = Encoder::new(initial.clone(), limits).expect(proven);
    let mut encoder = encoder.with_model(Arc::clone(prior));
    let decoder = Decoder::new(initial, limits).expect(proven);
    let mut decoder = decoder.with_model(Arc::clone(prior));
    let (mut forth, mut back) = (path.forth(), path.back());
    let (mut held_by_sender, mut held_by_receiver) = (
        BaselineRing::new(OLDEST_BASELINE),
        BaselineRing::new(RECEIVER_HISTORY),
    );
    let mut packet = Packet::default();
    let mut acked = BTreeSet::new();
    // Memory to decode to.
    let mut spare: Option<Baseline> = None;
    let mut tally = Tally::default();

    let mut frame = BASELINE_FRAMES;
    while frame < recording.frames.len() || forth.under_way() > 0 {
        let now = time(frame);
        while let Some(frame) = back.receive(now) {
            acked.insert(frame);
        }
        if frame < recording.frames.len() {
            let current = frames.quantized(frame);
            let sequence = Sequence(frame as u16);
            let mut kept = held_by_sender.take_slot(frame as u64);
            let mut held = acked
                .range(frame.saturating_sub(OLDEST_BASELINE - 1)..)
                .rev()
                .filter_map(|&acked: &usize| held_by_sender.get(acked as u64));
            let references = References {
                baseline: held.next(),
                additional: [held.next(), held.next()],
            };
            let start = Instant::now();
            encoder
                .encode(
                    sequence,
                    stages,
                    current,
                    references,
                    &mut packet,
                    Some(&mut kept),
                )
                .expect("rungs are legal and frames quantized for them");
            tally.sent(&packet, start.elapsed());
            let sent = Sent {
                bytes: packet.bytes.clone(),
                kept: kept.clone(),
            };
            held_by_sender.insert(frame as u64, kept);
            forth.send(now, sent.bytes.len(), (frame, sent));
        }
        while let Some((sent_in, sent)) = forth.receive(now) {
            tally.delivered += 1;
            let tick = sent_in as u64;
            let held = |baseline| {
                let age = Sequence(sent_in as u16).ticks_since(baseline);
                held_by_receiver.get(tick.checked_sub(age.into())?)
            };
            let mut received = spare.take().unwrap_or_default();
            let start = Instant::now();
            let outcome = decoder.decode(&sent.bytes, held, &mut received);
            tally.decode_times.push(start.elapsed());
            if outcome.is_ok() && received == sent.kept {
                tally.exact += 1;
                spare = held_by_receiver.insert(tick, received);
                back.send(now, ACK_BYTES, sent_in);
            }
        }
        if frame < recording.frames.len() {
            tick();
        }
        frame += 1;
    }
    tally
}

/// The frames of a recording in the precision of a rung.
struct Frames<'a> {
    recording: &'a Recording,
    rung: &'a Rung,
    quantized: QuantizedSnapshot,
}

impl<'a> Frames<'a> {
    fn new(recording: &'a Recording, rung: &'a Rung) -> Self {
        Self {
            recording,
            rung,
            quantized: QuantizedSnapshot::new(rung.stages.precision()),
        }
    }

    fn quantized(&mut self, frame: usize) -> &QuantizedSnapshot {
        let precision = self.rung.stages.precision();
        let recorded = &self.recording.frames[frame];
        if recorded.precision() == precision {
            return recorded;
        }
        let state = self.state(frame);
        self.quantized
            .quantize(&state, precision)
            .expect("a recording's values are finite");
        &self.quantized
    }

    /// The floats that a frame stands for, with velocities from the frame before.
    fn state(&self, frame: usize) -> Snapshot {
        let now = &self.recording.frames[frame];
        let before = &self.recording.frames[frame.saturating_sub(1)];
        let cubes = (0..now.len()).map(|cube| {
            let state = now.cube(cube);
            let moved: Vec3 = state.position - before.cube(cube).position;
            CubeState {
                linear_velocity: moved * RATE as f32,
                ..state
            }
        });
        Snapshot {
            cubes: cubes.collect(),
        }
    }
}

#[derive(Default)]
struct Tally {
    bytes: usize,
    body_bytes: usize,
    encode_times: Vec<Duration>,
    decode_times: Vec<Duration>,
    delivered: usize,
    exact: usize,
}

impl Tally {
    fn sent(&mut self, packet: &Packet, time: Duration) {
        self.bytes += packet.bytes.len();
        self.body_bytes += (packet.ledger.body() / 8.0).ceil() as usize;
        self.encode_times.push(time);
    }

    fn outcome(mut self, codec: &'static str, linked: bool) -> Outcome {
        let packets = self.encode_times.len();
        let mean = |bytes: usize| bytes as f64 / packets as f64;
        Outcome {
            codec,
            packets,
            bytes_per_packet: mean(self.bytes),
            body_bytes_per_packet: mean(self.body_bytes),
            kbps: mean(self.bytes) * RATE * 8.0 / 1000.0,
            encode_us: median_us(&mut self.encode_times),
            decode_us: median_us(&mut self.decode_times),
            lossless: self.exact == self.delivered,
            link: linked.then_some(Received {
                delivered: self.delivered,
                decoded: self.exact,
            }),
        }
    }
}

fn median_us(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times
        .get(times.len() / 2)
        .map_or(0.0, |time| time.as_secs_f64() * 1e6)
}
