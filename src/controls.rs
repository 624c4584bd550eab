//! Keys: what the player holds down, and what stops, steps and resets the game.

use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;
use cubewire_scene::Keys;

use crate::recording::Playing;
use crate::simulation::{HeldKeys, ResetSimulation, SimulationSystems};
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
        .configure_sets(FixedUpdate, SimulationSystems::Control);
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
) {
    if egui.wants_any_keyboard_input() {
        return;
    }
    if keys.just_pressed(KeyCode::KeyR) {
        resets.write(ResetSimulation);
    }
    if keys.just_pressed(KeyCode::KeyV) {
        *mode = mode.next();
    }
    if keys.just_pressed(KeyCode::KeyP) {
        if clock.is_paused() {
            clock.unpause();
        } else {
            clock.pause();
        }
    }
    if keys.just_pressed(KeyCode::KeyN) {
        clock.pause();
        let tick = ticks.timestep();
        ticks.accumulate_overstep(tick);
    }
}
