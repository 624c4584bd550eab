//! Balls, boxes and capsules in clusters on a floor and on platforms. Walkers push the bodies and blasts throw them.
//! Bodies are added and removed all the time.
//!
//! The y axis points up. Rapier gives the same results on the same architecture; see `cubewire-physics`.

mod ground;
mod kinds;
mod life;
mod play;
#[cfg(test)]
mod tests;
mod walkers;

use cubewire_protocol::SlotTable;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rapier3d::prelude::{PhysicsWorld, RigidBodyBuilder};

use self::ground::CLUSTER_REACH;
pub(super) use self::kinds::KINDS;
use self::kinds::WALKER_KINDS;
pub(super) use self::life::FIELDS;
use self::life::Life;
pub(crate) use self::play::Play;
use self::play::Tuning;
use self::walkers::Walker;
use super::heading::Heading;
use super::{Frame, Scene, SceneBody, orientation};

/// Ticks per second.
pub(super) const TICKS_PER_SECOND: u16 = 60;

/// Downward acceleration, metres per second squared.
const GRAVITY: f32 = 9.81;

pub(super) const SLOTS: usize = 2000;

/// Number of ticks that a slot stays empty after its body was removed. A receiver that misses frames in this time
/// still sees the slot empty between two generations. [`SlotTable`] waits for a second, so this is its tick rate.
pub(super) const COOL_DOWN: u16 = 64;

/// Number of bodies that start in a cluster, in a square of [`ROW`] by [`ROW`].
const CLUSTER: usize = ROW * ROW;
const ROW: usize = 7;

/// Number of bodies at the start. Bodies above this number are removed.
const POPULATION: usize = ground::CLUSTERS * CLUSTER;

const WALKERS: usize = 12;

/// One walker starts per this number of bodies.
const BODIES_PER_WALKER: usize = POPULATION / WALKERS;

/// Density of a walker relative to other bodies.
const WALKER_DENSITY: f32 = 20.0;

/// Number of ticks between two bodies that are added.
const BIRTH_TICKS: u64 = 3;

/// Number of ticks before the first frame. Most bodies come to rest in this time.
const WARM_UP_TICKS: u16 = 5 * TICKS_PER_SECOND;

/// Radius of a blast, metres, and speed of a body at its centre, metres per second.
const BLAST_REACH: f32 = 8.0;
const BLAST_SPEED: f32 = 10.0;

/// Fraction of the blast's radius within which bodies catch fire.
const FIRE: f32 = 0.3;

pub(crate) struct Arena {
    tuning: Tuning,
    random: ChaCha8Rng,
    world: PhysicsWorld,
    clusters: Vec<Vec3>,
    slots: SlotTable,
    /// Body in each slot.
    lives: Vec<Option<Life>>,
    walkers: Vec<Walker>,
    awake: usize,
    tick: u64,
}

impl Arena {
    pub(crate) fn new(play: Play, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut world = PhysicsWorld::new();
        world.gravity = Vec3::NEG_Y * GRAVITY;
        world.integration_parameters.dt = 1.0 / f32::from(TICKS_PER_SECOND);
        let clusters = ground::clusters(&mut random);
        ground::insert(&mut world, &clusters, play.tuning().friction);
        let mut arena = Self {
            tuning: play.tuning(),
            random,
            world,
            clusters,
            slots: SlotTable::new(SLOTS, COOL_DOWN),
            lives: std::iter::repeat_with(|| None).take(SLOTS).collect(),
            walkers: Vec::new(),
            awake: 0,
            tick: 0,
        };
        for number in 0..POPULATION {
            arena.start(number);
        }
        for _ in 0..WARM_UP_TICKS {
            arena.advance();
        }
        arena
    }

    /// Adds the body `number` of the start population to its cluster, or a walker at the cluster's edge.
    fn start(&mut self, number: usize) {
        let (cluster, place) = (number / CLUSTER, number % CLUSTER);
        if number.is_multiple_of(BODIES_PER_WALKER) && self.walkers.len() < WALKERS {
            let kind = WALKER_KINDS[self.walkers.len() % WALKER_KINDS.len()];
            let cluster = cluster - usize::from(ground::is_platform(cluster));
            let edge = Vec3::new(CLUSTER_REACH + 3.0, 1.5, 0.0);
            let slot = self.spawn(kind, self.clusters[cluster] + edge, true);
            self.walkers.extend(slot.map(|slot| Walker::new(slot, cluster)));
            return;
        }
        let along = |place| (place as f32 / (ROW - 1) as f32 * 2.0 - 1.0) * CLUSTER_REACH;
        let offset = Vec3::new(along(place % ROW), 1.2, along(place / ROW));
        let kind = self.random.random_range(0..KINDS.len()) as u8;
        self.spawn(kind, self.clusters[cluster] + offset, false);
    }

    /// Adds a body and returns its slot, or `None` if no slot is vacant.
    fn spawn(&mut self, kind: u8, position: Vec3, is_walker: bool) -> Option<usize> {
        let (index, identity) = self.slots.insert(kind, self.tick)?;
        let tuning = self.tuning;
        let mut body = RigidBodyBuilder::dynamic()
            .translation(position)
            .linear_damping(tuning.linear_damping)
            .angular_damping(tuning.angular_damping)
            .user_data(index as u128)
            .build();
        body.activation_mut().time_until_sleep = tuning.rest_seconds;
        let mut collider = kinds::collider(kind).friction(tuning.friction);
        if is_walker {
            body.lock_rotations(kinds::stands(kind), false);
            collider = collider.density(WALKER_DENSITY);
        } else {
            body.set_rotation(orientation(&mut self.random), false);
        }
        let (handle, _) = self.world.insert(body, collider);
        let heading = Heading::from_bits(self.random.random());
        self.lives[index] = Some(Life::new(handle, identity, heading));
        Some(index)
    }

