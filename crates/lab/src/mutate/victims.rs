//! Packets to damage, with what their receivers hold.

use std::collections::VecDeque;

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::Rung;
use cubewire_codec::{Baseline, Baselines, Packet, Sequence};
use cubewire_recording::{BASELINE_FRAMES, Recording};

use super::Target;
use crate::frames::Frames;

/// A packet, and what its receiver holds.
pub(super) struct Victim {
    pub(super) bytes: Vec<u8>,
    /// The snapshot as it decodes.
    pub(super) decoded: Baseline,
    /// The snapshots before it, the newest last.
    pub(super) held: Vec<Baseline>,
}

/// Packets of a rung, from the start to the end of the recording.
const VICTIMS: usize = 64;

/// One packet in this number names no baseline, as after a gap in the acks.
const WITHOUT_BASELINE: usize = 4;

/// Snapshots that a receiver holds: enough for the oldest that a packet names.
const HELD: usize = 10;

/// One frame in this number is lost, so that the ages of baselines vary.
const LOST: usize = 5;

/// Sends a recording on a rung, and takes packets out of it.
pub(super) fn victims(recording: &Recording, rung: &Rung) -> Target {
    let mut frames = Frames::new(recording, rung.stages.precision());
    let (mut encoder, decoder) = frames.codecs(&TrainedModel::shipped());
    let mut held: VecDeque<Baseline> = VecDeque::new();
    let mut packet = Packet::default();
    let mut victims = Vec::new();

    let packets = recording.packets();
    for sent in 0..packets {
        let frame = BASELINE_FRAMES + sent;
        let current = frames.quantize(frame);
        // The last of every share of the recording.
        let is_victim = (sent + 1) * VICTIMS / packets > sent * VICTIMS / packets;
        let mut acked = (1..).zip(held.iter().rev()).filter_map(|(age, baseline)| {
            let is_acked = age >= BASELINE_FRAMES && !(frame - age).is_multiple_of(LOST);
            is_acked.then_some(baseline)
        });
        let references = match is_victim && victims.len() % WITHOUT_BASELINE == 0 {
            true => Baselines::default(),
            false => Baselines {
                baseline: acked.next(),
                additional: [acked.next(), acked.next()],
                ..Baselines::default()
            },
        };
        let mut kept = Baseline::default();
        encoder
            .encode(
                Sequence(frame as u16),
                rung.stages,
                current,
                references,
                &mut packet,
                Some(&mut kept),
            )
            .expect("rungs are legal and frames are quantized for them");
        if is_victim {
            victims.push(Victim {
                bytes: packet.bytes.clone(),
                decoded: kept.clone(),
                held: held.iter().cloned().collect(),
            });
        }
        held.push_back(kept);
        if held.len() > HELD {
            held.pop_front();
        }
    }
    Target {
        rung: *rung,
        decoder,
        victims,
    }
}
