//! Arithmetic coding: its sizes, its trained models, and the differences that it detects.

use std::sync::Arc;

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::{ARITHMETIC, PREDICTED, Rung};
use cubewire_codec::training::Trainer;
use cubewire_codec::{
    Baseline, Baselines, BodyState, DecodeError, Decoder, Encoder, Limits, Packet, Plan,
    QuantizedSnapshot, Sequence, Snapshot,
};

use crate::recording;

/// Frames between a snapshot and its baseline.
const AGE: usize = 6;

/// Both ends, and what they keep.
struct Ends {
    encoder: Encoder,
    decoder: Decoder,
    sent: Vec<Baseline>,
    received: Vec<Baseline>,
    packet: Packet,
}

impl Ends {
    fn new(initial: &Snapshot, model: &Arc<TrainedModel>) -> Self {
        let encoder = Encoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
        let decoder = Decoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
        Self {
            encoder: encoder.with_model(Arc::clone(model)),
            decoder: decoder.with_model(Arc::clone(model)),
            sent: Vec::new(),
            received: Vec::new(),
            packet: Packet::default(),
        }
    }

    /// Encodes the next frame, relative to the one six before it and, if `additional`, to the two before that.
    fn encode(&mut self, rung: Rung, current: &QuantizedSnapshot, additional: bool) {
        let frame = self.sent.len();
        let at = |age: usize| Some(&self.sent[frame.checked_sub(age)?]);
        let references = Baselines {
            baseline: at(AGE),
            additional: [AGE + 1, AGE + 2].map(|age| at(age).filter(|_| additional)),
            ..Baselines::default()
        };
        let mut kept = Baseline::default();
        let sequence = Sequence(frame as u16);
        let (stages, packet) = (rung.stages, &mut self.packet);
        self.encoder
            .encode(
                sequence,
                stages,
                current,
                references,
                packet,
                Some(&mut kept),
            )
            .unwrap();
        self.sent.push(kept);
    }

    fn decode(&mut self) -> Result<Baseline, DecodeError> {
        let mut received = Baseline::default();
        let held = |sequence: Sequence| self.received.get(usize::from(sequence.0));
        self.decoder
            .decode(&self.packet.bytes, held, &mut received)?;
        Ok(received)
    }

    fn send(&mut self, rung: Rung, current: &QuantizedSnapshot, additional: bool) {
        self.encode(rung, current, additional);
        let received = self.decode().unwrap();
        assert_eq!(&received, self.sent.last().unwrap());
        assert_eq!(received.snapshot(), current);
        self.received.push(received);
    }
}

fn floats(snapshot: &QuantizedSnapshot) -> Snapshot {
    let mut floats = Snapshot::default();
    snapshot.dequantize(&mut floats);
    floats
}

/// A model trained on these frames.
fn trained(frames: &[QuantizedSnapshot]) -> Arc<TrainedModel> {
    let mut trainer = Trainer::default();
    for _ in 0..2 {
        for rung in [ARITHMETIC, PREDICTED] {
            let mut kept: Vec<Baseline> = Vec::new();
            for (frame, current) in frames.iter().enumerate() {
                let mut next = Baseline::default();
                let baseline = frame.checked_sub(AGE).map(|frame| &kept[frame]);
                next.record(Sequence(frame as u16), rung.stages, current, baseline);
                if let Some(baseline) = baseline {
                    let additional = [1, 2].map(|more| Some(&kept[frame.checked_sub(AGE + more)?]));
                    trainer.learn(rung.stages, current, baseline, AGE as u16, additional);
                    trainer.copy_state(rung.stages.delta, &mut next);
                }
                kept.push(next);
            }
        }
        trainer.end_pass();
    }
    Arc::new(trainer.finish(Vec::new()))
}

/// Mean bytes of the packets of some frames. Checks the memory of 256 baselines.
fn mean_bytes(
    frames: &[QuantizedSnapshot],
    rung: Rung,
    model: &Arc<TrainedModel>,
    additional: bool,
) -> f64 {
    let mut ends = Ends::new(&floats(&frames[0]), model);
    let mut bytes = 0;
    for frame in frames {
        ends.send(rung, frame, additional);
        bytes += ends.packet.bytes.len();
        let ledger = &ends.packet.ledger;
        assert!((ledger.total() - ends.packet.bytes.len() as f64 * 8.0).abs() < 1e-6);
    }
    let memory: usize = ends
        .sent
        .iter()
        .rev()
        .take(256)
        .map(Baseline::memory_bytes)
        .sum();
    assert!(memory < 64 << 20, "{memory} bytes for 256 baselines");
    bytes as f64 / frames.len() as f64
}

