//! The second decoder, written from WIRE.md alone, agrees with the first.

use std::collections::HashMap;

use cubewire_codec::ladder::{
    AFFINE, ARITHMETIC, CHANGED_FLAGS, LADDER, PREDICTED, Rung, SIMULATED, rung,
};
use cubewire_codec::stages::{Orientation, Position};
use cubewire_codec::{
    Baseline, BitLedger, CubeState, Decoder, Limits, Origin, QuantizedSnapshot, Sequence,
    Simulated, Snapshot, Stages, VelocityPrecision, encode_initial,
};
use glam::Vec3;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::engine::Foreseen;
use crate::example_states::{example_engine, example_states};
use crate::scene::{Lane, any_stages, scenes};
use crate::second_coder::Coder;
use crate::second_cubes::{Cube, FloatCube, decode_block};
use crate::second_decoder::{choose, decode, decode_simulated};
use crate::second_kept::Kept;
use crate::second_scene::{Engine, Scene};
use crate::wire_document::{DECISIONS, example_packets, example_stages};
use crate::{recording, second_scene};

fn float_cubes(snapshot: &Snapshot) -> Vec<FloatCube> {
    let cubes = snapshot.cubes.iter().map(|cube| FloatCube {
        interacting: cube.interacting,
        position: cube.position.to_array(),
        orientation: cube.orientation.to_array(),
        velocity: cube.linear_velocity.to_array(),
    });
    cubes.collect()
}

/// The second decoder's integers of a snapshot of the first.
fn integers(snapshot: &QuantizedSnapshot) -> Vec<Cube> {
    let widen = |integers: [i32; 3], full: bool| {
        integers.map(|integer| {
            if full {
                i64::from(integer.cast_unsigned())
            } else {
                i64::from(integer)
            }
        })
    };
    let precision = snapshot.precision();
    let cube = |index: usize| Cube {
        interacting: snapshot.is_interacting(index),
        position: widen(
            snapshot.position(index),
            precision.position == Position::Full,
        ),
        orientation: match precision.orientation {
            Orientation::Full => snapshot
                .cube(index)
                .orientation
                .to_array()
                .map(|component| i64::from(component.to_bits())),
            Orientation::SmallestThree { .. } => {
                let orientation = snapshot.smallest_three(index);
                let [a, b, c] = orientation.components.map(i64::from);
                [i64::from(orientation.largest), a, b, c]
            }
        },
        velocity: snapshot
            .velocities()
            .get(index)
            .map(|&integers| widen(integers, precision.velocity == VelocityPrecision::Full)),
    };
    (0..snapshot.len()).map(cube).collect()
}

fn assert_agree(first: &Baseline, second: &Kept) {
    assert_eq!(first.sequence().0, second.sequence);
    assert_eq!(integers(first.snapshot()), second.cubes);
    assert_eq!(first.moved(), second.moved);
    let scene = second.scene.as_ref();
    assert_eq!(first.origin(), scene.map(origin));
}

/// The first decoder's origin of a scene of the second.
fn origin(scene: &Scene) -> Origin {
    let age = scene.inputs.len() as u8;
    match scene.origin {
        second_scene::Origin::Continued => Origin::Continued(age),
        second_scene::Origin::Started => Origin::Started(age),
        second_scene::Origin::Restored => Origin::Restored(age),
        second_scene::Origin::Corrected => Origin::Corrected,
        second_scene::Origin::Cold => Origin::Cold,
    }
}

/// The engine of the second decoder that predicts what that of the first does.
pub(crate) fn second_engine(engine: &Foreseen) -> impl Fn(&Scene) -> Option<Vec<Cube>> + use<> {
    let prediction = engine.prediction.as_ref().map(integers);
    move |_| prediction.clone()
}

/// Both decoders, and what they hold.
pub(crate) struct Pair {
    pub(crate) lane: Lane,
    pub(crate) initial: Vec<FloatCube>,
    pub(crate) held: HashMap<u16, Kept>,
    /// That of both, for the next packet.
    pub(crate) engine: Foreseen,
}

impl Pair {
    pub(crate) fn new(initial: &Snapshot) -> Self {
        Self {
            lane: Lane::new(initial, BitLedger::new()),
            initial: float_cubes(initial),
            held: HashMap::new(),
            engine: Foreseen::default(),
        }
    }

