//! Shows the state of the game as notices over the scene.

use bevy::prelude::*;

use crate::replication::LinkSettings;
use crate::view::{Notices, Selected};

/// Shows whether the game is paused and whether the link is cut.
pub(in crate::view) fn notice(
    time: Res<Time<Virtual>>,
    clock: Res<Time<Real>>,
    lane: Option<Single<&LinkSettings, With<Selected>>>,
    mut notices: ResMut<Notices>,
) {
    let paused = time
        .is_paused()
        .then_some("paused: P resumes, N steps one tick");
    let is_cut = lane.is_some_and(|link| link.conditions.cut);
    let cut = is_cut.then_some("the link is cut: L restores it");
    notices.state = [paused, cut].into_iter().flatten().collect();
    notices.expire(clock.elapsed());
}
