//! Partial packets, relative to merged baselines.

use std::sync::Arc;

use cubewire_codec::{
    BitLedger, Coverage, Plan, QuantizedSnapshot, Sequence, Simulated, Stages, ladder,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::lane::Lane;
use crate::random::{cases, schema};
use crate::scenes::{legal_rungs, step};
use crate::world::World;

/// Ticks until an ack arrives.
const ACK_TICKS: u16 = 6;

/// Sends a scene over a link that loses a third of the packets. Three in four packets are partial and carry random
/// bodies. Returns the number of bodies merged into baselines.
fn send(plan: &Arc<Plan>, stages: Stages, seed: u64, ticks: u16) -> usize {
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
        send(&plan, rungs[seed as usize % rungs.len()], seed, 80);
    }
}

#[test]
fn what_was_carried_by_several_packets_is_merged() {
    let plan = Plan::cubes();
    for rung in [ladder::CHANGED_FLAGS, ladder::PREDICTED] {
        assert!(send(&plan, rung.stages, 1, 80) > 0, "{}", rung.name);
    }
}