#[test]
fn a_model_trained_on_one_recording_improves_another() {
    let pull = recording::frames("dev-pull");
    let mix = recording::frames("dev-mix");
    let (pull, mix) = (&pull[300..900], &mix[300..900]);
    let untrained = Arc::new(TrainedModel::untrained());
    let model = trained(pull);
    let untrained_arithmetic = mean_bytes(mix, ARITHMETIC, &untrained, true);
    let arithmetic = mean_bytes(mix, ARITHMETIC, &model, true);
    let without = mean_bytes(mix, PREDICTED, &model, false);
    let predicted = mean_bytes(mix, PREDICTED, &model, true);
    println!("{untrained_arithmetic:.1} {arithmetic:.1} {without:.1} {predicted:.1}");
    assert!(arithmetic < 0.95 * untrained_arithmetic);
    assert!(without < arithmetic);
    assert!(
        predicted < 0.97 * without,
        "additional references improve the predictions"
    );
}

#[test]
fn a_world_at_rest_takes_at_most_eight_bytes() {
    let frames = recording::frames("dev-mix");
    let still = vec![frames[0].clone(); 40];
    for rung in [ARITHMETIC, PREDICTED] {
        let mut ends = Ends::new(&floats(&frames[0]), &TrainedModel::shipped());
        for frame in &still {
            ends.send(rung, frame, true);
        }
        let bytes = ends.packet.bytes.len();
        assert!(bytes <= 8, "{}: {bytes} bytes", rung.name);
    }
}

#[test]
fn other_initial_states_and_models_are_detected() {
    let frames = recording::frames("dev-mix");
    let initial = floats(&frames[0]);
    let mut other = initial.clone();
    other.bodies[500].position.x += 0.1;
    for rung in [ARITHMETIC, PREDICTED] {
        let mut ends = Ends::new(&initial, &TrainedModel::shipped());
        let decoder = Decoder::new(Plan::cubes(), other.clone(), Limits::default()).unwrap();
        ends.decoder = decoder;
        ends.encode(rung, &frames[400], true);
        assert!(ends.decode().is_err());

        let mut ends = Ends::new(&initial, &TrainedModel::shipped());
        let decoder = Decoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
        ends.decoder = decoder.with_model(trained(&frames[400..420]));
        ends.encode(rung, &frames[400], true);
        assert!(ends.decode().is_err());
    }
}

#[test]
fn a_drifted_adaptive_state_is_detected() {
    let frames = recording::frames("dev-mix");
    for rung in [ARITHMETIC, PREDICTED] {
        let mut ends = Ends::new(&floats(&frames[0]), &TrainedModel::shipped());
        for frame in &frames[400..420] {
            ends.send(rung, frame, true);
        }
        // The receiver has the right bodies, but from another chain of packets.
        let last = ends.received.len() - AGE;
        let stages = rung.stages;
        let mut drifted = Baseline::default();
        let (sequence, snapshot) = (ends.sent[last].sequence(), ends.sent[last].snapshot());
        drifted.record(sequence, stages, snapshot, None);
        ends.received[last] = drifted;
        ends.encode(rung, &frames[420], true);
        assert!(ends.decode().is_err(), "{}", rung.name);
    }
}

#[test]
fn as_many_bodies_as_there_may_be_can_move_at_one_point() {
    // Only some of their pairs are compared, as all of them would take too long.
    let body = BodyState::default();
    let initial = Snapshot {
        bodies: vec![body; 65_536],
    };
    let mut moved = initial.clone();
    for body in &mut moved.bodies {
        body.position.z = 1.0;
    }
    let mut quantized = QuantizedSnapshot::new(Plan::cubes(), PREDICTED.stages.precision());
    quantized
        .quantize(&moved, PREDICTED.stages.precision())
        .unwrap();
    let mut ends = Ends::new(&initial, &TrainedModel::shipped());
    ends.send(PREDICTED, &quantized, true);
}

#[test]
fn teleported_bodies_are_coded() {
    // From corner to corner of the world, so that every prediction is far outside.
    let mut initial = floats(&recording::frames("dev-mix")[0]);
    for rung in [ARITHMETIC, PREDICTED] {
        let mut ends = Ends::new(&initial, &TrainedModel::shipped());
        let mut quantized = QuantizedSnapshot::new(Plan::cubes(), rung.stages.precision());
        for frame in 0..60 {
            for (index, body) in initial.bodies.iter_mut().enumerate().take(40) {
                let corner = if (frame / (1 + index % 7)) % 2 == 0 {
                    -255.9
                } else {
                    255.9
                };
                body.position.x = corner;
                body.position.y = -corner;
                body.position.z = 16.0 + corner / 17.0;
            }
            quantized
                .quantize(&initial, rung.stages.precision())
                .unwrap();
            ends.send(rung, &quantized, true);
        }
    }
}
