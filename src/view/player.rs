//! Marks each player's cube with a ring on the floor below it. Its outline is drawn over the picture.

use bevy::camera::visibility::RenderLayers;
use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use cubewire_palette::{Colors, Rgb};
use cubewire_scene::{MAX_PLAYERS, player};

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

/// The ring of a player, counted from 0.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Ring(usize);

const COLORS: [fn(&Colors) -> Rgb; MAX_PLAYERS] = [
    |colors| colors.players[0],
    |colors| colors.players[1],
    |colors| colors.players[2],
    |colors| colors.players[3],
];

pub(super) fn material(color: Rgb) -> StandardMaterial {
    let color = bevy_color(color);
    StandardMaterial {
        base_color: color,
        // Keeps the cube visible in shadow.
        emissive: color.to_linear() * GLOW,
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
    for (player, color) in COLORS.into_iter().enumerate() {
        let material =
            materials.add(StandardMaterial { unlit: true, depth_bias: 4.0, ..default() });
        for side in Side::ALL {
            commands.spawn((
                Ring(player),
                side,
                Mesh3d(mesh.clone()),
                (Surface(material.clone()), Themed(color)),
                RenderLayers::layer(side.layer()),
                NotShadowCaster,
                Transform::default(),
                Visibility::Hidden,
            ));
        }
    }
}

pub(super) fn follow(
    cubes: Query<(&Side, &ViewCube, &Transform), Without<Ring>>,
    mut rings: Query<(&Side, &Ring, &mut Transform, &mut Visibility)>,
) {
    for (side, ring, transform, mut visibility) in &mut rings {
        let own = player(ring.0);
        let player = cubes.iter().find(|(other, cube, _)| *other == side && cube.index == own);
        visibility.set_if_neq(super::visibility(player.is_some()));
        if let Some((_, _, player)) = player {
            let position = player.translation.with_z(RING_HEIGHT);
            transform.map_unchanged(|ring| &mut ring.translation).set_if_neq(position);
        }
    }
}
