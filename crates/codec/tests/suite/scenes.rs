//! Scenes that differ from the demo's: other axes, bounds, steps, bits, shapes and worlds, further fields, and bodies
//! that come and go. Also bytes and texts of schemas.

use std::sync::Arc;

use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::schema::{FieldForm, Schema, Support, first_difference};
use cubewire_codec::stages::{Delta, Orientation, Position, Velocity};
use cubewire_codec::{
    BitKind, BitLedger, Coverage, Life, Plan, QuantizedSnapshot, Sequence, Simulated, StageOptions,
    Stages,
};
use proptest::prelude::*;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::lane::Lane;
use crate::random::{cases, schema};
use crate::world::World;

/// Advances a world by a tick. Bodies of arbitrary kind and generation come and go.
pub(crate) fn step(world: &mut World) {
    if world.plan.has_lives() {
        let kinds = world.plan.schema().kinds.len();
        for slot in 0..world.len() {
            if world.random.random_ratio(1, 30) {
                let life = Life {
                    kind: world.random.random_range(0..kinds) as u8,
                    generation: world.random.random(),
                };
                if world.random.random_ratio(2, 3) {
                    world.add(slot, life);
                } else {
                    world.remove(slot);
                }
            }
        }
    }
    world.step();
}

/// The rungs that a scene supports, and a few of its other precisions.
pub(crate) fn legal_rungs(plan: &Plan) -> Vec<Stages> {
    let other = |(steps_per_metre, bits)| StageOptions {
        position: Position::Quantized { steps_per_metre },
        orientation: Orientation::SmallestThree { bits },
        velocity: Velocity::AtRestFlag,
        ..*ladder::CHANGED_FLAGS.stages
    };
    let others = [(32, 2), (256, 10), (4096, 15)].map(other);
    let rungs = ladder::all().map(|rung| *rung.stages).chain(others);
    rungs.filter_map(|options| plan.legal(options).ok()).collect()
}

/// Sends `packets` packets over a lossy link, with the rungs in turn.
pub(crate) fn send(plan: &Arc<Plan>, rungs: &[Stages], seed: u64, packets: u16) -> Lane {
    let mut world = World::new(Arc::clone(plan), 20, seed);
    let mut random = ChaCha8Rng::seed_from_u64(!seed);
    let mut lane = Lane::of(Arc::clone(plan), &world.snapshot(), BitLedger::itemized());
    let mut stages = rungs[0];
    // Sequence numbers wrap.
    let (mut sequence, mut acked) = (Sequence((packets / 2).wrapping_neg()), Vec::new());
    for _ in 0..packets {
        step(&mut world);
        if random.random_ratio(1, 20) {
            stages = *rungs.choose(&mut random).unwrap();
        }
        let ticks = match random.random_range(0..60) {
            0 => 600,
            1 => 60,
            _ => random.random_range(1..4),
        };
        sequence = Sequence(sequence.0.wrapping_add(ticks));
        let held: Vec<Sequence> = acked.iter().rev().copied().collect();
        let newest = held.get(random.random_range(0..2)).filter(|_| random.random_ratio(19, 20));
        let older = |back: usize| newest.and_then(|_| held.get(back).copied());
        let names = [newest.copied(), older(2), older(3)];
        let current = world.quantized(stages);
        lane.send_simulated((sequence, stages), &current, names, Simulated::default());
        if stages.delta == Delta::Off {
            check_fields(plan, &current, &lane.packet.ledger);
        }
        // The ack arrives later, or never.
        if random.random_ratio(4, 5) {
            acked.push(sequence);
        }
    }
    lane
}