    /// Sends a snapshot through both, relative to the baseline and two additional references, if they were sent.
    fn send(
        &mut self,
        (sequence, snapshot): &(Sequence, Snapshot),
        stages: Stages,
        baseline: Option<Sequence>,
        additional: [Option<Sequence>; 2],
    ) {
        let lane = &mut self.lane;
        lane.send_naming(*sequence, stages, snapshot, baseline, additional);
        let second = decode(&lane.packet.bytes, &self.initial, &self.held)
            .unwrap_or_else(|error| panic!("{sequence} of {stages:?}: {error}"));
        assert_agree(&lane.received[&sequence.0], &second);
        self.held.insert(sequence.0, second);
    }

    /// The same in a packet of [`SIMULATED`], with what the sender simulates. `names` are those of the baseline and of
    /// the additional references.
    pub(crate) fn send_simulated(
        &mut self,
        sequence: Sequence,
        current: &QuantizedSnapshot,
        names: [Option<Sequence>; 3],
        simulated: Simulated<'_>,
    ) {
        let prediction = simulated.prediction.unwrap_or(current);
        self.engine = Foreseen::new(prediction);
        let (lane, numbered) = (&mut self.lane, (sequence, SIMULATED.stages));
        lane.send_simulated(numbered, current, names, simulated, &mut self.engine);
        let bytes = lane.packet.bytes.clone();
        let Some((_, second)) = self.read(&bytes) else {
            panic!("both refuse {sequence}, {simulated:?}");
        };
        self.held.insert(sequence.0, second);
    }

    /// Whether both accept the bytes; they must agree.
    pub(crate) fn reads(&mut self, bytes: &[u8]) -> bool {
        self.read(bytes).is_some()
    }

    /// What each decodes, unless both refuse.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Option<(Baseline, Kept)> {
        let received = &self.lane.received;
        let lookup = |sequence: Sequence| received.get(&sequence.0);
        let mut first = Baseline::default();
        let (decoder, engine) = (&mut self.lane.decoder, &mut self.engine);
        let by_first = decoder.decode_simulated(bytes, lookup, engine, &mut first);
        let second_engine = second_engine(engine);
        let by_second = decode_simulated(bytes, &self.initial, &self.held, &second_engine);
        match (by_first, by_second) {
            (Ok(_), Ok(second)) => {
                assert_agree(&first, &second);
                let inputs = second.scene.as_ref().map_or(&[][..], |scene| &scene.inputs);
                assert_eq!(decoder.simulated().inputs, inputs);
                assert_eq!(decoder.simulated().attachment, second.attachment);
                Some((first, second))
            }
            (Err(_), Err(_)) => None,
            (first, second) => panic!("{first:?}, but {:?}", second.map(|_| ())),
        }
    }

    /// Whether both accept the last packet with these bits flipped.
    pub(crate) fn reads_flipped(&mut self, flips: &[usize]) -> bool {
        let mut bytes = self.lane.packet.bytes.clone();
        for bit in flips {
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
        }
        self.reads(&bytes)
    }
}

/// Sends the frames through the first decoder and the second, each relative to the one before.
fn send_to_both(initial: &Snapshot, frames: &[(Sequence, Snapshot)], stages: &[Stages]) {
    let mut pair = Pair::new(initial);
    let mut before = None;
    for (frame, stages) in frames.iter().zip(stages.iter().cycle()) {
        pair.send(frame, *stages, before, [None; 2]);
        before = Some(frame.0);
    }
}

/// Some frames of a recording. Their sequences are consecutive.
pub(crate) fn real_play(frames: usize) -> Vec<(Sequence, Snapshot)> {
    let recording = recording::frames("dev-pull");
    let frames = recording.iter().enumerate().skip(600).take(frames);
    let state = |(index, frame): (usize, &QuantizedSnapshot)| {
        let mut state = Snapshot::default();
        frame.dequantize(&mut state);
        (Sequence(index as u16), state)
    };
    frames.map(state).collect()
}

/// Sends frames relative to the sixth frame before. The additional references are older than that by `older`, in
/// turn; what was not sent, or is 0 older, is not named.
fn send_by_age(frames: &[(Sequence, Snapshot)], stages: &[Stages], older: &[[u16; 2]]) {
    let mut pair = Pair::new(&frames[0].1);
    let turns = stages.iter().cycle().zip(older.iter().cycle());
    for (frame, (stages, older)) in frames.iter().zip(turns) {
        let at = |age: u16| Some(Sequence(frame.0.0.wrapping_sub(age)));
        let additional = older.map(|older| at(6 + older).filter(|_| older > 0));
        pair.send(frame, *stages, at(6), additional);
    }
}

