//! The authoritative world: 900 small cubes and those of one to four players in Rapier, stepped 60 times per second.
//!
//! The plugin of `bevy_rapier3d` stores the bodies and steps them. `cubewire-physics` applies forces before the step
//! and limits after it. Other modules read the resulting states from [`CubeWorld`].

mod bodies;

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    NoUserData, PhysicsSet, RapierContextInitialization, RapierPhysicsPlugin, TimestepMode,
};
use cubewire_codec::Snapshot;
use cubewire_physics::OwnState;
use cubewire_protocol::InputHistory;
use cubewire_scene::{self as scene, Keys, MAX_PLAYERS, TICKS_PER_SECOND};

pub(crate) use bodies::hold;
pub use cubewire_physics::state_hash;

/// System sets of a simulation tick in [`FixedUpdate`], in this order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimulationSystems {
    Control,
    /// Sets the [`PlayerKeys`] of the tick.
    Keys,
    Reset,
    /// Steps Rapier with the held keys, and copies the states to [`CubeWorld`].
    Step,
}

#[derive(Debug)]
pub struct SimulationPlugin;

impl Plugin for SimulationPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Time::<Fixed>::from_hz(f64::from(TICKS_PER_SECOND)))
            .insert_resource(TimestepMode::Fixed {
                dt: cubewire_physics::parameters().dt,
                substeps: 1,
            })
            .add_plugins(
                RapierPhysicsPlugin::<NoUserData>::default()
                    .with_custom_initialization(
                        RapierContextInitialization::NoAutomaticRapierContext,
                    )
                    .in_fixed_schedule(),
            )
            .init_resource::<HeldKeys>()
            .init_resource::<PlayerKeys>()
            .init_resource::<CubeWorld>()
            .init_resource::<bodies::Scene>()
            .add_message::<ResetSimulation>()
            .init_resource::<RebuildSimulation>()
            .configure_sets(
                FixedUpdate,
                (
                    SimulationSystems::Control,
                    SimulationSystems::Keys,
                    SimulationSystems::Reset,
                    SimulationSystems::Step,
                )
                    .chain(),
            )
            .configure_sets(
                FixedUpdate,
                (PhysicsSet::SyncBackend, PhysicsSet::StepSimulation, PhysicsSet::Writeback)
                    .in_set(SimulationSystems::Step),
            )
            .add_systems(Startup, bodies::build)
            .add_systems(
                FixedUpdate,
                (
                    hold.in_set(SimulationSystems::Keys),
                    bodies::reset.in_set(SimulationSystems::Reset),
                    (
                        (bodies::register_bodies, bodies::before)
                            .chain()
                            .after(PhysicsSet::SyncBackend)
                            .before(PhysicsSet::StepSimulation),
                        bodies::after
                            .after(PhysicsSet::StepSimulation)
                            .before(PhysicsSet::Writeback),
                    )
                        .in_set(SimulationSystems::Step),
                ),
            );
    }
}

/// The keys that are held in this process. The first are those of the keyboard; a script can hold keys of other players.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct HeldKeys(pub [Keys; MAX_PLAYERS]);

impl From<Keys> for HeldKeys {
    fn from(keys: Keys) -> Self {
        let mut held = Self::default();
        held.0[0] = keys;
        held
    }
}

/// The keys that move the cube of each player in this tick: those [held](HeldKeys), unless the player plays at a client.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct PlayerKeys(pub [Keys; MAX_PLAYERS]);

/// The player whose cube the cameras follow, counted from 0.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnPlayer(pub usize);

impl OwnPlayer {
    /// Index of the player's cube.
    pub const fn cube(self) -> usize {
        scene::player(self.0)
    }
}

/// Requests that the engine's sets are rebuilt before the next tick, from the rounded state of the bodies.
///
/// The [state](CubeWorld::rebuilt) is kept, so that a receiver with the same snapshot can continue exactly as this
/// world does. Cubes move by at most two millimetres, and the engine's contact cache is lost. A request in one tick
/// takes effect in the next, however many frames are between them.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct RebuildSimulation(pub bool);

/// Resets every cube to its initial position, in a new physics world.
#[derive(Message, Clone, Copy, Debug, Default)]
pub struct ResetSimulation;

/// The cubes after the newest tick and after the previous one.
#[derive(Resource, Debug)]
pub struct CubeWorld {
    tick: u64,
    current: Snapshot,
    previous: Snapshot,
    /// By player. Empty before the first tick.
    own: Vec<OwnState>,
    inputs: InputHistory,
    rebuilt: Option<(u64, Arc<[u8]>)>,
}

impl Default for CubeWorld {
    fn default() -> Self {
        Self::with_players(1)
    }
}

impl CubeWorld {
    /// Creates the world of some players, `1..=`[`MAX_PLAYERS`]. Insert it before the first frame.
    pub fn with_players(players: usize) -> Self {
        Self {
            tick: 0,
            current: cubewire_physics::initial_snapshot(players),
            previous: cubewire_physics::initial_snapshot(players),
            own: Vec::new(),
            inputs: InputHistory::new(0, true).with_seats(players as u8),
            rebuilt: None,
        }
    }

    pub const fn players(&self) -> usize {
        scene::players(self.current.bodies.len())
    }

    /// Number of ticks since the program started, plus any offset set with [`count_from`](Self::count_from). A reset
    /// does not change it.
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Continues counting from another tick, to test the wrap of sequence numbers. Call it before the first lane is
    /// spawned, because existing lanes cannot follow the jump.
    pub fn count_from(&mut self, tick: u64) {
        self.tick = tick;
        self.inputs = InputHistory::new(tick, false).with_seats(self.players() as u8);
        self.rebuilt = None;
    }

    pub const fn inputs(&self) -> &InputHistory {
        &self.inputs
    }

    /// Tick after which the engine's sets were last [rebuilt](RebuildSimulation), and the part of their state that is
    /// not in the snapshot of that tick, as [`WorldState::to_bytes`](cubewire_physics::WorldState::to_bytes) writes it.
    pub const fn rebuilt(&self) -> Option<&(u64, Arc<[u8]>)> {
        self.rebuilt.as_ref()
    }

    /// Exact state of a player's cube after tick [`Self::tick`]. `None` before the first tick.
    pub fn own(&self, player: usize) -> Option<&OwnState> {
        self.own.get(player)
    }

    /// State of every cube after tick [`Self::tick`].
    pub const fn current(&self) -> &Snapshot {
        &self.current
    }

    /// State of every cube one tick earlier. Equal to [`current`](Self::current) in the first tick after a reset.
    pub const fn previous(&self) -> &Snapshot {
        &self.previous
    }
}
