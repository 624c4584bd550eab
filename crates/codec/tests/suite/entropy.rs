//! Arithmetic coding: trained and arbitrary models, detection of differences between the two ends, and extreme scenes.

use std::sync::Arc;

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::{ARITHMETIC, PREDICTED, Rung};
use cubewire_codec::training::Trainer;
use cubewire_codec::{Baseline, BitLedger, Plan, QuantizedSnapshot, Sequence, Simulated, Snapshot};
use glam::Vec3;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::conformance::real_play;
use crate::golden::play;
use crate::lane::{Lane, floats, quantized};
use crate::recording;

/// Frames between a snapshot and its baseline.
const AGE: usize = 6;

/// Sequence of a frame, and of its references: the frame six before it and, if `additional`, the two frames before
/// that.
fn numbered(frame: usize, additional: bool) -> (Sequence, [Option<Sequence>; 3]) {
    let names = [AGE, AGE + 1, AGE + 2].map(|age| {
        let frame = frame.checked_sub(age)?;
        (age == AGE || additional).then_some(Sequence(frame as u16))
    });
    (Sequence(frame as u16), names)
}

/// Sends the next frame.
fn send(lane: &mut Lane, rung: Rung, current: &QuantizedSnapshot, additional: bool) {
    let (sequence, names) = numbered(lane.sent.len(), additional);
    lane.send_simulated((sequence, rung.stages), current, names, Simulated::default());
}

/// Sends frames of floats with both variants.
fn send_on_both(frames: &[(Sequence, Snapshot)]) {
    for rung in [ARITHMETIC, PREDICTED] {
        let mut lane = Lane::new(&frames[0].1, BitLedger::new());
        for (sequence, frame) in frames {
            let at = |age| Some(Sequence(sequence.0.wrapping_sub(age)));
            let current = quantized(&Plan::cubes(), frame, rung.stages);
            let (numbered, names) = ((*sequence, rung.stages), [6, 7, 8].map(at));
            lane.send_simulated(numbered, &current, names, Simulated::default());
        }
    }
}

/// Whether the receiver decodes the next frame.
fn is_decoded(lane: &mut Lane, rung: Rung, current: &QuantizedSnapshot) -> bool {
    let (sequence, names) = numbered(lane.sent.len(), true);
    lane.encode((sequence, rung.stages), current, names, Simulated::default());
    let bytes = lane.packet.bytes.clone();
    lane.decode(&bytes, None).is_ok()
}

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

fn mean_bytes(
    frames: &[QuantizedSnapshot],
    rung: Rung,
    model: &Arc<TrainedModel>,
    additional: bool,
) -> f64 {
    let mut lane = Lane::with_model(&floats(&frames[0]), model);
    let mut bytes = 0;
    for frame in frames {
        send(&mut lane, rung, frame, additional);
        bytes += lane.packet.bytes.len();
    }
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
    assert!(predicted < 0.97 * without, "additional references improve the predictions");
}

#[test]
fn other_initial_states_and_models_are_detected() {
    let frames = recording::frames("dev-mix");
    let initial = floats(&frames[0]);
    let mut other = initial.clone();
    other.bodies[500].position.x += 0.1;
    let model = trained(&frames[400..420]);
    for rung in [ARITHMETIC, PREDICTED] {
        for decoder in [
            Lane::new(&other, BitLedger::new()).decoder,
            Lane::with_model(&initial, &model).decoder,
        ] {
            let mut lane = Lane::new(&initial, BitLedger::new());
            lane.decoder = decoder;
            assert!(!is_decoded(&mut lane, rung, &frames[400]));
        }
    }
}

#[test]
fn a_drifted_adaptive_state_is_detected() {
    let frames = recording::frames("dev-mix");
    for rung in [ARITHMETIC, PREDICTED] {
        let mut lane = Lane::new(&floats(&frames[0]), BitLedger::new());
        for frame in &frames[400..420] {
            send(&mut lane, rung, frame, true);
        }
        // The receiver has the right bodies, but its adaptive state comes from another chain of packets.
        let last = (lane.sent.len() - AGE) as u16;
        let mut drifted = Baseline::default();
        drifted.record(Sequence(last), rung.stages, lane.sent[&last].snapshot(), None);
        lane.received.insert(last, drifted);
        assert!(!is_decoded(&mut lane, rung, &frames[420]), "{}", rung.name);
    }
}

#[test]
fn worlds_move_as_a_whole_and_bodies_are_put_elsewhere() {
    // More bodies change than can touch or carry others, all close together.
    let mut frames = real_play(12);
    for (frame, (_, state)) in frames.iter_mut().enumerate() {
        for (n, body) in state.bodies.iter_mut().enumerate() {
            body.position.x *= 0.2;
            body.position.y *= 0.2;
            body.position.x += 0.01 * (frame * (1 + n % 5)) as f32;
        }
    }
    send_on_both(&frames);
    // From corner to corner of the world, so that every prediction is far outside.
    let mut frames = real_play(30);
    for (frame, (_, state)) in frames.iter_mut().enumerate() {
        for (n, body) in state.bodies.iter_mut().enumerate().take(40) {
            let side = (frame / (1 + n % 7)) % 2;
            let corner = [-255.9, 255.9][side];
            body.position = Vec3::new(corner, -corner, 16.0 + corner / 17.0);
        }
    }
    send_on_both(&frames);
}

const MODELS: usize = 24;

/// Fills a model with random numbers, or with the extremes of every width.
fn any_model(random: &mut ChaCha8Rng, kind: usize) -> TrainedModel {
    const EXTREMES: [u8; 6] = [0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF];
    let mut bytes = TrainedModel::untrained().to_bytes();
    // Keeps the magic number and the number of recordings, 0.
    let numbers = &mut bytes[9..];
    match kind % 4 {
        0 => random.fill_bytes(numbers),
        1 => numbers.fill_with(|| EXTREMES[random.random_range(0..EXTREMES.len())]),
        2 => {
            let (a, b) = (random.random_range(0..6), random.random_range(0..6));
            for pair in numbers.chunks_mut(2) {
                pair[0] = EXTREMES[a];
                *pair.last_mut().unwrap() = EXTREMES[b];
            }
        }
        // Long runs of equal entries.
        _ => {
            for run in numbers.chunks_mut(random.random_range(16..9_000)) {
                run.fill(random.random());
            }
        }
    }
    TrainedModel::from_bytes(&bytes).unwrap()
}

#[test]
fn with_any_model_both_ends_understand_each_other_and_refuse_damage() {
    let mut random = ChaCha8Rng::seed_from_u64(crate::seed());
    let (initial, frames) = play();
    for kind in 0..MODELS {
        let model = Arc::new(any_model(&mut random, kind));
        println!("model {kind}");
        for rung in [ARITHMETIC, PREDICTED] {
            let mut lane = Lane::with_model(&initial, &model);
            for (number, frame) in frames.iter().enumerate().take(16) {
                let names = [2, 3, 4].map(|age| Some(Sequence(number.checked_sub(age)? as u16)));
                let numbered = (Sequence(number as u16), rung.stages);
                lane.send_simulated(numbered, frame, names, Simulated::default());
                for _ in 0..20 {
                    let mut damaged = lane.packet.bytes.clone();
                    let index = random.random_range(0..damaged.len());
                    damaged[index] ^= random.random_range(1..=u8::MAX);
                    // One packet in 16 384 may pass its check.
                    let _ = lane.decode(&damaged, None);
                }
            }
        }
    }
}
