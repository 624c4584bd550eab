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
use crate::view::{self, Overlay, PaneContent, Side};

pub struct ScriptPlugin;

impl Plugin for ScriptPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            FixedUpdate,
            play.in_set(SimulationSystems::Control).run_if(resource_exists::<ScriptPlayback>),
        );
    }
}

#[derive(Resource, Clone, Debug)]
pub struct ScriptPlayback {
    pub(crate) script: Script,
    /// Tick before the first one of the script. `None` before playback starts.
    start: Option<u64>,
    repeats: bool,
    shows_halves: bool,
    switches: Vec<Switch>,
}

impl ScriptPlayback {
    /// Plays the keys of `script` in a loop, starting with the next tick. Each pass begins with a reset of the scene, so
    /// that all passes have the same states. Ignores the contents of the halves.
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

    pub fn is_over(&self, world: &CubeWorld) -> bool {
        let played = self.start.map_or(0, |start| world.tick() - start);
        !self.repeats && played >= self.script.ticks
    }
}

/// Prepares the world for the players of a script, which begins with a reset. Lanes are spawned afterwards.
pub(crate) fn set_players(world: &mut World, script: &Script) {
    if script.players() > world.resource::<CubeWorld>().players() {
        world.insert_resource(CubeWorld::with_players(script.players()));
    }
}

/// Starts playback at the next tick in an app with the [`InputLogPlugin`](super::InputLogPlugin). A replay plays once,
/// and its states are compared with the recorded ones.
pub fn begin(world: &mut World, playing: ScriptPlayback) {
    set_players(world, &playing.script);
    let check = ReplayCheck::new(&playing.script);
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
    // Not in every tick of a script without ticks, which holds no keys.
    let begins = played.is_multiple_of(playing.script.ticks);
    let is_over = playing.is_over(&world);
    if is_over {
        *held = HeldKeys::default();
        // After a replay, the scene may be rebuilt for viewers again.
        commands.remove_resource::<RebuildsAsRecorded>();
    } else {
        held.0 = playing.script.keys_at(tick);
        let step = playing.script.step_at(tick);
        if begins || step.is_some_and(|step| step.reset) {
            resets.write(ResetSimulation);
        }
        rebuilds.0 |= step.is_some_and(|step| step.rebuild);
    }
    if playing.shows_halves && !is_over {
        for side in Side::ALL {
            let content = playing.script.content_at(tick, side);
            // When a script repeats, restore the initial contents of the halves.
            let content = content.or_else(|| {
                let has_restarted = begins && played > 0;
                playing.script.content_at_start(side).filter(|_| has_restarted)
            });
            if let Some(content) = content.cloned() {
                commands.queue(move |world: &mut World| change(world, side, content));
            }
        }
    }
    for switch in playing.switches.iter().filter(|switch| switch.at == played) {
        let switch = switch.clone();
        commands.queue(move |world: &mut World| apply(world, &switch));
    }
}

/// Applies a switch to the lane in its half, if there is one.
fn apply(world: &mut World, switch: &Switch) -> Result {
    let side = switch.side();
    let PaneContent::Lane(mut settings) = view::content(world, side) else { return Ok(()) };
    match switch.apply(&mut settings) {
        Ok(()) => change(world, side, PaneContent::Lane(settings)),
        Err(error) => {
            error!("cannot change the settings: {error}");
            Ok(())
        }
    }
}

/// Changes the content of a half, and announces what changed.
fn change(world: &mut World, side: Side, content: PaneContent) -> Result {
    let title = describe_change(&view::content(world, side), &content);
    let now = world.resource::<Time<Fixed>>().elapsed();
    if let (Some(title), Some(mut overlay)) = (title, world.get_resource_mut::<Overlay>()) {
        overlay.announce(side, title, now);
    }
    view::show(world, side, content)
}
