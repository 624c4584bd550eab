//! Moves through the past with the arrow keys, which roll the cube only while the game runs.

use std::ops::RangeInclusive;

use bevy::ecs::system::SystemParam;
use bevy::input::keyboard::KeyboardInput;
use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;
use cubewire_scene::TICKS_PER_SECOND;

use super::super::settings::PanelState;
use crate::controls::{Action, character};
use crate::history::{LaneHistory, Moment};
use crate::replication::{LaneMeter, Sample};
use crate::simulation::CubeWorld;
use crate::view::Selected;

/// Keyboard input, unless the panel has the focus.
#[derive(SystemParam)]
pub(crate) struct Keyboard<'w, 's> {
    keys: Res<'w, ButtonInput<KeyCode>>,
    inputs: MessageReader<'w, 's, KeyboardInput>,
    egui: Option<Res<'w, EguiWantsInput>>,
}

/// Moves the displayed tick while the timeline is shown and the game is paused. Escape clears the range, or else
/// resumes the game.
pub(crate) fn step(
    mut state: ResMut<PanelState>,
    clock: Res<Time<Virtual>>,
    world: Option<Res<CubeWorld>>,
    mut keyboard: Keyboard<'_, '_>,
    lane: Option<Single<(&LaneHistory, &LaneMeter), With<Selected>>>,
    mut moment: ResMut<Moment>,
    mut commands: Commands,
) {
    // Repeated events of held keys count.
    let pressed = keyboard.inputs.read().filter(|key| key.state.is_pressed());
    let pressed: Vec<_> = pressed.map(|key| (key.key_code, character(key))).collect();
    if moment.0.is_none() && state.range.is_some() {
        state.range = None;
    }
    let egui = keyboard.egui.as_ref();
    let is_typing = egui.is_some_and(|egui| egui.wants_any_keyboard_input());
    let stands = moment.0.is_some() || (world.is_some() && clock.is_paused());
    let lane = lane.filter(|_| state.shows_timeline(stands) && stands && !is_typing);
    let Some((history, meter)) = lane.map(Single::into_inner) else { return };
    let Some((first, last)) = history.ticks(meter).map(RangeInclusive::into_inner) else { return };
    if state.range.is_some_and(|[_, last]| last < first) {
        state.range = None;
    }
    let shift = [KeyCode::ShiftLeft, KeyCode::ShiftRight];
    let ticks = if keyboard.keys.any_pressed(shift) { u64::from(TICKS_PER_SECOND) } else { 1 };
    for (key, character) in pressed {
        let at = moment.0.unwrap_or(last);
        let wanted = match key {
            KeyCode::ArrowLeft => at.saturating_sub(ticks),
            KeyCode::ArrowRight => at + ticks,
            _ if matches!(character, Some(',' | '.')) => {
                packet_beside(meter, at, character == Some('.')).unwrap_or(at)
            }
            KeyCode::Escape if state.range.is_some() => {
                state.range = None;
                continue;
            }
            KeyCode::Escape if moment.0.is_some() => {
                if clock.is_paused() {
                    commands.trigger(Action::Pause);
                }
                *moment = Moment(None);
                return;
            }
            _ => continue,
        };
        moment.set_if_neq(Moment(Some(wanted.min(last).max(first))));
    }
}

/// Returns the nearest tick before or after `tick` with a packet.
fn packet_beside(meter: &LaneMeter, tick: u64, is_after: bool) -> Option<u64> {
    let mut samples = meter.samples().iter();
    let is_packet = |sample: &&Sample| !sample.snapshots.is_empty();
    let found = match is_after {
        true => samples.find(|sample| sample.tick > tick && is_packet(sample)),
        false => samples.rfind(|sample| sample.tick < tick && is_packet(sample)),
    };
    found.map(|sample| sample.tick)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::PacketRecord;

    #[test]
    fn packets_are_found_in_both_directions() {
        let meter = LaneMeter::from_samples((0..60).map(|tick| Sample {
            tick,
            snapshots: vec![PacketRecord::default(); usize::from(tick % 6 == 0)],
            ..Sample::default()
        }));
        for (tick, before, after) in [
            (13, Some(12), Some(18)),
            (12, Some(6), Some(18)),
            (0, None, Some(6)),
            (54, Some(48), None),
        ] {
            assert_eq!(packet_beside(&meter, tick, false), before, "{tick}");
            assert_eq!(packet_beside(&meter, tick, true), after, "{tick}");
        }
    }
}
