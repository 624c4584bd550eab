//! The forces of the player's keys on the cubes.
//!
//! Forces and torques apply at the centre of mass for one tick.

use glam::{Quat, Vec3};

use crate::GRAVITY;
use crate::keys::Keys;

/// Force along the axis of an arrow key, newtons.
const ROLL_FORCE: f32 = 120.0;

/// Speeds along an axis, metres per second. Above the first, the force of an arrow key fades; from
/// the second on it is zero. Faster cubes hop instead of rolling, and a katamari ball falls apart.
const FULL_FORCE_SPEED: f32 = 6.0;
const TOP_SPEED: f32 = 13.0;

/// Mean height of the hovering player's centre above the ground, metres.
const HOVER_HEIGHT: f32 = 2.6;

/// Amplitude of the bobbing, metres, and its angular frequency, radians per second.
const BOB: f32 = 0.15;
const BOB_RATE: f32 = 5.0;

/// Spring and damping of the hover: acceleration per metre, and per metre per second.
const SPRING: f32 = 60.0;
const SPRING_DAMPING: f32 = 10.0;

/// Deceleration of the hovering player per metre per second, which makes it steerable.
const AIR_DRAG: f32 = 1.2;

/// Spring and damping that keep the player upright: angular acceleration per radian, and per radian per
/// second.
const UPRIGHT: f32 = 120.0;
const UPRIGHT_DAMPING: f32 = 14.0;

/// Lean per metre per second and its maximum, radians.
const LEAN: f32 = 0.04;
const MAX_LEAN: f32 = 0.45;

/// Reach of blow, from the point below the player, and of gather, from its centre, metres.
const BLOW_REACH: f32 = 2.0;
const GATHER_REACH: f32 = 1.8;

/// Acceleration of blow and gather at a distance of one metre, and their maxima, metres per second
/// squared. It falls with the square of the distance.
const STRENGTH: f32 = 200.0;
const MAX_BLOW: f32 = 500.0;
const MAX_GATHER: f32 = 2000.0;

/// Data of a cube that forces depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Centre, metres.
    pub position: Vec3,
    /// Rotation from local to world axes.
    pub orientation: Quat,
    /// Linear velocity, metres per second.
    pub linear_velocity: Vec3,
    /// Angular velocity about world axes, radians per second.
    pub angular_velocity: Vec3,
    /// Mass, kilograms.
    pub mass: f32,
    /// Length of the edges, metres.
    pub side: f32,
}

/// A force and a torque.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Push {
    /// Force, newtons.
    pub force: Vec3,
    /// Torque about world axes, newton metres.
    pub torque: Vec3,
}

/// The force of the arrow keys on the player, newtons. It is doubled along an axis on which it opposes the
/// motion, for quick turns, and fades out towards the top speed of a rolling cube.
pub fn roll(keys: Keys, velocity: Vec3) -> Vec3 {
    let [x, y] = keys.direction();
    let along = |direction: f32, speed: f32| {
        let forwards = direction * speed;
        let share = if forwards < 0.0 {
            2.0
        } else {
            ((TOP_SPEED - forwards) / (TOP_SPEED - FULL_FORCE_SPEED)).clamp(0.0, 1.0)
        };
        direction * ROLL_FORCE * share
    };
    Vec3::new(along(x, velocity.x), along(y, velocity.y), 0.0)
}

/// The force and torque that keep the blowing player above the ground. A damped spring holds its height,
/// with some bobbing. Another one keeps one of its faces up and leans into the motion.
///
/// `ground` is the height of the floor below the player, metres. `seconds` is the time, for the bobbing.
pub fn hover(player: &Body, ground: f32, seconds: f32) -> Push {
    let height = player.position.z - ground;
    let target = HOVER_HEIGHT + BOB * libm::sinf(BOB_RATE * seconds);
    let velocity = player.linear_velocity;
    let lift = GRAVITY + SPRING * (target - height) - SPRING_DAMPING * velocity.z;
    let acceleration = Vec3::new(-AIR_DRAG * velocity.x, -AIR_DRAG * velocity.y, lift.max(0.0));

    let flat = Vec3::new(velocity.x, velocity.y, 0.0);
    let lean = (flat * LEAN).clamp_length_max(MAX_LEAN);
    let up = (Vec3::Z + lean).normalize();
    let tilt = upmost_face(player.orientation).cross(up);
    let spin = UPRIGHT * tilt - UPRIGHT_DAMPING * player.angular_velocity;
    Push { force: acceleration * player.mass, torque: spin * moment_of_inertia(player) }
}

/// The force on a cube away from `point`, which is on the ground below the blowing player. `None` out of reach.
pub fn blow(point: Vec3, cube: &Body) -> Option<Vec3> {
    let away = cube.position - point;
    inverse_square(away, BLOW_REACH, MAX_BLOW).map(|acceleration| acceleration * cube.mass)
}

