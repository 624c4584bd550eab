//! The authoritative world: 901 cubes in Rapier, one step a tick, 60 ticks a second.
//!
//! The rules are `cubewire-scene`'s; this module gives them to the physics engine and reads back
//! what came of it. It leaves sending and drawing to others: they read [`World`].

mod bodies;
mod capture;
mod push;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    NoUserData, PhysicsSet, RapierContextInitialization, RapierPhysicsPlugin, TimestepMode,
};
use cubewire_codec::Snapshot;
use cubewire_scene::{Keys, TICKS_PER_SECOND};

pub use capture::state_hash;

/// When the simulation does what, in [`FixedUpdate`], in this order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimulationSystems {
    /// Before anything else: what sets [`HeldKeys`] by the tick goes here.
    Control,
    /// Builds the bodies anew if that was asked for.
    Reset,
    /// The keys push the bodies, and Rapier steps.
    Step,
    /// The states are read back into [`World`].
    Capture,
}

/// Runs the cubes.
#[derive(Debug)]
pub struct SimulationPlugin;

impl Plugin for SimulationPlugin {
    fn build(&self, app: &mut App) {
        let step = 1.0 / TICKS_PER_SECOND as f32;
        app.insert_resource(Time::<Fixed>::from_hz(f64::from(TICKS_PER_SECOND)))
            .insert_resource(TimestepMode::Fixed {
                dt: step,
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
            .init_resource::<World>()
            .init_resource::<bodies::Bodies>()
            .add_message::<ResetSimulation>()
            .configure_sets(
                FixedUpdate,
                (
                    SimulationSystems::Control,
                    SimulationSystems::Reset,
                    SimulationSystems::Step,
                    SimulationSystems::Capture,
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
                    (bodies::adopt, push::push)
                        .chain()
                        .after(PhysicsSet::SyncBackend)
                        .before(PhysicsSet::StepSimulation)
                        .in_set(SimulationSystems::Step),
                    capture::capture.in_set(SimulationSystems::Capture),
                ),
            );
    }
}

/// The keys held during the next tick.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct HeldKeys(pub Keys);

/// Puts every cube back where it started, in a physics world built anew.
#[derive(Message, Clone, Copy, Debug, Default)]
pub struct ResetSimulation;

/// The cubes after the newest tick and the one before.
#[derive(Resource, Debug)]
pub struct World {
    tick: u64,
    ticks_since_reset: u64,
    current: Snapshot,
    previous: Snapshot,
    interaction: cubewire_scene::Interaction,
    at_rest: Vec<bool>,
}

impl World {
    /// Ticks stepped since the program started, unless it [counts](Self::count_from) otherwise.
    /// Resets do not set it back.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Counts on from another tick: to see what happens where sequence numbers wrap. Lanes that are
    /// there already would be at a loss.
    pub const fn count_from(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// Every cube as it is after tick [`Self::tick`].
    #[must_use]
    pub const fn current(&self) -> &Snapshot {
        &self.current
    }

    /// Every cube a tick earlier; as now, right after a reset.
    #[must_use]
    pub const fn previous(&self) -> &Snapshot {
        &self.previous
    }
}
