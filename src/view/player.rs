//! What makes the player's cube unmistakable: a bright rim on its faces, and a ring on the floor below it.

use bevy::camera::visibility::RenderLayers;
use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use cubewire_palette::{LIGHT, PLAYER_CUBE};
use cubewire_scene::PLAYER;

use super::{Side, ViewCube, texture};
use crate::theme::bevy_color;

/// Inner and outer radius of the ring, metres.
const RING: [f32; 2] = [1.55, 1.75];

/// Height of the ring above the floor, metres.
const RING_HEIGHT: f32 = 0.01;

/// Side of the texture, pixels.
const FACE_PIXELS: usize = 64;

/// Width of the rim, fraction of the side.
const RIM: f32 = 0.09;

/// The ring below a side's player.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Ring;

/// The material of the player's cube.
pub(super) fn material(images: &mut Assets<Image>) -> StandardMaterial {
    let blue = bevy_color(PLAYER_CUBE);
    let rim = bevy_color(LIGHT.surface);
    let face = texture::mixed(FACE_PIXELS, [blue, rim], |row, column| {
        let to_edge = |pixel: usize| pixel.min(FACE_PIXELS - 1 - pixel) as f32;
        let is_rim = to_edge(row).min(to_edge(column)) < RIM * FACE_PIXELS as f32;
        f32::from(u8::from(is_rim))
    });
    let face = images.add(face);
    StandardMaterial {
        base_color_texture: Some(face.clone()),
        // Shadows do not hide it.
        emissive: LinearRgba::gray(0.25),
        emissive_texture: Some(face),
        perceptual_roughness: 0.7,
        reflectance: 0.2,
        ..default()
    }
}

/// Spawns the rings.
pub(super) fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let [inner, outer] = RING;
    let mesh = meshes.add(Annulus::new(inner, outer).mesh().resolution(64));
    let material = materials.add(StandardMaterial {
        base_color: bevy_color(PLAYER_CUBE),
        unlit: true,
        depth_bias: 4.0,
        ..default()
    });
    for side in Side::ALL {
        commands.spawn((
            Ring,
            side,
            Mesh3d(mesh.clone()),
            MeshMaterial3d(material.clone()),
            RenderLayers::layer(side.layer()),
            NotShadowCaster,
            Transform::default(),
        ));
    }
}

/// Moves the rings below their players.
pub(super) fn follow(
    cubes: Query<(&Side, &ViewCube, &Transform), Without<Ring>>,
    mut rings: Query<(&Side, &mut Transform), With<Ring>>,
) {
    for (side, mut ring) in &mut rings {
        let player = cubes
            .iter()
            .find(|(other, cube, _)| *other == side && cube.index == PLAYER);
        if let Some((_, _, player)) = player {
            let place = player.translation.with_z(RING_HEIGHT);
            if ring.translation != place {
                ring.translation = place;
            }
        }
    }
}
