//! The displayed state of a lane: the playout delay, stalls, and the difference from the simulation.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::BodyState;
use cubewire_protocol::record::Sample;
use cubewire_protocol::{Interpolation, Playout, PlayoutSnapshot};
use cubewire_scene::{TICK, TICKS_PER_SECOND};

use super::Replica;
use super::meter::LaneMeter;
use super::settings::{PlayAt, PlayoutDelay, PlayoutSettings, SenderSettings};

/// The displayed state at the time of the fixed clock. Computed once per tick for lanes with this component.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct DisplayedState {
    /// The tick to display now, with a fraction. `None` before the first snapshot.
    pub due_tick: Option<f64>,
    pub cubes: Vec<BodyState>,
}

impl DisplayedState {
    fn show(&mut self, kind: Interpolation, playout: Option<&Playout<'_, PlayoutSnapshot>>) {
        self.due_tick = playout.map(|playout| playout.due_tick);
        self.cubes.clear();
        if let Some(playout) = playout {
            let cubes = 0..playout.to.snapshot.bodies.len();
            self.cubes.extend(cubes.map(|cube| shown_cube(kind, playout, cube)));
        }
    }
}

/// Sets the playout delay and drops snapshots that have been played.
pub(super) fn advance(
    time: Res<Time>,
    mut lanes: Query<(&SenderSettings, &PlayoutSettings, &mut Replica)>,
) {
    for (sender, settings, mut replica) in &mut lanes {
        let delay = match settings.delay {
            PlayoutDelay::Rule => match settings.rule_delay(sender) {
                // Under a budget, packets are sent when they are full, so the send rate is unknown: adapt.
                rule if rule > Duration::ZERO && sender.budget.is_some() => None,
                rule => Some(rule),
            },
            PlayoutDelay::Fixed(delay) => Some(delay),
            PlayoutDelay::Adaptive => None,
        };
        replica.receiver_mut().advance_playout(time.elapsed(), delay);
    }
}

type PlayedLane<'a> = (
    &'a SenderSettings,
    &'a PlayoutSettings,
    &'a Replica,
    &'a mut LaneMeter,
    Option<&'a mut DisplayedState>,
);

/// Samples the playout at this tick: buffer level, stalls, and the displayed state.
pub(super) fn sample(time: Res<Time>, mut lanes: Query<PlayedLane<'_>>) {
    let now = time.elapsed();
    for (sender, settings, replica, mut meter, displayed) in &mut lanes {
        let buffer = replica.receiver().playout();
        let waits = settings.effective_interpolation(sender.stages).waits();
        let starved =
            waits && buffer.sample(now).is_some_and(|playout| playout.starved_seconds > 0.0);
        let was_starved = meter.newest(2).next().is_some_and(Sample::is_starved);
        let sample = meter.current();
        sample.buffered = buffer.ahead(now);
        sample.playout_delay = buffer.delay();
        sample.starved = if starved { TICK } else { Duration::ZERO };
        sample.stalls = usize::from(starved && !was_starved);
        let shown = buffer.sample(now).map(|playout| playout.tick as u64);
        let report = shown.and_then(|tick| {
            let report = replica.0.input_report(tick)?;
            let is_recent = report.tick + u64::from(TICKS_PER_SECOND) > tick;
            Some(report).filter(|_| is_recent && settings.play_at == PlayAt::Client)
        });
        sample.input_age = report.and_then(|report| replica.0.input_age(now, report.tick));
        sample.queued_inputs = report.filter(|_| sample.input_age.is_some()).map(|it| it.queued);
        if let Some(mut displayed) = displayed {
            let kind = settings.interpolation;
            displayed.show(kind, kind.playout(buffer, now).as_ref());
        }
    }
}

/// The displayed state of a cube. Teleports are not interpolated.
pub(crate) fn shown_cube(
    kind: Interpolation,
    playout: &Playout<'_, PlayoutSnapshot>,
    cube: usize,
) -> BodyState {
    let from = &playout.from.snapshot.bodies[cube];
    let to = &playout.to.snapshot.bodies[cube];
    if is_teleport(from, to, playout.span_seconds) { *to } else { kind.body(playout, cube) }
}

/// Whether a cube moved farther than its maximum speed allows in that time.
fn is_teleport(from: &BodyState, to: &BodyState, span_seconds: f32) -> bool {
    // Five extra ticks, because the solver may push a cube a little farther than its speed allows.
    let reach = cubewire_scene::MAX_LINEAR_SPEED * (span_seconds + 5.0 * TICK_SECONDS);
    from.position.distance_squared(to.position) > reach * reach
}

/// Measures the [`ReplicaError`](super::ReplicaError) of a lane while this component exists.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(DisplayedState)]
pub struct Compared;

/// The error of each displayed cube, for lanes with this component. Empty while [`ReplicaError`](super::ReplicaError) has no
/// tick.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct CubeErrors(pub Vec<CubeError>);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CubeError {
    pub metres: f32,
    pub degrees: f32,
}

impl CubeError {
    pub fn new(shown: &BodyState, simulated: &BodyState) -> Self {
        let angle = shown.orientation.angle_between(simulated.orientation);
        Self { metres: shown.position.distance(simulated.position), degrees: angle.to_degrees() }
    }
}

/// Interpolates a simulated cube between two ticks, with `fraction` from 0 to 1. Teleports are not interpolated.
pub(crate) fn between(from: &BodyState, to: &BodyState, fraction: f32) -> BodyState {
    if is_teleport(from, to, TICK_SECONDS) {
        return *to;
    }
    BodyState {
        position: from.position.lerp(to.position, fraction),
        orientation: from.orientation.slerp(to.orientation, fraction),
        ..*to
    }
}

const TICK_SECONDS: f32 = 1.0 / TICKS_PER_SECOND as f32;
