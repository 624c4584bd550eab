//! The authoritative world: 901 cubes in Rapier, one step a tick, 60 ticks a second.
//!
//! The plugin of `bevy_rapier3d` keeps the bodies and steps them. `cubewire-physics` applies the forces before the step
//! and the limits after it. [`CubeWorld`] has the resulting states for the modules that send and draw them.

mod bodies;
mod step;

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    NoUserData, PhysicsSet, RapierContextInitialization, RapierPhysicsPlugin, TimestepMode,
};
use cubewire_codec::Snapshot;
use cubewire_protocol::InputHistory;
use cubewire_scene::{Keys, TICKS_PER_SECOND};

pub use cubewire_physics::state_hash;

/// The phases of a simulation tick, in [`FixedUpdate`], in this order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimulationSystems {
    /// Runs first: systems that set [`HeldKeys`] tick by tick go here.
    Control,
    /// The physics world is rebuilt if a reset was requested.
    Reset,
    /// Rapier steps with the held keys, and the states are read back into [`CubeWorld`].
    Step,
}

/// Simulates the cubes.
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
            .init_resource::<CubeWorld>()
            .init_resource::<bodies::Scene>()
            .add_message::<ResetSimulation>()
            .init_resource::<RebuildSimulation>()
            .configure_sets(
                FixedUpdate,
                (
                    SimulationSystems::Control,
                    SimulationSystems::Reset,
                    SimulationSystems::Step,
                )
                    .chain(),
            )
            .configure_sets(
                FixedUpdate,
                (
                    PhysicsSet::SyncBackend,
                    PhysicsSet::StepSimulation,
                    PhysicsSet::Writeback,
                )
                    .in_set(SimulationSystems::Step),
            )
            .add_systems(Startup, bodies::build)
            .add_systems(
                FixedUpdate,
                (
                    bodies::reset.in_set(SimulationSystems::Reset),
                    (
                        (bodies::register_bodies, step::before)
                            .chain()
                            .after(PhysicsSet::SyncBackend)
                            .before(PhysicsSet::StepSimulation),
                        step::after
                            .after(PhysicsSet::StepSimulation)
                            .before(PhysicsSet::Writeback),
                    )
                        .in_set(SimulationSystems::Step),
                ),
            );
    }
}

/// The keys held during the next tick.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct HeldKeys(pub Keys);

/// Rebuilds the engine's sets from the rounded state of the bodies before the next tick, and keeps that
/// [state](CubeWorld::rebuilt), from which others that have the snapshot can go on as this world does. No cube moves by
/// more than two millimetres; what the engine remembers of their contacts is gone.
///
/// It is asked for in one tick and done in the next, however many frames are between them.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct RebuildSimulation(pub bool);

/// Puts every cube back where it started, in a new physics world.
#[derive(Message, Clone, Copy, Debug, Default)]
pub struct ResetSimulation;

/// The cubes after the newest tick and the one before.
#[derive(Resource, Debug)]
pub struct CubeWorld {
    tick: u64,
    current: Snapshot,
    previous: Snapshot,
    inputs: InputHistory,
    rebuilt: Option<(u64, Arc<[u8]>)>,
}

impl Default for CubeWorld {
    fn default() -> Self {
        Self {
            tick: 0,
            current: cubewire_physics::initial_snapshot(),
            previous: cubewire_physics::initial_snapshot(),
            inputs: InputHistory::new(0, true),
            rebuilt: None,
        }
    }
}

impl CubeWorld {
    /// Ticks stepped since the program started, plus any offset set with
    /// [`count_from`](Self::count_from). A reset does not change it.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Continues counting from another tick, to test where sequence numbers wrap. Call it before any
    /// lane is spawned: existing lanes cannot follow the jump.
    pub fn count_from(&mut self, tick: u64) {
        self.tick = tick;
        self.inputs = InputHistory::new(tick, false);
        self.rebuilt = None;
    }

    /// What has moved the cubes in the last ticks.
    #[must_use]
    pub const fn inputs(&self) -> &InputHistory {
        &self.inputs
    }

    /// The tick after which the engine's sets were last [rebuilt](RebuildSimulation), and what the snapshot of that
    /// tick does not say of the state that they were built from, as
    /// [`WorldState::to_bytes`](cubewire_physics::WorldState::to_bytes) writes it.
    #[must_use]
    pub const fn rebuilt(&self) -> Option<&(u64, Arc<[u8]>)> {
        self.rebuilt.as_ref()
    }

    /// Every cube after tick [`Self::tick`].
    #[must_use]
    pub const fn current(&self) -> &Snapshot {
        &self.current
    }

    /// Every cube one tick earlier; equal to [`current`](Self::current) in the first tick after a reset.
    #[must_use]
    pub const fn previous(&self) -> &Snapshot {
        &self.previous
    }
}
