//! Packets are coded without allocations once all memory is in use, and no packet takes much memory.

use std::sync::Arc;

use allocation_counter::measure;
use cubewire_codec::ladder::{self, SIMULATED};
use cubewire_codec::schema::{CUBES, Field, FieldForm, Schema, Slots, Support};
use cubewire_codec::{
    Baseline, BitLedger, Decoder, Inputs, Limits, Origin, Plan, QuantizedSnapshot, Sequence,
    Snapshot, Stages,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::play;
use crate::hostile::mutate;
use crate::lane::floats;
use crate::random::{cases, schema};
use crate::recording;
use crate::replay::{AGE, Replay};
use crate::scenes::{legal_rungs, send, step};
use crate::world::World;

/// Sends `frames` frames repeatedly on each rung. `fill` sets a snapshot to a frame, and `inputs` returns the inputs
/// that a receiver simulates.
fn check(
    plan: &Arc<Plan>,
    initial: &Snapshot,
    rungs: &[Stages],
    frames: usize,
    fill: impl Fn(usize, Stages, &mut QuantizedSnapshot),
    inputs: impl Fn(usize) -> Option<Inputs>,
) {
    for &stages in rungs {
        let mut replay = Replay::without_frames(plan, initial, stages, AGE + 3);
        replay.packet.ledger = BitLedger::itemized();
        replay.decoder.set_ledger(Some(BitLedger::itemized()));
        let mut run = || {
            replay.frame = AGE;
            for tick in 0..frames {
                fill(tick, stages, &mut replay.current);
                replay.send(inputs(tick).as_ref());
            }
        };
        // The second run begins with full rings.
        run();
        run();
        let allocations = measure(run);
        assert_eq!(allocations.count_total, 0, "{stages:?}");
    }
}

#[test]
fn encoding_and_decoding_allocate_nothing_once_warm() {
    let states: Vec<_> = recording::frames("dev-pull")[900..940].iter().map(floats).collect();
    let fill = |tick: usize, stages: Stages, current: &mut QuantizedSnapshot| {
        let quantized = current.quantize(&states[tick], stages.precision());
        quantized.unwrap();
    };
    let rungs: Vec<_> = ladder::all().map(|rung| rung.stages).collect();
    check(&Plan::cubes(), &states[0], &rungs, states.len(), fill, |_| None);
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn no_scene_allocates_once_warm(schema in schema(40), seed in any::<u64>()) {
        let plan = Plan::new(schema).unwrap();
        let mut worlds = vec![World::new(Arc::clone(&plan), 20, seed)];
        for _ in 1..40 {
            let mut world = worlds.last().unwrap().clone();
            step(&mut world);
            worlds.push(world);
        }
        let fill = |tick: usize, _, current: &mut QuantizedSnapshot| worlds[tick].quantize(current);
        check(&plan, &worlds[0].snapshot(), &legal_rungs(&plan), worlds.len(), fill, |_| None);
    }
}

#[test]
fn simulated_packets_allocate_nothing_once_warm() {
    let (initial, frames) = play();
    let fill = |tick: usize, _, current: &mut QuantizedSnapshot| current.copy_from(&frames[tick]);
    let inputs = |tick: usize| match tick % 2 {
        _ if tick < AGE => Inputs::new(Origin::FromSceneStart(AGE as u8), &[5; AGE]),
        0 => Inputs::new(Origin::Continued(AGE as u8), &[5; AGE]),
        _ => Inputs::new(Origin::Restored(255), &[5; 255]),
    };
    let (plan, rung) = (Plan::cubes(), SIMULATED.stages);
    check(&plan, &initial, &[rung], frames.len(), fill, inputs);
}

#[test]
fn a_packet_cannot_make_a_receiver_of_the_most_slots_take_much_memory() {
    const SLOTS: u64 = 65_536;
    let health = Field { name: "health".into(), form: FieldForm::Int { min: 0, max: 100 } };
    let schema = Schema {
        fields: [&CUBES.fields[..], &[health]].concat().into(),
        slots: Slots::Living { max: SLOTS as u32 },
        ..CUBES
    };
    // Bodies with floats or velocities are not packed, and a packet can be of another precision than the ones before.
    for (support, per_slot) in [(Support::NONE, 40), (Support::ALL, 128)] {
        let plan = Plan::new(Schema { support, ..schema.clone() }).unwrap();
        let few = Limits { max_bodies: 65_535 };
        assert!(Decoder::new(Arc::clone(&plan), Snapshot::default(), few).is_err());
        let mut rng = ChaCha8Rng::seed_from_u64(crate::seed());
        for rung in legal_rungs(&plan) {
            let mut lane = send(&plan, &[rung], 1, 3);
            let held = lane.received;
            let lookup = |sequence: Sequence| held.get(&sequence.0);
            let mut most = 0;
            for round in 0..20 {
                let mut bytes = lane.packet.bytes.clone();
                // A datagram of maximum size: it creates as many bodies as possible, or has arbitrary content.
                bytes.truncate(12);
                bytes.resize(65_535, if round % 2 == 0 { 0xFF } else { 0 });
                mutate(&mut rng, &mut bytes);
                let memory = measure(|| {
                    let mut out = Baseline::default();
                    let _ = lane.decoder.decode(&bytes, lookup, &mut out);
                });
                most = most.max(memory.bytes_max);
            }
            println!("{most} bytes, {rung:?}");
            assert!(most < per_slot * SLOTS, "{most} bytes, {rung:?}");
        }
    }
}
