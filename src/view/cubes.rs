//! Spawns the cubes of the view and moves them.

use bevy::prelude::*;
use cubewire_codec::BodyState;
use cubewire_scene::{self as scene, CUBES, initial_position, seat, side};

use super::ViewMode;
use super::side::Side;
use crate::history::{LaneHistory, Moment, ShownPast, WorldHistory};
use crate::replication::{
    Lane, PlayoutSettings, Prediction, RecentStates, Replica, between, shown_cube,
};
use crate::simulation::CubeWorld;

#[derive(Component, Clone, Copy, Debug)]
pub struct ViewCube {
    pub index: usize,
    pub interacting: bool,
}

/// Ticks that the half of a lane shows in this frame. Updated for lanes that have this component.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
pub struct DisplayedTicks {
    /// Shown tick, usually between two snapshots. `None` before the first snapshot arrives.
    pub tick: Option<f64>,
    /// Ticks of the two snapshots that `tick` lies between.
    pub between: [u64; 2],
}

/// Spawns the cubes of the scene, and despawns those of players that it does not have.
pub(super) fn spawn(
    world: Option<Res<CubeWorld>>,
    past: Option<Res<WorldHistory>>,
    replicas: Query<&Replica>,
    histories: Query<&LaneHistory>,
    cubes: Query<(Entity, &ViewCube)>,
    mut commands: Commands,
) {
    let replicas = replicas.iter().map(|replica| scene::cubes(replica.players()));
    let world = world.map(|world| world.current().bodies.len());
    let past = past.map(|past| past.0.cubes());
    let pasts = histories.iter().map(|history| history.displayed.cubes()).chain(past);
    let count = replicas.chain(world).max().or(pasts.max()).unwrap_or(CUBES).max(CUBES);
    let before = cubes.iter().len() / Side::ALL.len();
    for (extra, _) in cubes.iter().filter(|(_, cube)| before > count && cube.index >= count) {
        commands.entity(extra).despawn();
    }
    for half in Side::ALL {
        for index in before..count {
            let transform = Transform::from_translation(initial_position(index))
                .with_scale(Vec3::splat(side(index)));
            let interacting = seat(index).is_some();
            commands.spawn((half, ViewCube { index, interacting }, transform));
        }
    }
}

type Shown<'a> = (&'a Side, Option<&'a DisplayedTicks>, Option<&'a Prediction>);

/// Moves the cubes of the left half to the simulation, unless that half shows a lane.
///
/// Interpolates between the last two ticks, so motion is smooth at any frame rate and up to one tick late. In
/// [`ViewMode::Difference`], uses the tick that the replica shows, so that only the error is visible, except for cubes that are
/// predicted.
pub(super) fn show_simulation(
    world: Res<CubeWorld>,
    recent: Res<RecentStates>,
    time: Res<Time<Fixed>>,
    mode: Res<ViewMode>,
    lanes: Query<Shown<'_>, With<Lane>>,
    mut cubes: Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    if lanes.iter().any(|(&side, ..)| side == Side::Left) {
        return;
    }
    let over = lanes.iter().next().filter(|_| *mode == ViewMode::Difference);
    let tick = over.and_then(|(_, ticks, _)| ticks?.tick);
    let prediction = over.and_then(|(.., prediction)| prediction);
    let past = tick.and_then(|tick| recent.around(tick));
    let (from, to) = (&world.previous().bodies, &world.current().bodies);
    let fraction = time.overstep_fraction();
    let present = from.iter().zip(to).map(|(from, to)| between(from, to, fraction));
    let shown: Vec<BodyState> = match past {
        Some(past) => {
            let past = past.zip(present).enumerate();
            // Where a cube is predicted, the picture shows how far the prediction is ahead of the simulation.
            let is_ahead = |cube| prediction.is_some_and(|prediction| prediction.shows(cube));
            let cube = |(cube, ((_, past), now))| if is_ahead(cube) { now } else { past };
            past.map(cube).collect()
        }
        None => present.collect(),
    };
    show_half(Side::Left, &shown, &mut cubes);
}

/// Moves both halves to the tick of the past that is shown, as they showed it then.
pub(super) fn show_past(
    past: ShownPast<'_>,
    mode: Res<ViewMode>,
    lanes: Query<(&Side, &LaneHistory), With<Lane>>,
    mut cubes: Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    let Some(tick) = past.tick() else { return };
    let lane = |half: Side| lanes.iter().find(|(side, _)| **side == half);
    let lanes = Side::ALL.map(|half| lane(half).map(|(_, history)| history));
    for half in Side::ALL {
        if let Some(shown) = shown_at(tick, half, *mode, &past.world, lanes) {
            show_half(half, &shown, &mut cubes);
        }
    }
}

/// Returns the cubes that a half showed at a tick, from the histories of the lanes in the halves. A half without a lane
/// shows the simulation. `None` if the tick is not recorded.
pub fn shown_at(
    tick: u64,
    half: Side,
    mode: ViewMode,
    world: &WorldHistory,
    lanes: [Option<&LaneHistory>; Side::ALL.len()],
) -> Option<Vec<BodyState>> {
    let lane = lanes[half as usize];
    // In `Difference` mode the simulation lies under the other lane and uses its tick.
    let mut over = lanes.into_iter().flatten();
    let over = over.find(|_| lane.is_none() && mode == ViewMode::Difference);
    let simulated = over.and_then(|over| over.simulated_at(tick, world));
    simulated.or_else(|| {
        let states = lane.map_or(&world.0, |lane| &lane.displayed);
        let mut cubes = Vec::new();
        states.read(tick, &mut cubes).then_some(cubes)
    })
}

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

pub(super) fn is_present(moment: Res<Moment>) -> bool {
    moment.0.is_none()
}

/// Moves the cubes of the replicas. Reads decoded snapshots and the clock, never the simulation.
pub(super) fn show_replicas(
    time: Res<Time<Fixed>>,
    mut lanes: Query<(&Side, &PlayoutSettings, &Replica, &Prediction, Option<&mut DisplayedTicks>)>,
    mut cubes: Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    let now = time.elapsed() + time.overstep();
    for (half, settings, replica, prediction, ticks) in &mut lanes {
        let kind = settings.interpolation;
        let Some(playout) = kind.playout(replica.receiver().playout(), now) else { continue };
        if let Some(mut ticks) = ticks {
            ticks.set_if_neq(DisplayedTicks {
                tick: Some(playout.tick),
                between: [playout.from_tick, playout.to_tick],
            });
        }
        let count = playout.from.snapshot.bodies.len();
        for (side, mut cube, mut transform) in &mut cubes {
            if side == half && cube.index < count {
                let replica = shown_cube(kind, &playout, cube.index);
                let shown = prediction.shown(cube.index, replica, time.overstep_fraction());
                show(&mut cube, &mut transform, &shown);
            }
        }
    }
}

/// Updates one cube. Writes only changed values, so that change detection skips cubes at rest.
fn show(cube: &mut Mut<ViewCube>, transform: &mut Mut<Transform>, shown: &BodyState) {
    if transform.translation != shown.position || transform.rotation != shown.orientation {
        transform.translation = shown.position;
        transform.rotation = shown.orientation;
    }
    if cube.interacting != shown.interacting {
        cube.interacting = shown.interacting;
    }
}
