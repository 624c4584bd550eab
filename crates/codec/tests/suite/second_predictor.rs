//! Sections 1, 14, 15 and 17 (carrying) of `DECISIONS.md`, implemented from the text alone: the arithmetic in floats.
//!
//! Every operation is rounded on its own, in the order of the text.

use std::f32::consts::FRAC_1_SQRT_2;

pub(crate) type Vector = [f32; 3];
/// x, y, z, w.
pub(crate) type Quaternion = [f32; 4];
/// Three rows.
pub(crate) type Matrix = [Vector; 3];

// Section 1.

pub(crate) const IDENTITY: Quaternion = [0.0, 0.0, 0.0, 1.0];

pub(crate) fn floats(integers: [i64; 3]) -> Vector {
    integers.map(|integer| integer as f32)
}

/// *round(f)*.
fn round(value: f32) -> i64 {
    let half = if value >= 0.0 { 0.5 } else { -0.5 };
    (value + half) as i64
}

pub(crate) fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn plus(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn times(a: Vector, factor: f32) -> Vector {
    a.map(|part| part * factor)
}

pub(crate) fn over(a: Vector, divisor: f32) -> Vector {
    a.map(|part| part / divisor)
}

/// matrix × v.
fn apply(matrix: Matrix, v: Vector) -> Vector {
    matrix.map(|row| dot(row, v))
}

/// |x| + |y| + |z|.
pub(crate) fn reach(v: Vector) -> f32 {
    v[0].abs() + v[1].abs() + v[2].abs()
}

/// a ∗ b.
fn product(a: Quaternion, b: Quaternion) -> Quaternion {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
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

fn step(to: Quaternion, from: Quaternion) -> Quaternion {
    product(to, [-from[0], -from[1], -from[2], from[3]])
}

pub(crate) fn turn(to: Quaternion, from: Quaternion) -> Vector {
    let [x, y, z, w] = step(to, from);
    let s = x * x + y * y + z * z;
    let series = 1.0 + s * (1.0 / 6.0 + s * (3.0 / 40.0 + s * (5.0 / 112.0)));
    let factor = if w < 0.0 { -2.0 } else { 2.0 } * series;
    times([x, y, z], factor)
}

/// Not normalized, and the square of its length.
fn series(q: Quaternion, angles: Vector) -> (Quaternion, f32) {
    let half = times(angles, 0.5);
    let s = dot(half, half);
    let [x, y, z] = times(half, 1.0 - s * (1.0 / 6.0));
    let r = product([x, y, z, 1.0 - s * 0.5], q);
    (r, r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3])
}

pub(crate) fn turned(q: Quaternion, angles: Vector) -> Quaternion {
    let (r, square) = series(q, angles);
    let factor = 1.0 / square.sqrt();
    r.map(|part| part * factor)
}

fn turned_slightly(q: Quaternion, angles: Vector) -> Quaternion {
    let (r, square) = series(q, angles);
    let factor = 1.5 - square * 0.5;
    r.map(|part| part * factor)
}

/// The quaternion of *largest* and a, b, c.
pub(crate) fn unpack(packed: [i64; 4]) -> Quaternion {
    let [largest, components @ ..] = packed;
    let [a, b, c] = components.map(|word| (word as f32 / 511.0 * 2.0 - 1.0) * FRAC_1_SQRT_2);
    let rest = (1.0 - (a * a + b * b + c * c)).max(0.0).sqrt();
    match largest {
        0 => [rest, a, b, c],
        1 => [a, rest, b, c],
        2 => [a, b, rest, c],
        _ => [a, b, c, rest],
    }
}

pub(crate) fn pack(q: Quaternion, largest: usize) -> [i64; 3] {
    let sign = if q[largest] < 0.0 { -1.0 } else { 1.0 };
    let word = |place: usize| {
        let word = q[place] * (sign * (FRAC_1_SQRT_2 * 511.0)) + 256.0;
        (word as i64).clamp(0, 511)
    };
    match largest {
        0 => [1, 2, 3].map(word),
        1 => [0, 2, 3].map(word),
        2 => [0, 1, 3].map(word),
        _ => [0, 1, 2].map(word),
    }
}

/// A body of section 15.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) half: f32,
    pub(crate) position: Vector,
    pub(crate) orientation: Quaternion,
    pub(crate) velocity: Vector,
    pub(crate) spin: Vector,
}

impl Body {
    /// The height of the lowest corner.
    pub(crate) fn clearance(&self) -> f32 {
        let last = matrix(self.orientation)[2];
        self.position[2] - self.half * reach(last)
    }

