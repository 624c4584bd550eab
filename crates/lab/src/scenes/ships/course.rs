//! Paths of ships as functions of time.
//!
//! Uses only arithmetic and square roots in double precision and the sines of `libm`, so results are the same on
//! every platform.

use std::f64::consts::TAU;

use glam::{DMat3, DQuat, DVec3};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Upward acceleration that is added to the centripetal one to find a ship's bank, metres per second squared.
const UPRIGHT: f64 = 10.0;

/// Maximum flattening of a circle along z, as a fraction of its radius.
const FLATNESS: f64 = 0.5;

#[derive(Clone, Copy)]
pub(super) enum Course {
    /// A Lissajous curve: on each axis, `middle + reach * sin(rate * time + phase)`.
    Curve {
        middle: DVec3,
        reach: DVec3,
        /// Angular rate in radians per second, and phase at time 0 in radians.
        rate: DVec3,
        phase: DVec3,
    },
    Still {
        position: DVec3,
        facing: DVec3,
    },
}

/// A point on a course.
pub(super) struct Waypoint {
    pub(super) position: DVec3,
    /// Unit vectors to the ship's right and ahead. A ship banks into a curve.
    right: DVec3,
    ahead: DVec3,
    /// Whether the speed increases.
    pub(super) is_thrusting: bool,
    /// Sine of the bank angle.
    pub(super) bank: f64,
}

impl Course {
    /// Creates a closed curve with a random phase around a point. `reach` is its radius in metres, `speed` the
    /// approximate speed in metres per second.
    pub(super) fn around(middle: DVec3, reach: f64, speed: f64, random: &mut ChaCha8Rng) -> Self {
        let rate = speed / reach * [-1.0, 1.0][random.random_range(0..2)];
        let flat = 1.0 - random.random_range(0.0..FLATNESS);
        let phase = random.random_range(0.0..TAU);
        Self::Curve {
            middle,
            reach: DVec3::new(0.1, 1.0, flat) * reach,
            rate: DVec3::new(2.0, 1.0, 1.0) * rate,
            phase: DVec3::new(random.random_range(0.0..TAU), phase, phase + TAU / 4.0),
        }
    }

    /// Creates a fixed point with a random horizontal facing.
    pub(super) fn still(position: DVec3, random: &mut ChaCha8Rng) -> Self {
        let (sin, cos) = libm::sincos(random.random_range(0.0..TAU));
        Self::Still {
            position,
            facing: DVec3::new(0.0, cos, sin),
        }
    }

    /// Returns the point at a time in seconds.
    pub(super) fn at(&self, time: f64) -> Waypoint {
        let (position, velocity, acceleration) = match *self {
            Self::Still { position, facing } => (position, facing, DVec3::ZERO),
            Self::Curve {
                middle,
                reach,
                rate,
                phase,
            } => {
                let angle = (rate * time + phase).to_array();
                let sin = reach * DVec3::from_array(angle.map(libm::sin));
                let cos = reach * DVec3::from_array(angle.map(libm::cos));
                (middle + sin, cos * rate, -sin * rate * rate)
            }
        };
        let ahead = velocity.normalize();
        let up = DVec3::X * UPRIGHT + acceleration;
        let right = ahead.cross(up).normalize();
        Waypoint {
            position,
            right,
            ahead,
            is_thrusting: velocity.dot(acceleration) > 0.0,
            bank: right.x,
        }
    }
}

impl Waypoint {
    /// Returns the point at a distance in metres to the right.
    pub(super) fn beside(&self, offset: f64) -> DVec3 {
        self.position + self.right * offset
    }

    /// Rotation from the ship's axes (up, right, ahead) to x, y and z.
    pub(super) fn orientation(&self) -> DQuat {
        let up = self.right.cross(self.ahead);
        DQuat::from_mat3(&DMat3::from_cols(up, self.right, self.ahead))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_ship_looks_where_it_goes_and_banks_into_the_curve() {
        for seed in 0..20 {
            let random = &mut ChaCha8Rng::seed_from_u64(seed);
            let course = Course::around(DVec3::ONE, 500.0, 60.0, random);
            for time in (0..40).map(f64::from) {
                let (here, next) = (course.at(time), course.at(time + 1e-3));
                let moved = (next.position - here.position) / 1e-3;
                let ahead = here.orientation() * DVec3::Z;
                assert!(ahead.angle_between(moved) < 0.01, "seed {seed}");
                assert!((20.0..100.0).contains(&moved.length()), "seed {seed}");
                let up = here.orientation() * DVec3::X;
                let inwards = DVec3::ONE - here.position;
                assert!(
                    up.x > 0.5 && up.with_x(0.0).dot(inwards) > 0.0,
                    "seed {seed}"
                );
            }
        }
    }
}
