//! Where cubes are going: what a way of coding knows of motion.
//!
//! Everything that foresees cubes comes into the coder through [`Foresee`]. A better one, say one that
//! runs the whole scene's physics from the baseline, is one more that implements it.

use super::rotation::{
    Matrix, Quaternion, Vector, add, dot, matrix, multiply, step, transform, turned, unpack,
};
use super::trace::{Place, Trace};
use super::tumble::Body;
use crate::quantize::bounded::POSITION;
use crate::quantize::smallest_three::SmallestThree;
use crate::snapshot::QuantizedSnapshot;

/// Guesses of single cubes, in the order of a packet: of each the orientation, then the position, which
/// the orientation says much of, and then both are told.
pub(crate) trait Foresee {
    /// Whether cubes are coded against the guess that has been best for cubes like them. If not, they are
    /// coded against the first, and the second is no more than a context.
    const CHOOSES: bool;
    /// At least two.
    type Orientations: AsRef<[Quaternion]>;
    /// At least two.
    type Places: AsRef<[Place]>;

    fn orientations(&mut self, trace: &Trace) -> Self::Orientations;
    /// Asked next, for the same cube, given its orientation.
    fn places(&mut self, trace: &Trace, orientation: SmallestThree) -> Self::Places;
    /// What has become of the cube.
    fn became(&mut self, trace: &Trace, orientation: SmallestThree, place: Place);
}

/// Cubes stay where the baseline has them; where they would be if they went on is a context.
#[derive(Debug)]
pub(crate) struct Stay;

impl Foresee for Stay {
    const CHOOSES: bool = false;
    type Orientations = [Quaternion; 2];
    type Places = [Place; 2];

    fn orientations(&mut self, trace: &Trace) -> [Quaternion; 2] {
        [trace.orientation; 2]
    }

    fn places(&mut self, trace: &Trace, _: SmallestThree) -> [Place; 2] {
        let on = std::array::from_fn(|axis| trace.place[axis] + trace.long[axis]);
        [trace.place, on]
    }

    fn became(&mut self, _: &Trace, _: SmallestThree, _: Place) {}
}

/// A cube's motion from the baseline on, as of a rigid body: whatever is fixed to it moves alike.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Motion {
    from: Place,
    to: Place,
    rotation: Matrix,
}

impl Motion {
    fn carries(&self, place: Place) -> Vector {
        let arm = std::array::from_fn(|axis| (place[axis] - self.from[axis]) as f32);
        let arm = transform(&self.rotation, arm);
        std::array::from_fn(|axis| self.to[axis] as f32 + arm[axis])
    }
}

/// Cubes fly, fall and tumble, or are carried by the player, or with those around them.
#[derive(Debug)]
pub(crate) struct Move<'a> {
    /// Of the cubes that were coded before, nearby ones of which carry those that follow.
    coded: &'a mut Vec<Motion>,
    player: Motion,
    player_turn: Quaternion,
    /// The cube that is asked about.
    body: Body,
}

/// What [`Move`] guesses, in its order.
pub(crate) const ORIENTATION_GUESSES: [&str; 2] = [
    "turning with the player; far from it, turning on as before",
    "by itself: flying, falling, tumbling",
];
pub(crate) const POSITION_GUESSES: [&str; 4] = [
    "rolling on the lowest corner",
    "carried by the player; far from it, straight on",
    "carried by those around it",
    "by itself: flying, falling, tumbling",
];

/// Cubes that are looked at for those that follow: more would be work that grows with the square of
/// their number, which no sender may choose.
const MOST: usize = 512;

/// Ticks after which a cube by itself is left where it is.
const MOST_TICKS: i32 = 24;

/// 1/512 m: who is farther away carries nobody.
const REACH: f32 = 350.0;
/// The same, of the player, who pulls others along.
const PLAYER_REACH: f32 = 900.0;

