//! `delta-pack`, quantized.

use delta_pack::DeltaPack;

use crate::acked::{Acked, Codec};
use crate::engine::Variant;
use crate::scene::{Frame, Grid, LEVELS};

pub const VARIANTS: &[Variant] = &[Variant {
    library: "delta-pack",
    name: "quantized, deltas",
    start: |scene| Box::new(Acked::new(Pack, scene)),
}];

/// [`Grid::numbers`]. The first six are relative to the middle of their range, because small numbers take fewer
/// bytes.
#[derive(Clone, PartialEq, DeltaPack)]
pub struct Pose {
    pub x: i64,
    pub y: i64,
    pub z: i64,
    pub a: i64,
    pub b: i64,
    pub c: i64,
    #[delta_pack(range(min = 0, max = 3))]
    pub largest: u64,
    pub flag: bool,
}

#[derive(Clone, PartialEq, DeltaPack)]
pub struct World {
    pub bodies: Vec<Option<Pose>>,
}

struct Pack;

fn middles(grid: &Grid) -> [i64; 6] {
    let half = i64::from(LEVELS.max_component(grid.component_bits) / 2);
    let [x, y, z] = grid.axes.map(|range| (-range.min.min(0.0) * range.steps_per_unit) as i64);
    [x, y, z, half, half, half]
}

impl Codec for Pack {
    type Snapshot = World;

    fn snapshot(&self, _: u16, frame: &Frame, grid: &Grid) -> World {
        let middles = middles(grid);
        let bodies = frame.iter().map(|body| {
            let numbers = grid.numbers(body.as_ref()?).map(i64::from);
            let [x, y, z, a, b, c] = [0, 1, 2, 3, 4, 5].map(|i: usize| numbers[i] - middles[i]);
            let (largest, flag) = (numbers[6] as u64, numbers[7] == 1);
            Some(Pose { x, y, z, a, b, c, largest, flag })
        });
        World { bodies: bodies.collect() }
    }

    fn encode(&mut self, baseline: Option<&World>, now: &World) -> Vec<u8> {
        match baseline {
            Some(baseline) => World::encode_diff(baseline, now),
            None => now.encode(),
        }
    }

    fn decode(&self, _: u16, baseline: Option<&World>, bytes: &[u8]) -> World {
        match baseline {
            Some(baseline) => World::decode_diff(baseline, bytes),
            None => World::decode(bytes),
        }
    }

    fn show(&self, snapshot: &World, grid: &Grid, frame: &mut Frame) {
        let middles = middles(grid);
        for (slot, pose) in frame.iter_mut().zip(&snapshot.bodies) {
            *slot = pose.as_ref().map(|pose| {
                let six = [pose.x, pose.y, pose.z, pose.a, pose.b, pose.c];
                let [x, y, z, a, b, c] = [0, 1, 2, 3, 4, 5].map(|i| (six[i] + middles[i]) as i32);
                grid.body([x, y, z, a, b, c, pose.largest as i32, pose.flag.into()])
            });
        }
    }
}
