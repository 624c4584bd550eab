//! Looking back.

use cubewire_physics::{CHECKPOINT_TICKS, Timeline, World};

use crate::{hash, input};

/// Where the timelines of the tests start.
const START: u64 = 5_000;

/// Plays, and gives the hashes of the states by tick from the start.
fn play(ticks: u64) -> (Timeline, Vec<u64>) {
    let mut timeline = Timeline::new(START, World::new());
    let mut hashes = vec![hash(timeline.newest())];
    for tick in 0..ticks {
        timeline.advance(input(tick));
        hashes.push(hash(timeline.newest()));
    }
    (timeline, hashes)
}

#[test]
fn every_tick_that_is_kept_comes_out_as_it_was() {
    // Over a reset.
    let (mut timeline, hashes) = play(600);
    for (tick, &wanted) in (START..).zip(&hashes).skip(500) {
        assert_eq!(hash(&timeline.at(tick).unwrap()), wanted, "{tick}");
    }
    timeline.forget_before(START + 570);
    assert!(timeline.oldest() <= START + 570);
    for tick in [START + 570, START + 571, START + 599, START + 600] {
        let wanted = hashes[(tick - START) as usize];
        assert_eq!(hash(&timeline.at(tick).unwrap()), wanted, "{tick}");
    }
    // A world from the past goes on as the one that was.
    let mut again = timeline.at(START + 575).unwrap();
    for tick in 575..600 {
        assert_eq!(timeline.input(START + tick + 1), Some(input(tick)));
        again.advance(input(tick));
        assert_eq!(hash(&again), hashes[tick as usize + 1]);
    }
}

#[test]
fn what_is_forgotten_or_yet_to_come_is_not_given() {
    let (mut timeline, _) = play(100);
    assert_eq!((timeline.oldest(), timeline.tick()), (START, START + 100));
    assert!(timeline.at(START - 1).is_none() && timeline.at(START + 101).is_none());
    assert_eq!(timeline.input(START), None);
    assert_eq!(timeline.input(START + 101), None);
    timeline.forget_before(START + 80);
    assert_eq!(timeline.oldest(), START + 80);
    assert!(timeline.at(START + 79).is_none() && timeline.at(START + 80).is_some());
    // What is older than everything, or newer, forgets nothing that is needed.
    timeline.forget_before(0);
    assert_eq!(timeline.oldest(), START + 80);
    timeline.forget_before(u64::MAX);
    assert!(timeline.at(START + 100).is_some());
}

#[test]
fn as_many_worlds_are_kept_as_the_ticks_that_are_remembered_need() {
    let mut timeline = Timeline::new(0, World::new());
    for tick in 0..400_u64 {
        timeline.advance(input(tick));
        timeline.forget_before(timeline.tick().saturating_sub(30));
        let most = 2 + 30_u64.div_ceil(CHECKPOINT_TICKS);
        assert!(timeline.worlds() as u64 <= most + 1, "tick {tick}");
        assert!(timeline.oldest() + 30 + CHECKPOINT_TICKS > timeline.tick());
    }
}
