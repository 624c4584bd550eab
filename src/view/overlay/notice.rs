//! Shows the state of the game as a notice over the scene.

use bevy::prelude::*;

use crate::view::notices::Notices;

/// Shows whether the game is paused.
pub(in crate::view) fn notice(
    time: Res<Time<Virtual>>,
    clock: Res<Time<Real>>,
    mut notices: ResMut<Notices>,
) {
    let paused = time.is_paused();
    notices.state = paused.then_some("paused: P resumes, N steps one tick");
    notices.expire(clock.elapsed());
}