    /// Section 15.
    fn extrapolate(&mut self, ticks: i64) {
        let max_velocity = 32.0 * 512.0 / 60.0;
        let max_spin = 16.0 / 60.0;
        for _ in 0..ticks {
            self.velocity[2] -= 20.0 * 512.0 / 3600.0;
            self.touch_ground();
            let hold = |part: f32, max: f32| part.clamp(-max, max);
            self.velocity = self.velocity.map(|part| hold(part, max_velocity));
            self.spin = self.spin.map(|part| hold(part, max_spin));
            self.position = plus(self.position, self.velocity);
            self.orientation = turned_slightly(self.orientation, self.spin);
        }
    }

    /// The contacts of section 15.
    fn touch_ground(&mut self) {
        let rotation = matrix(self.orientation);
        let half = self.half;
        let mut faces = [0, 1, 2].map(|column| {
            let face = rotation.map(|row| row[column]);
            times(face, if face[2] > 0.0 { -half } else { half })
        });
        for other in [1, 0] {
            if faces[other][2] < faces[2][2] {
                faces.swap(other, 2);
            }
        }
        let per_inertia = 1.0 / (half * half * (2.0 / 3.0));
        for (s, t) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            let arm = plus(plus(times(faces[0], s), times(faces[1], t)), faces[2]);
            let gap = self.position[2] + arm[2];
            if gap >= 44.0 {
                continue;
            }
            let motion = plus(self.velocity, cross(self.spin, arm));
            let lowest = -gap.max(0.0);
            if motion[2] >= lowest {
                continue;
            }
            let change = [-motion[0], -motion[1], lowest - motion[2]];
            let along = dot(arm, change) * per_inertia;
            let impulse = times(plus(change, times(arm, along)), 1.0 / 5.5);
            self.velocity = plus(self.velocity, impulse);
            self.spin = plus(self.spin, times(cross(arm, impulse), per_inertia));
        }
    }
}

/// A cube that has changed, and what it carries (section 14).
struct Carrier {
    from: Vector,
    to: Vector,
    turn: Quaternion,
    /// Of the orientation and of the position.
    residuals: [usize; 2],
}

/// How many cubes become carriers.
pub(crate) const MAX_CARRIERS: usize = 512;

/// The carriers, in coding order, and the motion of cube 0.
pub(crate) struct Carriers {
    all: Vec<Carrier>,
    first: Carrier,
}

impl Carriers {
    /// None yet. Cube 0 stands at `from`.
    pub(crate) fn new(from: [i64; 3]) -> Self {
        let from = floats(from);
        let (to, turn) = (from, IDENTITY);
        Self {
            all: Vec::new(),
            first: Carrier {
                from,
                to,
                turn,
                residuals: [0; 2],
            },
        }
    }

    /// A cube changed, with position and packed at the reference, or as simulated, and now, and with the magnitudes of
    /// its residuals.
    pub(crate) fn add(&mut self, is_first: bool, from: Pose, to: Pose, residuals: [usize; 2]) {
        let turn = step(unpack(to.1), unpack(from.1));
        let carrier = || Carrier {
            from: floats(from.0),
            to: floats(to.0),
            turn,
            residuals,
        };
        if self.all.len() < MAX_CARRIERS {
            self.all.push(carrier());
        }
        if is_first {
            self.first = carrier();
        }
    }
}

/// The candidates of variant 1 for one cube (section 14).
pub(crate) struct Predictor<'a> {
    body: &'a Body,
    long_spin: Vector,
    ticks: f32,
    carriers: &'a Carriers,
    is_near: bool,
    is_resting: bool,
    extrapolated: Body,
    simulated: Option<Pose>,
    /// From where the cube is carried (section 17).
    start: (Vector, Quaternion),
}

/// A position and a packed orientation.
pub(crate) type Pose = ([i64; 3], [i64; 4]);

impl<'a> Predictor<'a> {
    pub(crate) fn new(
        body: &'a Body,
        long_spin: Vector,
        ticks: i64,
        carriers: &'a Carriers,
        (is_first, is_resting): (bool, bool),
        simulated: Option<Pose>,
    ) -> Self {
        let mut extrapolated = *body;
        if !is_resting {
            extrapolated.extrapolate(ticks.min(24));
        }
        let start = simulated.map_or((body.position, body.orientation), |(place, packed)| {
            (floats(place), unpack(packed))
        });
        let distance = minus(start.0, carriers.first.from);
        Self {
            body,
            long_spin,
            ticks: ticks as f32,
            carriers,
            is_near: !is_first && dot(distance, distance) < 810_000.0,
            is_resting,
            extrapolated,
            simulated,
            start,
        }
    }

