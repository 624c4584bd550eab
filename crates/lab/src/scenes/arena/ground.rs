//! The static colliders: the floor and the platforms.

use glam::Vec3;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rapier3d::prelude::{ColliderBuilder, PhysicsWorld, SharedShape};

/// Number of clusters along x and along z.
const COLUMNS: usize = 8;
const ROWS: usize = 5;

pub(super) const CLUSTERS: usize = COLUMNS * ROWS;

/// Distance between neighbouring clusters, and maximum random offset of a cluster, metres.
const SPACING: f32 = 48.0;
const JITTER: f32 = 6.0;

/// Half of a platform's width, metres.
const HALF_WIDTH: f32 = 11.0;

/// Maximum distance along x and z between a cluster's centre and its bodies at the start, metres.
pub(super) const CLUSTER_REACH: f32 = 8.0;

/// Bounds: distance from the origin along x and z, and height above the floor, metres.
const WIDTH: f32 = 500.0;
const HEIGHT: f32 = 100.0;

/// Returns the centres of the clusters: on the top of a platform for odd indices, else on the floor.
pub(super) fn clusters(random: &mut ChaCha8Rng) -> Vec<Vec3> {
    let mut cluster = |index: usize| {
        let mut along = |place: usize, places: usize| {
            let middle = (places - 1) as f32 / 2.0;
            (place as f32 - middle) * SPACING + random.random_range(-JITTER..JITTER)
        };
        let x = along(index % COLUMNS, COLUMNS);
        let z = along(index / COLUMNS, ROWS);
        let y = match is_platform(index) {
            true => random.random_range(2.0..30.0),
            false => 0.0,
        };
        Vec3::new(x, y, z)
    };
    (0..CLUSTERS).map(&mut cluster).collect()
}

pub(super) const fn is_platform(cluster: usize) -> bool {
    cluster % 2 == 1
}

/// Adds the floor and the platforms.
pub(super) fn insert(world: &mut PhysicsWorld, clusters: &[Vec3], friction: f32) {
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vec3::Y));
    let platforms = clusters.iter().enumerate();
    let platforms = platforms.filter(|(index, _)| is_platform(*index));
    let platforms = platforms.map(|(_, top)| {
        let half = top.y / 2.0;
        ColliderBuilder::cuboid(HALF_WIDTH, half, HALF_WIDTH).translation(top.with_y(half))
    });
    for collider in std::iter::once(floor).chain(platforms) {
        world.insert_collider(collider.friction(friction), None);
    }
}

/// Whether a position is inside the bounds. Bodies outside are removed.
pub(super) fn is_inside(position: Vec3) -> bool {
    position.x.abs() < WIDTH && position.z.abs() < WIDTH && (0.0..HEIGHT).contains(&position.y)
}
