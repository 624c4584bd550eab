//! When a lane's snapshots are shown, and whether that goes smoothly.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::CubeState;
use cubewire_protocol::{AdaptiveDelay, Interpolation, Playout, Received};
use cubewire_scene::TICKS_PER_SECOND;

use super::{LaneMeter, LaneSettings, PlayoutChoice, Replica};

/// What a lane's playout remembers from tick to tick.
#[derive(Component, Debug)]
pub(super) struct Playback {
    pub(super) adaptive: AdaptiveDelay,
    starved: bool,
}

impl Playback {
    pub(super) fn new(delay: Duration) -> Self {
        Self {
            adaptive: AdaptiveDelay::new(TICKS_PER_SECOND, delay),
            starved: false,
        }
    }
}

pub(super) fn advance(
    time: Res<Time>,
    mut lanes: Query<(&LaneSettings, &mut Playback, &mut Replica)>,
) {
    for (settings, mut playback, mut replica) in &mut lanes {
        let now = time.elapsed();
        let adapted = playback.adaptive.update(now);
        let delay = match settings.playout {
            PlayoutChoice::Rule => settings.ruled_delay(),
            PlayoutChoice::Fixed(delay) => delay,
            PlayoutChoice::Adaptive => adapted,
        };
        replica.0.advance_playout(now, delay);
    }
}

/// Writes down how full the buffer is, and counts a hitch where playout runs dry.
pub(super) fn note(
    time: Res<Time>,
    mut lanes: Query<(&LaneSettings, &Replica, &mut Playback, &mut LaneMeter)>,
) {
    let now = time.elapsed();
    for (settings, replica, mut playback, mut meter) in &mut lanes {
        let buffer = replica.0.playout();
        let playout = buffer.sample(now);
        let starved = settings.shown_interpolation().waits()
            && playout.is_some_and(|playout| playout.starved_seconds > 0.0);
        let sample = meter.current();
        sample.buffered = buffer.ahead(now);
        sample.playout_delay = buffer.delay();
        sample.starved = starved;
        if starved && !playback.starved {
            meter.hitches += 1;
        }
        playback.starved = starved;
    }
}

/// Where a cube is in the picture. One that was put back to its start does not fly there.
pub(crate) fn shown_cube(
    kind: Interpolation,
    playout: &Playout<'_, Received>,
    cube: usize,
) -> CubeState {
    let from = &playout.from.snapshot.cubes[cube];
    let to = &playout.to.snapshot.cubes[cube];
    if is_jump(from, to, playout.span_seconds) {
        *to
    } else {
        kind.cube(playout, cube)
    }
}

/// Whether a cube went further than it can move in that time.
pub(crate) fn is_jump(from: &CubeState, to: &CubeState, span_seconds: f32) -> bool {
    // The solver may push a cube a little further than its speed.
    let reach = cubewire_scene::MAX_LINEAR_SPEED * (span_seconds + 5.0 * TICK_SECONDS);
    from.position.distance_squared(to.position) > reach * reach
}

const TICK_SECONDS: f32 = 1.0 / TICKS_PER_SECOND as f32;
