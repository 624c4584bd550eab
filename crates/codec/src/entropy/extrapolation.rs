//! Rigid-body extrapolation of one cube with ground contact: it flies, falls, and rolls over its corners
//! without slipping or bouncing.

use super::rotation::{Quaternion, Vector, add, cross, dot, matrix, transform, turned};

/// A cube and its motion, in 1/512 m and ticks. Its mass is 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) half_side: f32,
    pub(crate) position: Vector,
    pub(crate) orientation: Quaternion,
    pub(crate) velocity: Vector,
    /// Angular velocity, in radians per tick.
    pub(crate) spin: Vector,
}

/// 20 m/s².
const GRAVITY: f32 = 20.0 * 512.0 / 3600.0;
/// 32 m/s, along each axis.
const MAX_VELOCITY: f32 = 32.0 * 512.0 / 60.0;
/// 16 rad/s, about each axis.
const MAX_SPIN: f32 = 16.0 / 60.0;

/// Corners above this height do not reach the floor within a tick at the speeds that matter.
const NEAR_FLOOR: f32 = 44.0;

/// Iterations of the sequential contact solver.
const ITERATIONS: usize = 2;

impl Body {
    /// Simulates this many ticks.
    pub(crate) fn run(&mut self, ticks: usize) {
        for _ in 0..ticks {
            self.step();
        }
    }

    fn step(&mut self) {
        self.velocity[2] -= GRAVITY;
        self.apply_contacts();
        self.velocity = self
            .velocity
            .map(|part| part.clamp(-MAX_VELOCITY, MAX_VELOCITY));
        self.spin = self.spin.map(|part| part.clamp(-MAX_SPIN, MAX_SPIN));
        self.position = add(self.position, self.velocity, 1.0);
        self.orientation = turned(self.orientation, self.spin);
    }

    /// Stops corners that would go through the floor in this tick where they touch it, by an impulse against
    /// their whole velocity: friction is high and nothing bounces.
    fn apply_contacts(&mut self) {
        let rows = matrix(self.orientation);
        let half = self.half_side;
        let reach = half * (rows[2][0].abs() + rows[2][1].abs() + rows[2][2].abs());
        if self.position[2] - reach > NEAR_FLOOR {
            return;
        }
        let mut corners = [([0.0; 3], 0.0); 8];
        let mut count = 0;
        for corner in 0..8 {
            let side = |axis: usize| if corner >> axis & 1 == 1 { half } else { -half };
            let arm = transform(&rows, [side(0), side(1), side(2)]);
            let gap = self.position[2] + arm[2];
            if gap < NEAR_FLOOR {
                corners[count] = (arm, gap);
                count += 1;
            }
        }
        // Of a cube of mass 1, about its centre.
        let inertia = half * half * (2.0 / 3.0);
        for _ in 0..ITERATIONS {
            for &(arm, gap) in &corners[..count] {
                let motion = add(self.velocity, cross(self.spin, arm), 1.0);
                let lowest = -gap.max(0.0);
                if motion[2] >= lowest {
                    continue;
                }
                let change = [-motion[0], -motion[1], lowest - motion[2]];
                // An impulse J changes the corner's velocity by (1 + r²/I) J − r (r·J)/I. Solved for J:
                let whole = 1.0 + dot(arm, arm) / inertia;
                let along = dot(arm, change) / inertia;
                let impulse = add(change, arm, along).map(|part| part / whole);
                self.velocity = add(self.velocity, impulse, 1.0);
                self.spin = add(self.spin, cross(arm, impulse), 1.0 / inertia);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPRIGHT: Quaternion = [0.0, 0.0, 0.0, 1.0];

    fn cube(height: f32, orientation: Quaternion) -> Body {
        Body {
            half_side: 102.4,
            position: [0.0, 0.0, height],
            orientation,
            velocity: [0.0; 3],
            spin: [0.0; 3],
        }
    }

    #[test]
    fn a_dropped_cube_falls_and_comes_to_rest() {
        let mut body = cube(512.0, UPRIGHT);
        body.run(6);
        // Six ticks at 20 m/s², velocity before position: 21 steps of gravity.
        assert!((body.position[2] - (512.0 - 21.0 * GRAVITY)).abs() < 0.01);
        body.run(60);
        assert!((body.position[2] - 102.4).abs() < 1.0, "{body:?}");
        assert!(body.velocity.iter().all(|part| part.abs() < 0.1));
        assert!(body.spin.iter().all(|part| part.abs() < 0.001));
    }

    #[test]
    fn a_tilted_cube_rolls_over_its_lower_edge() {
        let lean = turned(turned(UPRIGHT, [0.25, 0.0, 0.0]), [0.25, 0.0, 0.0]);
        let rows = matrix(lean);
        let height = 102.4 * (rows[2][1].abs() + rows[2][2].abs());
        let mut body = cube(height, lean);
        body.run(3);
        // Back onto the face that it came from: less than 45 degrees.
        assert!(body.spin[0] < -0.01, "{body:?}");
        assert!(body.spin[1].abs() < 1e-3 && body.spin[2].abs() < 1e-3);
        body.run(60);
        assert!((body.position[2] - 102.4).abs() < 1.0, "{body:?}");
    }

    #[test]
    fn any_motion_stays_finite() {
        let mut body = cube(0.0, [1.0, 1.0, 1.0, 1.0]);
        body.velocity = [262_143.0, -262_143.0, -262_143.0];
        body.spin = [3.0, -3.0, 3.0];
        body.run(64);
        let all = [body.position, body.velocity, body.spin];
        assert!(all.iter().flatten().all(|part| part.is_finite()));
    }
}
