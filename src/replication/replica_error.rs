//! The difference between a lane's displayed state and the simulation at the same tick. Needs both ends in one process.

use std::collections::VecDeque;

use bevy::prelude::*;
use cubewire_codec::BodyState;
use cubewire_protocol::record::ReplicaError;
use cubewire_scene::TICKS_PER_SECOND;

use super::displayed::{Compared, CubeError, CubeErrors, DisplayedState, between};
use super::meter::LaneMeter;
use crate::simulation::CubeWorld;

/// States of the simulation in the last four seconds, with their ticks. Empty while no lane is [`Compared`].
#[derive(Resource, Debug, Default)]
pub(crate) struct RecentStates(VecDeque<(u64, Vec<BodyState>)>);

/// Number of ticks kept. More than the displayed state lags behind, unless the link is cut.
const HISTORY_TICKS: usize = 4 * TICKS_PER_SECOND as usize;

pub(super) fn remember(
    world: Res<CubeWorld>,
    compared: Query<(), With<Compared>>,
    mut history: ResMut<RecentStates>,
) {
    if compared.is_empty() {
        history.0.clear();
        return;
    }
    // Reuse the memory of the oldest state.
    let is_full = history.0.len() == HISTORY_TICKS;
    let oldest = history.0.pop_front_if(|_| is_full);
    let mut states = oldest.map(|(_, states)| states).unwrap_or_default();
    states.clone_from(&world.current().bodies);
    history.0.push_back((world.tick(), states));
}

pub(super) fn compare(
    history: Res<RecentStates>,
    mut lanes: Query<(&DisplayedState, &mut LaneMeter, Option<&mut CubeErrors>), With<Compared>>,
) {
    for (displayed, mut meter, errors) in &mut lanes {
        let mut errors = errors.map(|errors| &mut errors.into_inner().0);
        if let Some(errors) = &mut errors {
            errors.clear();
        }
        let error = measure(&history, displayed, errors);
        meter.current().replica_error = error.unwrap_or_default();
    }
}

fn measure(
    history: &RecentStates,
    displayed: &DisplayedState,
    mut errors: Option<&mut Vec<CubeError>>,
) -> Option<ReplicaError> {
    let newest = history.0.back()?.0;
    let tick = displayed.due_tick?.clamp(0.0, newest as f64);
    let simulated = history.around(tick)?;
    let mut replica_error = ReplicaError { tick: Some(tick), ..ReplicaError::default() };
    let mut interacting = 0;
    for (shown, (from, simulated)) in displayed.cubes.iter().zip(simulated) {
        let error = CubeError::new(shown, &simulated);
        let CubeError { metres: distance, degrees: angle } = error;
        if let Some(errors) = &mut errors {
            errors.push(error);
        }
        replica_error.max_m = replica_error.max_m.max(distance);
        replica_error.max_degrees = replica_error.max_degrees.max(angle);
        if from.interacting {
            interacting += 1;
            replica_error.mean_m += distance;
            replica_error.mean_degrees += angle;
        }
    }
    replica_error.mean_m /= interacting.max(1) as f32;
    replica_error.mean_degrees /= interacting.max(1) as f32;
    Some(replica_error)
}

impl RecentStates {
    /// Each cube's state at the tick before `tick`, and its state interpolated at `tick`. `None` outside of the history.
    pub(crate) fn around(
        &self,
        tick: f64,
    ) -> Option<impl Iterator<Item = (&BodyState, BodyState)>> {
        let newest = self.0.back()?.0;
        let before = tick.floor().max(0.0) as u64;
        let from = self.at(before)?;
        let to = self.at((before + 1).min(newest))?;
        let fraction = tick.fract() as f32;
        Some(from.iter().zip(to).map(move |(from, to)| (from, between(from, to, fraction))))
    }

    fn at(&self, tick: u64) -> Option<&[BodyState]> {
        let (oldest, _) = self.0.front()?;
        let index = usize::try_from(tick.checked_sub(*oldest)?).ok()?;
        let (found, states) = self.0.get(index)?;
        (*found == tick).then_some(states)
    }
}
