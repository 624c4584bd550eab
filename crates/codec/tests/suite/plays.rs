//! Frames of random worlds, as property tests generate them.

use cubewire_codec::{Life, Plan, Sequence, Snapshot};
use proptest::prelude::*;
use rand::RngExt;

use crate::world::World;

/// Frames of the demo's scene with their sequence numbers.
#[derive(Clone, Debug)]
pub(crate) struct Play {
    pub(crate) initial: Snapshot,
    pub(crate) frames: Vec<(Sequence, Snapshot)>,
}

impl Play {
    pub(crate) fn new(bodies: usize, frames: usize, seed: u64) -> Self {
        let mut world = World::new(Plan::cubes(), bodies, seed);
        let initial = world.snapshot();
        let mut sequence: u16 = world.random.random();
        let frames = (0..frames).map(|_| {
            // Mostly short gaps, and some beyond the range of prediction.
            let (ticks, steps) = match world.random.random_range(0..10) {
                0 => (world.random.random_range(1..=u16::MAX), 1),
                1 => (world.random.random_range(62..68), 6),
                2 | 3 => {
                    let ticks = world.random.random_range(1..12);
                    (ticks, ticks)
                }
                _ => (1, 1),
            };
            sequence = sequence.wrapping_add(ticks);
            (0..steps).for_each(|_| world.step());
            for slot in 0..bodies {
                if world.random.random_ratio(1, 24) {
                    world.add(slot, Life::default());
                }
            }
            (Sequence(sequence), world.snapshot())
        });
        Self { frames: frames.collect(), initial }
    }
}

pub(crate) fn plays(max_bodies: usize, frames: usize) -> impl Strategy<Value = Play> {
    let bodies_and_seed = (0..=max_bodies, any::<u64>());
    bodies_and_seed.prop_map(move |(bodies, seed)| Play::new(bodies, frames, seed))
}
