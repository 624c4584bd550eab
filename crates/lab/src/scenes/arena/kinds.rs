//! What the arena's bodies are.

use glam::Vec3;
use rapier3d::prelude::ColliderBuilder;

use crate::scenes::frame::Shape;

/// Every kind of body.
pub(super) const SHAPES: [Shape; 8] = [
    Shape::Ball { radius: 0.35 },
    Shape::Ball { radius: 0.5 },
    Shape::Ball { radius: 0.8 },
    Shape::Box {
        half: Vec3::splat(0.4),
    },
    Shape::Box {
        half: Vec3::new(0.3, 0.5, 0.7),
    },
    Shape::Box {
        half: Vec3::new(0.8, 0.25, 0.5),
    },
    Shape::Capsule {
        half_height: 0.35,
        radius: 0.3,
    },
    Shape::Capsule {
        half_height: 0.6,
        radius: 0.45,
    },
];

/// The kinds that walkers are: they roll, or stand.
pub(super) const WALKER_KINDS: [u8; 2] = [2, 7];

/// A collider of a kind.
pub(super) fn collider(kind: u8) -> ColliderBuilder {
    match SHAPES[usize::from(kind)] {
        Shape::Ball { radius } => ColliderBuilder::ball(radius),
        Shape::Box { half } => ColliderBuilder::cuboid(half.x, half.y, half.z),
        Shape::Capsule {
            half_height,
            radius,
        } => ColliderBuilder::capsule_y(half_height, radius),
        Shape::Unknown => unreachable!("every body of the arena collides"),
    }
}

/// Whether walkers of a kind stay upright.
pub(super) fn stands(kind: u8) -> bool {
    matches!(SHAPES[usize::from(kind)], Shape::Capsule { .. })
}
