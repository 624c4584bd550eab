//! Scenes of the second decoder, of fixed bodies, read from the bytes of their schema.
//!
//! Section numbers in comments refer to `WIRE.md`.

use std::ops::RangeInclusive;

/// The description of a scene that both ends know (sections 2, 12 and 13).
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// Floats, other steps, velocities and simulation.
    pub(crate) support: [bool; 4],
    max_speed: f64,
    /// The caller's axes that become x, y and z.
    order: [usize; 3],
    /// Smallest position, end of the range and steps per unit, by axis of the caller.
    axes: [[f64; 3]; 3],
    pub(crate) component_bits: u8,
    has_even_levels: bool,
    pub(crate) has_flag: bool,
    /// Largest number of every other field.
    pub(crate) values: Vec<i64>,
    pub(crate) linear: Linear,
}

/// The numbers of the linear predictor (sections 9 and 13).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    /// Numerator and denominator.
    pub(crate) gravity: [i64; 2],
    pub(crate) drag: i64,
    pub(crate) rest_height: i64,
    pub(crate) fall_height: i64,
}

impl Scene {
    /// Reads a scene of fixed bodies from the bytes of its schema (section 13).
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut bytes = Bytes(bytes);
        bytes.text();
        let ticks = bytes.integer() as f32;
        let order = match bytes.byte() {
            0 => [1, 2, 0],
            1 => [2, 0, 1],
            _ => [0, 1, 2],
        };
        let axes = [(); 3].map(|()| [(); 3].map(|()| f64::from_le_bytes(bytes.take())));
        let steps = axes[order[2]][2] as f32;
        let (component_bits, levels) = (bytes.byte(), bytes.byte());
        bytes.option(Bytes::integer);
        let halves = bytes.sequence(|bytes| {
            bytes.text();
            half(bytes, order, steps)
        });
        let mut fields = bytes.sequence(|bytes| {
            bytes.text();
            field(bytes)
        });
        let has_flag = fields.first().is_some_and(|&(form, _)| form == 0);
        if has_flag {
            fields.remove(0);
        }
        let gravity = bytes.single() * steps / (ticks * ticks);
        let floor = bytes.option(Bytes::single);
        let max_speed = bytes.single().into();
        let linear = bytes.option(|bytes| Linear {
            gravity: [bytes.signed(), bytes.signed()],
            drag: bytes.signed(),
            rest_height: bytes.signed(),
            fall_height: bytes.signed(),
        });
        let linear = linear.unwrap_or_else(|| {
            let smallest = halves.into_iter().fold(f32::MAX, f32::min);
            let height = |sizes: f32| {
                floor.map_or(-1 << 30, |floor| i64::from((floor * steps + sizes * smallest) as i32))
            };
            Linear {
                gravity: [(f64::from(gravity) * 65536.0).round() as i64, 65536],
                drag: 65536,
                rest_height: height(1.0),
                fall_height: height(2.5),
            }
        });
        assert_eq!(bytes.byte(), 0, "slots are fixed");
        let support = [(); 4].map(|()| bytes.byte() == 1);
        assert!(matches!(bytes.0, [1..=4]), "the seats are last");
        Self {
            support,
            max_speed,
            order,
            axes,
            component_bits,
            has_even_levels: levels == 1,
            has_flag,
            values: fields.into_iter().map(|(_, largest)| largest).collect(),
            linear,
        }
    }

    /// Turns a vector to z up (section 13).
    pub(crate) fn turned<T: Copy>(&self, vector: [T; 3]) -> [T; 3] {
        self.order.map(|axis| vector[axis])
    }

    /// Steps per unit and range of a position that is quantized with *s* `steps`, by axis (section 13).
    pub(crate) fn positions(&self, steps: i64) -> [(f64, RangeInclusive<i64>); 3] {
        self.order.map(|axis| {
            let [min, max, usual] = self.axes[axis];
            let steps = usual * steps as f64 / 512.0;
            let (first, end) = ((min * steps).ceil() as i64, (max * steps).ceil() as i64);
            (steps, first..=end - 1)
        })
    }

    /// *K*, the largest integer of a component of orientations (section 2).
    pub(crate) const fn largest_component(&self, bits: u8) -> i64 {
        if self.has_even_levels { (1 << bits) - 1 } else { (1 << bits) - 2 }
    }

    /// Steps per unit of a velocity. `of_cubes` is the number in `cubes` (section 13).
    pub(crate) fn velocity_steps(&self, of_cubes: f64) -> f64 {
        of_cubes * (32.0 / self.max_speed)
    }

    /// Whether positions can be quantized with these steps (section 13).
    pub(crate) fn has_positions(&self, steps: i64) -> bool {
        self.positions(steps).iter().all(|(_, range)| {
            !range.is_empty() && *range.start() >= -1048576 && *range.end() < 1048576
        })
    }

    /// Whether affine positions reach all positions of the scene (section 13).
    pub(crate) fn has_affine_positions(&self) -> bool {
        let [x, y, z] = self.order.map(|axis| self.axes[axis]);
        let inside = |[min, max, _]: [f64; 3], first: f64, last: f64| {
            let [min, max] = [min, max].map(|at| at * (2097151.0 / 32.0));
            first <= min && max <= last
        };
        [x, y].into_iter().all(|axis| inside(axis, -16777208.0, 16777208.0))
            && inside(z, 0.0, 2097151.0)
    }

    pub(crate) fn has_equal_steps(&self) -> bool {
        let [x, y, z] = self.axes.map(|[.., steps]| steps);
        x == y && y == z
    }
}

/// The unread bytes of a schema (section 13).
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().unwrap();
        self.0 = rest;
        *first
    }

    fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn single(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }

    fn integer(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn signed(&mut self) -> i64 {
        let value = self.integer();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    fn text(&mut self) {
        let length = self.integer() as usize;
        self.0 = &self.0[length..];
    }

    fn option<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.byte() == 1).then(|| value(self))
    }

    fn sequence<T>(&mut self, mut value: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.integer()).map(|_| value(self)).collect()
    }
}

/// Reads the half size of a kind (section 15).
fn half(bytes: &mut Bytes<'_>, order: [usize; 3], steps: f32) -> f32 {
    let form = bytes.byte();
    let mut length = || bytes.single() * steps;
    match form {
        0 => {
            let halves = [length(), length(), length()];
            let [x, y, z] = order.map(|axis| halves[axis]);
            if x == y && y == z { x } else { (x + y + z) / 3.0 }
        }
        1 => length(),
        2 => {
            let half = length();
            length() + half / 2.0
        }
        _ => 0.0,
    }
}

/// Reads the form of a field, and its largest number (section 13).
fn field(bytes: &mut Bytes<'_>) -> (u8, i64) {
    let form = bytes.byte();
    let largest = match form {
        0 => 1,
        1 => {
            let min = bytes.signed();
            bytes.signed() - min
        }
        2 => {
            let [min, max, step] = [(); 3].map(|()| f64::from(bytes.single()));
            ((max - min) / step).round() as i64
        }
        3 => (1 << bytes.byte()) - 1,
        _ => 1 << 24,
    };
    (form, largest)
}
