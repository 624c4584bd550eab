//! One tick.

use cubewire_codec::Snapshot;
use cubewire_scene::{self as scene, Interaction, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED};
use glam::Vec3;
use rapier3d::prelude::{
    CCDSolver, ColliderSet, DefaultBroadPhase, ImpulseJointSet, IslandManager, MultibodyJointSet,
    NarrowPhase, PhysicsPipeline, RigidBodyHandle, RigidBodySet,
};

use crate::forces::apply_forces;
use crate::input::Input;
use crate::solids::parameters;
use crate::state::{ExactBody, WorldState};

/// Rapier's sets, borrowed for a tick.
pub struct Sets<'w> {
    /// Groups of touching bodies, and which of them are asleep.
    pub islands: &'w mut IslandManager,
    /// Pairs of colliders that may touch.
    pub broad_phase: &'w mut DefaultBroadPhase,
    /// Contacts, with the impulses that the solver starts from.
    pub narrow_phase: &'w mut NarrowPhase,
    pub bodies: &'w mut RigidBodySet,
    pub colliders: &'w mut ColliderSet,
    /// Empty in this scene.
    pub impulse_joints: &'w mut ImpulseJointSet,
    /// Empty in this scene.
    pub multibody_joints: &'w mut MultibodyJointSet,
    /// Working memory. Ticks do not depend on its content.
    pub ccd_solver: &'w mut CCDSolver,
    /// Working memory. Ticks do not depend on its content.
    pub pipeline: &'w mut PhysicsPipeline,
}

/// State of the scene besides Rapier's sets.
#[derive(Clone, Debug)]
pub struct SceneState {
    pub(crate) handles: Vec<RigidBodyHandle>,
    /// The number of each cube in the scene, for a part of it.
    pub(crate) numbers: Vec<usize>,
    /// The players whose cubes are there, ascending, and the indices of these.
    pub(crate) players: Vec<(usize, usize)>,
    /// Index of the cube by the index part of the body's handle.
    cubes: Vec<Option<u16>>,
    ticks: u64,
    pub(crate) interaction: Interaction,
    pub(crate) at_rest: Vec<bool>,
    /// Whether the sets were built from a state and no tick was simulated since.
    pub(crate) is_restored: bool,
}

impl SceneState {
    /// Creates the state before the first tick. `handles` are the cubes' bodies by index.
    ///
    /// # Panics
    /// If there are fewer or more than in a scene.
    pub fn new(handles: Vec<RigidBodyHandle>) -> Self {
        let all: Vec<_> = (0..handles.len()).collect();
        let initial = WorldState::initial(scene::players(all.len()));
        Self { is_restored: false, ..Self::restored(handles, all, &initial) }
    }

    /// Restores the state of the cubes with these numbers. `handles` are their bodies.
    pub(crate) fn restored(
        handles: Vec<RigidBodyHandle>,
        numbers: Vec<usize>,
        state: &WorldState,
    ) -> Self {
        assert_eq!(handles.len(), numbers.len(), "one body for each cube");
        let mut cubes = Vec::new();
        for (cube, handle) in (0..).zip(&handles) {
            let index = handle.into_raw_parts().0 as usize;
            cubes.resize(cubes.len().max(index + 1), None);
            cubes[index] = Some(cube);
        }
        let seat = |(index, &cube)| Some((scene::seat(cube)?, index));
        let mut players: Vec<_> = numbers.iter().enumerate().filter_map(seat).collect();
        players.sort_unstable();
        let bodies = state.bodies.iter();
        Self {
            handles,
            numbers,
            cubes,
            ticks: state.ticks,
            interaction: Interaction::new(
                bodies.clone().map(|body| body.interacting).collect(),
                bodies.clone().map(|body| body.rest_ticks).collect(),
                players.iter().map(|&(_, index)| index).collect(),
            ),
            players,
            at_rest: bodies.map(|body| body.sleeping).collect(),
            is_restored: true,
        }
    }

