//! Applies keyboard input while no script is played, and pauses, steps and resumes the clock.

use std::time::Duration;

use bevy::ecs::message::{MessageRegistry, ShouldUpdateMessages};
use bevy::prelude::*;

use super::play::ScriptPlayback;
use super::replay::ReplayCheck;
use crate::controls::{Action, ControlsPlugin, ControlsSystems, Keyboard};
use crate::simulation::{HeldKeys, ResetSimulation};
use crate::view::{self, TouchKeys};

/// Applies held keys, and handles reset, pause and step.
pub struct KeyboardPlugin;

impl Plugin for KeyboardPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(HeldKeysPlugin).add_observer(on_action).add_systems(Last, forget_messages);
    }
}

/// Applies held keys. Adds the [`ControlsPlugin`].
pub struct HeldKeysPlugin;

impl Plugin for HeldKeysPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(ControlsPlugin).init_resource::<HeldKeys>().add_systems(
            RunFixedMainLoop,
            hold.run_if(not(resource_exists::<ScriptPlayback>))
                .before(ControlsSystems)
                .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
        );
    }
}

fn hold(keyboard: Keyboard<'_>, touch: Option<Res<TouchKeys>>, mut held: ResMut<HeldKeys>) {
    *held = view::held(&keyboard, touch.as_deref()).into();
}

fn on_action(
    action: On<Action>,
    mut clock: ResMut<Time<Virtual>>,
    mut ticks: ResMut<Time<Fixed>>,
    mut resets: MessageWriter<ResetSimulation>,
    replay: Option<Res<ReplayCheck>>,
) {
    let tick = ticks.timestep();
    match *action {
        // A replay has recorded resets.
        Action::Reset if replay.is_none() => {
            resets.write(ResetSimulation);
            if clock.is_paused() {
                ticks.accumulate_overstep(tick);
            }
        }
        Action::Pause if clock.is_paused() => clock.unpause(),
        Action::Pause => pause(&mut clock),
        Action::Step => {
            pause(&mut clock);
            ticks.accumulate_overstep(tick);
        }
        _ => {}
    }
}

/// Pauses, and discards the time of this frame that was not simulated yet.
fn pause(clock: &mut Time<Virtual>) {
    clock.pause();
    clock.advance_by(Duration::ZERO);
}

/// Clears messages during a pause. Bevy would keep them until the next fixed tick, which does not come.
fn forget_messages(clock: Res<Time<Virtual>>, mut registry: ResMut<MessageRegistry>) {
    if clock.is_paused() {
        registry.should_update = ShouldUpdateMessages::Ready;
    }
}
