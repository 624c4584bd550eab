//! Rebuilds Rapier's sets from the state of the bodies.

use std::collections::HashSet;

use glam::Vec3;
use rapier3d::prelude::{
    CCDSolver, ColliderSet, CollisionPipeline, DefaultBroadPhase, ImpulseJointSet, IslandManager,
    MultibodyJointSet, NarrowPhase, PhysicsPipeline, RigidBodySet,
};

use crate::solids;
use crate::state::{ExactBody, WorldState};
use crate::step::{SceneState, Sets};

impl Sets<'_> {
    /// Rebuilds all sets from the [rounded](WorldState::rounded) state of the bodies. The result equals the sets of a
    /// world that is [restored](crate::World::restored) from it. Other data of the engine is lost: contacts with the
    /// impulses that the solver starts from, and the order of pairs and islands.
    ///
    /// Handles, colliders and the user data of bodies stay the same.
    ///
    /// # Panics
    /// If a body or collider was ever removed from the sets, because the handles would change, or if there are bodies
    /// besides the cubes.
    pub fn rebuild(&mut self, scene: &mut SceneState) {
        let state = scene.state(self.bodies);
        // If a cube has a position that is not finite, the state is not rounded. No snapshot can be sent then.
        self.restore(scene, &state.rounded().unwrap_or(state));
    }

    /// Replaces all sets by the sets of a state. Panics like [`rebuild`](Self::rebuild).
    pub(crate) fn restore(&mut self, scene: &mut SceneState, state: &WorldState) {
        *scene = SceneState::restored(scene.handles.clone(), scene.numbers.clone(), state);
        let old_bodies = std::mem::take(self.bodies);
        let old_colliders = std::mem::take(self.colliders);
        *self.islands = IslandManager::new();
        *self.broad_phase = DefaultBroadPhase::new();
        *self.narrow_phase = NarrowPhase::new();
        *self.impulse_joints = ImpulseJointSet::new();
        *self.multibody_joints = MultibodyJointSet::new();
        // Working memory. It is replaced because it recognises data by counters, which start again.
        *self.ccd_solver = CCDSolver::new();
        *self.pipeline = PhysicsPipeline::new();

        // Rapier wakes bodies when they start to touch, and in new sets all contacts start. So contacts are created
        // before the state is set: a tick without motion registers the bodies, asleep and without colliders; then the
        // collisions are detected.
        *self.bodies = RigidBodySet::with_capacity(old_bodies.len());
        for (handle, old) in old_bodies.iter() {
            let cube = scene.cube(handle).expect("every body is a cube's");
            let mut body =
                solids::body(&ExactBody { sleeping: true, ..state.bodies[usize::from(cube)] });
            body.user_data = old.user_data;
            assert_eq!(self.bodies.insert(body), handle, "a body was removed");
        }
        *self.colliders = ColliderSet::new();
        self.step(Vec3::ZERO);
        for (handle, old) in old_colliders.iter() {
            let collider = old.clone();
            let inserted = match old.parent() {
                Some(body) => self.colliders.insert_with_parent(collider, body, self.bodies),
                None => self.colliders.insert(collider),
            };
            assert_eq!(inserted, handle, "a collider was removed");
        }
        CollisionPipeline::new().step(
            solids::parameters().prediction_distance(),
            self.islands,
            self.broad_phase,
            self.narrow_phase,
            self.bodies,
            self.colliders,
            &(),
            &(),
        );
        for (&handle, state) in scene.handles.iter().zip(&state.bodies) {
            let body = &mut self.bodies[handle];
            body.set_linvel(state.linear_velocity, false);
            body.set_angvel(state.angular_velocity, false);
            let activation = body.activation_mut();
            activation.sleeping = state.sleeping;
            activation.time_since_can_sleep = state.seconds_still;
        }
    }

    /// Wakes sleeping cubes that touch an awake one, directly or through others, in the first tick after sets
    /// were built. Rapier itself would only wake them when the contact starts.
    pub(crate) fn wake_touched(&mut self, scene: &mut SceneState) {
        scene.is_restored = false;
        let island =
            |bodies: &RigidBodySet, handle| self.islands.persistent_island_of(bodies, handle);
        let handles = scene.handles.iter();
        let awake: HashSet<_> = handles
            .clone()
            .filter(|&&handle| !self.bodies[handle].is_sleeping())
            .map(|&handle| island(self.bodies, handle))
            .collect();
        for &handle in handles {
            let body = &self.bodies[handle];
            if body.is_sleeping() && awake.contains(&island(self.bodies, handle)) {
                self.bodies[handle].wake_up(true);
            }
        }
    }
}
