//! Keys: what the player holds down, and what stops, steps and resets the game.

use std::time::Duration;

use bevy::ecs::message::{MessageRegistry, ShouldUpdateMessages};
use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;
use cubewire_scene::Keys;

use crate::recording::{Playing, ReplayCheck};
use crate::simulation::{HeldKeys, ResetSimulation};
use crate::view::ViewMode;

/// Reads the keyboard. Keys that the panel has use for do not reach the game.
#[derive(Debug)]
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            RunFixedMainLoop,
            (hold.run_if(not(resource_exists::<Playing>)), press)
                .chain()
                .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
        )
        .add_systems(Last, forget_messages);
    }
}

fn hold(keys: Res<ButtonInput<KeyCode>>, egui: Res<EguiWantsInput>, mut held: ResMut<HeldKeys>) {
    let free = !egui.wants_any_keyboard_input();
    // A key that was tapped between two frames counts as held for one.
    let holds = |key| free && (keys.pressed(key) || keys.just_pressed(key));
    held.0 = Keys {
        left: holds(KeyCode::ArrowLeft),
        right: holds(KeyCode::ArrowRight),
        up: holds(KeyCode::ArrowUp),
        down: holds(KeyCode::ArrowDown),
        blow: holds(KeyCode::Space),
        gather: holds(KeyCode::KeyZ),
    };
}

fn press(
    keys: Res<ButtonInput<KeyCode>>,
    egui: Res<EguiWantsInput>,
    mut clock: ResMut<Time<Virtual>>,
    mut ticks: ResMut<Time<Fixed>>,
    mut resets: MessageWriter<ResetSimulation>,
    mut mode: ResMut<ViewMode>,
    replay: Option<Res<ReplayCheck>>,
) {
    if egui.wants_any_keyboard_input() {
        return;
    }
    let tick = ticks.timestep();
    // A replay presses R itself, where it was pressed.
    if keys.just_pressed(KeyCode::KeyR) && replay.is_none() {
        resets.write(ResetSimulation);
        if clock.is_paused() {
            ticks.accumulate_overstep(tick);
        }
    }
    if keys.just_pressed(KeyCode::KeyV) {
        *mode = mode.next();
    }
    if keys.just_pressed(KeyCode::KeyP) {
        if clock.is_paused() {
            clock.unpause();
        } else {
            stop(&mut clock);
        }
    }
    if keys.just_pressed(KeyCode::KeyN) {
        stop(&mut clock);
        ticks.accumulate_overstep(tick);
    }
}

/// Pauses, and leaves out what of this frame's time has not been played yet.
fn stop(clock: &mut Time<Virtual>) {
    clock.pause();
    clock.advance_by(Duration::ZERO);
}

/// Bevy keeps messages for the next fixed tick, which does not come during a pause.
fn forget_messages(clock: Res<Time<Virtual>>, mut registry: ResMut<MessageRegistry>) {
    if clock.is_paused() {
        registry.should_update = ShouldUpdateMessages::Ready;
    }
}
