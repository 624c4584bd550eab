//! The second decoder, written from WIRE.md alone, agrees with the first.

use cubewire_codec::ladder::{
    AFFINE, ARITHMETIC, CHANGED_FLAGS, LADDER, PREDICTED, SIMULATED, rung,
};
use cubewire_codec::{CubeState, Sequence, Snapshot, encode_initial};
use glam::Vec3;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::engine::Foreseen;
use crate::example_states::example_states;
use crate::pair::{Pair, float_cubes, real_play, second_engine, send_by_age, send_to_both};
use crate::scene::{any_stages, scenes};
use crate::second_cubes::decode_block;
use crate::second_decoder::choose;
use crate::second_scene::Engine;

#[test]
fn bins_that_are_all_set_leave_zeros_of_which_eight_are_omitted() {
    // Nothing moves, and all cubes toggle: every decision of the packet is a one.
    let cube = |place: u8| CubeState {
        position: Vec3::new(f32::from(place), 0.0, 0.5),
        ..CubeState::default()
    };
    let initial = Snapshot {
        cubes: (0..200).map(cube).collect(),
    };
    let mut toggled = initial.clone();
    for cube in &mut toggled.cubes {
        cube.interacting = true;
    }
    for rung in [ARITHMETIC, PREDICTED] {
        let mut pair = Pair::new(&initial);
        pair.send(
            &(Sequence(7), toggled.clone()),
            rung.stages,
            None,
            [None; 2],
        );
        let bytes = pair.lane.packet.bytes.clone();
        // Header and check.
        let bins = &bytes[7..];
        assert!(
            bins.len() > 8 && bins.iter().all(|&byte| byte == 0),
            "{bins:?}"
        );
        for length in 7..bytes.len() + 12 {
            let mut other = bytes.clone();
            other.resize(length, 0);
            assert_eq!(pair.reads(&other), length == bytes.len(), "{length}");
        }
    }
}

#[test]
fn both_read_real_play() {
    let states = real_play(30);
    for rung in LADDER.into_iter().chain([AFFINE]) {
        send_to_both(&states[0].1, &states, &[rung.stages]);
    }
}

#[test]
fn both_read_real_play_that_names_the_usual_baselines() {
    for rung in [ARITHMETIC, PREDICTED] {
        send_by_age(&real_play(40), &[rung.stages], &[[1, 2]]);
    }
}

#[test]
fn both_read_real_play_that_names_unusual_baselines() {
    let older = [
        [3, 9],
        [1, 0],
        [0, 5],
        [15, 14],
        [2, 1],
        [4, 4],
        [0, 0],
        [1, 2],
        [7, 2],
    ];
    send_by_age(&real_play(60), &[PREDICTED.stages], &older);
}

#[test]
fn both_read_play_whose_stages_change() {
    let flags = rung("changed-flags").expect("it is a rung").stages;
    let (arithmetic, predicted) = (ARITHMETIC.stages, PREDICTED.stages);
    let frames = real_play(60);
    for stages in [
        [predicted, predicted, arithmetic, flags, predicted],
        [arithmetic, flags, arithmetic, predicted, arithmetic],
    ] {
        for older in [[1, 2], [3, 9], [0, 5]] {
            send_by_age(&frames, &stages, &[older]);
        }
    }
}

#[test]
fn both_read_worlds_that_move_as_a_whole() {
    // More cubes change than can touch or carry others, all close together.
    let mut frames = real_play(12);
    for (frame, (_, state)) in frames.iter_mut().enumerate() {
        for (n, cube) in state.cubes.iter_mut().enumerate() {
            cube.position.x *= 0.2;
            cube.position.y *= 0.2;
            cube.position.x += 0.01 * (frame * (1 + n % 5)) as f32;
        }
    }
    for rung in [ARITHMETIC, PREDICTED] {
        send_by_age(&frames, &[rung.stages], &[[1, 2]]);
    }
}

#[test]
fn both_read_cubes_that_are_put_elsewhere() {
    // From corner to corner of the world, so that every prediction is far outside.
    let mut frames = real_play(30);
    for (frame, (_, state)) in frames.iter_mut().enumerate() {
        for (n, cube) in state.cubes.iter_mut().enumerate().take(40) {
            let side = (frame / (1 + n % 7)) % 2;
            let corner = [-255.9, 255.9][side];
            cube.position = Vec3::new(corner, -corner, 16.0 + corner / 17.0);
        }
    }
    for rung in [ARITHMETIC, PREDICTED] {
        send_by_age(&frames, &[rung.stages], &[[1, 2]]);
    }
}

#[test]
fn both_refuse_flipped_bits_of_real_play() {
    let frames = real_play(12);
    let baseline = |frame: usize| Some(frames[frame.checked_sub(6)?].0);
    for rung in [ARITHMETIC, PREDICTED] {
        let mut pair = Pair::new(&frames[0].1);
        let (mut tried, mut read) = (0, 0);
        for (n, frame) in frames.iter().enumerate() {
            let additional = [n.checked_sub(7), n.checked_sub(8)].map(|n| Some(frames[n?].0));
            pair.send(frame, rung.stages, baseline(n), additional);
            let bits = pair.lane.packet.bytes.len() * 8;
            // Every bit of the header and the check, then some of the bins to the last.
            for bit in (0..bits.min(80))
                .chain((80..bits).step_by(201))
                .chain([bits - 1])
            {
                read += usize::from(pair.reads_flipped(&[bit]));
                tried += 1;
            }
        }
        assert!(read * 100 < tried, "{read} of {tried} read");
    }
}

