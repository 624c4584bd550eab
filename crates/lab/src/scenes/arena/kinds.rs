//! The kinds of bodies.

use std::borrow::Cow;

use cubewire_codec::schema::{Kind, Shape};
use rapier3d::prelude::ColliderBuilder;

pub(in crate::scenes) const KINDS: [Kind; 8] = [
    kind("ball-0", Shape::Ball(0.35)),
    kind("ball-1", Shape::Ball(0.5)),
    kind("ball-2", Shape::Ball(0.8)),
    kind("box-3", Shape::Box([0.4; 3])),
    kind("box-4", Shape::Box([0.3, 0.5, 0.7])),
    kind("box-5", Shape::Box([0.8, 0.25, 0.5])),
    kind("capsule-6", capsule(0.35, 0.3)),
    kind("capsule-7", capsule(0.6, 0.45)),
];

const fn kind(name: &'static str, shape: Shape) -> Kind {
    Kind { name: Cow::Borrowed(name), shape }
}

const fn capsule(half: f32, radius: f32) -> Shape {
    Shape::Capsule { half, radius }
}

/// Kinds of walkers: a ball, which rolls, and a capsule, which stands.
pub(super) const WALKER_KINDS: [u8; 2] = [2, 7];

pub(super) fn collider(kind: u8) -> ColliderBuilder {
    match KINDS[usize::from(kind)].shape {
        Shape::Ball(radius) => ColliderBuilder::ball(radius),
        Shape::Box([x, y, z]) => ColliderBuilder::cuboid(x, y, z),
        Shape::Capsule { half, radius } => ColliderBuilder::capsule_y(half, radius),
        Shape::Unknown => unreachable!("every body of the arena collides"),
    }
}

/// Whether walkers of a kind stay upright.
pub(super) fn stands(kind: u8) -> bool {
    matches!(KINDS[usize::from(kind)].shape, Shape::Capsule { .. })
}
