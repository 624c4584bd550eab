//! Packets decode with arbitrary numbers in the trained model, because a model may come from an untrusted source.

use std::sync::Arc;

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::{ARITHMETIC, PREDICTED};
use cubewire_codec::{Baseline, Sequence, Simulated};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::golden::play;
use crate::lane::Lane;

/// Number of models to try.
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
                let lookup = |sequence: Sequence| lane.received.get(&sequence.0);
                for _ in 0..20 {
                    let mut damaged = lane.packet.bytes.clone();
                    let index = random.random_range(0..damaged.len());
                    damaged[index] ^= random.random_range(1..=u8::MAX);
                    // One packet in 16 384 may pass its check.
                    let mut out = Baseline::default();
                    let _ = lane.decoder.decode(&damaged, lookup, &mut out);
                }
            }
        }
    }
}
