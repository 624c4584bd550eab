//! What the second decoder keeps of a packet, the motion in it, and what that predicts.
//!
//! Section numbers in comments are those of `WIRE.md`.

use crate::second_bits::binary_digits;
use crate::second_bodies::Body;
use crate::second_stages::{POSITION_QUANTIZED, Stages};

/// What a receiver keeps of a packet (section 3).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) sequence: u16,
    pub(crate) stages: Stages,
    pub(crate) bodies: Vec<Body>,
    /// Motion (section 9): the ticks since the baseline, 0 for unknown motion.
    pub(crate) ticks: i64,
    pub(crate) moved: Vec<bool>,
    pub(crate) displacement: Vec<[i64; 3]>,
    pub(crate) falling: Vec<bool>,
}

/// *factor* and *fall* of a packet (section 9).
pub(crate) fn prediction(sequence: u16, baseline: Option<&Kept>) -> (i64, i64) {
    let Some(kept) = baseline else { return (0, 0) };
    let ticks = i64::from(sequence.wrapping_sub(kept.sequence));
    if kept.ticks == 0 || ticks > 64 {
        return (0, 0);
    }
    let mut drag = 65536;
    for _ in 0..(ticks + kept.ticks) / 2 {
        drag = (drag * 64841 + 32768) >> 16;
    }
    let fall = 25 * ticks * (ticks + kept.ticks) / 18;
    (drag * ticks / kept.ticks, fall)
}

/// The predicted position and the class of a body that has moved (section 9).
pub(crate) fn predict(kept: &Kept, index: usize, factor: i64, fall: i64) -> ([i64; 3], usize) {
    let position = kept.bodies[index].position;
    let step = kept.displacement[index].map(|along| (along * factor + 32768) >> 16);
    let mut predicted = [0, 1, 2].map(|axis| position[axis] + step[axis]);
    if kept.falling[index] {
        predicted[2] -= fall;
    }
    predicted[2] = predicted[2].max(position[2].min(102));
    let largest = step.map(i64::unsigned_abs).into_iter().fold(0, u64::max);
    let class = if kept.falling[index] {
        5
    } else {
        (binary_digits(largest) / 2).min(4)
    };
    (predicted, class as usize)
}

/// The snapshot and its motion (section 9).
pub(crate) fn keep(
    sequence: u16,
    stages: Stages,
    bodies: Vec<Body>,
    baseline: Option<&Kept>,
) -> Kept {
    let mut kept = Kept {
        sequence,
        stages,
        ticks: 0,
        moved: vec![false; bodies.len()],
        displacement: vec![[0; 3]; bodies.len()],
        falling: vec![false; bodies.len()],
        bodies,
    };
    let Some(baseline) = baseline else {
        return kept;
    };
    let ticks = i64::from(sequence.wrapping_sub(baseline.sequence));
    if ticks == 0 || ticks > 64 {
        return kept;
    }
    kept.ticks = ticks;
    let ticks_before = baseline.ticks;
    for (index, (now, before)) in kept.bodies.iter().zip(&baseline.bodies).enumerate() {
        kept.moved[index] = now != before;
        if stages.codes[2] != POSITION_QUANTIZED || stages.steps != 512 {
            continue;
        }
        let displacement = [0, 1, 2].map(|axis| now.position[axis] - before.position[axis]);
        let (dz, dz_before) = (displacement[2], baseline.displacement[index][2]);
        kept.displacement[index] = displacement;
        kept.falling[index] = now != before
            && now.position[2] > 250
            && ticks_before != 0
            && (dz * ticks_before - dz_before * ticks) * 36
                < -25 * (ticks + ticks_before) * ticks * ticks_before;
    }
    kept
}
