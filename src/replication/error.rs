//! How far the picture of a lane is from what the simulation was at the tick that it ought to show:
//! possible because both ends are in one process.

use std::collections::VecDeque;

use bevy::prelude::*;
use cubewire_codec::CubeState;
use cubewire_protocol::{Interpolation, Playout, Received};
use cubewire_scene::TICKS_PER_SECOND;

use super::{LaneSettings, Replica, is_jump, shown_cube};
use crate::simulation::World as CubeWorld;

/// The picture of this tick against the simulation, measured for lanes that have this component. A
/// picture that stands still is compared with what it should have moved on to.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
pub struct PictureError {
    /// Tick that the picture ought to show; none before the first snapshot, and while the link has
    /// been silent for so long that there is nothing to compare with.
    pub tick: Option<f64>,
    /// Distance of the cubes that are interacting, mean, metres; 0 if there are none.
    pub mean_m: f32,
    /// Of the cube that is farthest off, metres.
    pub worst_m: f32,
    /// Angle of the cubes that are interacting, mean, degrees; 0 if there are none.
    pub mean_degrees: f32,
    /// Of the cube that is turned most, degrees.
    pub worst_degrees: f32,
}

/// States of the simulation in the newest four seconds, by tick; empty while no lane is compared.
#[derive(Resource, Debug, Default)]
pub(crate) struct History(VecDeque<(u64, Vec<CubeState>)>);

/// Longer than a picture lags behind unless its link is cut.
const HISTORY_TICKS: usize = 4 * TICKS_PER_SECOND as usize;

pub(super) fn remember(
    world: Res<CubeWorld>,
    compared: Query<(), With<PictureError>>,
    mut history: ResMut<History>,
) {
    if compared.is_empty() {
        history.0.clear();
        return;
    }
    let mut states = if history.0.len() == HISTORY_TICKS {
        history.0.pop_front().map(|(_, states)| states)
    } else {
        None
    }
    .unwrap_or_default();
    states.clone_from(&world.current().cubes);
    history.0.push_back((world.tick(), states));
}

pub(super) fn compare(
    time: Res<Time>,
    history: Res<History>,
    mut lanes: Query<(&LaneSettings, &Replica, &mut PictureError)>,
) {
    for (settings, replica, mut error) in &mut lanes {
        let kind = settings.interpolation;
        let buffer = replica.0.playout();
        let playout = kind.playout(buffer, time.elapsed());
        let measured = playout.and_then(|playout| measure(&history, kind, &playout));
        *error = measured.unwrap_or_default();
    }
}

fn measure(
    history: &History,
    kind: Interpolation,
    playout: &Playout<'_, Received>,
) -> Option<PictureError> {
    let newest = history.0.back()?.0;
    let tick = playout.due_tick.clamp(0.0, newest as f64);
    let before = tick.floor() as u64;
    let from = history.at(before)?;
    let to = history.at((before + 1).min(newest))?;
    let fraction = tick.fract() as f32;

    let mut error = PictureError {
        tick: Some(tick),
        ..PictureError::default()
    };
    let mut interacting = 0;
    for (cube, (from, to)) in from.iter().zip(to).enumerate() {
        let shown = shown_cube(kind, playout, cube);
        let is_reset = is_jump(from, to, 1.0 / TICKS_PER_SECOND as f32);
        let fraction = if is_reset { 1.0 } else { fraction };
        let position = from.position.lerp(to.position, fraction);
        let orientation = from.orientation.slerp(to.orientation, fraction);
        let distance = shown.position.distance(position);
        let angle = shown.orientation.angle_between(orientation).to_degrees();
        error.worst_m = error.worst_m.max(distance);
        error.worst_degrees = error.worst_degrees.max(angle);
        if from.interacting {
            interacting += 1;
            error.mean_m += distance;
            error.mean_degrees += angle;
        }
    }
    error.mean_m /= interacting.max(1) as f32;
    error.mean_degrees /= interacting.max(1) as f32;
    Some(error)
}

impl History {
    /// Every cube as it was after that tick.
    pub(crate) fn at(&self, tick: u64) -> Option<&[CubeState]> {
        let (oldest, _) = self.0.front()?;
        let place = usize::try_from(tick.checked_sub(*oldest)?).ok()?;
        let (found, states) = self.0.get(place)?;
        (*found == tick).then_some(states)
    }
}
