//! The second decoder agrees with the first about packets of simulated scenes.

use cubewire_codec::ladder::SIMULATED;
use cubewire_codec::{Baseline, Origin, QuantizedSnapshot, Sequence};
use proptest::prelude::*;

use crate::engine::{Foreseen, Scene, shifted};
use crate::pair::{Pair, real_play};
use crate::scene::scenes;

fn quantized(snapshot: &cubewire_codec::Snapshot) -> QuantizedSnapshot {
    let mut quantized = QuantizedSnapshot::new(SIMULATED.stages.precision());
    quantized
        .quantize(snapshot, SIMULATED.stages.precision())
        .unwrap();
    quantized
}

/// An origin by its number. The last is none.
fn origin(kind: usize, age: u8) -> Option<Origin> {
    match kind {
        0 => Some(Origin::Continued(age)),
        1 => Some(Origin::Started(age)),
        2 => Some(Origin::Restored(age)),
        3 => Some(Origin::Corrected),
        4 => Some(Origin::Cold),
        _ => None,
    }
}

#[test]
fn both_read_real_play_that_is_simulated() {
    let frames = real_play(40);
    let initial = &frames[0].1;
    // Each of the wrong cubes is near where it was a tick before, or is where it was, or none is wrong.
    for wrong in 0..4 {
        let mut pair = Pair::new(initial);
        let mut before: Vec<QuantizedSnapshot> = Vec::new();
        for (tick, (sequence, state)) in frames.iter().enumerate() {
            let current = quantized(state);
            let names = [6, 7, 8].map(|age| Some(frames[tick.checked_sub(age)?].0));
            let prediction = match (wrong, tick.checked_sub(1)) {
                (0, Some(last)) => before[last].clone(),
                (1, Some(_)) => before[tick.saturating_sub(6)].clone(),
                (2, _) => shifted(&current, |cube| (cube + tick).is_multiple_of(50)),
                _ => current.clone(),
            };
            let kind = [3, 4, 0, 3, 5, 1, 3][tick % 7];
            let scene = Scene {
                origin: match names[0] {
                    Some(_) => origin(kind, 6),
                    None => origin(kind % 3, 6),
                },
                inputs: match kind {
                    5 if names[0].is_some() => Vec::new(),
                    _ => vec![(tick / 9) as u8; 6],
                },
                prediction: Some(prediction),
                attachment: vec![tick as u8; tick % 3],
            };
            let mut simulated = scene.simulated();
            if scene.origin.is_none_or(Origin::is_exact) {
                simulated.prediction = None;
            }
            pair.send_simulated(*sequence, &current, names, simulated);
            before.push(current);
        }
    }
}

#[test]
fn both_refuse_flipped_bits_of_simulated_packets() {
    let frames = real_play(16);
    let mut pair = Pair::new(&frames[0].1);
    let (mut tried, mut refused, mut wrong) = (0, 0, 0);
    for (tick, (sequence, state)) in frames.iter().enumerate() {
        let current = quantized(state);
        let baseline = Some(frames[tick.saturating_sub(6)].0).filter(|_| tick >= 6);
        let prediction = shifted(&current, |cube| cube.is_multiple_of(60));
        let origin = origin(if tick < 6 { tick % 3 } else { tick % 6 }, 6);
        let scene = Scene {
            origin,
            inputs: vec![3; origin.map_or(0, |_| 6)],
            prediction: Some(prediction).filter(|_| !origin.is_none_or(Origin::is_exact)),
            attachment: vec![0x5A; tick % 4],
        };
        let names = [baseline, None, None];
        pair.send_simulated(*sequence, &current, names, scene.simulated());
        let bytes = pair.lane.packet.bytes.clone();
        let bits = bytes.len() * 8;
        for bit in (0..bits.min(160)).chain((160..bits).step_by(101)) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 0x80 >> (bit % 8);
            tried += 1;
            // Other inputs are the same to this engine, and the check is of cubes alone.
            match pair.read(&flipped) {
                Some((first, _)) => wrong += usize::from(first.snapshot() != &current),
                None => refused += 1,
            }
        }
        // An engine without a world refuses what is simulated.
        pair.engine = Foreseen::default();
        assert_eq!(pair.reads(&bytes), origin.is_none());
    }
    assert!(
        2 * refused > tried && wrong <= 1,
        "{refused} {wrong} of {tried}"
    );
}

