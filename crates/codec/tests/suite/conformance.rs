//! The second decoder, written from WIRE.md alone, agrees with the codec's decoder about bit-packed packets.

use std::collections::HashMap;
use std::sync::Arc;

use cubewire_codec::ladder::{self, PREDICTED_POSITION};
use cubewire_codec::schema::{FieldForm, Schema, Slots};
use cubewire_codec::stages::{Orientation, Position, Velocity};
use cubewire_codec::{
    Baseline, BitLedger, Coverage, Plan, QuantizedSnapshot, Sequence, Simulated, Snapshot,
    StageOptions, Stages, encode_initial,
};
use proptest::prelude::*;

use crate::lane::{Lane, any_packed_stages, flip, floats, quantized};
use crate::plays::plays;
use crate::random::{cases, schema};
use crate::recording;
use crate::scenes::{legal_rungs, step};
use crate::second::{Body, FloatBody, Kept, Scene, decode, decode_block};
use crate::wire_document::example_states;
use crate::world::World;

#[test]
fn both_refuse_flipped_bits_of_real_play() {
    let frames = real_play(24);
    let mut pair = Pair::new(&frames[0].1);
    let mut read = 0;
    let partial = Course { carried: Some(0x9999_5555), merged: !1, ..Course::complete(3) };
    let lost = Course { is_lost: true, ..partial };
    let complete = Course::complete(1);
    let courses = [partial, partial, lost, partial, Course::complete(3), complete, complete];
    let finer = StageOptions {
        orientation: Orientation::SmallestThree { bits: 10 },
        ..*PREDICTED_POSITION.stages
    };
    // Some packets cannot be merged with the others.
    let predicted = [PREDICTED_POSITION.stages; 9].into_iter();
    let rungs = ladder::all().map(|rung| rung.stages);
    let stages = predicted.chain([finer.check().unwrap()]).chain(rungs);
    let stages = stages.filter(|stages| !stages.delta.is_arithmetic());
    for (frame, (course, stages)) in frames.iter().zip(courses.into_iter().cycle().zip(stages)) {
        pair.send(frame, stages, course);
        let bits = pair.lane.packet.bytes.len() * 8;
        for bit in (0..bits.min(80)).chain((80..bits).step_by(bits / 50 + 1)) {
            read += usize::from(pair.reads_flipped(&[bit]));
        }
    }
    println!("{read} flipped packets are read, and both read the same");
}

#[test]
fn both_refuse_the_same_stages() {
    let mut pair = Pair::new(&Snapshot::default());
    let mut read = 0;
    for codes in 0..1_u64 << 18 {
        // The first packet. A partial packet has changed flags off.
        let packet = 1 << 23 | codes << 5;
        read += usize::from(pair.reads(&packet.to_be_bytes()[3..]));
    }
    assert!(read > 0);
}

#[test]
fn both_read_the_initial_state() {
    let (_, [(_, first), ..]) = example_states();
    let mut bytes = Vec::new();
    encode_initial(&first, &mut bytes).unwrap();
    assert_eq!(decode_block(&bytes), Ok(float_bodies(&first)));
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// Both also refuse the same damaged packets.
    #[test]
    fn both_read_any_legal_combination(
        play in plays(30, 10),
        stages in prop::collection::vec(any_packed_stages(&[2, 8, 9, 10, 15]), 1..3),
        courses in prop::collection::vec(course(), 1..10),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let mut pair = Pair::new(&play.initial);
        let courses = courses.into_iter().cycle().zip(stages.into_iter().cycle());
        for (frame, (course, stages)) in play.frames.iter().zip(courses) {
            pair.send(frame, stages, course);
            let bits = pair.lane.packet.bytes.len() * 8;
            let flips: Vec<usize> = flips.iter().map(|flip| flip.index(bits)).collect();
            pair.reads_flipped(&flips);
        }
    }

    /// These scenes have arbitrary axes, steps, levels and fields, but bodies do not come or go.
    #[test]
    fn both_read_other_scenes_and_refuse_the_same_packets(
        schema in schema(1),
        seed in any::<u64>(),
        courses in prop::collection::vec((course(), any::<[u16; 2]>()), 1..12),
    ) {
        let slots = Slots::Fixed;
        let plan = Plan::new(Schema { slots, ..schema }).unwrap();
        let mut rungs = legal_rungs(&plan);
        rungs.retain(|stages| !stages.delta.is_arithmetic());
        let mut world = World::new(Arc::clone(&plan), 12, seed);
        let mut pair = Pair::of(&plan, &world.snapshot());
        for (tick, (course, [rung, flip])) in (0..).zip(courses) {
            step(&mut world);
            let stages = rungs[usize::from(rung) % rungs.len()];
            pair.send_quantized((Sequence(tick * 3), &world.quantized(stages)), stages, course);
            let bits = pair.lane.packet.bytes.len() * 8;
            pair.reads_flipped(&[usize::from(flip) % bits]);
        }
    }
}

