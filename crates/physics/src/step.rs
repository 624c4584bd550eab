//! One tick.

use cubewire_codec::Snapshot;
use cubewire_scene::{CUBES, Interaction, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED};
use glam::Vec3;
use rapier3d::prelude::{
    CCDSolver, ColliderHandle, ColliderSet, DefaultBroadPhase, ImpulseJointSet, IslandManager,
    MultibodyJointSet, NarrowPhase, PhysicsPipeline, PhysicsWorld, RigidBodyHandle, RigidBodySet,
};

use crate::forces::apply_forces;
use crate::input::Input;
use crate::solids::parameters;
use crate::state::{ExactBody, WorldState};

/// Rapier's sets, borrowed for a tick.
#[expect(missing_debug_implementations, reason = "Rapier's sets have none")]
pub struct Sets<'w> {
    /// Which bodies are asleep.
    pub islands: &'w mut IslandManager,
    /// Pairs of colliders that may touch.
    pub broad_phase: &'w mut DefaultBroadPhase,
    /// Contacts, with the impulses that the solver starts from.
    pub narrow_phase: &'w mut NarrowPhase,
    /// The bodies.
    pub bodies: &'w mut RigidBodySet,
    /// Their shapes.
    pub colliders: &'w mut ColliderSet,
    /// None in this scene.
    pub impulse_joints: &'w mut ImpulseJointSet,
    /// None in this scene.
    pub multibody_joints: &'w mut MultibodyJointSet,
    /// Working memory: no tick depends on what an earlier one left in it.
    pub ccd_solver: &'w mut CCDSolver,
    /// Working memory: no tick depends on what an earlier one left in it.
    pub pipeline: &'w mut PhysicsPipeline,
}

impl<'w> From<&'w mut PhysicsWorld> for Sets<'w> {
    /// All that a world has but its gravity and its parameters: those are the scene's.
    fn from(world: &'w mut PhysicsWorld) -> Self {
        Self {
            islands: &mut world.islands,
            broad_phase: &mut world.broad_phase,
            narrow_phase: &mut world.narrow_phase,
            bodies: &mut world.bodies,
            colliders: &mut world.colliders,
            impulse_joints: &mut world.impulse_joints,
            multibody_joints: &mut world.multibody_joints,
            ccd_solver: &mut world.ccd_solver,
            pipeline: &mut world.physics_pipeline,
        }
    }
}

/// What a tick depends on besides Rapier's sets, and what it leaves besides them.
#[derive(Clone, Debug)]
pub struct SceneState {
    /// Body by cube.
    handles: Vec<RigidBodyHandle>,
    /// Cube by the index part of its body's handle.
    cubes: Vec<Option<u16>>,
    ticks: u64,
    pub(crate) interaction: Interaction,
    pub(crate) at_rest: Vec<bool>,
    /// Whether no tick was simulated since the sets were built from a state.
    pub(crate) is_restored: bool,
}

impl SceneState {
    /// The state before the first tick, with the cubes' bodies by index.
    ///
    /// # Panics
    /// If there is not one body for each cube.
    #[must_use]
    pub fn new(handles: Vec<RigidBodyHandle>) -> Self {
        Self {
            is_restored: false,
            ..Self::restored(handles, &WorldState::initial())
        }
    }

    /// The state of a world, with the cubes' bodies by index.
    pub(crate) fn restored(handles: Vec<RigidBodyHandle>, state: &WorldState) -> Self {
        assert_eq!(handles.len(), CUBES, "one body for each cube");
        let mut cubes = Vec::new();
        for (cube, handle) in (0..).zip(&handles) {
            let index = handle.into_raw_parts().0 as usize;
            cubes.resize(cubes.len().max(index + 1), None);
            cubes[index] = Some(cube);
        }
        let bodies = state.bodies.iter();
        Self {
            handles,
            cubes,
            ticks: state.ticks,
            interaction: Interaction::restored(
                bodies.clone().map(|body| body.interacting).collect(),
                bodies.clone().map(|body| body.rest_ticks).collect(),
            ),
            at_rest: bodies.map(|body| body.sleeping).collect(),
            is_restored: true,
        }
    }

    /// The exact state after the last tick.
    ///
    /// # Panics
    /// If a cube has no body in `bodies`.
    #[must_use]
    pub fn state(&self, bodies: &RigidBodySet) -> WorldState {
        let cubes = self.handles.iter().enumerate().map(|(cube, &handle)| {
            let body = &bodies[handle];
            // A sleeping body keeps the velocity that it had when it fell asleep.
            let moving = !body.is_sleeping();
            ExactBody {
                position: body.translation(),
                orientation: *body.rotation(),
                linear_velocity: if moving { body.linvel() } else { Vec3::ZERO },
                angular_velocity: if moving { body.angvel() } else { Vec3::ZERO },
                sleeping: body.is_sleeping(),
                seconds_still: body.activation().time_since_can_sleep,
                interacting: self.interaction.interacting()[cube],
                rest_ticks: self.interaction.rest_ticks()[cube],
            }
        });
        WorldState {
            ticks: self.ticks,
            bodies: cubes.collect(),
        }
    }