impl<'a> Move<'a> {
    /// Uses memory again.
    pub(crate) fn new(coded: &'a mut Vec<Motion>, baseline: &QuantizedSnapshot) -> Self {
        coded.clear();
        // Until it is known to have moved.
        let player = baseline.positions.first().copied().unwrap_or_default();
        let resting = [0.0, 0.0, 0.0, 1.0];
        Self {
            coded,
            player: Motion {
                from: player,
                to: player,
                rotation: matrix(resting),
            },
            player_turn: resting,
            body: Body {
                half_side: 0.0,
                place: [0.0; 3],
                orientation: resting,
                velocity: [0.0; 3],
                spin: [0.0; 3],
            },
        }
    }

    fn is_near_player(&self, trace: &Trace) -> bool {
        let from = self.player.from;
        let apart = std::array::from_fn(|axis| (trace.place[axis] - from[axis]) as f32);
        trace.cube != 0 && dot(apart, apart) < PLAYER_REACH * PLAYER_REACH
    }

    /// The mean of where those around carry a place to, nearer ones counting for more.
    fn carried(&self, place: Place) -> Option<Vector> {
        let mut sum = [0.0; 3];
        let mut weights = 0.0;
        for motion in &*self.coded {
            let apart: Vector =
                std::array::from_fn(|axis| (motion.from[axis] - place[axis]) as f32);
            let square = dot(apart, apart);
            if square < REACH * REACH {
                let near = 1.0 - square / (REACH * REACH);
                let weight = near * near;
                weights += weight;
                sum = add(sum, motion.carries(place), weight);
            }
        }
        (weights > 0.0).then(|| sum.map(|sum| sum / weights))
    }
}

impl Foresee for Move<'_> {
    const CHOOSES: bool = true;
    type Orientations = [Quaternion; ORIENTATION_GUESSES.len()];
    type Places = [Place; POSITION_GUESSES.len()];

    fn orientations(&mut self, trace: &Trace) -> [Quaternion; 2] {
        self.body = Body {
            half_side: trace.half_side,
            place: trace.place.map(|axis| axis as f32),
            orientation: trace.orientation,
            velocity: trace.velocity(),
            spin: trace.spin(),
        };
        self.body.run(trace.ticks.min(MOST_TICKS) as usize);
        let other = if self.is_near_player(trace) {
            multiply(self.player_turn, trace.orientation)
        } else {
            coasted(trace)
        };
        [other, self.body.orientation]
    }

    fn places(&mut self, trace: &Trace, orientation: SmallestThree) -> [Place; 4] {
        let start = trace.place.map(|axis| axis as f32);
        let now = matrix(unpack(orientation));
        // What rolls over its lowest corner leaves it where it is.
        let over = |place: Vector, turned: &Matrix| {
            let half = trace.half_side;
            let corner = turned[2].map(|height| if height < 0.0 { half } else { -half });
            let (from, to) = (transform(turned, corner), transform(&now, corner));
            std::array::from_fn(|axis| place[axis] + from[axis] - to[axis])
        };
        let mut alone = self.body.place;
        let then = matrix(self.body.orientation);
        let reach = trace.half_side * then[2].iter().map(|height| height.abs()).sum::<f32>();
        if alone[2] < reach + ON_FLOOR {
            alone = over(alone, &then);
        }
        let other = if self.is_near_player(trace) {
            self.player.carries(trace.place)
        } else {
            add(start, trace.velocity(), trace.ticks as f32)
        };
        [
            over(start, &matrix(trace.orientation)),
            other,
            self.carried(trace.place).unwrap_or(alone),
            alone,
        ]
        .map(nearest)
    }

    fn became(&mut self, trace: &Trace, orientation: SmallestThree, place: Place) {
        let turn = step(unpack(orientation), trace.orientation);
        let motion = Motion {
            from: trace.place,
            to: place,
            rotation: matrix(turn),
        };
        if trace.cube == 0 {
            self.player = motion;
            self.player_turn = turn;
        }
        if self.coded.len() < MOST {
            self.coded.push(motion);
        }
    }
}

