//! The scene to replicate: the bodies of a recording, frame by frame, with y up.

use std::path::Path;

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::schema::{Axis, Levels, Range, Schema};
use cubewire_codec::{Plan, QuantizedSnapshot};
use cubewire_recording::Recording;
use glam::{Quat, Vec3};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Index of the kind, and number of earlier bodies in the slot modulo 256.
    pub life: (u8, u8),
    /// Metres.
    pub position: Vec3,
    pub rotation: Quat,
    /// The field `interacting` of the cubes' scene.
    pub flag: bool,
}

/// Body in each slot, `None` if the slot is empty.
pub type Frame = Vec<Option<Body>>;

pub struct Scene {
    pub name: String,
    pub schema: Schema,
    pub grid: Grid,
    pub has_flag: bool,
    pub frames: Vec<Frame>,
}

/// Rotates a vector from the scene's axes to axes with y up.
fn turn(up: Axis, [x, y, z]: [f32; 3]) -> Vec3 {
    match up {
        Axis::X => Vec3::new(z, x, y),
        Axis::Y => Vec3::new(x, y, z),
        Axis::Z => Vec3::new(y, z, x),
    }
}

impl Scene {
    pub fn read(path: &Path) -> Result<Self, String> {
        let recording = Recording::read(path).map_err(|error| error.to_string())?;
        let schema = Plan::schema(&recording.plan).clone();
        let has_flag = schema.fields.iter().any(|field| field.name == "interacting");
        let body = |snapshot: &QuantizedSnapshot, slot| {
            let (life, state) = (snapshot.life(slot)?, snapshot.body(slot));
            let [x, y, z, w] = state.orientation.to_array();
            Some(Body {
                life: (life.kind, life.generation),
                position: turn(schema.up, state.position.to_array()),
                rotation: Quat::from_vec4(turn(schema.up, [x, y, z]).extend(w)),
                flag: has_flag && state.interacting,
            })
        };
        let frames =
            recording.frames.iter().map(|now| (0..now.len()).map(|slot| body(now, slot)).collect());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: name.split('.').next().unwrap_or_default().to_owned(),
            frames: frames.collect(),
            grid: Grid::new(&schema),
            has_flag,
            schema,
        })
    }

    pub fn slots(&self) -> usize {
        self.frames.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// The precision that bodies must arrive with.
#[derive(Clone, Debug)]
pub struct Grid {
    pub axes: [Range; 3],
    pub component_bits: u8,
    /// Number of bits of each of [`Grid::numbers`].
    pub bits: [u8; 8],
}

/// Quantization levels of every scene in `cubewire-bevy`.
pub const LEVELS: Levels = Levels::Odd;

/// All bits of a body, enough for every scene.
pub type Packed = [u8; 10];

impl Grid {
    fn new(schema: &Schema) -> Self {
        let order = turn(schema.up, [0.0, 1.0, 2.0]).to_array();
        let axes = order.map(|axis| schema.position[axis as usize]);
        let [x, y, z] = axes.map(|range| {
            let steps = ((range.max - range.min) * range.steps_per_unit).ceil();
            steps.log2().ceil() as u8
        });
        let component_bits = schema.component_bits;
        let [a, b, c] = [component_bits; 3];
        let bits = [x, y, z, a, b, c, 2, 1];
        Self { axes, component_bits, bits }
    }

    /// Quantizes a body to steps along the axes, three quaternion components, the index of the component that is left
    /// out, and the flag.
    pub fn numbers(&self, body: &Body) -> [i32; 8] {
        let [x, y, z] = [0, 1, 2].map(|axis: usize| {
            let range = &self.axes[axis];
            ((f64::from(body.position[axis]) - range.min) * range.steps_per_unit).round() as i32
        });
        let rotation = SmallestThree::quantize(body.rotation, self.component_bits, LEVELS);
        let rotation = rotation.expect("rotations have a length");
        let [a, b, c] = rotation.components.map(i32::from);
        [x, y, z, a, b, c, rotation.largest.into(), body.flag.into()]
    }

    /// Returns the body for these numbers, with kind and generation 0.
    pub fn body(&self, [x, y, z, a, b, c, largest, flag]: [i32; 8]) -> Body {
        let along = |axis: usize, step: i32| {
            let range = &self.axes[axis];
            (f64::from(step) / range.steps_per_unit + range.min) as f32
        };
        let (largest, components) = (largest as u8, [a, b, c].map(|c| c as u16));
        Body {
            life: (0, 0),
            position: Vec3::new(along(0, x), along(1, y), along(2, z)),
            rotation: SmallestThree { largest, components }.dequantize(self.component_bits, LEVELS),
            flag: flag == 1,
        }
    }

    pub fn pack(&self, body: &Body) -> Packed {
        let numbers = self.numbers(body).into_iter().zip(self.bits);
        let bits = numbers.fold(0, |bits, (number, count)| bits << count | number as u128);
        *bits.to_le_bytes().first_chunk().expect("16 bytes are enough")
    }

    pub fn unpack(&self, packed: Packed) -> Body {
        let bytes = std::array::from_fn(|index| packed.get(index).copied().unwrap_or(0));
        let mut bits = u128::from_le_bytes(bytes);
        let mut numbers = [0; 8];
        for (number, count) in numbers.iter_mut().zip(self.bits).rev() {
            *number = (bits & ((1 << count) - 1)) as i32;
            bits >>= count;
        }
        self.body(numbers)
    }
}