/// What is simulated for a packet, except for its cubes.
fn any_scene() -> impl Strategy<Value = (usize, u8, Vec<(u8, u8)>, Vec<u8>)> {
    let attachment = prop_oneof![
        4 => Just(Vec::new()),
        1 => prop::collection::vec(any::<u8>(), 1..40),
        1 => prop::collection::vec(any::<u8>(), 1023),
    ];
    let age = prop_oneof![1..12_u8, 1..=255_u8];
    // Inputs stay for some ticks.
    let inputs = prop::collection::vec((any::<u8>(), 1..100_u8), 1..6);
    (0..6_usize, age, inputs, attachment)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn both_read_whatever_is_simulated(
        scene in scenes(20, 8),
        simulated in prop::collection::vec(any_scene(), 8),
        ticks in prop::collection::vec(
            prop::sample::select(vec![1_u16, 2, 6, 6, 60, 60, 255, 256, 400]),
            8,
        ),
        ages in prop::collection::vec(0_usize..3, 8),
        wrong in prop::collection::vec(prop::collection::vec(0_u8..3, 20), 8),
        first in prop::sample::select(vec![0_u16, 60, 7, 65_400]),
    ) {
        let mut pair = Pair::new(&scene.initial);
        let mut sequences: Vec<Sequence> = Vec::new();
        let mut sequence = first;
        for (number, (_, state)) in scene.play().into_iter().enumerate() {
            sequence = sequence.wrapping_add(ticks[number]);
            let current = quantized(&state);
            let named = |age: usize| sequences.get(sequences.len().checked_sub(age)?).copied();
            let baseline = named(ages[number]).filter(|_| ages[number] > 0);
            let since = baseline.map(|baseline| Sequence(sequence).ticks_since(baseline));
            let (kind, age, runs, attachment) = simulated[number].clone();
            // The ticks since the baseline as often as not, where that is possible.
            let age = since.and_then(|since| u8::try_from(since).ok())
                .filter(|_| age % 2 == 0)
                .unwrap_or(age);
            let is_possible = since.is_some_and(|since| since <= 255);
            let origin = origin(if is_possible { kind } else { kind % 3 }, age);
            let count = match origin {
                Some(origin) => origin.age().map_or(since.unwrap_or(0), u16::from),
                None => 0,
            };
            let inputs = runs.iter().flat_map(|&(input, run)| vec![input; run.into()]);
            let inputs: Vec<u8> = inputs.cycle().take(count.into()).collect();
            let mut before = Baseline::default();
            if let Some(named) = baseline {
                before = pair.lane.sent[&named.0].clone();
            }
            // Cubes are right, near, or as at the baseline.
            let wrong = &wrong[number];
            let mut prediction = shifted(&current, |cube| wrong[cube] == 1);
            if baseline.is_some() && wrong.contains(&2) {
                let cubes = (0..current.len()).map(|cube| {
                    let of = if wrong[cube] == 2 { before.snapshot() } else { &prediction };
                    crate::engine::cube_of(of, cube)
                });
                let cubes: Vec<_> = cubes.collect();
                prediction.assign(9, cubes).unwrap();
            }
            let scene = Scene {
                origin,
                inputs,
                prediction: Some(prediction)
                    .filter(|_| origin.is_some_and(|origin| !origin.is_exact())),
                attachment,
            };
            let names = [baseline, named(ages[number] + 1), named(ages[number] + 2)];
            pair.send_simulated(Sequence(sequence), &current, names, scene.simulated());
            sequences.push(Sequence(sequence));
        }
    }
}
