//! The cubes of the view, and how they are moved.

use bevy::prelude::*;
use cubewire_codec::BodyState;
use cubewire_scene::{CUBES, PLAYER, initial_position, side};

use super::ViewMode;
use super::side::Side;
use crate::history::{LaneHistory, Moment, WorldHistory};
use crate::replication::{Lane, PlayoutSettings, RecentStates, Replica, between, shown_cube};
use crate::simulation::CubeWorld;

/// A cube of the view.
#[derive(Component, Clone, Copy, Debug)]
pub struct ViewCube {
    /// Its index.
    pub index: usize,
    /// Whether it is interacting: red.
    pub interacting: bool,
}

/// The ticks that a lane's half shows in this frame; updated for lanes that have this component.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
pub struct DisplayedTicks {
    /// The tick that is shown, usually between two snapshots; none before the first arrives.
    pub tick: Option<f64>,
    /// Ticks of the two snapshots that it lies between.
    pub between: [u64; 2],
}

pub(super) fn spawn(mut commands: Commands) {
    for world in Side::ALL {
        for index in 0..CUBES {
            let transform = Transform::from_translation(initial_position(index))
                .with_scale(Vec3::splat(side(index)));
            let interacting = index == PLAYER;
            commands.spawn((world, ViewCube { index, interacting }, transform));
        }
    }
}

/// Shows the simulation in the left half, unless a lane is shown there. Interpolates between the last two
/// ticks, so that motion is smooth at any frame rate; it is shown up to one tick late. Under a replica, it is shown at the
/// tick of the replica, so that what is seen is the error.
pub(super) fn show_simulation(
    world: Res<CubeWorld>,
    recent: Res<RecentStates>,
    time: Res<Time<Fixed>>,
    mode: Res<ViewMode>,
    lanes: Query<(&Side, Option<&DisplayedTicks>), With<Lane>>,
    mut cubes: Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    if lanes.iter().any(|(&side, _)| side == Side::Left) {
        return;
    }
    let over = lanes
        .iter()
        .next()
        .filter(|_| *mode == ViewMode::Difference);
    let tick = over.and_then(|(_, ticks)| ticks?.tick);
    let past = tick.and_then(|tick| recent.around(tick));
    let shown: Vec<BodyState> = match past {
        Some(past) => past.map(|(_, cube)| cube).collect(),
        None => {
            let (from, to) = (&world.previous().bodies, &world.current().bodies);
            let cubes = from.iter().zip(to);
            let fraction = time.overstep_fraction();
            cubes
                .map(|(from, to)| between(from, to, fraction))
                .collect()
        }
    };
    show_half(Side::Left, &shown, &mut cubes);
}

/// Shows a tick of the past in both halves: of each what it showed then.
pub(super) fn show_past(
    moment: Res<Moment>,
    mode: Res<ViewMode>,
    world: Res<WorldHistory>,
    lanes: Query<(&Side, Option<&LaneHistory>), With<Lane>>,
    mut past: Local<Vec<BodyState>>,
    mut cubes: Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    let Some(tick) = moment.0 else {
        return;
    };
    for half in Side::ALL {
        let lane = lanes.iter().find(|(side, _)| **side == half);
        // Under a replica.
        let over = lanes.iter().next();
        let over = over.filter(|_| lane.is_none() && *mode == ViewMode::Difference);
        let simulated = over.and_then(|(_, over)| over?.simulated_at(tick, &world));
        let states = match lane {
            Some((_, history)) => history.map(|history| &history.displayed),
            None => Some(&world.0),
        };
        if let Some(simulated) = simulated {
            show_half(half, &simulated, &mut cubes);
        } else if states.is_some_and(|states| states.read(tick, &mut past)) {
            show_half(half, &past, &mut cubes);
        }
    }
}

/// Moves the cubes of a half.
fn show_half(
    half: Side,
    shown: &[BodyState],
    cubes: &mut Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    for (side, mut cube, mut transform) in cubes {
        if *side == half
            && let Some(shown) = shown.get(cube.index)
        {
            show(&mut cube, &mut transform, shown);
        }
    }
}

/// Whether the present is shown.
pub(super) fn is_present(moment: Res<Moment>) -> bool {
    moment.0.is_none()
}

/// Shows the replicas. Reads only decoded snapshots and the clock, never the simulation.
pub(super) fn show_replicas(
    time: Res<Time<Fixed>>,
    mut lanes: Query<(
        &Side,
        &PlayoutSettings,
        &Replica,
        Option<&mut DisplayedTicks>,
    )>,
    mut cubes: Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    let now = time.elapsed() + time.overstep();
    for (half, settings, replica, ticks) in &mut lanes {
        let kind = settings.interpolation;
        let Some(playout) = kind.playout(replica.receiver().playout(), now) else {
            continue;
        };
        if let Some(mut ticks) = ticks {
            ticks.set_if_neq(DisplayedTicks {
                tick: Some(playout.tick),
                between: [playout.from_tick, playout.to_tick],
            });
        }
        for (side, mut cube, mut transform) in &mut cubes {
            if side == half {
                let shown = shown_cube(kind, &playout, cube.index);
                show(&mut cube, &mut transform, &shown);
            }
        }
    }
}

/// Writes only what differs, so that change detection skips cubes at rest.
fn show(cube: &mut Mut<ViewCube>, transform: &mut Mut<Transform>, shown: &BodyState) {
    if transform.translation != shown.position || transform.rotation != shown.orientation {
        transform.translation = shown.position;
        transform.rotation = shown.orientation;
    }
    if cube.interacting != shown.interacting {
        cube.interacting = shown.interacting;
    }
}
