//! Packets are coded without allocations once all memory is in use, and no packet takes much memory.

use std::sync::Arc;

use allocation_counter::measure;
use cubewire_codec::ladder::{self, SIMULATED};
use cubewire_codec::schema::{CUBES, Field, FieldForm, Schema, Slots};
use cubewire_codec::{
    Baseline, Baselines, BitLedger, Decoder, Encoder, Inputs, Limits, Origin, Packet, Plan,
    QuantizedSnapshot, Sequence, Simulated, Snapshot, Stages,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::golden::play;
use crate::hostile::mutate;
use crate::random::{cases, schema};
use crate::recording;
use crate::scenes::{legal_rungs, send, step};
use crate::world::World;

/// Age of a baseline in ticks.
const AGE: usize = 6;

/// Number of snapshots that each side keeps: the baseline, and two more references.
const RING: usize = AGE + 3;

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
    let (scene, limits) = (|| Arc::clone(plan), Limits::default());
    let mut encoder = Encoder::new(scene(), initial.clone(), limits).unwrap();
    let mut decoder = Decoder::new(scene(), initial.clone(), limits).unwrap();
    decoder.set_ledger(Some(BitLedger::itemized()));
    for &stages in rungs {
        let mut packet = Packet { ledger: BitLedger::itemized(), ..Packet::default() };
        let mut current = QuantizedSnapshot::new(scene(), stages.precision());
        let ring = || -> Vec<Baseline> { (0..RING).map(|_| Baseline::default()).collect() };
        let (mut sent, mut received) = (ring(), ring());
        let [mut kept, mut decoded] = [Baseline::default(), Baseline::default()];
        let mut run = || {
            for tick in 0..frames {
                let sequence = Sequence(tick as u16);
                fill(tick, stages, &mut current);
                let inputs = inputs(tick);
                let held = |age: usize| Some(&sent[tick.checked_sub(age)? % RING]);
                let references = Baselines {
                    baseline: held(AGE),
                    additional: [held(AGE + 1), held(AGE + 2)],
                    simulated: Simulated { inputs: inputs.as_ref(), state_chunk: &[] },
                    ..Baselines::default()
                };
                let next = Some(&mut kept);
                encoder.encode(sequence, stages, &current, references, &mut packet, next).unwrap();
                let held = |sequence: Sequence| Some(&received[usize::from(sequence.0) % RING]);
                let begun = decoder.begin(&packet.bytes, held).unwrap();
                decoder.finish(begun, held, Some(&current), &mut decoded).unwrap();
                let slot = tick % RING;
                std::mem::swap(&mut sent[slot], &mut kept);
                std::mem::swap(&mut received[slot], &mut decoded);
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
    let frames = recording::frames("dev-pull");
    let mut states = Vec::new();
    for frame in frames.iter().skip(900).take(40) {
        let mut state = Snapshot::default();
        frame.dequantize(&mut state);
        states.push(state);
    }
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
    let plan = Plan::new(schema).unwrap();
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
        assert!(most < 40 * SLOTS, "{most} bytes, {rung:?}");
    }
}
