//! What cubes are expected to do: several guesses for each, of which the coder picks the one that has
//! been best for cubes like it.
//!
//! Rotations need fractions. They are f32, and only added, multiplied, compared and put through square
//! roots: IEEE 754 leaves those one result on every machine, and no math library is asked. What is
//! decoded is checked besides.

use crate::quantize::bounded::POSITION;
use crate::quantize::smallest_three::SmallestThree;
use crate::snapshot::QuantizedSnapshot;

/// A rotation as axis times angle, radians, in the world's axes.
pub(crate) type Turn = [f32; 3];
/// 1/512 m.
pub(crate) type Place = [i32; 3];
/// x, y, z, w.
pub(crate) type Quaternion = [f32; 4];
/// Rows.
pub(crate) type Matrix = [[f32; 3]; 3];

/// How a cube was foreseen in a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Whether it was in the packet.
    pub(crate) seen: bool,
    /// [Magnitudes](super::residual::magnitude) of the largest residuals.
    pub(crate) position: u8,
    pub(crate) orientation: u8,
    /// The guesses that would have been best.
    pub(crate) best_turn: u8,
    pub(crate) best_place: u8,
}

/// What guesses are made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshots<'a> {
    pub(crate) baseline: &'a QuantizedSnapshot,
    /// By cube: whether it differs from the baseline's own.
    pub(crate) moved: &'a [bool],
    /// Ticks from the baseline to the snapshot that is coded.
    pub(crate) ticks: i32,
    /// The baseline's own, and by how many ticks it is older.
    pub(crate) before: Option<(&'a QuantizedSnapshot, i32)>,
    /// Two more, each with the ticks that it is older than the baseline.
    pub(crate) earlier: [Option<(&'a QuantizedSnapshot, i32)>; 2],
}

/// How a cube moved up to the baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trace {
    pub(crate) place: Place,
    pub(crate) orientation: Quaternion,
    pub(crate) matrix: Matrix,
    /// Displacement from the baseline's own baseline, for six ticks.
    pub(crate) long: Place,
    /// Per tick, from the two earlier baselines; from `long` without them.
    pub(crate) short: [Place; 2],
    /// Largest change of an orientation's component, over the same.
    pub(crate) long_turn: i32,
    pub(crate) short_turn: i32,
    /// Orientations that turns are taken from, each with the ticks that it is older.
    before: Option<(SmallestThree, i32)>,
    earlier: [Option<(SmallestThree, i32)>; 2],
    ticks: i32,
    half_side: f32,
}

/// Guesses of a rotation.
pub(crate) const TURNS: usize = 5;
/// Guesses of a position.
pub(crate) const PLACES: usize = 6;

impl<'a> Snapshots<'a> {
    /// Whether a cube moved up to the baseline.
    pub(crate) fn is_active(&self, cube: usize) -> bool {
        let earlier = self.earlier[0];
        self.moved[cube] || earlier.is_some_and(|(other, _)| self.baseline.differs(other, cube))
    }

    pub(crate) fn trace(&self, cube: usize) -> Trace {
        let at = self.baseline;
        let place = at.positions[cube];
        let words = at.smallest_three(cube);
        let orientation = unpack(words);
        let since = |other: Option<(&QuantizedSnapshot, i32)>| {
            let (other, ticks) = other?;
            let then = other.positions[cube];
            let moved: Place = std::array::from_fn(|axis| place[axis] - then[axis]);
            Some((moved, ticks, other.smallest_three(cube)))
        };
        let before = since(self.before);
        let (moved, ticks) = before.map_or(([0; 3], 6), |(moved, ticks, _)| (moved, ticks));
        let long = moved.map(|moved| moved * 6 / ticks);
        let first = since(self.earlier[0]);
        let second = since(self.earlier[1]).or(first);
        let per_tick = |moved: Place, ticks: i32| moved.map(|moved| moved / ticks);
        let short = match (first, second) {
            (Some(a), Some(b)) => [
                per_tick(a.0, a.1),
                per_tick(b.0.map(|moved| moved * 2), b.1),
            ],
            _ => [per_tick(long, 6), per_tick(long, 3)],
        };
        let turned = |since: Option<(Place, i32, SmallestThree)>| {
            since.map_or(0, |(.., then)| change(words, then))
        };
        let aged = |since: Option<(Place, i32, SmallestThree)>| {
            since.map(|(_, ticks, then)| (then, ticks))
        };
        Trace {
            place,
            orientation,
            matrix: matrix(orientation),
            long,
            short,
            long_turn: turned(before),
            short_turn: turned(first),
            before: aged(before),
            earlier: [first, second].map(aged),
            ticks: self.ticks,
            half_side: if cube == 0 { 384.0 } else { 102.4 },
        }
    }
}

impl Trace {
    /// Rotations since the baseline, given what cubes nearby turned more than their own guess.
    pub(crate) fn turns(&self, nearby: Turn) -> [Turn; TURNS] {
        let ticks = self.ticks as f32;
        let omega = |since: Option<(SmallestThree, i32)>| {
            let (then, ticks) = since?;
            let turn = turn_between(self.orientation, unpack(then));
            Some(turn.map(|angle| angle / ticks as f32))
        };
        let long = omega(self.before).unwrap_or_default();
        let [first, second] = self.earlier.map(|since| omega(since).unwrap_or(long));
        let mixed: Turn = std::array::from_fn(|axis| {
            let (first, second, long) = (first[axis], second[axis], long[axis]);
            ticks * (0.25 * first + 0.27 * second + 0.35 * long)
        });
        [
            [0.0; 3],
            long.map(|omega| omega * ticks * 0.9),
            mixed,
            std::array::from_fn(|axis| mixed[axis] + 0.7 * nearby[axis]),
            second.map(|omega| omega * ticks),
        ]
    }

    /// Height of the centre above where it would be if the lowest corner touched the floor.
    pub(crate) fn clearance(&self) -> i32 {
        (self.place[2] as f32 - self.reach(&self.matrix)) as i32
    }

    /// How far the cube reaches down from its centre.
    fn reach(&self, matrix: &Matrix) -> f32 {
        self.half_side * (matrix[2][0].abs() + matrix[2][1].abs() + matrix[2][2].abs())
    }

    /// Positions, given the orientation and what cubes nearby moved more than their own guess.
    pub(crate) fn places(&self, now: &Matrix, nearby: Place) -> [Place; PLACES] {
        let floor = self.reach(now) as i32 - 5;
        let above_floor = |place: Place| [place[0], place[1], place[2].max(floor)];
        let straight = self.straight();
        let fall = self.ticks * (self.ticks + 2) * 29 / 20;
        let falling = [straight[0], straight[1], straight[2] - fall];
        let pushed: Place = std::array::from_fn(|axis| straight[axis] + nearby[axis]);
        [
            self.place,
            above_floor(straight),
            above_floor(falling),
            self.pivoted(now, &self.matrix),
            self.pivoted(now, now),
            above_floor(pushed),
        ]
        .map(in_range)
    }

    /// Going on as before.
    pub(crate) fn straight(&self) -> Place {
        std::array::from_fn(|axis| {
            let [first, second] = [self.short[0][axis], self.short[1][axis]];
            let short = (2 * first + second) * self.ticks / 4;
            let long = self.long[axis] * self.ticks / 6;
            self.place[axis] + (7 * short + long) / 8
        })
    }

    /// Rolling without slipping on the corner that is lowest in `lowest`.
    fn pivoted(&self, now: &Matrix, lowest: &Matrix) -> Place {
        let corner: [f32; 3] = std::array::from_fn(|axis| {
            if lowest[2][axis] < 0.0 {
                self.half_side
            } else {
                -self.half_side
            }
        });
        std::array::from_fn(|axis| {
            let before = dot(self.matrix[axis], corner);
            let after = dot(now[axis], corner);
            self.place[axis] + (before - after).round() as i32
        })
    }

    /// The orientation after a rotation.
    pub(crate) fn turned(&self, turn: Turn) -> Quaternion {
        multiply(rotation(turn), self.orientation)
    }
}

/// The nearest place that there is: who was put elsewhere between two snapshots seems to move beyond
/// all measure.
fn in_range(place: Place) -> Place {
    std::array::from_fn(|axis| place[axis].clamp(POSITION[axis].min, POSITION[axis].max))
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Largest difference of the words of two orientations.
fn change(a: SmallestThree, b: SmallestThree) -> i32 {
    let components = a.components.into_iter().zip(b.components);
    let difference = components.map(|(a, b)| (i32::from(a) - i32::from(b)).abs());
    let largest = i32::from(a.largest.abs_diff(b.largest));
    difference.max().unwrap_or(0).max(largest)
}

const HALF_ROOT: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Components have nine bits.
const MAX_COMPONENT: f32 = 511.0;

pub(crate) fn unpack(words: SmallestThree) -> Quaternion {
    let small = words.components;
    let small = small.map(|word| (f32::from(word) / MAX_COMPONENT * 2.0 - 1.0) * HALF_ROOT);
    let rest = 1.0 - dot(small, small);
    let mut quaternion = [0.0; 4];
    let mut next = small.into_iter();
    for (place, component) in quaternion.iter_mut().enumerate() {
        *component = if place == usize::from(words.largest) {
            rest.max(0.0).sqrt()
        } else {
            next.next().unwrap_or(0.0)
        };
    }
    quaternion
}

/// The nearest words that leave out `largest`.
pub(crate) fn pack(quaternion: Quaternion, largest: usize) -> [i32; 3] {
    let sign = if quaternion[largest] < 0.0 { -1.0 } else { 1.0 };
    let mut others = (0..4).filter(|&place| place != largest);
    std::array::from_fn(|_| {
        let component = others.next().map_or(0.0, |place| quaternion[place] * sign);
        let word = (component / HALF_ROOT * 0.5 + 0.5) * MAX_COMPONENT;
        word.round().clamp(0.0, MAX_COMPONENT) as i32
    })
}

/// Places of the components, the largest first.
pub(crate) fn by_size(quaternion: Quaternion) -> [usize; 4] {
    let mut places = [0, 1, 2, 3];
    places.sort_by(|&a, &b| quaternion[b].abs().total_cmp(&quaternion[a].abs()));
    places
}

fn multiply(a: Quaternion, b: Quaternion) -> Quaternion {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

pub(crate) fn matrix([x, y, z, w]: Quaternion) -> Matrix {
    [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - z * w),
            2.0 * (x * z + y * w),
        ],
        [
            2.0 * (x * y + z * w),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - x * w),
        ],
        [
            2.0 * (x * z - y * w),
            2.0 * (y * z + x * w),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ]
}

/// The rotation that leads from `from` to `to`, by the series of the arc sine: good to a degree for
/// what a cube can turn in a tenth of a second.
pub(crate) fn turn_between(to: Quaternion, from: Quaternion) -> Turn {
    let back = [-from[0], -from[1], -from[2], from[3]];
    let step = multiply(to, back);
    let sine = dot([step[0], step[1], step[2]], [step[0], step[1], step[2]]);
    let series = 1.0 + sine * (1.0 / 6.0 + sine * (3.0 / 40.0 + sine * (5.0 / 112.0)));
    let factor = if step[3] < 0.0 { -2.0 } else { 2.0 } * series;
    [step[0] * factor, step[1] * factor, step[2] * factor]
}

/// The quaternion of a rotation, by the series of sine and cosine.
fn rotation(turn: Turn) -> Quaternion {
    let half = dot(turn, turn) * 0.25;
    let sine = 0.5 * (1.0 - half * (1.0 / 6.0 - half * (1.0 / 120.0 - half / 5040.0)));
    let cosine = 1.0 - half * (0.5 - half * (1.0 / 24.0 - half / 720.0));
    [turn[0] * sine, turn[1] * sine, turn[2] * sine, cosine]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QuantizedCube;
    use crate::ladder::ARITHMETIC;

    fn at(position: Place) -> QuantizedSnapshot {
        let cube = QuantizedCube {
            orientation: SmallestThree::default(),
            position,
            interacting: false,
        };
        let mut snapshot = QuantizedSnapshot::new(ARITHMETIC.stages.precision());
        snapshot.assign(9, [cube]).unwrap();
        snapshot
    }

    #[test]
    fn whoever_is_put_elsewhere_is_still_expected_within_the_world() {
        let corners = POSITION.map(|bounds| [bounds.min, bounds.max]);
        for [from, to] in [[0, 1], [1, 0]] {
            let before = at(corners.map(|ends| ends[from]));
            let baseline = at(corners.map(|ends| ends[to]));
            let snapshots = Snapshots {
                baseline: &baseline,
                moved: &[true],
                ticks: 64,
                before: Some((&before, 1)),
                earlier: [Some((&before, 1)); 2],
            };
            let trace = snapshots.trace(0);
            for place in trace.places(&trace.matrix, [0; 3]) {
                for (axis, bounds) in place.into_iter().zip(POSITION) {
                    assert!((bounds.min..=bounds.max).contains(&axis), "{place:?}");
                }
            }
        }
    }
}