/// Turning on as before, but for what is lost to whatever is in the way.
fn coasted(trace: &Trace) -> Quaternion {
    const KEPT: f32 = 0.87;
    const STEPS: usize = 4;
    let spin = add(trace.spin(), trace.long_spin(), 1.0);
    let part = spin.map(|spin| spin * 0.5 * KEPT * trace.ticks as f32 / STEPS as f32);
    (0..STEPS).fold(trace.orientation, |orientation, _| {
        turned(orientation, part)
    })
}

/// 1/512 m: lower than this the lowest corner counts as touching the floor.
const ON_FLOOR: f32 = 8.0;

/// The nearest place that there is: who was put elsewhere between two snapshots seems to move beyond
/// all measure.
fn nearest(place: Vector) -> Place {
    std::array::from_fn(|axis| {
        let bounds = POSITION[axis];
        let rounded = (place[axis] + 0.5_f32.copysign(place[axis])) as i32;
        rounded.clamp(bounds.min, bounds.max)
    })
}

#[cfg(test)]
mod tests {
    use super::super::rotation::pack;
    use super::super::trace::Snapshots;
    use super::*;
    use crate::QuantizedCube;
    use crate::ladder::ARITHMETIC;

    const UPRIGHT: SmallestThree = SmallestThree {
        largest: 3,
        components: [256; 3],
    };

    fn at(positions: &[Place]) -> QuantizedSnapshot {
        let cubes: Vec<_> = positions
            .iter()
            .map(|&position| QuantizedCube {
                orientation: UPRIGHT,
                position,
                interacting: false,
            })
            .collect();
        let mut snapshot = QuantizedSnapshot::new(ARITHMETIC.stages.precision());
        snapshot.assign(9, cubes).unwrap();
        snapshot
    }

    #[test]
    fn whoever_is_put_elsewhere_is_still_expected_within_the_world() {
        let corners = POSITION.map(|bounds| [bounds.min, bounds.max]);
        for [from, to] in [[0, 1], [1, 0]] {
            let before = at(&[corners.map(|ends| ends[from])]);
            let baseline = at(&[corners.map(|ends| ends[to])]);
            let snapshots = Snapshots {
                baseline: &baseline,
                moved: &[true],
                ticks: 64,
                before: Some((&before, 1)),
                earlier: [Some((&before, 1)); 2],
            };
            let trace = snapshots.trace(0);
            let mut memory = Vec::new();
            let mut foresight = Move::new(&mut memory, &baseline);
            foresight.orientations(&trace);
            for place in foresight.places(&trace, trace.words) {
                for (axis, bounds) in place.into_iter().zip(POSITION) {
                    assert!((bounds.min..=bounds.max).contains(&axis), "{place:?}");
                }
            }
        }
    }

    #[test]
    fn whoever_is_stuck_to_the_player_goes_where_it_takes_them() {
        let baseline = at(&[[0, 0, 600], [400, 0, 600]]);
        let snapshots = Snapshots {
            baseline: &baseline,
            moved: &[true; 2],
            ticks: 6,
            before: None,
            earlier: [None, None],
        };
        let mut memory = Vec::new();
        let mut foresight = Move::new(&mut memory, &baseline);
        let [player, stuck] = [0, 1].map(|cube| snapshots.trace(cube));
        // A quarter turn about z, and on by a metre.
        let quarter = SmallestThree {
            largest: 3,
            components: [256, 256, 511],
        };
        foresight.became(&player, quarter, [512, 0, 600]);
        let [with_player, _] = foresight.orientations(&stuck);
        assert_eq!(pack(with_player, 3)[2], 511);
        let places = foresight.places(&stuck, quarter);
        for axis in 0..3 {
            assert!(
                places[1][axis].abs_diff([512, 400, 600][axis]) <= 3,
                "{places:?}"
            );
        }
    }
}
