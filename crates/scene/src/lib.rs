//! The rules of the cube demo without a physics engine: the initial layout, the player's forces, and
//! the interacting cubes.
//!
//! Functions map positions, velocities, keys and contacts to forces and flags; a physics engine
//! integrates them. The scene and its constants follow Glenn Fiedler, *Introduction to Networked
//! Physics* (gafferongames.com, 2014) and the reference of *The Networked Physics Data Compression
//! Challenge* (2015). The z axis points up; units are metres, seconds and kilograms.

mod forces;
mod interaction;
mod keys;
mod layout;

use std::time::Duration;

pub use forces::{Body, Push, blow, gather, hover, roll};
pub use interaction::{GREY_AFTER_TICKS, Interaction};
pub use keys::Keys;
pub use layout::{
    CUBES, MAX_PLAYERS, PLAYER, cubes, initial_position, mass, player, players, seat, side,
};

/// Physics ticks per second.
pub const TICKS_PER_SECOND: u32 = 60;

/// Duration of a tick.
pub const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SECOND as u64);

/// Downward acceleration, metres per second squared.
pub const GRAVITY: f32 = 20.0;

/// Density of every cube, kilograms per cubic metre.
pub const DENSITY: f32 = 1.0;

/// Coefficient of friction: high enough for cubes to tumble rather than slide.
pub const FRICTION: f32 = 1.0;

/// Speed limit of every cube, metres per second.
pub const MAX_LINEAR_SPEED: f32 = 32.0;

/// Angular speed limit of every cube, radians per second.
pub const MAX_ANGULAR_SPEED: f32 = 16.0;

/// A cube falls asleep after [`REST_SECONDS`] below this speed, metres per second, and below
/// [`REST_ANGULAR_SPEED`].
pub const REST_LINEAR_SPEED: f32 = 0.25;

/// Angular counterpart of [`REST_LINEAR_SPEED`], radians per second.
pub const REST_ANGULAR_SPEED: f32 = 0.25;

/// Time below [`REST_LINEAR_SPEED`] and [`REST_ANGULAR_SPEED`] until a cube falls asleep, seconds.
pub const REST_SECONDS: f32 = 0.1;

/// Distance of the walls from the origin in x and y, metres. They keep positions in the codec's range,
/// [−256, 256).
pub const WALL: f32 = 256.0;

/// Height of the ceiling, metres. It keeps positions in the codec's range, [0, 32).
pub const CEILING: f32 = 32.0;