    /// Adds a cube with this number. `handle` is its body.
    pub(crate) fn add(&mut self, handle: RigidBodyHandle, number: usize, state: &ExactBody) {
        let index = self.handles.len();
        let slot = handle.into_raw_parts().0 as usize;
        self.cubes.resize(self.cubes.len().max(slot + 1), None);
        self.cubes[slot] = Some(index as u16);
        self.handles.push(handle);
        self.numbers.push(number);
        self.at_rest.push(state.sleeping);
        let seat = scene::seat(number);
        self.interaction.add(state.interacting, state.rest_ticks, seat.is_some());
        self.players.extend(seat.map(|seat| (seat, index)));
        self.players.sort_unstable();
    }

    pub fn state(&self, bodies: &RigidBodySet) -> WorldState {
        let cubes = (0..self.handles.len()).map(|cube| self.body(bodies, cube));
        WorldState { ticks: self.ticks, bodies: cubes.collect() }
    }

    pub(crate) fn body(&self, bodies: &RigidBodySet, cube: usize) -> ExactBody {
        let body = &bodies[self.handles[cube]];
        // Rapier keeps the velocity that a sleeping body had when it fell asleep.
        let moving = !body.is_sleeping();
        ExactBody {
            position: body.translation(),
            orientation: *body.rotation(),
            linear_velocity: if moving { body.linvel() } else { Vec3::ZERO },
            angular_velocity: if moving { body.angvel() } else { Vec3::ZERO },
            sleeping: body.is_sleeping(),
            seconds_still: body.activation().time_since_can_sleep,
            interacting: self.interaction.interacting[cube],
            rest_ticks: self.interaction.rest_ticks[cube],
        }
    }

    pub(crate) fn cube(&self, body: RigidBodyHandle) -> Option<u16> {
        let (index, _) = body.into_raw_parts();
        self.cubes.get(index as usize).copied().flatten()
    }

    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    pub fn capture(&self, bodies: &RigidBodySet, snapshot: &mut Snapshot) {
        snapshot.bodies.clear();
        snapshot.bodies.extend((0..self.handles.len()).map(|cube| self.body(bodies, cube).cube()));
    }
}

impl Sets<'_> {
    /// Begins a tick: [rebuilds](Self::rebuild) the sets if the input says so, and applies the forces of the keys.
    /// The caller then steps the engine with [`parameters`] and [`GRAVITY`](crate::GRAVITY), and calls
    /// [`after`](Self::after).
    ///
    /// The caller also performs resets, because it owns other data that belongs to the bodies.
    pub fn before(&mut self, scene: &mut SceneState, input: Input) {
        if input.rebuilds {
            self.rebuild(scene);
        }
        if scene.is_restored {
            self.wake_touched(scene);
        }
        apply_forces(self.bodies, scene, input.keys);
    }

    /// Ends a tick: limits the speeds, and spreads the interaction over the contacts of the step.
    pub fn after(&mut self, scene: &mut SceneState) {
        scene.ticks += 1;
        self.limit_speeds(scene);
        self.spread_interaction(scene);
    }

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

    /// Limits linear and angular speeds. Rapier applies its linear limit before the solver, and has no angular limit.
    fn limit_speeds(&mut self, scene: &mut SceneState) {
        for (&handle, at_rest) in scene.handles.iter().zip(&mut scene.at_rest) {
            let body = &self.bodies[handle];
            let (linear, angular) = (body.linvel(), body.angvel());
            if linear.length_squared() > MAX_LINEAR_SPEED * MAX_LINEAR_SPEED
                || angular.length_squared() > MAX_ANGULAR_SPEED * MAX_ANGULAR_SPEED
            {
                // Rapier re-examines every body that is borrowed mutably.
                let body = &mut self.bodies[handle];
                body.set_linvel(linear.clamp_length_max(MAX_LINEAR_SPEED), false);
                body.set_angvel(angular.clamp_length_max(MAX_ANGULAR_SPEED), false);
            }
            *at_rest = self.bodies[handle].is_sleeping();
        }
    }

    fn spread_interaction(&self, scene: &mut SceneState) {
        let cube = |collider| scene.cube(self.colliders.get(collider)?.parent()?);
        let pairs = self.narrow_phase.contact_pairs().filter(|pair| pair.has_any_active_contact());
        let contacts =
            pairs.filter_map(|pair| Some((cube(pair.collider1)?, cube(pair.collider2)?)));
        let contacts: Vec<_> = contacts.collect();
        scene.interaction.step(contacts, &scene.at_rest);
    }
}
