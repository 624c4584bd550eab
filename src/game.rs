//! Runs the same plugins in a window, without a window on a manual clock, or rendered offscreen.

pub mod film;
pub mod headless;
pub mod offscreen;
pub mod real_time;
pub mod record;
pub mod series;
pub mod viewer;
pub mod window;

use bevy::app::{PluginGroup, PluginGroupBuilder};
use bevy::ecs::error::BevyError;
use cubewire_codec::InitialStateError;
use indicatif::{ProgressBar, ProgressStyle};

use crate::recording::ScriptPlugin;
use crate::replication::ReplicationPlugin;
use crate::simulation::SimulationPlugin;
use crate::transport::MemoryTransportPlugin;

/// The game without a window: simulation, replication in this process, and scripts.
#[derive(Debug)]
pub struct GamePlugins;

impl PluginGroup for GamePlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add(SimulationPlugin)
            .add(ReplicationPlugin)
            .add(MemoryTransportPlugin)
            .add(ScriptPlugin)
    }
}

/// A game cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("the game cannot be set up: {0}")]
pub struct GameError(BevyError);

impl From<BevyError> for GameError {
    fn from(error: BevyError) -> Self {
        Self(error)
    }
}

impl From<InitialStateError> for GameError {
    fn from(error: InitialStateError) -> Self {
        Self(error.into())
    }
}

/// A progress bar on standard error, hidden where that is not a terminal.
#[must_use]
pub fn progress(steps: u64, unit: &'static str) -> ProgressBar {
    let template =
        format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is well formed");
    ProgressBar::new(steps).with_style(style)
}
