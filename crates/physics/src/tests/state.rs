//! States, and worlds that are restored from them.

use cubewire_codec::{Inputs, Origin};
use cubewire_protocol::Engine;
use cubewire_scene::Keys;

use super::{hash, input, played};
use crate::{Input, ReceiverWorld, World, WorldState};

fn assert_same(a: &WorldState, b: &WorldState, what: &str) {
    assert_eq!(a, b, "{what}");
    assert_eq!(a.to_bytes(), b.to_bytes(), "{what}");
}

fn rebuilding(tick: u64) -> Input {
    Input { rebuilds: true, ..input(tick) }
}

#[test]
fn a_restored_world_has_the_state_it_was_restored_from() {
    let mut world = World::new();
    for tick in 0..700 {
        world.advance(input(tick));
        if tick % 13 == 0 {
            let state = world.state();
            let restored = World::restored(&state);
            assert_same(&restored.state(), &state, &format!("tick {tick}"));
            assert_eq!(restored.ticks(), world.ticks());
            assert_eq!(restored.scene.at_rest, world.scene.at_rest);
            assert_eq!(hash(&restored), hash(&world), "tick {tick}");
        }
    }
}

#[test]
fn a_rebuilt_world_goes_on_as_a_restored_one_does() {
    let mut world = World::new();
    for tick in 0..800 {
        // At rest, with a ball, with a falling pile, while blowing, and around the reset at 540.
        if [30, 200, 340, 430, 539, 540, 541].contains(&tick) {
            let mut rebuilt = world.clone();
            let mut restored = World::restored(&world.state().rounded().unwrap());
            rebuilt.advance(rebuilding(tick));
            restored.advance(input(tick));
            for tick in tick + 1..tick + 120 {
                assert_eq!(hash(&rebuilt), hash(&restored), "tick {tick}");
                rebuilt.advance(input(tick));
                restored.advance(input(tick));
            }
            assert_same(&rebuilt.state(), &restored.state(), &format!("tick {tick}"));
        }
        world.advance(input(tick));
    }
}

#[test]
fn rebuilding_a_world_before_its_first_tick_changes_nothing() {
    let [mut rebuilt, mut world] = [World::new(), World::new()];
    rebuilt.rebuild();
    for tick in 0..300 {
        rebuilt.advance(input(tick));
        world.advance(input(tick));
        assert_eq!(hash(&rebuilt), hash(&world), "tick {tick}");
    }
}

#[test]
fn cubes_that_sleep_go_on_sleeping_after_a_rebuild() {
    let mut world = played(700);
    // Without keys, all cubes come to rest.
    (0..600).for_each(|_| world.step(Keys::default()));
    assert_eq!(world.awake(), 0);
    world.rebuild();
    let before = hash(&world);
    for _ in 0..300 {
        world.step(Keys::default());
        assert_eq!((world.awake(), hash(&world)), (0, before));
    }

    // They wake when they are touched.
    let moving = Keys { right: true, up: true, ..Keys::default() };
    let most_awake = (0..200).map(|_| {
        world.step(moving);
        world.awake()
    });
    assert!(most_awake.max() > Some(5));
}

/// Sequence numbers wrap every 65 536 ticks.
#[test]
fn a_state_is_restored_however_long_the_world_before_it_has_lived() {
    let world = played(100);
    let snapshot = world.quantized().unwrap();
    let state = world.state().to_bytes();
    let inputs = Inputs::new(Origin::Restored(1), &[0]).unwrap();
    for gap in [65_536 - 512, 65_536 - 1, 65_536, 65_536 + 1] {
        let mut engine = ReceiverWorld::default();
        for tick in [1_000, 1_000 + gap] {
            assert!(engine.restore(tick, &snapshot, &state));
            assert!(engine.simulate(tick + 1, &inputs).is_some(), "after {gap}");
        }
        assert_eq!(engine.simulated_ticks(), 2);
        // A packet from before does not belong to a kept world.
        assert!(engine.simulate(1_000 + gap, &inputs).is_none());
    }
}
