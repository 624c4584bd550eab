//! Steps through the past with the arrow keys, which roll the cube only while the game goes on.

use bevy::ecs::system::SystemParam;
use bevy::input::keyboard::KeyboardInput;
use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;
use cubewire_scene::TICKS_PER_SECOND;

use super::super::PanelState;
use crate::controls::Action;
use crate::history::{LaneHistory, Moment};
use crate::simulation::CubeWorld;
use crate::view::Selected;

/// The keys, unless the panel takes them.
#[derive(SystemParam)]
pub(in crate::panel) struct Keyboard<'w, 's> {
    keys: Res<'w, ButtonInput<KeyCode>>,
    inputs: MessageReader<'w, 's, KeyboardInput>,
    egui: Option<Res<'w, EguiWantsInput>>,
}

/// Moves the moment while the timeline is shown and the game is paused, and plays on with Escape.
pub(in crate::panel) fn step(
    state: Res<PanelState>,
    clock: Res<Time<Virtual>>,
    world: Option<Res<CubeWorld>>,
    mut keyboard: Keyboard<'_, '_>,
    lane: Option<Single<&LaneHistory, With<Selected>>>,
    mut moment: ResMut<Moment>,
    mut commands: Commands,
) {
    let egui = keyboard.egui.as_ref();
    let is_typing = egui.is_some_and(|egui| egui.wants_any_keyboard_input());
    let stands = moment.0.is_some() || (world.is_some() && clock.is_paused());
    if !state.timeline || !stands || is_typing {
        keyboard.inputs.clear();
        return;
    }
    let Some(states) = lane.map(|lane| &lane.into_inner().pictures) else {
        keyboard.inputs.clear();
        return;
    };
    let (Some(first), Some(last)) = (states.first_tick(), states.last_tick()) else {
        keyboard.inputs.clear();
        return;
    };
    let is_far = keyboard
        .keys
        .any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]);
    let ticks = if is_far {
        u64::from(TICKS_PER_SECOND)
    } else {
        1
    };
    // Held keys repeat.
    for input in keyboard
        .inputs
        .read()
        .filter(|input| input.state.is_pressed())
    {
        let at = moment.0.unwrap_or(last);
        let wanted = match input.key_code {
            KeyCode::ArrowLeft => at.saturating_sub(ticks),
            KeyCode::ArrowRight => at + ticks,
            KeyCode::Escape if moment.0.is_some() => {
                if clock.is_paused() {
                    commands.trigger(Action::Pause);
                }
                *moment = Moment(None);
                return;
            }
            _ => continue,
        };
        moment.set_if_neq(Moment(Some(wanted.clamp(first, last))));
    }
}
