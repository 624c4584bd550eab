//! Marks the player's cube with a ring on the floor below it. Its outline is drawn over the picture.

use bevy::camera::visibility::RenderLayers;
use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use cubewire_palette::PLAYER_CUBE;
use cubewire_scene::PLAYER;

use super::cubes::ViewCube;
use super::side::Side;
use super::stage::Themed;
use super::surface::Surface;
use crate::theme::bevy_color;

/// Inner and outer radius of the ring, metres.
const RING: [f32; 2] = [1.6, 1.74];

/// Height of the ring above the floor, metres.
const RING_HEIGHT: f32 = 0.01;

/// Brightness of the player's cube in full shadow, as a fraction of its colour.
const GLOW: f32 = 0.35;

#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Ring;

pub(super) fn material() -> StandardMaterial {
    let blue = bevy_color(PLAYER_CUBE);
    StandardMaterial {
        base_color: blue,
        // Keeps the cube visible in shadow.
        emissive: blue.to_linear() * GLOW,
        perceptual_roughness: 0.7,
        reflectance: 0.2,
        ..default()
    }
}

pub(super) fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let [inner, outer] = RING;
    let mesh = meshes.add(Annulus::new(inner, outer).mesh().resolution(64));
    let material = materials.add(StandardMaterial { unlit: true, depth_bias: 4.0, ..default() });
    for side in Side::ALL {
        commands.spawn((
            Ring,
            side,
            Mesh3d(mesh.clone()),
            (Surface(material.clone()), Themed(|colors| colors.player)),
            RenderLayers::layer(side.layer()),
            NotShadowCaster,
            Transform::default(),
        ));
    }
}

pub(super) fn follow(
    cubes: Query<(&Side, &ViewCube, &Transform), Without<Ring>>,
    mut rings: Query<(&Side, &mut Transform), With<Ring>>,
) {
    for (side, ring) in &mut rings {
        let player = cubes.iter().find(|(other, cube, _)| *other == side && cube.index == PLAYER);
        if let Some((_, _, player)) = player {
            let position = player.translation.with_z(RING_HEIGHT);
            ring.map_unchanged(|ring| &mut ring.translation).set_if_neq(position);
        }
    }
}
