//! A world that owns Rapier's sets.

use cubewire_codec::schema::Schema;
use cubewire_codec::{Plan, QuantizeError, QuantizedSnapshot, Snapshot};
use cubewire_scene::{self as scene, Keys, MAX_PLAYERS};
use rapier3d::prelude::{PhysicsWorld, RigidBodyHandle};

use crate::input::Input;
use crate::own::OwnState;
use crate::pose::PRECISION;
use crate::solids::{self, Solid};
use crate::state::{ExactBody, WorldState};
use crate::step::{SceneState, Sets};

const _: () = assert!(MAX_PLAYERS == Schema::MAX_SEATS as usize, "a player has a seat");

/// The whole scene. A clone continues exactly like the original.
pub struct World {
    pub(crate) scene: SceneState,
    pub(crate) sets: PhysicsWorld,
}

impl World {
    /// Creates the world of one player before its first tick.
    pub fn new() -> Self {
        Self::with_players(1)
    }

    /// Creates the world of some players before its first tick, `1..=`[`MAX_PLAYERS`].
    pub fn with_players(players: usize) -> Self {
        let all: Vec<_> = (0..scene::cubes(players)).collect();
        let (sets, handles) = insert(&all, &WorldState::initial(players));
        Self { scene: SceneState::new(handles), sets }
    }

    /// Creates a world of some cubes, given by their numbers, from their state.
    pub(crate) fn of_part(numbers: &[usize], state: &WorldState) -> Self {
        let (sets, handles) = insert(numbers, state);
        let scene = SceneState::restored(handles, numbers.to_vec(), state);
        let mut world = Self { scene, sets };
        let (mut sets, scene) = world.sets();
        sets.restore(scene, state);
        world
    }

    /// Adds a cube with this number to a part of the scene.
    pub(crate) fn add(&mut self, number: usize, state: &ExactBody) {
        let solid = solids::cube(number);
        let (handle, _) = self.sets.insert(solids::body(state), solids::collider(solid));
        self.scene.add(handle, number, state);
    }

    /// Creates a world from a state. All worlds from the same state continue alike.
    pub fn restored(state: &WorldState) -> Self {
        let mut world = Self::with_players(scene::players(state.bodies.len()));
        let (mut sets, scene) = world.sets();
        sets.restore(scene, state);
        world
    }

    pub fn state(&self) -> WorldState {
        self.scene.state(&self.sets.bodies)
    }

    /// Replaces this by a world that is [restored](Self::restored) from its own [state](Self::state), rounded. See
    /// [`Sets::rebuild`].
    pub fn rebuild(&mut self) {
        let (mut sets, scene) = self.sets();
        sets.rebuild(scene);
    }

    /// Simulates one tick. The first player holds `keys` during it.
    pub fn step(&mut self, keys: Keys) {
        self.advance(Input::of(0, keys));
    }

    /// Simulates one tick, after a reset and a rebuild if the input asks for them.
    pub fn advance(&mut self, input: Input) {
        if input.resets {
            *self = Self::with_players(self.players());
        }
        let (mut sets, scene) = self.sets();
        sets.before(scene, input);
        sets.step(solids::GRAVITY);
        sets.after(scene);
    }

    fn sets(&mut self) -> (Sets<'_>, &mut SceneState) {
        // Everything except gravity and parameters, which belong to the scene.
        let sets = Sets {
            islands: &mut self.sets.islands,
            broad_phase: &mut self.sets.broad_phase,
            narrow_phase: &mut self.sets.narrow_phase,
            bodies: &mut self.sets.bodies,
            colliders: &mut self.sets.colliders,
            impulse_joints: &mut self.sets.impulse_joints,
            multibody_joints: &mut self.sets.multibody_joints,
            ccd_solver: &mut self.sets.ccd_solver,
            pipeline: &mut self.sets.physics_pipeline,
        };
        (sets, &mut self.scene)
    }

    pub const fn players(&self) -> usize {
        self.scene.players.len()
    }

    /// The exact state of a player's cube.
    pub fn own(&self, player: usize) -> OwnState {
        self.scene.own(&self.sets.bodies, scene::player(player))
    }

    /// Number of cubes that do not rest.
    pub fn awake(&self) -> usize {
        self.scene.at_rest.iter().filter(|&&rests| !rests).count()
    }

    /// Number of ticks since the start or the last reset.
    pub const fn ticks(&self) -> u64 {
        self.scene.ticks()
    }

    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        self.scene.capture(&self.sets.bodies, &mut snapshot);
        snapshot
    }

    /// Returns all cubes after the last tick, in the precision of [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    ///
    /// # Errors
    /// As [`quantize_into`](Self::quantize_into).
    pub fn quantized(&self) -> Result<QuantizedSnapshot, QuantizeError> {
        let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), PRECISION);
        self.quantize_into(&mut snapshot).map(|()| snapshot)
    }

    /// Writes all cubes after the last tick into a snapshot, in the precision of
    /// [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    ///
    /// # Errors
    /// [`QuantizeError`] if a number of a cube is not finite.
    pub fn quantize_into(&self, snapshot: &mut QuantizedSnapshot) -> Result<(), QuantizeError> {
        snapshot.quantize(&self.snapshot(), PRECISION)
    }
}

/// Builds the sets of some cubes in their states, given by their numbers. Returns the cubes' bodies, too.
fn insert(numbers: &[usize], state: &WorldState) -> (PhysicsWorld, Vec<RigidBodyHandle>) {
    let mut indices = [None; scene::cubes(MAX_PLAYERS)];
    for (index, &number) in numbers.iter().enumerate() {
        indices[number] = Some(index);
    }
    let mut sets = PhysicsWorld::new();
    let mut handles = vec![RigidBodyHandle::invalid(); numbers.len()];
    for solid in solids::solids(MAX_PLAYERS) {
        let Solid::Cube { cube, .. } = solid else {
            sets.insert_collider(solids::collider(solid), None);
            continue;
        };
        if let Some(index) = indices[cube] {
            let body = solids::body(&state.bodies[index]);
            (handles[index], _) = sets.insert(body, solids::collider(solid));
        }
    }
    (sets, handles)
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// Does not copy the working memory, because ticks do not depend on it.
impl Clone for World {
    fn clone(&self) -> Self {
        Self {
            scene: self.scene.clone(),
            sets: PhysicsWorld {
                islands: self.sets.islands.clone(),
                broad_phase: self.sets.broad_phase.clone(),
                narrow_phase: self.sets.narrow_phase.clone(),
                bodies: self.sets.bodies.clone(),
                colliders: self.sets.colliders.clone(),
                impulse_joints: self.sets.impulse_joints.clone(),
                multibody_joints: self.sets.multibody_joints.clone(),
                ..PhysicsWorld::new()
            },
        }
    }
}
