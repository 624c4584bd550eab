//! The displayed state of a lane, and its difference from the simulation.

use bevy::prelude::*;
use cubewire_codec::BodyState;
use cubewire_protocol::{Interpolation, Playout, PlayoutSnapshot};
use cubewire_scene::TICKS_PER_SECOND;

/// The displayed state at the time of the fixed clock. Computed once per tick for lanes with this component.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct DisplayedState {
    /// The tick to display now, with a fraction. `None` before the first snapshot.
    pub due_tick: Option<f64>,
    pub cubes: Vec<BodyState>,
}

impl DisplayedState {
    pub(super) fn show(
        &mut self,
        kind: Interpolation,
        playout: Option<&Playout<'_, PlayoutSnapshot>>,
    ) {
        self.due_tick = playout.map(|playout| playout.due_tick);
        self.cubes.clear();
        if let Some(playout) = playout {
            let cubes = 0..playout.to.snapshot.bodies.len();
            self.cubes.extend(cubes.map(|cube| shown_cube(kind, playout, cube)));
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
