//! Marks the player's cube with a bright rim on its faces and a ring on the floor below it.

use bevy::camera::visibility::RenderLayers;
use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use cubewire_palette::{LIGHT, PLAYER_CUBE};
use cubewire_scene::PLAYER;

use super::bevel;
use super::cubes::ViewCube;
use super::side::Side;
use crate::theme::{Theme, bevy_color};

/// Inner and outer radius of the ring, metres.
const RING: [f32; 2] = [1.6, 1.74];

/// Share of the text colour in the ring's colour in the dark theme.
const DARK_RING: f32 = 0.3;

/// Height of the ring above the floor, metres.
const RING_HEIGHT: f32 = 0.01;

/// Width of the rim on each face next to its bevel, as a fraction of the side.
const RIM: f32 = 0.04;

/// Brightness of the player's cube in full shadow, as a fraction of its colour.
const GLOW: f32 = 0.35;

#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Ring;

pub(super) fn mesh() -> Mesh {
    let blue = bevy_color(PLAYER_CUBE);
    bevel::rimmed_cube(RIM, [blue, bevy_color(LIGHT.ground)])
}

/// Material of the player's cube. The mesh has the colours.
pub(super) fn material() -> StandardMaterial {
    StandardMaterial {
        // Keeps the cube visible in shadow.
        emissive: bevy_color(PLAYER_CUBE).to_linear() * GLOW,
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
    let material = materials.add(StandardMaterial {
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

/// Gives the rings a colour that contrasts with the theme's floor.
pub(super) fn paint(
    theme: Res<Theme>,
    rings: Query<&MeshMaterial3d<StandardMaterial>, With<Ring>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let blue = bevy_color(PLAYER_CUBE);
    let color = match *theme {
        Theme::Light => blue,
        Theme::Dark => blue.mix(&bevy_color(theme.colors().ink), DARK_RING),
    };
    for ring in &rings {
        if let Some(mut material) = materials.get_mut(ring) {
            material.base_color = color;
        }
    }
}

pub(super) fn follow(
    cubes: Query<(&Side, &ViewCube, &Transform), Without<Ring>>,
    mut rings: Query<(&Side, &mut Transform), With<Ring>>,
) {
    for (side, mut ring) in &mut rings {
        let player = cubes
            .iter()
            .find(|(other, cube, _)| *other == side && cube.index == PLAYER);
        if let Some((_, _, player)) = player {
            let position = player.translation.with_z(RING_HEIGHT);
            if ring.translation != position {
                ring.translation = position;
            }
        }
    }
}