    /// The cube of a body.
    pub(crate) fn cube(&self, body: RigidBodyHandle) -> Option<usize> {
        cube_of(&self.cubes, body).map(usize::from)
    }

    /// The bodies of the cubes, by index.
    #[must_use]
    pub fn handles(&self) -> &[RigidBodyHandle] {
        &self.handles
    }

    /// Ticks since the start.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Whether each cube is asleep, by index.
    #[must_use]
    pub fn at_rest(&self) -> &[bool] {
        &self.at_rest
    }

    /// Writes the cubes' states into a snapshot.
    ///
    /// # Panics
    /// If a cube has no body in `bodies`.
    pub fn capture(&self, bodies: &RigidBodySet, snapshot: &mut Snapshot) {
        snapshot.bodies.resize_with(CUBES, Default::default);
        let interacting = self.interaction.interacting();
        for (cube, state) in snapshot.bodies.iter_mut().enumerate() {
            let body = &bodies[self.handles[cube]];
            state.position = body.translation();
            state.orientation = *body.rotation();
            // A sleeping body keeps the velocity that it had when it fell asleep.
            state.linear_velocity = match self.at_rest[cube] {
                true => Vec3::ZERO,
                false => body.linvel(),
            };
            state.interacting = interacting[cube];
        }
    }
}

impl Sets<'_> {
    /// Begins a tick: [rebuilds](Self::rebuild) the sets if the input asks for it, and applies the forces of the keys.
    /// A step of the engine with [`parameters`] and [`GRAVITY`](crate::GRAVITY) follows, then [`after`](Self::after).
    ///
    /// The caller performs a reset, because it also owns what belongs to the bodies elsewhere.
    pub fn before(&mut self, scene: &mut SceneState, input: Input) {
        if input.rebuilds {
            self.rebuild(scene);
        }
        if scene.is_restored {
            self.wake_touched(scene);
        }
        apply_forces(self.bodies, &scene.handles, scene.ticks, input.keys);
    }

    /// Ends a tick: limits the speeds, and spreads the interaction over the contacts of the step.
    pub fn after(&mut self, scene: &mut SceneState) {
        scene.ticks += 1;
        self.limit_speeds(scene);
        self.spread_interaction(scene);
    }

    /// Steps the engine.
    pub(crate) fn step(&mut self, gravity: Vec3) {
        self.pipeline.step(
            gravity,
            &parameters(),
            self.islands,
            self.broad_phase,
            self.narrow_phase,
            self.bodies,
            self.colliders,
            self.impulse_joints,
            self.multibody_joints,
            self.ccd_solver,
            &(),
            &(),
        );
    }

    /// Rapier enforces neither limit exactly: the solver runs after its linear cap, and angular velocity has no cap.
    fn limit_speeds(&mut self, scene: &mut SceneState) {
        for (&handle, at_rest) in scene.handles.iter().zip(&mut scene.at_rest) {
            let body = &self.bodies[handle];
            let (linear, angular) = (body.linvel(), body.angvel());
            if linear.length_squared() > MAX_LINEAR_SPEED * MAX_LINEAR_SPEED
                || angular.length_squared() > MAX_ANGULAR_SPEED * MAX_ANGULAR_SPEED
            {
                // Rapier re-examines a body that is borrowed mutably.
                let body = &mut self.bodies[handle];
                body.set_linvel(linear.clamp_length_max(MAX_LINEAR_SPEED), false);
                body.set_angvel(angular.clamp_length_max(MAX_ANGULAR_SPEED), false);
            }
            *at_rest = self.bodies[handle].is_sleeping();
        }
    }

    fn spread_interaction(&self, scene: &mut SceneState) {
        let SceneState {
            cubes,
            interaction,
            at_rest,
            ..
        } = scene;
        let cube =
            |collider: ColliderHandle| cube_of(cubes, self.colliders.get(collider)?.parent()?);
        let contacts = self
            .narrow_phase
            .contact_pairs()
            .filter(|pair| pair.has_any_active_contact())
            .filter_map(|pair| Some((cube(pair.collider1)?, cube(pair.collider2)?)));
        interaction.step(contacts, at_rest);
    }
}

/// The cube of a body, from the cubes by the index part of handles.
fn cube_of(cubes: &[Option<u16>], body: RigidBodyHandle) -> Option<u16> {
    let (index, _) = body.into_raw_parts();
    cubes.get(index as usize).copied().flatten()
}