/// The force on a cube towards `centre`, the position of the gathering player. `None` out of reach.
pub fn gather(centre: Vec3, cube: &Body) -> Option<Vec3> {
    let towards = centre - cube.position;
    inverse_square(towards, GATHER_REACH, MAX_GATHER).map(|acceleration| acceleration * cube.mass)
}

/// An acceleration along `offset` that falls with the square of its length, up to `max`.
fn inverse_square(offset: Vec3, reach: f32, max: f32) -> Option<Vec3> {
    let distance = offset.length();
    // At the centre the direction is undefined.
    if distance > reach || distance < 1e-3 {
        return None;
    }
    Some(offset / distance * (STRENGTH / (distance * distance)).min(max))
}

/// Outward normal of the uppermost face, in world axes.
fn upmost_face(orientation: Quat) -> Vec3 {
    [Vec3::X, Vec3::Y, Vec3::Z]
        .map(|axis| {
            let axis = orientation * axis;
            if axis.z < 0.0 { -axis } else { axis }
        })
        .into_iter()
        .max_by(|a, b| a.z.total_cmp(&b.z))
        .expect("there are three axes")
}

fn moment_of_inertia(body: &Body) -> f32 {
    body.mass * body.side * body.side / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PLAYER, mass, side};

    fn player_at(position: Vec3) -> Body {
        Body {
            position,
            orientation: Quat::IDENTITY,
            linear_velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            mass: mass(PLAYER),
            side: side(PLAYER),
        }
    }

    #[test]
    fn the_force_is_doubled_against_the_motion_and_fades_out_towards_the_top_speed() {
        let keys = Keys { right: true, up: true, ..Keys::default() };
        let force = roll(keys, Vec3::new(-3.0, 3.0, 0.0));
        assert_eq!(force, Vec3::new(240.0, 120.0, 0.0), "on that axis only");
        let keys = Keys { left: true, ..Keys::default() };
        let at = |speed: f32| roll(keys, Vec3::new(-speed, 0.0, 0.0)).x;
        assert_eq!(at(FULL_FORCE_SPEED), -ROLL_FORCE);
        assert_eq!(at((FULL_FORCE_SPEED + TOP_SPEED) / 2.0), -ROLL_FORCE / 2.0);
        assert_eq!(at(TOP_SPEED + 1.0), 0.0);
    }

    #[test]
    fn hovering_settles_at_its_height() {
        let mut body = player_at(Vec3::new(0.0, 0.0, 0.75));
        let (mut low, mut high) = (f32::MAX, 0.0_f32);
        for tick in 0..600 {
            let push = hover(&body, 0.0, tick as f32 / 60.0);
            let acceleration = push.force / body.mass - Vec3::Z * GRAVITY;
            body.linear_velocity += acceleration / 60.0;
            body.position += body.linear_velocity / 60.0;
            if tick > 300 {
                low = low.min(body.position.z);
                high = high.max(body.position.z);
            }
        }
        assert!(low > HOVER_HEIGHT - 2.0 * BOB && high < HOVER_HEIGHT + 2.0 * BOB);
        assert!(high - low > BOB, "it bobs");
    }

    #[test]
    fn a_player_is_turned_upright_by_the_shorter_way_and_leans_forward() {
        let torque = |about_x: f32, speed: f32| {
            let mut body = player_at(Vec3::ZERO);
            body.orientation = Quat::from_rotation_x(about_x.to_radians());
            body.linear_velocity.x = speed;
            hover(&body, 0.0, 0.0).torque
        };
        // At 80° about x, the y axis is 10° from up. It is turned the rest of the way.
        assert!(torque(80.0, 0.0).x > 0.0);
        assert!(torque(30.0, 0.0).x < 0.0);
        assert!(torque(0.0, 5.0).y > 0.0, "about y, z turns to x");
    }

    #[test]
    fn forces_grow_towards_their_centre_and_end_at_their_reach() {
        let cube = |x: f32| Body {
            position: Vec3::new(x, 0.0, 0.0),
            mass: 0.064,
            ..player_at(Vec3::ZERO)
        };
        let blown = |x: f32| blow(Vec3::ZERO, &cube(x)).map(|force| force.x / 0.064);
        assert!((blown(1.0).unwrap() - 200.0).abs() < 1e-3);
        assert!((blown(0.1).unwrap() - MAX_BLOW).abs() < 1e-3);
        assert_eq!(blown(2.01), None);
        assert_eq!(blown(0.0), None);
        let gathered = |x: f32| gather(Vec3::ZERO, &cube(x)).map(|force| force.x / 0.064);
        assert!((gathered(1.0).unwrap() + 200.0).abs() < 1e-3);
        assert_eq!(gathered(1.81), None);
    }
}
