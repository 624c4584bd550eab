//! Scenes as the second decoder knows them: the demo's, and any other of fixed bodies by the text of its schema.
//!
//! Section numbers in comments are those of `WIRE.md`.

use std::ops::RangeInclusive;

/// Knowledge that both ends have of a scene (sections 2, 12 and 13).
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// Whether it is the demo's.
    pub(crate) is_cubes: bool,
    /// The caller's axes that become x, y and z.
    order: [usize; 3],
    /// By axis of the caller: smallest position, end of the range, steps per unit.
    axes: [[f64; 3]; 3],
    pub(crate) component_bits: u8,
    has_even_levels: bool,
    /// Whether *interacting* is a field.
    pub(crate) has_flag: bool,
    /// The largest number of every other field.
    pub(crate) values: Vec<i64>,
    pub(crate) linear: Linear,
}

/// The numbers of the line `linear` (sections 9 and 13).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    /// Numerator and denominator.
    pub(crate) gravity: [i64; 2],
    pub(crate) drag: i64,
    pub(crate) rest_height: i64,
    pub(crate) fall_height: i64,
}

impl Scene {
    /// The scene of sections 2 to 12.
    pub(crate) const fn cubes() -> Self {
        let across = [-256.0, 256.0, 512.0];
        Self {
            is_cubes: true,
            order: [0, 1, 2],
            axes: [across, across, [0.0, 32.0, 512.0]],
            component_bits: 9,
            has_even_levels: true,
            has_flag: true,
            values: Vec::new(),
            linear: Linear {
                gravity: [25, 9],
                drag: 64841,
                rest_height: 102,
                fall_height: 250,
            },
        }
    }

    /// Another one, of fixed bodies (section 13).
    pub(crate) fn parse(text: &str) -> Self {
        let line = |first: &str| {
            let found = text.lines().find_map(|line| line.strip_prefix(first));
            found.map(|rest| rest.split_whitespace().collect::<Vec<_>>())
        };
        let all = |first: &'static str| {
            let rest = text
                .lines()
                .filter_map(move |line| line.strip_prefix(first));
            // Without their names.
            rest.map(|rest| rest.split_whitespace().skip(1).collect::<Vec<_>>())
        };
        let axis = |name: &str| numbers(&line(&format!("position {name} ")).unwrap());
        let order = match line("up ").unwrap()[0] {
            "x" => [1, 2, 0],
            "y" => [2, 0, 1],
            _ => [0, 1, 2],
        };
        let axes = ["x", "y", "z"].map(axis);
        let orientation = line("orientation ").unwrap();
        let mut fields: Vec<Vec<&str>> = all("field ").collect();
        let has_flag = fields.first().is_some_and(|form| *form == ["flag"]);
        if has_flag {
            fields.remove(0);
        }
        let single = |first: &str| line(first).map(|words| words[0].parse::<f32>().unwrap());
        let steps = axes[order[2]][2] as f32;
        let linear = match line("linear ") {
            Some(words) => {
                let [numerator, denominator, drag, rest, fall] = numbers(&words);
                Linear {
                    gravity: [numerator, denominator],
                    drag,
                    rest_height: rest,
                    fall_height: fall,
                }
            }
            None => {
                let ticks = single("ticks ").unwrap();
                let gravity = single("gravity ").unwrap() * steps / (ticks * ticks);
                let halves = all("kind ").map(|words| half(&words, order, steps));
                let smallest = halves.fold(f32::MAX, f32::min);
                let height = |sizes: f32| {
                    single("floor ").map_or(-1 << 30, |floor| {
                        i64::from((floor * steps + sizes * smallest) as i32)
                    })
                };
                Linear {
                    gravity: [(f64::from(gravity) * 65536.0).round() as i64, 65536],
                    drag: 65536,
                    rest_height: height(1.0),
                    fall_height: height(2.5),
                }
            }
        };
        Self {
            is_cubes: false,
            order,
            axes,
            component_bits: orientation[0].parse().unwrap(),
            has_even_levels: orientation.get(1) == Some(&"even"),
            has_flag,
            values: fields.iter().map(|form| largest_value(form)).collect(),
            linear,
        }
    }

    /// A vector with z up (section 13).
    pub(crate) fn turned<T: Copy>(&self, vector: [T; 3]) -> [T; 3] {
        self.order.map(|axis| vector[axis])
    }

    /// Steps per unit and integers of a quantized position, by axis; `steps` is the *s* of cubes, and otherwise 512.
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
        match self.has_even_levels {
            true => (1 << bits) - 1,
            false => (1 << bits) - 2,
        }
    }

    /// Whether the steps of all axes are equal.
    pub(crate) fn has_equal_steps(&self) -> bool {
        let [x, y, z] = self.axes.map(|[.., steps]| steps);
        x == y && y == z
    }
}

fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>, const N: usize>(words: &[&str]) -> [T; N] {
    std::array::from_fn(|index| words[index].parse().unwrap())
}

/// The half size of a kind (section 15).
fn half(words: &[&str], order: [usize; 3], steps: f32) -> f32 {
    let length = |index: usize| words[index].parse::<f32>().unwrap() * steps;
    match words[0] {
        "box" if words[1] == words[2] && words[2] == words[3] => length(1),
        "box" => {
            let [x, y, z] = order.map(|axis| length(1 + axis));
            (x + y + z) / 3.0
        }
        "ball" => length(1),
        "capsule" => length(2) + length(1) / 2.0,
        _ => 0.0,
    }
}

/// The largest number of a field (section 13).
fn largest_value(form: &[&str]) -> i64 {
    match form[0] {
        "flag" => 1,
        "int" => {
            let [min, max]: [i64; 2] = numbers(&form[1..]);
            max - min
        }
        "float" => {
            let [min, max, step] = numbers::<f32, 3>(&form[1..]).map(f64::from);
            ((max - min) / step).round() as i64
        }
        "angle" => (1 << form[1].parse::<u32>().unwrap()) - 1,
        _ => 1 << 16,
    }
}
