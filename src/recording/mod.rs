//! Input scripts: which keys are held at which tick.

mod script;

use bevy::prelude::*;

use crate::simulation::{HeldKeys, ResetSimulation, SimulationSystems, World as CubeWorld};

pub use script::{Key, Script, ScriptError, Step};

/// Plays the script in [`Playing`] instead of the keyboard.
#[derive(Debug)]
pub struct ScriptPlugin;

impl Plugin for ScriptPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            FixedUpdate,
            play.in_set(SimulationSystems::Control)
                .run_if(resource_exists::<Playing>),
        );
    }
}

/// The script that is being played.
#[derive(Resource, Clone, Debug)]
pub struct Playing {
    script: Script,
    /// The tick before its first.
    start: Option<u64>,
}

impl Playing {
    /// Plays `script` from the next tick on; it starts again when it is over.
    #[must_use]
    pub const fn new(script: Script) -> Self {
        Self {
            script,
            start: None,
        }
    }
}

fn play(
    world: Res<CubeWorld>,
    mut playing: ResMut<Playing>,
    mut held: ResMut<HeldKeys>,
    mut resets: MessageWriter<ResetSimulation>,
) {
    let start = *playing.start.get_or_insert(world.tick());
    let tick = (world.tick() - start) % playing.script.ticks;
    held.0 = playing.script.keys_at(tick);
    if playing.script.resets_at(tick) {
        resets.write(ResetSimulation);
    }
}