    pub(crate) fn orientations(&self) -> [Quaternion; 3] {
        let q = self.body.orientation;
        let first = if self.is_near {
            product(self.carriers.first.turn, self.start.1)
        } else if self.is_resting {
            q
        } else {
            let spin = plus(self.body.spin, self.long_spin);
            let angles = spin.map(|part| part * 0.5 * 0.87 * self.ticks / 2.0);
            (0..2).fold(q, |q, _| turned(q, angles))
        };
        let second = match self.simulated {
            Some(_) => self.start.1,
            None => self.extrapolated.orientation,
        };
        let third = self.around();
        let third = third.map(|around| product(around.1, self.start.1));
        [first, second, third.unwrap_or(second)]
    }

    /// Positions, once the new packed are known.
    pub(crate) fn positions(&self, packed: [i64; 4]) -> [[i64; 3]; 4] {
        let new = matrix(unpack(packed));
        let half = self.body.half;
        let roll = |v: Vector, from: Matrix| {
            let edge = from[2].map(|part| if part < 0.0 { half } else { -half });
            minus(plus(v, apply(from, edge)), apply(new, edge))
        };
        let place = self.body.position;
        let fourth = if self.simulated.is_some() {
            self.start.0
        } else {
            let (b, e) = (
                self.extrapolated.position,
                matrix(self.extrapolated.orientation),
            );
            if b[2] < half * reach(e[2]) + 8.0 {
                roll(b, e)
            } else {
                b
            }
        };
        let second = if self.is_near {
            let first = &self.carriers.first;
            plus(
                first.to,
                apply(matrix(first.turn), minus(self.start.0, first.from)),
            )
        } else {
            plus(place, times(self.body.velocity, self.ticks))
        };
        [
            roll(place, matrix(self.body.orientation)),
            second,
            self.around().map_or(fourth, |around| around.0),
            fourth,
        ]
        .map(in_range)
    }

    /// Whether any carriers are near.
    pub(crate) fn is_carried(&self) -> bool {
        self.around().is_some()
    }

    /// *residuals around* (section 14).
    pub(crate) fn residuals_around(&self) -> [usize; 2] {
        self.around().map_or([15; 2], |(_, _, residuals)| residuals)
    }

    /// Where carriers that are near take the cube, how they turn, and their residuals.
    fn around(&self) -> Option<(Vector, Quaternion, [usize; 2])> {
        let (place, _) = self.start;
        let (mut step, mut arm, mut turn) = ([0.0; 3], [0.0; 3], [0.0; 4]);
        let (mut weight, mut residuals) = (0.0, [0.0; 2]);
        for carrier in &self.carriers.all {
            let distance = minus(carrier.from, place);
            let s = dot(distance, distance);
            if s < 122_500.0 {
                let n = 1.0 - s / 122_500.0;
                let w = n * n;
                weight += w;
                for (sum, residual) in residuals.iter_mut().zip(carrier.residuals) {
                    *sum += residual as f32 * w;
                }
                step = plus(step, times(minus(carrier.to, carrier.from), w));
                arm = plus(arm, times(minus(place, carrier.from), w));
                let signed = if carrier.turn[3] < 0.0 { -w } else { w };
                for (sum, part) in turn.iter_mut().zip(carrier.turn) {
                    *sum += part * signed;
                }
            }
        }
        if turn[3] <= 0.0 {
            return None;
        }
        let [x, y, z, w] = turn;
        let factor = 1.0 / (x * x + y * y + z * z + w * w).sqrt();
        let turn = turn.map(|part| part * factor);
        let (step, arm) = (over(step, weight), over(arm, weight));
        let swing = minus(apply(matrix(turn), arm), arm);
        let residuals = residuals.map(|sum| (sum / weight + 0.5) as usize);
        Some((plus(plus(place, step), swing), turn, residuals))
    }
}

/// Rounded, and held inside the range of a position.
pub(crate) fn in_range([x, y, z]: Vector) -> [i64; 3] {
    hold([round(x), round(y), round(z)])
}

/// A position held inside its range (WIRE.md, section 12).
pub(crate) fn hold([x, y, z]: [i64; 3]) -> [i64; 3] {
    [
        x.clamp(-131_072, 131_071),
        y.clamp(-131_072, 131_071),
        z.clamp(0, 16_383),
    ]
}
