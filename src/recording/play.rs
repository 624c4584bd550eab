//! Plays scripts.

use bevy::prelude::*;

use super::course::describe_change;
use super::replay::{InputLog, ReplayCheck};
use super::script::Script;
use super::switch::Switch;
use crate::replication::RebuildsAsRecorded;
use crate::simulation::{
    CubeWorld, HeldKeys, RebuildSimulation, ResetSimulation, SimulationSystems,
};
use crate::view::{Halves, Overlay, PaneContent, ShowHalf, Side};

pub struct ScriptPlugin;

impl Plugin for ScriptPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(on_switch).add_observer(on_content_change).add_systems(
            FixedUpdate,
            play.in_set(SimulationSystems::Control).run_if(resource_exists::<ScriptPlayback>),
        );
    }
}

#[derive(Resource, Clone, Debug)]
pub struct ScriptPlayback {
    script: Script,
    /// Tick before the first one of the script. `None` before playback starts.
    start: Option<u64>,
    repeats: bool,
    shows_halves: bool,
    switches: Vec<Switch>,
}

impl ScriptPlayback {
    /// Plays the keys of `script` in a loop, starting with the next tick. Ignores the contents of the halves.
    pub const fn new(script: Script) -> Self {
        Self { script, start: None, repeats: true, shows_halves: false, switches: Vec::new() }
    }

    pub const fn once(mut self) -> Self {
        self.repeats = false;
        self
    }

    /// Also applies the script's contents of the halves, and `switches`. Their ticks count from the start of the script.
    pub fn showing_halves(self, switches: Vec<Switch>) -> Self {
        Self { shows_halves: true, ..self.switching(switches) }
    }

    pub fn switching(self, switches: Vec<Switch>) -> Self {
        Self { switches, ..self }
    }

    pub const fn script(&self) -> &Script {
        &self.script
    }

    pub fn is_over(&self, world: &CubeWorld) -> bool {
        let played = self.start.map_or(0, |start| world.tick() - start);
        !self.repeats && played >= self.script.ticks
    }
}

/// Starts playback at the next tick in an app with the [`InputLogPlugin`](super::InputLogPlugin). A replay plays once,
/// and its states are compared with the recorded ones.
pub fn begin(world: &mut World, playing: ScriptPlayback) {
    let check = ReplayCheck::new(playing.script());
    let playing = match check {
        Some(check) => {
            world.insert_resource(InputLog::across_resets());
            world.insert_resource(check);
            world.insert_resource(RebuildsAsRecorded);
            playing.once()
        }
        None => playing,
    };
    world.insert_resource(playing);
}

fn play(
    mut commands: Commands,
    world: Res<CubeWorld>,
    mut playing: ResMut<ScriptPlayback>,
    mut held: ResMut<HeldKeys>,
    mut resets: MessageWriter<ResetSimulation>,
    mut rebuilds: ResMut<RebuildSimulation>,
) {
    let played = world.tick() - *playing.start.get_or_insert(world.tick());
    let tick = played % playing.script.ticks.max(1);
    let is_over = playing.is_over(&world);
    if is_over {
        held.0 = cubewire_scene::Keys::default();
        // After a replay, the scene may be rebuilt for viewers again.
        commands.remove_resource::<RebuildsAsRecorded>();
    } else {
        held.0 = playing.script.keys_at(tick);
        if playing.script.resets_at(tick) {
            resets.write(ResetSimulation);
        }
        rebuilds.0 |= playing.script.rebuilds_at(tick);
    }
    if playing.shows_halves && !is_over {
        for side in Side::ALL {
            let content = playing.script.content_at(tick, side);
            // When a script repeats, restore the initial contents of the halves.
            let content = content.or_else(|| {
                let has_restarted = tick == 0 && played > 0;
                playing.script.content_at_start(side).filter(|_| has_restarted)
            });
            if let Some(content) = content.cloned() {
                commands.trigger(ContentChange(ShowHalf { side, content }));
            }
        }
    }
    for switch in &playing.switches {
        if switch.at == played {
            commands.trigger(switch.clone());
        }
    }
}

#[derive(Event, Clone, Debug)]
struct ContentChange(ShowHalf);

fn on_switch(switch: On<Switch>, halves: Halves<'_, '_>, mut commands: Commands) {
    let side = switch.side();
    let PaneContent::Lane(mut settings) = halves.content(side) else {
        return;
    };
    if let Err(error) = switch.apply(&mut settings) {
        return error!("cannot change the settings: {error}");
    }
    let content = PaneContent::Lane(settings);
    commands.trigger(ContentChange(ShowHalf { side, content }));
}

fn on_content_change(
    shown: On<ContentChange>,
    time: Res<Time<Fixed>>,
    halves: Halves<'_, '_>,
    overlay: Option<ResMut<Overlay>>,
    mut commands: Commands,
) {
    let ContentChange(shown) = shown.event();
    let title = describe_change(&halves.content(shown.side), &shown.content);
    if let (Some(title), Some(mut overlay)) = (title, overlay) {
        overlay.announce(shown.side, title, time.elapsed());
    }
    commands.trigger(shown.clone());
}
