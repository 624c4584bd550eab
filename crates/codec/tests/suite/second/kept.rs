//! Snapshots kept by the second decoder, their motion, and prediction from it.
//!
//! The motion is kept by body, as for partial packets (section 14). If all packets are complete, all bodies have the
//! same *ticks*, and the rules of section 9 apply.
//!
//! Section numbers in comments refer to `WIRE.md`.

use std::collections::HashMap;

use super::bodies::Body;
use super::packet::{
    Bits, GROWING_RANGES, POSITION_QUANTIZED, PREDICTED, Stages, binary_digits, check, precision,
};
use super::scene::Linear;

/// A received packet, as kept by the receiver (section 3).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) sequence: u16,
    pub(crate) stages: Stages,
    pub(crate) bodies: Vec<Kinetic>,
    /// Number of mask bits in a packet that names this one (section 14).
    pub(crate) mask_bits: u16,
    /// Whether the motion follows section 14.
    pub(crate) has_tracks: bool,
}

impl Kept {
    /// Clears the parts of the motion that the packet's stages do not use (section 14).
    pub(crate) fn forget_unused(mut self) -> Self {
        let [.., position, orientation, _] = self.stages.codes;
        if self.has_tracks && position != PREDICTED && orientation != GROWING_RANGES {
            for body in &mut self.bodies {
                body.displacement = [0; 3];
                body.falling &= !body.is_carried;
            }
        }
        self
    }
}

/// A body and its motion (sections 9 and 14).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kinetic {
    pub(crate) body: Body,
    pub(crate) is_carried: bool,
    /// Ticks since a packet carried it, at most [`OLDEST`].
    pub(crate) age: i64,
    /// 0 for unknown motion.
    ticks: i64,
    pub(crate) moved: bool,
    displacement: [i64; 3],
    falling: bool,
}

/// Maximum age (section 14).
const OLDEST: i64 = 255;

impl Kinetic {
    /// Creates a body of the initial state (sections 3 and 14).
    pub(crate) fn initial(body: Body) -> Self {
        Self {
            body,
            is_carried: false,
            age: OLDEST,
            ticks: 0,
            moved: false,
            displacement: [0; 3],
            falling: false,
        }
    }
}

/// Reads the mask, and returns the bodies of the named packet, merged with other packets (section 14).
pub(crate) fn read_merged(
    bits: &mut Bits,
    named: &Kept,
    held: &HashMap<u16, Kept>,
) -> Result<Vec<Kinetic>, String> {
    let mut bodies = named.bodies.clone();
    for age in 1..=named.mask_bits {
        if !bits.bit()? {
            continue;
        }
        let other = held.get(&named.sequence.wrapping_sub(age));
        let other = other.ok_or("a merged packet is not held")?;
        let same_precision = precision(other.stages) == precision(named.stages);
        check(same_precision, "a merged packet has another precision")?;
        for (body, other) in bodies.iter_mut().zip(&other.bodies) {
            // Newest first.
            if other.is_carried && !body.is_carried {
                *body = Kinetic { age: age.into(), ..other.clone() };
            }
        }
    }
    Ok(bodies)
}

/// Returns the predicted position and the class of a body (sections 9 and 14), `ticks` after the named baseline.
pub(crate) fn predict(before: &Kinetic, ticks: i64, linear: Linear) -> ([i64; 3], usize) {
    let position = before.body.position;
    if !before.moved {
        return (position, 0);
    }
    let ticks = ticks + before.age;
    let (mut factor, mut fall) = (0, 0);
    if before.ticks != 0 && ticks <= 64 {
        let mut drag = 65536;
        for _ in 0..(ticks + before.ticks) / 2 {
            drag = (drag * linear.drag + 32768) >> 16;
        }
        factor = drag * ticks / before.ticks;
        let [numerator, denominator] = linear.gravity;
        fall = numerator * ticks * (ticks + before.ticks) / (2 * denominator);
        fall = fall.clamp(-1 << 21, 1 << 21);
    }
    let step = before.displacement.map(|along| (along * factor + 32768) >> 16);
    let mut predicted = [0, 1, 2].map(|axis| position[axis] + step[axis]);
    if before.falling {
        predicted[2] -= fall;
    }
    predicted[2] = predicted[2].max(position[2].min(linear.rest_height));
    let largest = step.map(i64::unsigned_abs).into_iter().fold(0, u64::max);
    let class = if before.falling { 5 } else { (binary_digits(largest) / 2).min(4) };
    (predicted, class as usize)
}

/// Returns a body that the packet carries (sections 9 and 14). `ticks` is the age of the baseline, if one is named.
pub(crate) fn carried(
    before: &Kinetic,
    body: Body,
    stages: Stages,
    ticks: Option<i64>,
    linear: Linear,
) -> Kinetic {
    let ticks = ticks.map_or(0, |ticks| ticks + before.age);
    let mut now = Kinetic { is_carried: true, age: 0, ..Kinetic::initial(body) };
    if ticks == 0 || ticks > 64 {
        return now;
    }
    now.ticks = ticks;
    now.moved = now.body != before.body;
    if stages.codes[2] == POSITION_QUANTIZED && stages.steps == 512 {
        let (to, from) = (now.body.position, before.body.position);
        now.displacement = [0, 1, 2].map(|axis| to[axis] - from[axis]);
        let (dz, dz_before) = (now.displacement[2], before.displacement[2]);
        now.falling = now.moved
            && to[2] > linear.fall_height
            && before.ticks != 0
            && (dz * before.ticks - dz_before * ticks) * 4 * linear.gravity[1]
                < -linear.gravity[0] * (ticks + before.ticks) * ticks * before.ticks;
    }
    now
}

/// Returns a body that the packet does not carry (section 14).
pub(crate) fn not_carried(before: &Kinetic, ticks: Option<i64>) -> Kinetic {
    let age = (before.age + ticks.unwrap_or(OLDEST)).min(OLDEST);
    let is_recent = age <= 64;
    Kinetic {
        is_carried: false,
        age,
        moved: before.moved && is_recent,
        falling: before.falling && is_recent,
        ..before.clone()
    }
}