/// The second decoder alone reads packets, each of which carries a frame. `engine` is that of a packet.
pub(crate) fn read_by_second(
    initial: &Snapshot,
    packets: &[Vec<u8>],
    frames: &[QuantizedSnapshot],
    engine: impl Fn(usize) -> Foreseen,
) {
    let initial = float_cubes(initial);
    let mut held = HashMap::new();
    for (number, (packet, frame)) in packets.iter().zip(frames).enumerate() {
        let engine = second_engine(&engine(number));
        let kept = decode_simulated(packet, &initial, &held, &engine).unwrap();
        assert_eq!(integers(frame), kept.cubes);
        held.insert(kept.sequence, kept);
    }
}

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
fn both_read_the_examples_of_the_document() {
    let (initial, states) = example_states();
    let examples = example_packets();
    assert_eq!(examples.len(), example_stages().count());
    for ((name, packets), (expected, stages)) in examples.into_iter().zip(example_stages()) {
        assert_eq!(name, expected);
        let mut decoder = Decoder::new(initial.clone(), Limits::default()).unwrap();
        let (mut held_by_first, mut held) = (HashMap::new(), HashMap::new());
        assert_eq!(packets.len(), states.len());
        for (packet, (sequence, state)) in packets.iter().zip(&states) {
            let mut first = Baseline::default();
            let lookup = |sequence: Sequence| held_by_first.get(&sequence.0);
            let mut engine = example_engine(*sequence);
            let decoded = decoder.decode_simulated(packet, lookup, &mut engine, &mut first);
            decoded.unwrap();
            let engine = second_engine(&engine);
            let floats = float_cubes(&initial);
            let second = decode_simulated(packet, &floats, &held, &engine).unwrap();
            assert_agree(&first, &second);
            let mut quantized = QuantizedSnapshot::new(stages.precision());
            quantized.quantize(state, stages.precision()).unwrap();
            assert_eq!(first.snapshot(), &quantized);
            held_by_first.insert(sequence.0, first);
            held.insert(sequence.0, second);
        }
    }
}

#[test]
fn the_listed_bins_are_those_of_the_examples() {
    assert!(
        DECISIONS == with_bins(),
        "the bins should be those of write_the_bins_of_an_example"
    );
}

#[test]
#[ignore = "writes what the one above compares with"]
fn write_the_bins_of_an_example() {
    let folder = env!("CARGO_MANIFEST_DIR");
    std::fs::write(format!("{folder}/DECISIONS.md"), with_bins()).unwrap();
}

/// DECISIONS.md with the bins of the examples that the code writes now.
fn with_bins() -> String {
    let mut document = DECISIONS.to_owned();
    for rung in [PREDICTED, SIMULATED] {
        let title = format!(" of *{}* in WIRE.md", rung.name);
        let example = document.find(&title).unwrap();
        let start = example + document[example..].find("```text\n").unwrap() + "```text\n".len();
        let end = start + document[start..].find("\n```").unwrap();
        document.replace_range(start..end, &bins_of_an_example(rung));
    }
    document
}

/// The bins of packet #1012.
fn bins_of_an_example(rung: Rung) -> String {
    let initial = float_cubes(&example_states().0);
    let mut examples = example_packets().into_iter();
    let packets = examples.find(|(name, _)| *name == rung.name).unwrap().1;
    let mut held = HashMap::new();
    for (packet, sequence) in packets.iter().zip([1000, 1006]) {
        let engine = second_engine(&example_engine(Sequence(sequence)));
        let kept = decode_simulated(packet, &initial, &held, &engine).unwrap();
        held.insert(sequence, kept);
    }
    // After header and check, which name the rung there and the stages here.
    let coded = &packets[2][5..];
    let mut coder = Coder::new(coded, None);
    let mut lines = vec![String::new()];
    let mut choice = |one: i64| {
        let bin = coder.bin(one);
        let listed = format!("{}:{one}", u8::from(bin));
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = listed,
            Some(line) if line.len() + listed.len() < LINE => *line += &format!(" {listed}"),
            _ => lines.push(listed),
        }
        bin
    };
    let engine = second_engine(&example_engine(Sequence(1012)));
    let engine: Option<Engine> = (rung == SIMULATED).then_some(&engine);
    let both = (&initial[..], &held);
    let bytes = choose(&mut choice, (1012, 1), Some(1006), both, engine);
    assert!(bytes.ends_with(coded), "{bytes:02x?}");
    lines.join("\n")
}

/// Characters of a line of the document.
const LINE: usize = 112;

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
