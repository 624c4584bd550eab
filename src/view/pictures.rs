//! Where the cubes of the view are.

use bevy::prelude::*;
use cubewire_codec::CubeState;
use cubewire_scene::{CUBES, PLAYER, TICKS_PER_SECOND, initial_position, side};

use super::Side;
use crate::replication::Replica;
use crate::simulation::World as CubeWorld;

/// A cube of the view.
#[derive(Component, Clone, Copy, Debug)]
pub struct ViewCube {
    /// Its index.
    pub index: usize,
    /// Whether it is interacting: red.
    pub interacting: bool,
}

/// What the replica shows at present.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplicaPicture {
    /// The tick that is shown, between two snapshots as a rule; none before the first arrives.
    pub tick: Option<f64>,
    /// Ticks of the two snapshots that it lies between.
    pub between: [u64; 2],
}

pub(super) fn spawn(mut commands: Commands) {
    for world in Side::ALL {
        for index in 0..CUBES {
            let place = Transform::from_translation(initial_position(index))
                .with_scale(Vec3::splat(side(index)));
            let interacting = index == PLAYER;
            commands.spawn((world, ViewCube { index, interacting }, place));
        }
    }
}

/// The simulation is shown a part of a tick late, so that motion is smooth at any frame rate.
pub(super) fn show_simulation(
    world: Res<CubeWorld>,
    time: Res<Time<Fixed>>,
    mut cubes: Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    let fraction = time.overstep_fraction();
    let (from, to) = (&world.previous().cubes, &world.current().cubes);
    for (&side, mut cube, mut transform) in &mut cubes {
        if side == Side::Simulation {
            let index = cube.index;
            show(
                &mut cube,
                &mut transform,
                &from[index],
                &to[index],
                fraction,
            );
        }
    }
}

/// Reads decoded snapshots and the clock, nothing of the simulation.
pub(super) fn show_replica(
    time: Res<Time<Fixed>>,
    replicas: Query<&Replica>,
    mut picture: ResMut<ReplicaPicture>,
    mut cubes: Query<(&Side, &mut ViewCube, &mut Transform)>,
) {
    let now = time.elapsed() + time.overstep();
    let Some(playout) = replicas
        .iter()
        .next()
        .and_then(|replica| replica.buffer.sample(now))
    else {
        return;
    };
    picture.set_if_neq(ReplicaPicture {
        tick: Some(playout.tick),
        between: [playout.from_tick, playout.to_tick],
    });
    let (from, to) = (&playout.from.cubes, &playout.to.cubes);
    for (&side, mut cube, mut transform) in &mut cubes {
        if side == Side::Replica {
            let index = cube.index;
            let (from, to) = (&from[index], &to[index]);
            show(&mut cube, &mut transform, from, to, playout.fraction);
        }
    }
}

/// Linear interpolation. Cubes that stand still are left alone, so that nothing is done for them.
fn show(
    cube: &mut Mut<ViewCube>,
    transform: &mut Mut<Transform>,
    from: &CubeState,
    to: &CubeState,
    fraction: f32,
) {
    let position = if is_jump(from.position, to.position) {
        to.position
    } else {
        from.position.lerp(to.position, fraction)
    };
    let rotation = from.orientation.slerp(to.orientation, fraction);
    if transform.translation != position || transform.rotation != rotation {
        transform.translation = position;
        transform.rotation = rotation;
    }
    if cube.interacting != to.interacting {
        cube.interacting = to.interacting;
    }
}

/// Whether a cube went further than it can move in a few ticks: it was put back to its start.
fn is_jump(from: Vec3, to: Vec3) -> bool {
    const FEW_TICKS: f32 = 6.0 / TICKS_PER_SECOND as f32;
    let reach = cubewire_scene::MAX_LINEAR_SPEED * FEW_TICKS;
    from.distance_squared(to) > reach * reach
}
