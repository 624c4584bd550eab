//! Sends a recording from one end to the other, for tests and benches.

#![allow(clippy::disallowed_methods, reason = "no browser runs this")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use cubewire_codec::ladder::Rung;
use cubewire_codec::{
    Baseline, Baselines, Decoder, Encoder, Inputs, Limits, Packet, Plan, QuantizedSnapshot,
    Sequence, Simulated, Snapshot, Stages,
};

/// Age of a baseline in frames.
pub(crate) const AGE: usize = 6;

/// Minimum number of snapshots that each end keeps: the baseline, and the two before it.
const KEPT: usize = AGE + 2;

/// Both ends of a lane over a perfect link, with their baselines.
pub(crate) struct Replay<'a> {
    stages: Stages,
    frames: &'a [QuantizedSnapshot],
    encoder: Encoder,
    pub(crate) decoder: Decoder,
    pub(crate) current: QuantizedSnapshot,
    pub(crate) packet: Packet,
    pub(crate) sent: Vec<Baseline>,
    received: Vec<Baseline>,
    spare: [Baseline; 2],
    /// Number of the next frame to send; the first one is [`AGE`].
    pub(crate) frame: usize,
}

impl<'a> Replay<'a> {
    /// Starts before frame 6, the first frame to be sent. The rung must have the recording's precision.
    pub(crate) fn new(rung: Rung, frames: &'a [QuantizedSnapshot]) -> Self {
        Self::with_ring(rung, frames, KEPT)
    }

    /// Like [`new`](Self::new), for ends that keep this many snapshots.
    pub(crate) fn with_ring(rung: Rung, frames: &'a [QuantizedSnapshot], snapshots: usize) -> Self {
        let mut initial = Snapshot::default();
        frames[0].dequantize(&mut initial);
        Self { frames, ..Self::without_frames(&Plan::cubes(), &initial, rung.stages, snapshots) }
    }

    /// Ends without a recording. The caller sets [`current`](Self::current) before each [`send`](Self::send).
    pub(crate) fn without_frames(
        plan: &Arc<Plan>,
        initial: &Snapshot,
        stages: Stages,
        snapshots: usize,
    ) -> Self {
        let (scene, limits) = (|| Arc::clone(plan), Limits::default());
        Self {
            stages,
            frames: &[],
            encoder: Encoder::new(scene(), initial.clone(), limits).unwrap(),
            decoder: Decoder::new(scene(), initial.clone(), limits).unwrap(),
            current: QuantizedSnapshot::new(scene(), stages.precision()),
            packet: Packet::default(),
            sent: vec![Baseline::default(); snapshots],
            received: vec![Baseline::default(); snapshots],
            spare: Default::default(),
            frame: AGE,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.frame == self.frames.len()
    }

    /// Sends the next frame, or the first one after the last. Returns the time that each end took.
    pub(crate) fn step(&mut self) -> [Duration; 2] {
        // In a game, a snapshot was quantized just before and is in the cache.
        let next = &self.frames[self.frame % self.frames.len()];
        self.current.copy_from(next);
        self.send(None)
    }

    /// Sends the current snapshot, and checks the decoded one. Returns the time that each end took.
    pub(crate) fn send(&mut self, inputs: Option<&Inputs>) -> [Duration; 2] {
        let (sequence, slot) = (Sequence(self.frame as u16), self.frame % self.sent.len());
        // The first packets are relative to the initial state, because frame 6 is the first one sent.
        let at = |age: usize| {
            let frame = self.frame.checked_sub(age).filter(|&frame| frame >= AGE)?;
            Some(&self.sent[frame % self.sent.len()])
        };
        let references = Baselines {
            baseline: at(AGE),
            additional: [at(AGE + 1), at(AGE + 2)],
            simulated: Simulated { inputs, state_chunk: &[] },
            ..Baselines::default()
        };
        let (current, packet) = (&self.current, &mut self.packet);
        let [kept, decoded] = &mut self.spare;

        let start = Instant::now();
        self.encoder
            .encode(sequence, self.stages, current, references, packet, Some(kept))
            .unwrap();
        let encode = start.elapsed();

        let start = Instant::now();
        let held =
            |named: Sequence| Some(&self.received[usize::from(named.0) % self.received.len()]);
        let begun = self.decoder.begin(&packet.bytes, held).unwrap();
        self.decoder.finish(begun, held, Some(current), decoded).unwrap();
        let decode = start.elapsed();

        assert_eq!(decoded.snapshot(), current);
        assert_eq!(decoded, kept);
        std::mem::swap(&mut self.sent[slot], kept);
        std::mem::swap(&mut self.received[slot], decoded);
        self.frame += 1;
        [encode, decode]
    }
}
