//! The rules of the cube demo, free of any engine: where the cubes stand, how the keys push them,
//! and who is interacting.
//!
//! Functions take positions, velocities, keys and contacts, and give forces and flags; a physics
//! engine does the rest. The scene and its figures are those of Glenn Fiedler, *Introduction to
//! Networked Physics* (gafferongames.com, 2014) and of the reference of *The Networked Physics Data
//! Compression Challenge* (2015). World axes are z up; units are metres, seconds, kilograms.

mod forces;
mod interaction;
mod keys;
mod layout;

pub use forces::{Body, Push, blow, gather, hover, roll};
pub use interaction::{GREY_AFTER_TICKS, Interaction};
pub use keys::Keys;
pub use layout::{CUBES, PLAYER, initial_position, mass, side};

/// Ticks a second.
pub const TICKS_PER_SECOND: u32 = 60;

/// Metres per second squared, downwards.
pub const GRAVITY: f32 = 20.0;

/// Kilograms per cubic metre, of every cube.
pub const DENSITY: f32 = 1.0;

/// Coefficient of friction: cubes tumble, they do not slide.
pub const FRICTION: f32 = 1.0;

/// Metres per second, of any cube.
pub const MAX_LINEAR_SPEED: f32 = 32.0;

/// Radians per second, of any cube.
pub const MAX_ANGULAR_SPEED: f32 = 16.0;

/// Below this speed in metres per second, and [`REST_ANGULAR_SPEED`], for [`REST_SECONDS`], a
/// cube comes to rest.
pub const REST_LINEAR_SPEED: f32 = 0.25;

/// Radians per second; see [`REST_LINEAR_SPEED`].
pub const REST_ANGULAR_SPEED: f32 = 0.25;

/// See [`REST_LINEAR_SPEED`].
pub const REST_SECONDS: f32 = 0.1;

/// Walls stand at this distance from the origin in x and y, and hold what the codec can say:
/// positions in [−256, 256).
pub const WALL: f32 = 256.0;

/// Height of the ceiling: positions in [0, 32).
pub const CEILING: f32 = 32.0;