pub(crate) fn float_bodies(snapshot: &Snapshot) -> Vec<FloatBody> {
    let bodies = snapshot.bodies.iter().map(|body| FloatBody {
        interacting: body.interacting,
        position: body.position.to_array(),
        orientation: body.orientation.to_array(),
        velocity: body.linear_velocity.to_array(),
    });
    bodies.collect()
}

/// Converts a snapshot to the second decoder's integers.
fn integers(snapshot: &QuantizedSnapshot) -> Vec<Body> {
    let widen = |integers: [i32; 3], full: bool| match full {
        true => integers.map(|word| word.cast_unsigned().into()),
        false => integers.map(i64::from),
    };
    let precision = snapshot.precision();
    let schema = snapshot.plan().schema();
    let has_flag = schema.fields.first().is_some_and(|field| field.form == FieldForm::Flag);
    // The caller's axes that become x, y and z.
    let order = [[1, 2, 0], [2, 0, 1], [0, 1, 2]][schema.up.index()];
    let values = usize::from(has_flag)..schema.fields.len();
    let body = |index: usize| Body {
        interacting: snapshot.is_interacting(index),
        position: widen(snapshot.position(index), precision.position == Position::Full),
        orientation: match precision.orientation {
            Orientation::Full => {
                let turned = snapshot.body(index).orientation.to_array();
                [order[0], order[1], order[2], 3].map(|axis| turned[axis].to_bits().into())
            }
            Orientation::SmallestThree { .. } => {
                let orientation = snapshot.smallest_three(index);
                let [a, b, c] = orientation.components.map(i64::from);
                [i64::from(orientation.largest), a, b, c]
            }
        },
        velocity: (precision.velocity != Velocity::Omitted)
            .then(|| widen(snapshot.velocity(index), precision.velocity == Velocity::Full)),
        values: values.clone().map(|field| snapshot.value(index, field).into()).collect(),
    };
    (0..snapshot.len()).map(body).collect()
}

pub(crate) fn assert_agree(first: &Baseline, second: &Kept) {
    assert_eq!(first.sequence().0, second.sequence);
    assert_eq!(first.merge_reach(), usize::from(second.mask_bits));
    let bodies = integers(first.snapshot());
    assert_eq!(bodies.len(), second.bodies.len());
    for (index, (body, kept)) in bodies.iter().zip(&second.bodies).enumerate() {
        assert_eq!(*body, kept.body, "{index}");
        assert_eq!(first.moved()[index], kept.moved, "{index}");
        assert_eq!(first.carried(index), kept.is_carried, "{index}");
        assert_eq!(i64::from(first.ages().nth(index).unwrap()), kept.age, "{index}");
    }
}

/// References of a packet, and whether it arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// Bodies in a partial packet, as a mask; `None` for a complete packet. Ignored by stages without partial
    /// packets.
    pub(crate) carried: Option<u32>,
    /// Baseline: number of packets back among the packets that arrived. If there is no such packet, no baseline is
    /// named.
    pub(crate) back: usize,
    /// Packets that can be merged, as a mask over the packets that arrived.
    pub(crate) merged: u32,
    pub(crate) is_lost: bool,
}

impl Course {
    /// A complete packet relative to an earlier one.
    pub(crate) const fn complete(back: usize) -> Self {
        Self { carried: None, back, merged: 0, is_lost: false }
    }
}

pub(crate) fn course() -> impl Strategy<Value = Course> {
    let carried =
        prop_oneof![any::<u32>(), any::<[u32; 2]>().prop_map(|[one, other]| one & other), Just(0)];
    let merged = any::<[u32; 2]>().prop_map(|[one, other]| one | other);
    let is_lost = prop::bool::weighted(0.2);
    (prop::option::weighted(0.75, carried), 0_usize..5, merged, is_lost)
        .prop_map(|(carried, back, merged, is_lost)| Course { carried, back, merged, is_lost })
}