    fn remove(&mut self, index: usize) {
        if let Some(life) = self.lives[index].take() {
            self.slots.remove(index, self.tick);
            self.world.remove_body(life.body);
            self.walkers.retain(|walker| walker.slot != index);
        }
    }

    fn advance(&mut self) {
        if self.tick.is_multiple_of(BIRTH_TICKS) {
            self.bear();
            while self.lives.iter().flatten().count() > POPULATION {
                self.kill();
            }
        }
        let is_calm = self.awake < self.tuning.calm;
        if is_calm && self.random.random_ratio(1, self.tuning.blast_ticks) {
            self.blast();
        }
        self.walk();
        self.world.step();
        self.touch();
        self.live();
        self.tick += 1;
    }

    /// Drops a new body above a random cluster.
    fn bear(&mut self) {
        let random = &mut self.random;
        let cluster = self.clusters[random.random_range(0..ground::CLUSTERS)];
        let kind = random.random_range(0..KINDS.len()) as u8;
        let mut offset = || random.random_range(-CLUSTER_REACH..CLUSTER_REACH);
        let offset = Vec3::new(offset(), 0.0, offset());
        let offset = offset.with_y(random.random_range(3.0..6.0));
        self.spawn(kind, cluster + offset, false);
    }

    /// Picks a random body and removes it unless it is a walker.
    fn kill(&mut self) {
        let index = self.some_body();
        if self.walkers.iter().all(|walker| walker.slot != index) {
            self.remove(index);
        }
    }

    /// Returns the slot of a random body.
    fn some_body(&mut self) -> usize {
        loop {
            let index = self.random.random_range(0..self.lives.len());
            if self.lives[index].is_some() {
                return index;
            }
        }
    }

    /// Throws bodies away from a point below a random body.
    fn blast(&mut self) {
        let index = self.some_body();
        let life = self.lives[index].as_ref().expect("the slot has a body");
        let mut offset = || self.random.random_range(-2.0..2.0);
        let offset = Vec3::new(offset(), -1.0, offset());
        let middle = self.world.bodies[life.body].translation() + offset;
        for life in self.lives.iter_mut().flatten() {
            let position = self.world.bodies[life.body].translation();
            let distance = position.distance(middle) / BLAST_REACH;
            if distance < 1.0 {
                let body = &mut self.world.bodies[life.body];
                let speed = BLAST_SPEED * (1.0 - distance);
                let direction = (position - middle).normalize_or(Vec3::Y);
                body.apply_impulse(direction * speed * body.mass(), true);
                life.touch(self.tick);
                if distance < FIRE {
                    life.burn(self.tick);
                }
            }
        }
    }

    fn walk(&mut self) {
        for walker in &mut self.walkers {
            let life = self.lives[walker.slot].as_mut().expect("walkers live");
            let body = &mut self.world.bodies[life.body];
            let position = body.translation();
            walker.look_around(self.tick, position, &self.clusters, &mut self.random);
            walker.go(life, body, self.tuning.walker_speed);
        }
    }

    /// Marks the bodies that walkers touch.
    fn touch(&mut self) {
        let world = &self.world;
        for walker in &self.walkers {
            let walking = self.lives[walker.slot].as_ref().expect("walkers live").body;
            let collider = world.bodies[walking].colliders()[0];
            let pairs = world.contact_pairs_with(collider);
            for pair in pairs.filter(|pair| pair.has_any_active_contact()) {
                for collider in [pair.collider1, pair.collider2] {
                    let body = world.colliders[collider].parent();
                    if let Some(body) = body.filter(|&body| body != walking) {
                        let index = world.bodies[body].user_data as usize;
                        let life = self.lives[index].as_mut().expect("colliding bodies exist");
                        life.touch(self.tick);
                    }
                }
            }
        }
    }

    /// Updates all bodies for a tick and removes bodies outside the arena.
    fn live(&mut self) {
        let mut left = Vec::new();
        self.awake = 0;
        for (index, life) in self.lives.iter_mut().enumerate() {
            let Some(life) = life else { continue };
            let body = &self.world.bodies[life.body];
            // Rapier keeps the velocity that a body had when it fell asleep.
            let is_moving = !body.is_sleeping();
            let velocity = if is_moving { body.linvel() } else { Vec3::ZERO };
            life.live(self.tick, index, velocity);
            self.awake += usize::from(is_moving);
            if !ground::is_inside(body.translation()) {
                left.push(index);
            }
        }
        left.into_iter().for_each(|index| self.remove(index));
    }
}

impl Scene for Arena {
    fn step(&mut self) -> Frame {
        self.advance();
        let body = |life: &Life| {
            let body = &self.world.bodies[life.body];
            SceneBody {
                life: life.identity,
                position: body.translation(),
                orientation: *body.rotation(),
                values: life.values(self.tick),
            }
        };
        self.lives.iter().map(|life| life.as_ref().map(body)).collect()
    }
}
