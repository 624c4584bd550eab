//! Ghosts: where the receiver of a lane on the rung `simulated` predicted the cubes that its packets had to correct.

use bevy::prelude::*;

use super::{Side, ViewCube};
use crate::history::Moment;
use crate::replication::{Lane, LaneSimulation, PlayoutSettings, Replica};

/// The wrong predictions of what each half shows now.
#[derive(Resource, Clone, Debug, Default)]
pub struct Ghosts {
    /// Whether they are shown.
    pub shown: bool,
    places: [Vec<Transform>; Side::ALL.len()],
}

impl Ghosts {
    /// The cubes as they were predicted; empty while all predictions are right, or while none are shown.
    #[must_use]
    pub fn places(&self, side: Side) -> &[Transform] {
        &self.places[side as usize]
    }
}

/// Places the ghosts beside the cubes of the picture, as far off as the predictions of its tick were.
pub(super) fn place(
    time: Res<Time<Fixed>>,
    moment: Res<Moment>,
    lanes: Query<(&Side, &PlayoutSettings, &Replica, &LaneSimulation), With<Lane>>,
    cubes: Query<(&Side, &ViewCube, &Transform)>,
    mut ghosts: ResMut<Ghosts>,
) {
    if ghosts.places.iter().any(|places| !places.is_empty()) {
        ghosts.places = Default::default();
    }
    if !ghosts.shown || moment.0.is_some() {
        return;
    }
    let now = time.elapsed() + time.overstep();
    for (half, settings, replica, simulation) in &lanes {
        let buffer = replica.receiver().playout();
        let Some(playout) = settings.interpolation.playout(buffer, now) else {
            continue;
        };
        let tick = match playout.fraction < 0.5 {
            true => playout.from_tick,
            false => playout.to_tick,
        };
        let wrong = simulation.mispredictions(tick);
        if wrong.is_empty() {
            continue;
        }
        for (side, cube, shown) in &cubes {
            let found = wrong.binary_search_by_key(&cube.index, |wrong| wrong.cube);
            if let (true, Ok(place)) = (side == half, found) {
                ghosts.places[*side as usize].push(Transform {
                    translation: shown.translation + wrong[place].offset,
                    rotation: wrong[place].turn * shown.rotation,
                    scale: shown.scale,
                });
            }
        }
    }
}
