//! Both decoders side by side: conversions between their types, and a lane that sends packets to both.

use std::collections::HashMap;
use std::sync::Arc;

use cubewire_codec::schema::FieldForm;
use cubewire_codec::stages::{Orientation, Position, Velocity};
use cubewire_codec::{
    Baseline, BitLedger, Coverage, Plan, QuantizedSnapshot, Sequence, Simulated, Snapshot, Stages,
};
use proptest::prelude::*;

use crate::lane::Lane;
use crate::recording;
use crate::second::{Body, FloatBody, Kept, Scene, decode};

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
    let widen = |integers: [i32; 3], full: bool| {
        integers.map(
            |integer| {
                if full { i64::from(integer.cast_unsigned()) } else { i64::from(integer) }
            },
        )
    };
    let precision = snapshot.precision();
    let schema = snapshot.plan().schema();
    let has_flag = schema.fields.first().is_some_and(|field| field.form == FieldForm::Flag);
    let values = usize::from(has_flag)..schema.fields.len();
    let body = |index: usize| Body {
        interacting: snapshot.is_interacting(index),
        position: widen(snapshot.position(index), precision.position == Position::Full),
        orientation: match precision.orientation {
            Orientation::Full => snapshot
                .body(index)
                .orientation
                .to_array()
                .map(|component| i64::from(component.to_bits())),
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
            scene: Scene::read(&plan.schema().encode(), *plan == Plan::cubes()),
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
        let precision = stages.precision();
        let mut current = QuantizedSnapshot::new(Plan::cubes(), precision);
        current.quantize(snapshot, precision).unwrap();
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
        let by_second = decode(bytes, &self.scene, &self.initial, &self.held);
        match (by_first, by_second) {
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
        for bit in flips {
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
        }
        self.reads(&bytes)
    }
}

/// Some frames of a recording, with consecutive sequence numbers.
pub(crate) fn real_play(frames: usize) -> Vec<(Sequence, Snapshot)> {
    let frames = recording::frames("dev-pull").iter().enumerate().skip(600).take(frames);
    let state = |(index, frame): (usize, &QuantizedSnapshot)| {
        let mut state = Snapshot::default();
        frame.dequantize(&mut state);
        (Sequence(index as u16), state)
    };
    frames.map(state).collect()
}
