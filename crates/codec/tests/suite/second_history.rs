//! Sections 1, 5 and 8 of `DECISIONS.md`, implemented from the text alone, like `second_decoder`: the adaptive state
//! that is kept with a snapshot, and the histories of cubes.
//!
//! Section numbers in comments are those of `DECISIONS.md`.

use crate::second_coder::Tables;
use crate::second_cubes::Cube;
use crate::second_predictor::{Body, Vector, floats, over, plus, times, turn, unpack};

/// The adaptive state that is kept with a snapshot (section 5).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdaptiveState {
    pub(crate) tables: Tables,
    pub(crate) predictions: Vec<PredictionHistory>,
    pub(crate) previous: Option<Older>,
}

/// A prediction history (section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PredictionHistory {
    pub(crate) is_known: bool,
    pub(crate) position: usize,
    pub(crate) orientation: usize,
    pub(crate) best_position: usize,
    pub(crate) best_orientation: usize,
}

impl PredictionHistory {
    pub(crate) fn known() -> Self {
        Self {
            is_known: true,
            ..Self::default()
        }
    }
}

/// A snapshot that is some ticks older than the reference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Older {
    pub(crate) cubes: Vec<Cube>,
    pub(crate) ticks: i64,
}

// Section 1.

/// *mag(n)*.
pub(crate) fn mag(n: i64) -> usize {
    let steps = [1, 2, 3, 4, 6, 8, 12, 18, 27, 41, 65, 101, 171, 401];
    steps.iter().filter(|step| **step <= n.abs()).count()
}

/// *signed mag(n)*.
pub(crate) fn signed_mag(n: i64) -> usize {
    mag(n) + if n < 0 { 15 } else { 0 }
}

pub(crate) fn difference(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn sum(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn squared_distance(a: [i64; 3], b: [i64; 3]) -> i64 {
    difference(a, b).iter().map(|part| part * part).sum()
}

/// The kinematic history of a cube (section 8).
pub(crate) struct History {
    pub(crate) long: [i64; 3],
    pub(crate) short: [i64; 3],
    /// The contexts *L*, *S*, *LT*, *ST*, *C*, *A*, *K* and *I*.
    pub(crate) l: usize,
    pub(crate) s: usize,
    pub(crate) lt: usize,
    pub(crate) st: usize,
    pub(crate) c: usize,
    pub(crate) a: usize,
    pub(crate) k: usize,
    pub(crate) i: usize,
    /// With half, p, q, velocity and spin.
    pub(crate) body: Body,
    pub(crate) long_spin: Vector,
    pub(crate) is_active: bool,
}

/// The snapshots that a packet is relative to (section 8).
pub(crate) struct Past<'a> {
    pub(crate) cubes: &'a [Cube],
    pub(crate) moved: Option<&'a [bool]>,
    pub(crate) previous: Option<Older>,
    pub(crate) additional: [Option<Older>; 2],
    pub(crate) simulated: Option<&'a [Cube]>,
}

impl Past<'_> {
    pub(crate) fn history(&self, n: usize) -> History {
        let cube = &self.cubes[n];
        let (p, packed) = (cube.position, cube.orientation);
        let q = unpack(packed);
        let previous = self.previous.as_ref();
        let [first, second] = self.additional.each_ref().map(Option::as_ref);
        let moved = |since: &Older| difference(p, since.cubes[n].position);
        let long = previous.map_or([0; 3], |previous| {
            moved(previous).map(|part| part * 6 / previous.ticks)
        });
        let short = first.map_or(long.map(|part| part / 6), |first| {
            moved(first).map(|part| part / first.ticks)
        });
        let change = |since: Option<&Older>| {
            since.map_or(0, |since| {
                let then = since.cubes[n].orientation;
                let distance = packed
                    .iter()
                    .zip(then)
                    .map(|(now, then)| (now - then).abs());
                distance.fold(0, i64::max)
            })
        };
        let speed = |since: Option<&Older>| {
            since.map_or([0.0; 3], |since| {
                over(floats(moved(since)), since.ticks as f32)
            })
        };
        let spin = |since: Option<&Older>| {
            since.map_or([0.0; 3], |since| {
                let then = unpack(since.cubes[n].orientation);
                over(turn(q, then), since.ticks as f32)
            })
        };
        let newer = first.or(previous);
        let has_moved = self.moved.is_some_and(|moved| moved[n]);
        let is_active = has_moved
            || first.is_some_and(|first| first.cubes[n] != *cube)
            || self.simulated.is_some_and(|cubes| cubes[n] != *cube);
        let unless_resting = |motion: Vector| match n == 0 || is_active {
            true => motion,
            false => [0.0; 3],
        };
        let velocity = plus(speed(newer), speed(second.or(newer)));
        let body = Body {
            half: if n == 0 { 384.0 } else { 102.4 },
            position: floats(p),
            orientation: q,
            velocity: unless_resting(times(velocity, 0.5)),
            spin: unless_resting(spin(newer)),
        };
        let clearance = body.clearance() as i64;
        let steps = [-12, 5, 19, 59, 150].into_iter();
        let distance = squared_distance(p, self.cubes[0].position) as f32;
        let c = steps.filter(|most| clearance > *most).count();
        // 0 for cube 0, too.
        let a = (distance.sqrt() / 64.0).min(15.0) as usize;
        History {
            long,
            short,
            l: largest_mag(long),
            s: largest_mag(short),
            lt: mag(change(previous)),
            st: mag(change(first)),
            c,
            a,
            k: if c <= 4 { c } else { 5 + (a >> 2).min(2) },
            i: usize::from(cube.interacting),
            body,
            long_spin: unless_resting(spin(previous)),
            is_active,
        }
    }
}

pub(crate) fn largest_mag(vector: [i64; 3]) -> usize {
    let largest = vector.iter().map(|part| part.abs()).fold(0, i64::max);
    mag(largest.min(1 << 20))
}
