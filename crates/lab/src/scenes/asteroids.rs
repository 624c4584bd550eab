//! Asteroids that collide in a sphere around a small planetoid, without gravity.
//!
//! The scene of the *Unity Network Transform Benchmark*, rebuilt from its description. The description leaves out the
//! shape of the rocks, the friction and the size of the planetoid. These values are the defaults of a new Unity
//! project, or chosen here.

use std::borrow::Cow;

use cubewire_codec::Life;
use cubewire_codec::schema::{Kind, Shape};
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rapier3d::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, RigidBodyHandle};

use super::{Frame, Scene, SceneBody, orientation};

/// Number of bodies: the default of the benchmark.
pub(super) const BODIES: usize = 250;

/// Frames per second, and simulation steps per frame.
pub(super) const TICKS_PER_SECOND: u16 = 30;
const STEPS: u16 = 2;

/// Duration of a step, seconds.
const STEP: f32 = 1.0 / (TICKS_PER_SECOND * STEPS) as f32;

/// Kinds in the schema. The shape is unknown because the bodies differ in shape and size.
pub(super) const KINDS: [Kind; 1] = [Kind { name: Cow::Borrowed("rock"), shape: Shape::Unknown }];

/// Radius of the sphere for 1000 bodies, metres. It shrinks with fewer bodies to keep the density.
const RADIUS_OF_THOUSAND: f32 = 50.0;

/// Radius of the planetoid, metres.
const PLANETOID: f32 = 3.0;

/// Number of different rocks, and of corners per rock. Distance of a corner from the centre at scale 1, metres. Scale
/// of a body.
const ROCKS: usize = 8;
const CORNERS: usize = 24;
const CORNER_DISTANCE: std::ops::Range<f32> = 0.8..1.0;

const SCALE: std::ops::Range<f32> = 0.25..1.0;

/// Distance to the nearest other body at the start, metres at scale 1.
const CLEARANCE: f32 = 2.0;

/// Target speed of a body, metres per second.
const SPEED: std::ops::Range<f32> = 1.0..4.0;

/// Maximum angular velocity around each axis at the start, radians per second.
const SPIN: f32 = 45.0_f32.to_radians();

/// Friction and angular damping of a body.
const FRICTION: f32 = 0.6;
const ANGULAR_DAMPING: f32 = 0.05;

/// Acceleration towards the body's target speed, and inwards if the body is outside the sphere, metres per second
/// squared.
const ACCELERATION: f32 = 5.0;
const INWARD_ACCELERATION: f32 = 10.0;

pub(crate) struct Asteroids {
    world: PhysicsWorld,
    /// Each body with its target speed, metres per second.
    rocks: Vec<(RigidBodyHandle, f32)>,
}

impl Asteroids {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut world = PhysicsWorld::new();
        world.gravity = Vec3::ZERO;
        world.integration_parameters.dt = STEP;
        world.insert_collider(ColliderBuilder::ball(PLANETOID).friction(FRICTION), None);
        let forms: [_; ROCKS] = std::array::from_fn(|_| form(&mut random));
        let mut taken = vec![(Vec3::ZERO, PLANETOID)];
        let rocks = (0..BODIES).map(|_| {
            let scale = random.random_range(SCALE);
            let position = start(scale, &taken, &mut random);
            taken.push((position, scale));
            let speed = random.random_range(SPEED);
            let heading = orientation(&mut random) * Vec3::X;
            let body = RigidBodyBuilder::dynamic()
                .translation(position)
                .rotation(orientation(&mut random).to_scaled_axis())
                .linvel(heading * speed)
                .angvel(within_one(&mut random) * SPIN)
                .angular_damping(ANGULAR_DAMPING)
                .can_sleep(false);
            let corners = forms[random.random_range(0..ROCKS)].map(|corner| corner * scale);
            let collider = ColliderBuilder::convex_hull(&corners)
                .expect("corners around the middle have a hull")
                .mass(scale * scale * scale)
                .friction(FRICTION);
            (world.insert(body, collider).0, speed)
        });
        let rocks = rocks.collect();
        Self { world, rocks }
    }

    fn advance(&mut self) {
        for &(rock, wanted) in &self.rocks {
            let body = &mut self.world.bodies[rock];
            let (position, velocity) = (body.translation(), body.linvel());
            let velocity = if position.length() > sphere() {
                velocity - position.normalize() * INWARD_ACCELERATION * STEP
            } else {
                let speed = velocity.length();
                let change = (wanted - speed).clamp(-ACCELERATION * STEP, ACCELERATION * STEP);
                velocity.normalize_or_zero() * (speed + change)
            };
            body.set_linvel(velocity, true);
        }
        self.world.step();
    }
}

impl Scene for Asteroids {
    fn step(&mut self) -> Frame {
        for _ in 0..STEPS {
            self.advance();
        }
        let bodies = self.rocks.iter().map(|&(rock, _)| {
            let body = &self.world.bodies[rock];
            Some(SceneBody {
                life: Life::default(),
                position: body.translation(),
                orientation: *body.rotation(),
                values: Vec::new(),
            })
        });
        bodies.collect()
    }
}

/// Radius of the sphere, metres.
fn sphere() -> f32 {
    RADIUS_OF_THOUSAND * libm::cbrtf(BODIES as f32 / 1000.0)
}

/// Returns the corners of a rock of scale 1.
fn form(random: &mut ChaCha8Rng) -> [Vec3; CORNERS] {
    std::array::from_fn(|_| orientation(random) * Vec3::X * random.random_range(CORNER_DISTANCE))
}

/// Returns the start position of a body: a random point in the sphere, moved outwards until no other body is near.
fn start(scale: f32, taken: &[(Vec3, f32)], random: &mut ChaCha8Rng) -> Vec3 {
    let mut position = loop {
        let position = within_one(random);
        if (0.001..1.0).contains(&position.length_squared()) {
            break position * sphere();
        }
    };
    let clearance = CLEARANCE * scale;
    while taken.iter().any(|&(other, radius)| other.distance(position) < clearance + radius) {
        position += position.normalize() * clearance;
    }
    position
}

/// Returns a vector with each component in -1..1.
fn within_one(random: &mut ChaCha8Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.random_range(-1.0..1.0)))
}
