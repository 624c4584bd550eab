//! Trails: positions of a few cubes during the last second, one per tick, in both halves. They show how interpolation
//! changes a path.

use std::collections::VecDeque;

use bevy::camera::visibility::RenderLayers;
use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use cubewire_codec::BodyState;
use cubewire_scene::{TICKS_PER_SECOND, seat};

use super::side::Side;
use super::stage::Themed;
use super::surface::Surface;
use crate::replication::{DisplayedState, Lane};
use crate::simulation::{CubeWorld, OwnPlayer};

/// State of the trails. Followed are the player and up to three interacting cubes that were farthest from it.
#[derive(Resource, Clone, Debug, Default)]
pub struct Trails {
    pub shown: bool,
    cubes: Vec<usize>,
    /// Indexed by side, then by cube. Newest point last.
    points: [Vec<VecDeque<Vec3>>; Side::ALL.len()],
}

impl Trails {
    /// Positions of the last ticks, oldest first, one list per followed cube.
    pub fn points(&self, side: Side) -> &[VecDeque<Vec3>] {
        &self.points[side as usize]
    }

    fn add(&mut self, side: Side, position: impl Fn(usize) -> Vec3) {
        let points = &mut self.points[side as usize];
        points.resize_with(self.cubes.len(), VecDeque::new);
        for (points, &cube) in points.iter_mut().zip(&self.cubes) {
            if points.len() == TRAIL_TICKS {
                points.pop_front();
            }
            points.push_back(position(cube));
        }
    }

    /// Adds a tick with these cubes in the left and in the right half. The right half selects the followed cubes. A half
    /// without cubes gets no points.
    pub(crate) fn add_tick(
        &mut self,
        [left, right]: [&[BodyState]; Side::ALL.len()],
        own: OwnPlayer,
    ) {
        // Another server can have fewer players.
        let is_gone = |&cube: &usize| [left, right].iter().any(|it| (1..=cube).contains(&it.len()));
        if self.cubes.iter().any(is_gone) {
            *self = Self { shown: self.shown, ..Self::default() };
        }
        if !right.is_empty() && own.cube() < right.len() {
            self.pick(right, own.cube());
            self.add(Side::Right, |cube| right[cube].position);
        }
        if !left.is_empty() {
            self.add(Side::Left, |cube| left[cube].position);
        }
    }

    /// Selects cubes again if no followed cube is interacting any more, or if fewer than [`OTHERS`] are followed.
    fn pick(&mut self, cubes: &[BodyState], own: usize) {
        let followed = self.cubes.len().saturating_sub(1);
        let is_stale = |&cube: &usize| seat(cube).is_some() || !cubes[cube].interacting;
        let is_stale = self.cubes.iter().all(is_stale);
        if followed == OTHERS && !is_stale {
            return;
        }
        let player = cubes[own].position;
        let mut others: Vec<_> = (0..cubes.len())
            .filter(|&cube| seat(cube).is_none() && cubes[cube].interacting)
            .collect();
        let distance = |&cube: &usize| cubes[cube].position.distance_squared(player);
        others.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        others.truncate(OTHERS);
        let is_better = others.len() > followed || (is_stale && !others.is_empty());
        if self.cubes.is_empty() || is_better {
            self.cubes = [own].into_iter().chain(others).collect();
            self.points = Default::default();
        }
    }
}

/// Length of a trail: one second.
const TRAIL_TICKS: usize = TICKS_PER_SECOND as usize;

const OTHERS: usize = 3;

/// Size of a point of a trail, metres.
const BEAD_SIZE: f32 = 0.09;

#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Bead {
    side: Side,
    trail: usize,
    /// Index from the oldest point.
    index: usize,
}

pub(super) fn record(
    world: Option<Res<CubeWorld>>,
    lanes: Query<(&Side, &DisplayedState), With<Lane>>,
    own: Res<OwnPlayer>,
    mut trails: ResMut<Trails>,
) {
    if !trails.shown {
        if !trails.cubes.is_empty() {
            *trails = Trails::default();
        }
        return;
    }
    let simulated = world.as_ref().map(|world| &*world.current().bodies);
    trails.add_tick(
        Side::ALL.map(|half| {
            let lane = lanes.iter().find(|(side, _)| **side == half);
            let free = simulated.filter(|_| half == Side::Left);
            lane.map_or(free.unwrap_or_default(), |(_, displayed)| &displayed.cubes)
        }),
        *own,
    );
}

pub(super) fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mesh = meshes.add(Cuboid::from_length(BEAD_SIZE));
    for side in Side::ALL {
        let color = Themed(match side {
            Side::Left => |colors| colors.left,
            Side::Right => |colors| colors.right,
        });
        let material = materials.add(StandardMaterial { unlit: true, ..default() });
        for trail in 0..=OTHERS {
            for index in 0..TRAIL_TICKS {
                commands.spawn((
                    Bead { side, trail, index },
                    Mesh3d(mesh.clone()),
                    (Surface(material.clone()), color),
                    RenderLayers::layer(side.layer()),
                    NotShadowCaster,
                    Visibility::Hidden,
                    Transform::default(),
                ));
            }
        }
    }
}

pub(super) fn show(
    trails: Res<Trails>,
    mut beads: Query<(&Bead, &mut Visibility, &mut Transform)>,
) {
    if !trails.is_changed() {
        return;
    }
    for (bead, mut visibility, mut transform) in &mut beads {
        let points = trails.points(bead.side).get(bead.trail);
        let point = points.and_then(|points| points.get(bead.index));
        visibility.set_if_neq(super::visibility(point.is_some()));
        if let Some(&point) = point {
            transform.translation = point;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubes(interacting: &[usize]) -> Vec<BodyState> {
        (0..10)
            .map(|cube| BodyState {
                position: Vec3::X * cube as f32,
                interacting: interacting.contains(&cube),
                ..BodyState::default()
            })
            .collect()
    }

    #[test]
    fn the_farthest_cubes_are_followed_until_they_all_come_to_rest() {
        let mut trails = Trails::default();
        trails.pick(&cubes(&[]), 0);
        assert_eq!(trails.cubes, [0]);
        trails.pick(&cubes(&[2, 5, 7, 8]), 0);
        assert_eq!(trails.cubes, [0, 8, 7, 5]);
        trails.pick(&cubes(&[2, 5]), 0);
        assert_eq!(trails.cubes, [0, 8, 7, 5]);
        trails.pick(&cubes(&[2]), 0);
        assert_eq!(trails.cubes, [0, 2]);
        trails.pick(&cubes(&[2, 4]), 0);
        assert_eq!(trails.cubes, [0, 4, 2]);
        trails.pick(&cubes(&[]), 0);
        assert_eq!(trails.cubes, [0, 4, 2]);
    }

    #[test]
    fn a_trail_is_a_second_long() {
        let mut trails = Trails::default();
        trails.pick(&cubes(&[1]), 0);
        for tick in 0..100 {
            trails.add(Side::Right, |_| Vec3::X * tick as f32);
        }
        let points = &trails.points(Side::Right)[1];
        assert_eq!((points.len(), points[0].x), (TRAIL_TICKS, 40.0));
        assert!(trails.points(Side::Left).is_empty());
    }
}
