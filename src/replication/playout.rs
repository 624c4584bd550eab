//! Playout: when snapshots are displayed, the displayed state at each tick, and stalls.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::CubeState;
use cubewire_protocol::{AdaptiveDelay, Interpolation, Playout, Received};
use cubewire_scene::TICKS_PER_SECOND;

use super::Replica;
use super::lane::{Lane, PlayoutDelay, PlayoutSettings, SenderSettings};
use super::meter::LaneMeter;
use super::transport::ReceiverMail;

/// State of a lane's playout between ticks.
#[derive(Component, Debug)]
#[require(Lane, ReceiverMail)]
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

/// The displayed state of a lane at the time of the fixed clock, computed once a tick for lanes that have
/// this component.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct DisplayedState {
    /// The tick that should be shown by now; none before the first snapshot.
    pub due_tick: Option<f64>,
    /// Every cube, as it is shown; empty before the first snapshot.
    pub cubes: Vec<CubeState>,
}

/// Sets the playout delay, and drops snapshots that have been played.
pub(super) fn advance(
    time: Res<Time>,
    mut lanes: Query<(
        &SenderSettings,
        &PlayoutSettings,
        &mut Playback,
        &mut Replica,
    )>,
) {
    for (sender, settings, mut playback, mut replica) in &mut lanes {
        let now = time.elapsed();
        let adapted = playback.adaptive.update(now);
        let delay = match settings.delay {
            PlayoutDelay::Rule => settings.rule_delay(sender),
            PlayoutDelay::Fixed(delay) => delay,
            PlayoutDelay::Adaptive => adapted,
        };
        replica.0.advance_playout(now, delay);
    }
}

type PlayedLane<'a> = (
    &'a SenderSettings,
    &'a PlayoutSettings,
    &'a Replica,
    &'a mut Playback,
    &'a mut LaneMeter,
    Option<&'a mut DisplayedState>,
);

/// Samples the playout of this tick: the buffer's fill, stalls, and the displayed state.
pub(super) fn sample(time: Res<Time>, mut lanes: Query<PlayedLane<'_>>) {
    let now = time.elapsed();
    for (sender, settings, replica, mut playback, mut meter, displayed) in &mut lanes {
        let buffer = replica.0.playout();
        let waits = settings.effective_interpolation(sender.stages).waits();
        let starved = waits
            && buffer
                .sample(now)
                .is_some_and(|playout| playout.starved_seconds > 0.0);
        let sample = meter.current();
        sample.buffered = buffer.ahead(now);
        sample.playout_delay = buffer.delay();
        sample.starved = starved;
        if starved && !playback.starved {
            meter.stalls += 1;
        }
        playback.starved = starved;
        if let Some(mut displayed) = displayed {
            let kind = settings.interpolation;
            displayed.show(kind, kind.playout(buffer, now).as_ref());
        }
    }
}

impl DisplayedState {
    fn show(&mut self, kind: Interpolation, playout: Option<&Playout<'_, Received>>) {
        self.due_tick = playout.map(|playout| playout.due_tick);
        self.cubes.clear();
        if let Some(playout) = playout {
            let cubes = 0..playout.to.snapshot.cubes.len();
            self.cubes
                .extend(cubes.map(|cube| shown_cube(kind, playout, cube)));
        }
    }
}

/// Displayed state of a cube. A teleported cube is not interpolated.
pub(crate) fn shown_cube(
    kind: Interpolation,
    playout: &Playout<'_, Received>,
    cube: usize,
) -> CubeState {
    let from = &playout.from.snapshot.cubes[cube];
    let to = &playout.to.snapshot.cubes[cube];
    if is_teleport(from, to, playout.span_seconds) {
        *to
    } else {
        kind.cube(playout, cube)
    }
}

/// Whether a cube moved farther than it can in that time.
pub(crate) fn is_teleport(from: &CubeState, to: &CubeState, span_seconds: f32) -> bool {
    // The solver may push a cube a little farther than its speed allows.
    let reach = cubewire_scene::MAX_LINEAR_SPEED * (span_seconds + 5.0 * TICK_SECONDS);
    from.position.distance_squared(to.position) > reach * reach
}

const TICK_SECONDS: f32 = 1.0 / TICKS_PER_SECOND as f32;
