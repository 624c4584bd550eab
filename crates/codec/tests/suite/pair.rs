//! Both decoders side by side: what one holds in the types of the other, and what sends packets through both.

use std::collections::HashMap;

use cubewire_codec::ladder::SIMULATED;
use cubewire_codec::stages::{Orientation, Position};
use cubewire_codec::{
    Baseline, BitLedger, Origin, QuantizedSnapshot, Sequence, Simulated, Snapshot, Stages,
    VelocityPrecision,
};

use crate::engine::Foreseen;
use crate::scene::Lane;
use crate::second_cubes::{Cube, FloatCube};
use crate::second_decoder::{decode, decode_simulated};
use crate::second_kept::Kept;
use crate::second_scene::Scene;
use crate::{recording, second_scene};

pub(crate) fn float_cubes(snapshot: &Snapshot) -> Vec<FloatCube> {
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

pub(crate) fn assert_agree(first: &Baseline, second: &Kept) {
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
    pub(crate) fn send(
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
pub(crate) fn send_to_both(initial: &Snapshot, frames: &[(Sequence, Snapshot)], stages: &[Stages]) {
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
pub(crate) fn send_by_age(frames: &[(Sequence, Snapshot)], stages: &[Stages], older: &[[u16; 2]]) {
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
