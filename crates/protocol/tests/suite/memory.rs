//! Memory of both ends while they play a recording as the game does.

use std::sync::Arc;

use allocation_counter::measure;
use cubewire_codec::ladder::{CHANGED_FLAGS, PREDICTED};
use cubewire_codec::{Plan, QuantizedSnapshot, Stages};
use cubewire_protocol::BaselineChoice;

use crate::hostile::turn_over;
use crate::lives::LIVING;
use crate::play::{ACK_TICKS, Play};
use crate::recording;
use crate::world::World;

/// Number of baselines that an end keeps if an ack takes six ticks and every packet arrives.
const KEPT: usize = 64 + ACK_TICKS;

#[test]
fn both_ends_keep_70_baselines_of_at_most_31_kilobytes() {
    let frames = recording::frames("dev-mix");
    let mut figures = Vec::new();
    let total = measure(|| {
        let mut play = Play::new(&frames[0], PREDICTED.stages);
        for frame in &frames[..600] {
            play.send(frame, BaselineChoice::Newest);
            play.deliver(true);
        }
        figures = vec![play.sender.memory_bytes(), play.receiver.memory_bytes()];
        // Not dropped inside, so that the measurement includes the memory in use at the end.
        std::mem::forget(play);
    });
    let [sender, receiver] = figures[..] else {
        panic!("both ends have been asked");
    };
    println!("sender {sender}, receiver {receiver}, both with all else {}", total.bytes_current);
    assert!(sender < 31_000 * KEPT, "{sender}");
    assert!(receiver < 31_000 * KEPT, "{receiver}");
    // Besides the baselines: headers of shared memory, a few copies of a snapshot as buffers, and snapshots in the
    // playout buffer as floats.
    let all = 2 * KEPT as i64 * 32_000 + 2_000_000;
    assert!(total.bytes_current < all, "{}", total.bytes_current);
}

/// Each baseline stores former poses of bodies, because packets carried them at different ticks, but only where they
/// differ.
/// The sender keeps snapshots for a time, so it keeps a third as many if every sixth tick has a packet.
#[test]
fn a_baseline_of_a_partial_packet_takes_at_most_34_kilobytes() {
    let frames = recording::frames("dev-pull");
    for (interval, kept) in [(1, KEPT), (6, KEPT / 3)] {
        let mut play = Play::new(&frames[0], PREDICTED.stages);
        for (tick, frame) in frames[..6 * KEPT].iter().enumerate() {
            let bytes = if tick.is_multiple_of(interval) { 130 } else { 0 };
            let is_sent = play.send_within(frame, bytes);
            assert!(interval == 1 || is_sent == (bytes > 0));
            play.deliver(is_sent);
        }
        let sender = play.sender.memory_bytes();
        assert!(sender < 34_000 * kept, "{sender}");
    }
}

/// Sends the frames repeatedly until no memory is allocated any more.
fn settles(frames: &[QuantizedSnapshot], stages: Stages, choice: BaselineChoice) {
    let mut play = Play::new(&frames[0], stages);
    let mut run = || {
        for frame in frames {
            play.send(frame, choice);
            play.deliver(true);
        }
    };
    // The first runs start with empty rings, and their adaptive states are not settled yet.
    let settled = (0..16).any(|_| measure(&mut run).count_total == 0);
    assert!(settled, "{:?}, {choice:?}", stages.delta);
}

#[test]
fn nothing_is_allocated_once_warm() {
    let frames = &recording::frames("dev-mix")[300..400];
    settles(frames, CHANGED_FLAGS.stages, BaselineChoice::Newest);
    settles(frames, PREDICTED.stages, BaselineChoice::Newest);
    settles(frames, PREDICTED.stages, BaselineChoice::Smallest);
}

#[test]
fn nothing_is_allocated_once_warm_where_bodies_come_and_go() {
    let plan = Plan::new(ron::from_str(LIVING).unwrap()).unwrap();
    for rung in [CHANGED_FLAGS, PREDICTED] {
        let stages = plan.legal(*rung.stages).unwrap();
        let mut world = World::new(Arc::clone(&plan), 0, 1);
        let frame = |tick: usize| {
            turn_over(&mut world, tick);
            world.step();
            world.quantized(stages)
        };
        let frames: Vec<_> = (0..100).map(frame).collect();
        settles(&frames, stages, BaselineChoice::Newest);
    }
}
