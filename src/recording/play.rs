//! Plays scripts.

use bevy::prelude::*;

use super::script::Script;
use super::switch::Switch;
use super::{InputLog, ReplayCheck};
use crate::replication::{Half, LaneSettings, Side};
use crate::simulation::{HeldKeys, ResetSimulation, SimulationSystems, World as CubeWorld};
use crate::view::{self, Overlay};

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
    repeats: bool,
    shows_halves: bool,
    switches: Vec<Switch>,
}

impl Playing {
    /// Plays `script` from the next tick on; it starts again when it is over. Only its keys are
    /// played, not what it shows.
    #[must_use]
    pub const fn new(script: Script) -> Self {
        Self {
            script,
            start: None,
            repeats: true,
            shows_halves: false,
            switches: Vec::new(),
        }
    }

    /// Plays it once; then nobody presses anything.
    #[must_use]
    pub const fn once(mut self) -> Self {
        self.repeats = false;
        self
    }

    /// Changes what the halves show as well, as the script says and at these ticks.
    #[must_use]
    pub fn showing_halves(mut self, switches: Vec<Switch>) -> Self {
        self.shows_halves = true;
        self.switches = switches;
        self
    }

    /// The script.
    #[must_use]
    pub const fn script(&self) -> &Script {
        &self.script
    }

    /// Whether it was played to its end, and is not played again.
    #[must_use]
    pub fn is_over(&self, world: &CubeWorld) -> bool {
        let played = self.start.map_or(0, |start| world.tick() - start);
        !self.repeats && played >= self.script.ticks
    }
}

/// Plays from the next tick on, in an app with the [`InputLogPlugin`](super::InputLogPlugin); a replay
/// once, and compared with what was recorded.
pub fn begin(world: &mut World, playing: Playing) {
    let check = ReplayCheck::new(playing.script());
    let playing = match check {
        Some(check) => {
            world.insert_resource(InputLog::that_keeps_resets());
            world.insert_resource(check);
            playing.once()
        }
        None => playing,
    };
    world.insert_resource(playing);
}

fn play(
    mut commands: Commands,
    world: Res<CubeWorld>,
    mut playing: ResMut<Playing>,
    mut held: ResMut<HeldKeys>,
    mut resets: MessageWriter<ResetSimulation>,
) {
    let played = world.tick() - *playing.start.get_or_insert(world.tick());
    let tick = played % playing.script.ticks.max(1);
    if playing.is_over(&world) {
        held.0 = cubewire_scene::Keys::default();
    } else {
        held.0 = playing.script.keys_at(tick);
        if playing.script.resets_at(tick) {
            resets.write(ResetSimulation);
        }
    }
    if !playing.shows_halves {
        return;
    }
    if !playing.is_over(&world) {
        for side in Side::ALL {
            let half = playing.script.half_at(tick, side);
            // When a script starts again, so does what it shows.
            let half = half.or_else(|| {
                let is_again = tick == 0 && played > 0;
                playing.script.half_at_start(side).filter(|_| is_again)
            });
            if let Some(half) = half.cloned() {
                commands.queue(move |world: &mut World| show(world, side, half));
            }
        }
    }
    for switch in &playing.switches {
        if switch.at == played {
            let switch = switch.clone();
            commands.queue(move |world: &mut World| make(world, &switch));
        }
    }
}

/// Changes the settings of a lane that is there, and says so.
fn make(world: &mut World, switch: &Switch) -> Result {
    let Some(mut settings) = settings_in(world, switch.side) else {
        return Ok(());
    };
    switch.apply(&mut settings)?;
    show(world, switch.side, Half::Lane(settings))
}

/// Changes what a half shows, and says so over the picture.
fn show(world: &mut World, side: Side, half: Half) -> Result {
    let is_compared = view::lane_in(world, Side::Left).is_some();
    let title = match (settings_in(world, side), &half) {
        (Some(old), Half::Lane(new)) => old.change_in_words(new),
        (None, Half::Lane(new)) => Some(new.rung_name().to_owned()),
        (Some(_), Half::Simulation) => Some("simulation".to_owned()),
        (None, Half::Simulation) => None,
    };
    let now = world.resource::<Time<Fixed>>().elapsed();
    if let (Some(title), Some(mut overlay)) = (title, world.get_resource_mut::<Overlay>()) {
        let title = if is_compared {
            format!("{}: {title}", side.name())
        } else {
            title
        };
        overlay.announce(title, now);
    }
    view::show(world, side, half)
}

fn settings_in(world: &mut World, side: Side) -> Option<LaneSettings> {
    let lane = view::lane_in(world, side)?;
    world.get(lane).cloned()
}
