//! The game: the same plugins run in a window, headless on a manual clock, or rendered offscreen.
//!
//! Parts that need files, sockets or a terminal are in `desktop`.

pub mod fall;
pub mod headless;
pub mod profile;
pub mod window;

#[cfg(not(target_family = "wasm"))]
pub mod desktop;

use std::error::Error;
use std::path::Path;

use bevy::ecs::error::BevyError;
use bevy::prelude::*;

use crate::panel::Scene;
use crate::recording::{Script, ScriptPlugin};
use crate::replication::{LaneSettings, ReplicationPlugin, lane_ladder};
use crate::simulation::{CubeWorld, SimulationPlugin};
use crate::transport::MemoryTransportPlugin;
use crate::view::{self, PaneContent, Selected, Side};

/// The game without a window: simulation, replication within this process, and scripts.
pub struct GamePlugin;

impl Plugin for GamePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((SimulationPlugin, ReplicationPlugin, MemoryTransportPlugin, ScriptPlugin));
    }
}

/// An error, as one line of text.
pub type Failure = Box<dyn Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[error("the game cannot be set up: {0}")]
pub struct GameError(BevyError);

impl From<BevyError> for GameError {
    fn from(error: BevyError) -> Self {
        Self(error)
    }
}

/// Sets the content of both halves and adds a live ladder to the selected lane.
pub fn show_halves(
    world: &mut World,
    left: PaneContent,
    right: LaneSettings,
) -> Result<(), GameError> {
    view::show(world, Side::Right, PaneContent::Lane(right))?;
    view::show(world, Side::Left, left)?;
    let ladder = lane_ladder(world.resource::<CubeWorld>().current());
    let mut selected = world.query_filtered::<Entity, With<Selected>>();
    if let Ok(lane) = selected.single(world) {
        world.entity_mut(lane).insert(ladder);
    }
    Ok(())
}

/// Ends the app. A system.
pub fn exit(mut exits: MessageWriter<AppExit>) {
    exits.write(AppExit::Success);
}

pub fn right_lane(text: &str) -> Result<LaneSettings, String> {
    match text.parse() {
        Ok(PaneContent::Lane(lane)) => Ok(lane),
        Ok(PaneContent::Simulation) => {
            Err("the right half must show a lane; only the left half can show the simulation"
                .to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Initial content of the halves. Arguments come before the script, and the script before the defaults.
pub fn halves(
    left: Option<PaneContent>,
    right: Option<LaneSettings>,
    script: Option<&Script>,
) -> (PaneContent, LaneSettings) {
    let of_script = |side: Side| script.and_then(|script| script.content_at_start(side).cloned());
    let left = left.or_else(|| of_script(Side::Left));
    let right = right.or_else(|| match of_script(Side::Right) {
        Some(PaneContent::Lane(lane)) => Some(lane),
        // The parser rejects scripts that show the simulation in the right half.
        Some(PaneContent::Simulation) | None => None,
    });
    (left.unwrap_or(PaneContent::Simulation), right.unwrap_or_default())
}

pub fn script_of(scene: Scene) -> Script {
    let (name, text) = match scene {
        Scene::Katamari => ("katamari.ron", include_str!("../assets/scripts/katamari.ron")),
        Scene::Rolling => ("rolling.ron", include_str!("../assets/scripts/rolling.ron")),
        Scene::Ball => ("ball.ron", include_str!("../assets/scripts/ball.ron")),
    };
    Script::parse(text, Path::new(name)).expect("a test parses it")
}
