//! Sends the packets of a recording over a simulated link, with acks in the other direction.

use std::collections::BTreeSet;
use std::sync::Arc;

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::Rung;
use cubewire_codec::{Baseline, Baselines, Packet, Sequence};
use cubewire_protocol::BaselineRing;
use cubewire_recording::{BASELINE_FRAMES, Recording};

use super::Outcome;
use crate::frames::Frames;
use crate::path::{Path, time};

/// Maximum age of a baseline, frames. The sender uses the initial state if every acked frame is older.
const MAX_BASELINE_AGE: usize = 256;

/// Number of snapshots that the receiver stores. A packet can be as late as its baseline is old.
const RECEIVER_HISTORY: usize = 2 * MAX_BASELINE_AGE;

/// Size of an ack, bytes. The link's bandwidth is unlimited, so the value has no effect.
const ACK_BYTES: usize = 2;

/// Sends a recording over a link on one rung.
pub(crate) fn exchange(
    recording: &Recording,
    rung: &Rung,
    path: Path,
    model: &Arc<TrainedModel>,
) -> Outcome {
    let mut frames = Frames::new(recording, rung.stages.precision());
    let (mut encoder, mut decoder) = frames.codecs(model);
    let (mut packets, mut acks) = (path.forward(), path.backward());
    let mut sent = BaselineRing::new(MAX_BASELINE_AGE);
    let mut received = BaselineRing::new(RECEIVER_HISTORY);
    let mut acked = BTreeSet::new();
    let (mut bytes, mut body_bytes, mut delivered, mut lossless) = (0, 0, 0, true);
    let mut packet = Packet::default();
    let (mut kept, mut decoded) = (Baseline::default(), Baseline::default());

    let mut frame = recording.first_sent();
    while frame < recording.frames.len() || packets.in_flight() > 0 {
        let now = time(frame);
        while let Some(frame) = acks.receive(now) {
            acked.insert(frame);
        }
        if frame < recording.frames.len() {
            let current = frames.quantize(frame);
            let mut held = acked
                .range(frame.saturating_sub(MAX_BASELINE_AGE - 1)..)
                .rev()
                .filter_map(|&acked: &usize| sent.get(acked as u64));
            let sequence = Sequence(frame as u16);
            let references = Baselines {
                baseline: held.next(),
                additional: [held.next(), held.next()],
                ..Baselines::default()
            };
            encoder
                .encode(sequence, rung.stages, current, references, &mut packet, Some(&mut kept))
                .expect("rungs are legal and frames are quantized for them");
            if frame >= BASELINE_FRAMES {
                bytes += packet.bytes.len();
                body_bytes += (packet.ledger.content() / 8.0).ceil() as usize;
            }
            sent.store(frame as u64, &mut kept);
            packets.send(now, packet.bytes.len(), (frame, packet.bytes.clone()));
        }
        while let Some((sent_in, received_bytes)) = packets.receive(now) {
            let tick = sent_in as u64;
            let held = |baseline| {
                let age = Sequence(sent_in as u16).ticks_since(baseline);
                received.get(tick.checked_sub(age.into())?)
            };
            let outcome = decoder.decode(&received_bytes, held, &mut decoded);
            let kept = sent.get(tick);
            let kept = kept.expect("packets arrive before the sender discards their snapshots");
            let is_exact = outcome.is_ok() && decoded == *kept;
            lossless &= is_exact;
            delivered += usize::from(sent_in >= BASELINE_FRAMES);
            if is_exact {
                received.store(tick, &mut decoded);
                acks.send(now, ACK_BYTES, sent_in);
            }
        }
        frame += 1;
    }
    let packets = recording.packets();
    let mean = |bytes: usize| bytes as f64 / packets as f64;
    let rate = f64::from(recording.plan.schema().ticks_per_second);
    Outcome {
        codec: rung.name,
        packets,
        bytes_per_packet: mean(bytes),
        body_bytes_per_packet: mean(body_bytes),
        kbps: mean(bytes) * rate * 8.0 / 1000.0,
        delivered,
        lossless,
    }
}