/// Checks the bits of each field by name. A packet of all bodies has the bits of all their fields.
fn check_fields(plan: &Plan, current: &QuantizedSnapshot, ledger: &BitLedger) {
    let bodies = (0..current.len()).filter(|&slot| current.life(slot).is_some());
    let bodies = bodies.count() as f64;
    for (index, field) in plan.schema().fields.iter().enumerate() {
        let kind = match (index, field.form) {
            (0, FieldForm::Flag) => BitKind::Interacting,
            _ => BitKind::field(index),
        };
        assert_eq!(ledger.kind(kind), bodies * f64::from(field.form.bits()));
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_legal_rung_is_exact_in_any_scene(schema in schema(40), seed in any::<u64>()) {
        let plan = Plan::new(schema).unwrap();
        let mut rungs = legal_rungs(&plan);
        let first = seed as usize % rungs.len();
        rungs.swap(0, first);
        send(&plan, &rungs, seed, 60);
    }

    #[test]
    fn predictions_need_equal_steps_and_arithmetic_coding_takes_few_bits(schema in schema(40)) {
        let plan = Plan::new(schema).unwrap();
        let schema = plan.schema();
        let [x, y, z] = schema.position.each_ref().map(|range| range.steps_per_unit);
        let (has_equal_steps, has_few_bits) = (x == y && y == z, schema.component_bits <= 12);
        let is_legal = |rung: Rung| plan.legal(*rung.stages).is_ok();
        prop_assert!(is_legal(ladder::CHANGED_FLAGS));
        prop_assert_eq!(is_legal(ladder::PREDICTED_POSITION), has_equal_steps);
        prop_assert_eq!(is_legal(ladder::ARITHMETIC), has_few_bits);
        prop_assert_eq!(is_legal(ladder::PREDICTED), has_equal_steps && has_few_bits);
        let Support { floats, other_steps, velocities, simulation } = schema.support;
        prop_assert_eq!(is_legal(ladder::UNCOMPRESSED), floats && velocities);
        prop_assert_eq!(is_legal(ladder::NO_VELOCITY), floats);
        prop_assert!(!is_legal(ladder::AFFINE) || other_steps && velocities);
        prop_assert_eq!(is_legal(ladder::SIMULATED), is_legal(ladder::PREDICTED) && simulation);
    }
}

const ACK_TICKS: u16 = 6;

/// Sends a scene over a link that loses a third of the packets. Three in four packets are partial and carry random
/// bodies. Returns the number of bodies merged into baselines.
fn send_partial(plan: &Arc<Plan>, stages: Stages, seed: u64, ticks: u16) -> usize {
    let mut world = World::new(Arc::clone(plan), 20, seed);
    let mut random = ChaCha8Rng::seed_from_u64(!seed);
    let mut lane = Lane::of(Arc::clone(plan), &world.snapshot(), BitLedger::new());
    let mut arrived: Vec<u16> = Vec::new();
    let mut truth: Vec<QuantizedSnapshot> = Vec::new();
    let mut merged_bodies = 0;
    let number = |tick: u16| Sequence(65_500_u16.wrapping_add(tick));
    for tick in 0..ticks {
        step(&mut world);
        let current = world.quantized(stages);
        truth.push(current.clone());
        let acked = arrived.iter().filter(|&&acked| acked + ACK_TICKS <= tick);
        let acked: Vec<Sequence> = acked.map(|&acked| number(acked)).collect();
        let merged = acked.iter().rev().skip(1).copied();
        lane.merged = merged.filter(|_| random.random_ratio(9, 10)).collect();
        let stages = match random.random_ratio(3, 4) {
            true => stages.with_coverage(Coverage::Partial).unwrap(),
            false => stages,
        };
        let rate = random.random_range(0.0..0.5);
        lane.carried = (0..current.len()).map(|_| random.random_bool(rate)).collect();
        let merged = |index: usize| lane.merged.get(index).copied();
        let names = [acked.last().copied(), merged(0), merged(1)];
        let sequence = number(tick);
        lane.send_simulated((sequence, stages), &current, names, Simulated::default());
        let sent = &lane.sent[&sequence.0];
        for (slot, &is_chosen) in lane.carried.iter().enumerate() {
            let is_whole = stages.coverage() == Coverage::Complete;
            assert_eq!(sent.carried(slot), is_whole || is_chosen);
            let age = usize::from(sent.ages().nth(slot).unwrap());
            assert_eq!(age == 0, sent.carried(slot), "{:?} at {tick}", stages.options());
            // A received body equals the sender's body at the tick when it was carried.
            if age < 255 {
                let then = &truth[usize::from(tick) - age];
                assert!(
                    is_same(sent.snapshot(), then, slot),
                    "{:?} {slot} at {tick}",
                    stages.options()
                );
            }
        }
        if let Some(named) = acked.last() {
            let named = &lane.sent[&named.0];
            let is_older = |slot| {
                sent.ages().nth(slot).unwrap() > (sequence.ticks_since(named.sequence())) as u8
            };
            let of_named = |slot: usize| is_same(sent.snapshot(), named.snapshot(), slot);
            let slots = 0..current.len();
            merged_bodies += slots.filter(|&s| is_older(s) && !of_named(s)).count();
        }
        if random.random_ratio(1, 3) {
            lane.sent.remove(&sequence.0);
            lane.received.remove(&sequence.0);
        } else {
            arrived.push(tick);
        }
    }
    merged_bodies
}

fn is_same(a: &QuantizedSnapshot, b: &QuantizedSnapshot, slot: usize) -> bool {
    let mut copy = a.clone();
    copy.copy_slot(slot, b);
    &copy == a
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn both_ends_have_the_same_bodies_of_the_same_ages(schema in schema(40), seed in any::<u64>()) {
        let plan = Plan::new(schema).unwrap();
        let mut rungs = legal_rungs(&plan);
        rungs.retain(|rung| rung.with_coverage(Coverage::Partial).is_ok());
        send_partial(&plan, rungs[seed as usize % rungs.len()], seed, 80);
    }
}

#[test]
fn what_was_carried_by_several_packets_is_merged() {
    let plan = Plan::cubes();
    for rung in [ladder::CHANGED_FLAGS, ladder::PREDICTED] {
        assert!(send_partial(&plan, rung.stages, 1, 80) > 0, "{}", rung.name);
    }
}

proptest! {
    #[test]
    fn schemas_differ_where_their_texts_do(ours in schema(65_536), theirs in schema(65_536)) {
        let texts = [ours.text(), theirs.text()];
        prop_assert_eq!(first_difference(&texts[0], &texts[0]), None);
        prop_assert_eq!(first_difference(&texts[0], &texts[1]).is_some(), ours != theirs);
        prop_assert_eq!(ours.hash() == theirs.hash(), ours == theirs);
    }

    #[test]
    fn the_bytes_of_a_legal_schema_are_read_as_that_schema(schema in schema(65_536)) {
        let bytes = schema.encode();
        prop_assert!(bytes.len() < Schema::MAX_BYTES);
        prop_assert_eq!(Schema::decode(&bytes), Ok(schema));
    }

    #[test]
    fn damaged_bytes_are_a_legal_schema_or_an_error(
        schema in schema(65_536),
        damage in prop::collection::vec(damage(), 1..6),
    ) {
        let mut bytes = schema.encode();
        for (place, removed, inserted) in damage {
            let start = place.index(bytes.len() + 1);
            let end = (start + removed).min(bytes.len());
            bytes.splice(start..end, inserted);
        }
        holds_promises(&bytes)?;
    }
}

fn holds_promises(bytes: &[u8]) -> Result<(), TestCaseError> {
    match Schema::decode(bytes) {
        Ok(schema) => {
            prop_assert_eq!(schema.check(), Ok(()));
            prop_assert_eq!(schema.encode(), bytes);
        }
        Err(error) => prop_assert!(error.to_string().len() < 400),
    }
    Ok(())
}

/// Position, number of removed bytes, and the bytes in their place.
fn damage() -> impl Strategy<Value = (prop::sample::Index, usize, Vec<u8>)> {
    let removed = prop_oneof![4 => 0..3usize, 1 => 0..200usize];
    let inserted = prop::collection::vec(any::<u8>(), 0..4);
    (any::<prop::sample::Index>(), removed, inserted)
}
