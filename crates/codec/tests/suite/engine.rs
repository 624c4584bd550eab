//! Engines of receivers, for tests.

use cubewire_codec::ladder::SIMULATED;
use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::{
    Baseline, Origin, QuantizedCube, QuantizedSnapshot, Sequence, Simulated, Simulation, Snapshot,
};

/// An engine that has what it predicts in advance, and remembers what it was asked for last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreseen {
    /// None if it has no world.
    pub(crate) prediction: Option<QuantizedSnapshot>,
    pub(crate) calls: usize,
    pub(crate) sequence: Sequence,
    pub(crate) origin: Option<Origin>,
    pub(crate) baseline: Option<Sequence>,
    pub(crate) inputs: Vec<u8>,
}

impl Foreseen {
    pub(crate) fn new(prediction: &QuantizedSnapshot) -> Self {
        Self {
            prediction: Some(prediction.clone()),
            ..Self::default()
        }
    }
}

impl Simulation for Foreseen {
    fn predict(
        &mut self,
        sequence: Sequence,
        origin: Origin,
        baseline: Option<&Baseline>,
        inputs: &[u8],
    ) -> Option<&QuantizedSnapshot> {
        self.calls += 1;
        self.sequence = sequence;
        self.origin = Some(origin);
        self.baseline = baseline.map(Baseline::sequence);
        self.inputs.clear();
        self.inputs.extend_from_slice(inputs);
        self.prediction.as_ref()
    }

    fn correct(&mut self, _: &Baseline) {}

    fn restore(&mut self, _: &Baseline, _: &[u8]) -> bool {
        false
    }
}

/// A snapshot with some cubes elsewhere: as if they had been simulated wrongly.
pub(crate) fn shifted(
    snapshot: &QuantizedSnapshot,
    is_wrong: impl Fn(usize) -> bool,
) -> QuantizedSnapshot {
    let mut cubes: Vec<_> = (0..snapshot.len())
        .map(|cube| cube_of(snapshot, cube))
        .collect();
    for (index, cube) in cubes.iter_mut().enumerate() {
        if !is_wrong(index) {
            continue;
        }
        let number = index as i32;
        // Mostly near, and now and then far, turned, or interacting.
        cube.position[index % 3] -= 1 + number * number % 9;
        if index % 5 == 1 {
            cube.position[1] += 700;
        }
        if index % 3 == 1 {
            let component = &mut cube.orientation.components[index % 2];
            *component = (*component + 3) % 511;
        }
        cube.interacting ^= index % 7 == 2;
        cube.position[2] = cube.position[2].clamp(0, 16_383);
        for axis in &mut cube.position[..2] {
            *axis = (*axis).clamp(-131_072, 131_071);
        }
    }
    let mut shifted = QuantizedSnapshot::new(snapshot.precision());
    shifted.assign(9, cubes).unwrap();
    shifted
}

pub(crate) fn cube_of(snapshot: &QuantizedSnapshot, cube: usize) -> QuantizedCube {
    QuantizedCube {
        orientation: snapshot.smallest_three(cube),
        position: snapshot.position(cube),
        interacting: snapshot.is_interacting(cube),
    }
}

/// What a packet says of a simulation, owned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) origin: Option<Origin>,
    pub(crate) inputs: Vec<u8>,
    pub(crate) prediction: Option<QuantizedSnapshot>,
    pub(crate) attachment: Vec<u8>,
}

impl Scene {
    pub(crate) fn simulated(&self) -> Simulated<'_> {
        Simulated {
            origin: self.origin,
            inputs: &self.inputs,
            prediction: self.prediction.as_ref(),
            attachment: &self.attachment,
        }
    }
}

/// A world of integers, without physics: cubes walk by their number and by the input.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) cubes: Vec<QuantizedCube>,
}

impl World {
    pub(crate) fn new(cubes: usize) -> Self {
        let cube = |index: usize| QuantizedCube {
            orientation: SmallestThree {
                largest: 3,
                components: [256; 3],
            },
            position: [(index % 7) as i32 * 512, (index / 7) as i32 * 512, 512],
            interacting: false,
        };
        Self {
            cubes: (0..cubes).map(cube).collect(),
        }
    }

    pub(crate) fn of(snapshot: &QuantizedSnapshot) -> Self {
        let cubes = (0..snapshot.len()).map(|cube| cube_of(snapshot, cube));
        Self {
            cubes: cubes.collect(),
        }
    }

    pub(crate) fn step(&mut self, input: u8) {
        for (index, cube) in self.cubes.iter_mut().enumerate() {
            let number = index as i32;
            cube.position[0] += i32::from(input) * (number % 3);
            cube.position[1] -= number % 2 * 3;
            cube.orientation.components[index % 3] ^= u16::from(input) & 1;
            cube.interacting = input & 8 != 0 && index.is_multiple_of(4);
        }
    }

    pub(crate) fn snapshot(&self) -> QuantizedSnapshot {
        let mut snapshot = QuantizedSnapshot::new(SIMULATED.stages.precision());
        snapshot.assign(9, self.cubes.iter().copied()).unwrap();
        snapshot
    }

    /// The initial state of both ends.
    pub(crate) fn initial(&self) -> Snapshot {
        let mut initial = Snapshot::default();
        self.snapshot().dequantize(&mut initial);
        initial
    }

    /// The engine of a receiver before the first tick, which is that of number 1.
    pub(crate) fn engine(self) -> Playing {
        Playing {
            prediction: self.snapshot(),
            worlds: vec![(Sequence(0), self)],
        }
    }
}

/// An engine that has every world that it has simulated.
#[derive(Debug)]
pub(crate) struct Playing {
    worlds: Vec<(Sequence, World)>,
    prediction: QuantizedSnapshot,
}

impl Simulation for Playing {
    fn predict(
        &mut self,
        sequence: Sequence,
        origin: Origin,
        baseline: Option<&Baseline>,
        inputs: &[u8],
    ) -> Option<&QuantizedSnapshot> {
        let first = Sequence(sequence.0.wrapping_sub(inputs.len() as u16));
        let mut world = match origin {
            Origin::Continued(_) | Origin::Started(_) | Origin::Restored(_) => {
                let mut worlds = self.worlds.iter();
                worlds.find(|(at, _)| *at == first)?.1.clone()
            }
            Origin::Corrected | Origin::Cold => World::of(baseline?.snapshot()),
        };
        for &input in inputs {
            world.step(input);
        }
        self.prediction = world.snapshot();
        if origin.is_exact() {
            self.worlds.push((sequence, world));
        }
        Some(&self.prediction)
    }

    fn correct(&mut self, _: &Baseline) {}

    fn restore(&mut self, _: &Baseline, _: &[u8]) -> bool {
        false
    }
}
