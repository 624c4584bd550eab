//! Bodies that move between random goals and push other bodies.

use glam::{Quat, Vec3};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rapier3d::prelude::RigidBody;

use super::ground::{self, CLUSTER_REACH, CLUSTERS};
use super::kinds;
use super::life::Life;

/// Distance at which a goal counts as reached, metres.
const CLOSE: f32 = 2.0;

/// Number of ticks after which a walker gives up a goal.
const PATIENCE: u64 = 360;

/// One in this number of goals is at another cluster.
const GOALS_AT_A_CLUSTER: u32 = 5;

pub(super) struct Walker {
    pub(super) slot: usize,
    cluster: usize,
    goal: Vec3,
    /// Tick at which the walker picks another goal.
    until: u64,
}

impl Walker {
    pub(super) const fn new(slot: usize, cluster: usize) -> Self {
        Self { slot, cluster, goal: Vec3::ZERO, until: 0 }
    }

    /// Picks another goal if the current one is reached or its time is over.
    pub(super) fn look_around(
        &mut self,
        tick: u64,
        position: Vec3,
        clusters: &[Vec3],
        random: &mut ChaCha8Rng,
    ) {
        let way = (self.goal - position).with_y(0.0);
        if tick < self.until && way.length_squared() > CLOSE * CLOSE {
            return;
        }
        if random.random_ratio(1, GOALS_AT_A_CLUSTER) {
            self.cluster = random.random_range(0..CLUSTERS / 2) * 2;
            debug_assert!(!ground::is_platform(self.cluster), "walkers do not climb");
        }
        let mut offset = || random.random_range(-CLUSTER_REACH..CLUSTER_REACH);
        self.goal = clusters[self.cluster] + Vec3::new(offset(), 0.0, offset());
        self.until = tick + PATIENCE;
    }

    /// Turns towards the goal and moves in the direction of the heading.
    pub(super) fn go(&self, life: &mut Life, body: &mut RigidBody, speed: f32) {
        let heading = life.turn(self.goal - body.translation());
        let (sin, cos) = libm::sincosf(heading.angle());
        let vertical = body.linvel().y;
        body.set_linvel(Vec3::new(cos * speed, vertical, sin * speed), true);
        if kinds::stands(life.identity.kind) {
            // The rotation about y from the x axis to the heading.
            let (sin, cos) = libm::sincosf(heading.angle() / -2.0);
            body.set_rotation(Quat::from_xyzw(0.0, sin, 0.0, cos), true);
        }
    }
}