fn is_set(bits: u32, index: usize) -> bool {
    bits.rotate_right(index as u32) & 1 == 1
}

/// Both decoders and their baselines.
pub(crate) struct Pair {
    pub(crate) lane: Lane,
    scene: Scene,
    pub(crate) initial: Vec<FloatBody>,
    pub(crate) held: HashMap<u16, Kept>,
    arrived: Vec<Sequence>,
}

impl Pair {
    /// Creates a pair for the demo's scene.
    pub(crate) fn new(initial: &Snapshot) -> Self {
        Self::of(&Plan::cubes(), initial)
    }

    /// Creates a pair for a scene of fixed bodies.
    pub(crate) fn of(plan: &Arc<Plan>, initial: &Snapshot) -> Self {
        Self {
            lane: Lane::of(Arc::clone(plan), initial, BitLedger::new()),
            scene: Scene::read(&plan.schema().encode()),
            initial: float_bodies(initial),
            held: HashMap::new(),
            arrived: Vec::new(),
        }
    }

    pub(crate) fn send(
        &mut self,
        (sequence, snapshot): &(Sequence, Snapshot),
        stages: Stages,
        course: Course,
    ) {
        let current = quantized(&Plan::cubes(), snapshot, stages);
        self.send_quantized((*sequence, &current), stages, course);
    }

    pub(crate) fn send_quantized(
        &mut self,
        (sequence, current): (Sequence, &QuantizedSnapshot),
        stages: Stages,
        course: Course,
    ) {
        let lane = &mut self.lane;
        let partial = stages.with_coverage(Coverage::Partial).ok();
        let stages = course.carried.and(partial).unwrap_or(stages);
        let carried = |body| is_set(course.carried.unwrap_or(0), body);
        lane.carried = (0..self.initial.len()).map(carried).collect();
        let newest = || self.arrived.iter().rev().copied();
        let offered = newest().enumerate().filter(|(back, _)| is_set(course.merged, *back));
        lane.merged = offered.map(|(_, sequence)| sequence).collect();
        let baseline = course.back.checked_sub(1).and_then(|back| newest().nth(back));
        let names = [baseline, None, None];
        lane.send_simulated((sequence, stages), current, names, Simulated::default());
        let second = decode(&lane.packet.bytes, &self.scene, &self.initial, &self.held)
            .unwrap_or_else(|error| panic!("{sequence} of {stages:?}: {error}"));
        assert_agree(&lane.received[&sequence.0], &second);
        if course.is_lost {
            lane.sent.remove(&sequence.0);
            lane.received.remove(&sequence.0);
            self.held.remove(&sequence.0);
        } else {
            self.held.insert(sequence.0, second);
            self.arrived.push(sequence);
        }
    }

    /// Whether both accept the bytes. Fails if they disagree.
    pub(crate) fn reads(&mut self, bytes: &[u8]) -> bool {
        let by_first = self.lane.decode(bytes, None);
        if by_first.as_ref().is_ok_and(|first| first.stages().delta.is_arithmetic()) {
            // The second decoder does not support these: a damaged descriptor, and a check that is right by chance.
            return false;
        }
        match (by_first, decode(bytes, &self.scene, &self.initial, &self.held)) {
            (Ok(first), Ok(second)) => {
                assert_agree(&first, &second);
                true
            }
            (Err(_), Err(_)) => false,
            (first, second) => panic!("{first:?}, but {:?}", second.map(|_| ())),
        }
    }

    /// Whether both accept the last packet with some bits flipped.
    pub(crate) fn reads_flipped(&mut self, flips: &[usize]) -> bool {
        let mut bytes = self.lane.packet.bytes.clone();
        flips.iter().for_each(|&bit| flip(&mut bytes, bit));
        self.reads(&bytes)
    }
}

/// Some frames of a recording, with consecutive sequence numbers.
pub(crate) fn real_play(frames: usize) -> Vec<(Sequence, Snapshot)> {
    let frames = (600..).zip(&recording::frames("dev-pull")[600..][..frames]);
    frames.map(|(number, frame)| (Sequence(number), floats(frame))).collect()
}
