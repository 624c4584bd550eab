//! The second decoder, written from WIRE.md alone, agrees with the codec's decoder about bit-packed packets.

use std::sync::Arc;

use cubewire_codec::ladder::{self, PREDICTED_POSITION};
use cubewire_codec::schema::{Schema, Slots};
use cubewire_codec::stages::Orientation;
use cubewire_codec::{Plan, Sequence, Snapshot, StageOptions, encode_initial};
use proptest::prelude::*;

use crate::lane::any_packed_stages;
use crate::pair::{Course, Pair, course, float_bodies, real_play};
use crate::plays::plays;
use crate::random::{cases, schema};
use crate::scenes::{legal_rungs, step};
use crate::second::decode_block;
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