#[test]
fn both_read_the_initial_state() {
    let (_, [(_, first), ..]) = example_states();
    let mut bytes = Vec::new();
    encode_initial(&first, &mut bytes).unwrap();
    assert_eq!(decode_block(&bytes), Ok(float_cubes(&first)));
}

/// A place on a lattice of the distances at which cubes touch, carry and are near.
fn limit_place() -> impl Strategy<Value = Vec3> {
    let along = || prop::sample::select(vec![0, 0, 0, 350, 512, 900, 1024]);
    let place = |(x, y, z): (i32, i32, i32)| Vec3::new(x as f32, y as f32, (z + 102) as f32);
    (along(), along(), along()).prop_map(move |parts| place(parts) / 512.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn both_read_any_legal_combination(
        scene in scenes(30, 5),
        stages in prop::collection::vec(any_stages(&[2, 8, 9, 10, 15]), 1..3),
    ) {
        send_to_both(&scene.initial, &scene.play(), &stages);
    }

    /// Arithmetic coding adapts from packet to packet, and can name three baselines.
    #[test]
    fn both_read_what_arithmetic_coding_makes_of_any_baselines(
        scene in scenes(20, 8),
        choices in prop::collection::vec(
            (
                prop::sample::select(vec![ARITHMETIC, PREDICTED, PREDICTED, CHANGED_FLAGS]),
                0_usize..4,
                prop::option::of(0_usize..4),
                prop::option::of(0_usize..4),
            ),
            8,
        ),
    ) {
        let mut pair = Pair::new(&scene.initial);
        let frames = scene.play();
        for (frame, (rung, age, first, second)) in choices.into_iter().enumerate() {
            let at = |age: usize| Some(frames[frame.checked_sub(age)?].0);
            let baseline = at(age).filter(|_| age > 0);
            let additional = [first, second].map(|more| at(age + more?));
            pair.send(&frames[frame], rung.stages, baseline, additional);
        }
    }

    /// Random bins with the right check: both decoders accept or refuse. Those of a simulated scene are relative to
    /// what is sent next, which the engines foresee.
    #[test]
    fn both_read_or_refuse_any_decisions(
        scene in scenes(12, 6),
        seed in any::<u64>(),
        strange in prop::sample::select(vec![0.0, 0.001, 0.02, 0.3]),
        choices in prop::collection::vec((0_usize..3, 0_usize..4), 12),
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut choice = |one: i64| {
            let likely = rng.random_range(0..65536) < one;
            if rng.random_bool(strange) { !likely } else { likely }
        };
        let mut pair = Pair::new(&scene.initial);
        let mut sent: Vec<Sequence> = Vec::new();
        for (frame, (variant, age)) in scene.play().iter().zip(choices) {
            let at = |sent: &[Sequence]| Some(sent[sent.len().checked_sub(age)?..].first()?.0);
            let stages = [ARITHMETIC, PREDICTED, SIMULATED][variant].stages;
            pair.send(frame, stages, at(&sent).map(Sequence), [None; 2]);
            sent.push(frame.0);
            pair.engine = Foreseen::new(pair.lane.sent[&frame.0.0].snapshot());
            // The first of them has the number of the frame, and may name it.
            for more in 0..4 {
                let sequence = Sequence(frame.0.0.wrapping_add(more));
                let header = (sequence.0, variant.min(1) as u8);
                let engine = second_engine(&pair.engine);
                let engine: Option<Engine> = (variant == 2).then_some(&engine);
                let both = (&pair.initial[..], &pair.held);
                let bytes = choose(&mut choice, header, at(&sent), both, engine);
                if let Some((first, second)) = pair.read(&bytes) {
                    pair.lane.received.insert(sequence.0, first.clone());
                    pair.lane.sent.insert(sequence.0, first);
                    pair.held.insert(sequence.0, second);
                    sent.push(sequence);
                }
            }
        }
    }

    /// Cubes at distances that are limits of the document.
    #[test]
    fn both_read_cubes_at_limits(
        places in prop::collection::vec(prop::collection::vec(limit_place(), 8), 6),
        moves in prop::collection::vec(prop::collection::vec(any::<bool>(), 8), 6),
        variant in 0_usize..2,
    ) {
        let cube = |position: &Vec3| CubeState { position: *position, ..CubeState::default() };
        let mut state = Snapshot { cubes: places[0].iter().map(cube).collect() };
        let initial = state.clone();
        let mut frames = Vec::new();
        for (frame, (places, moves)) in places.iter().zip(&moves).enumerate() {
            for ((cube, place), moves) in state.cubes.iter_mut().zip(places).zip(moves) {
                if *moves {
                    cube.position = *place;
                }
            }
            frames.push((Sequence(6 * frame as u16), state.clone()));
        }
        send_to_both(&initial, &frames, &[[ARITHMETIC, PREDICTED][variant].stages]);
    }

    /// Both decoders accept or refuse.
    #[test]
    fn both_refuse_the_same_packets(
        scene in scenes(8, 3),
        stages in any_stages(&[2, 9]),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let mut pair = Pair::new(&scene.initial);
        let mut before = None;
        for frame in scene.play() {
            pair.send(&frame, stages, before, [None; 2]);
            let bits = pair.lane.packet.bytes.len() * 8;
            let flips: Vec<usize> = flips.iter().map(|flip| flip.index(bits)).collect();
            pair.reads_flipped(&flips);
            before = Some(frame.0);
        }
    }
}
