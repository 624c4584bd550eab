//! The floor: a one-metre grid that makes motion visible. Every fifth line is bolder. The edges lie at the horizon.

use bevy::camera::visibility::{NoFrustumCulling, RenderLayers};
use bevy::light::NotShadowCaster;
use bevy::mesh::VertexAttributeValues;
use bevy::prelude::*;

use super::quality::Detail;
use super::side::SHARED;
use super::texture;
use crate::theme::{Theme, bevy_color};

/// Size of one texture tile, metres.
const TILE_METRES: f32 = 5.0;
/// Size of one texture tile, pixels.
const TILE_PIXELS: usize = 256;

/// Half the size of the floor, metres.
const REACH: f32 = 4_000.0;

/// Half the thickness of the lines, metres.
const FINE: f32 = 0.012;
const BOLD: f32 = 0.03;

/// Opacity of the lines.
const FINE_SHARE: f32 = 0.5;
const BOLD_SHARE: f32 = 1.0;

#[derive(Resource, Clone, Debug)]
pub(super) struct Floor(Handle<StandardMaterial>);

/// Spawns the floor without its texture.
pub(super) fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut plane = Plane3d::new(Vec3::Z, Vec2::splat(REACH)).mesh().build();
    if let Some(VertexAttributeValues::Float32x2(uvs)) = plane.attribute_mut(Mesh::ATTRIBUTE_UV_0) {
        for uv in uvs {
            // Tile corners meet at the centre of the floor.
            *uv = uv.map(|at| (at - 0.5) * 2.0 * REACH / TILE_METRES);
        }
    }
    if let Err(error) = plane.generate_tangents() {
        debug!("the floor has no tangents: {error}");
    }
    let material = materials.add(StandardMaterial {
        // A rougher floor becomes brighter towards the horizon.
        perceptual_roughness: 0.6,
        reflectance: 0.0,
        ..default()
    });
    commands.spawn((
        Mesh3d(meshes.add(plane)),
        MeshMaterial3d(material.clone()),
        NoFrustumCulling,
        NotShadowCaster,
        RenderLayers::layer(SHARED).with(1).with(2),
    ));
    commands.insert_resource(Floor(material));
}

/// Sets the floor's texture for the theme and the level of detail.
pub(super) fn paint(
    theme: Res<Theme>,
    detail: Res<Detail>,
    floor: Res<Floor>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
) {
    if let Some(mut material) = materials.get_mut(&floor.0) {
        material.base_color_texture = Some(images.add(tile(*theme, detail.anisotropy())));
    }
}

fn tile(theme: Theme, anisotropy: u16) -> Image {
    let colors = theme.colors();
    let [haze, surface, ink] = [colors.haze, colors.ground, colors.ink].map(bevy_color);
    let (ground, line) = match theme {
        Theme::Light => (haze.mix(&surface, 0.35), haze.mix(&ink, 0.42)),
        Theme::Dark => (haze.mix(&ink, 0.12), haze.mix(&ink, 0.45)),
    };
    let mix = |row, column| share(row).max(share(column));
    texture::mixed(TILE_PIXELS, anisotropy, [ground, line], mix)
}

/// Opacity of the line colour in a row or column of pixels.
fn share(pixel: usize) -> f32 {
    let metres = (pixel as f32 + 0.5) / TILE_PIXELS as f32 * TILE_METRES;
    let to_line = (metres - metres.round()).abs();
    let on_edge = (metres.round() as u32).is_multiple_of(TILE_METRES as u32);
    match (on_edge, to_line) {
        (true, distance) if distance < BOLD => BOLD_SHARE,
        (false, distance) if distance < FINE => FINE_SHARE,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_line_every_metre() {
        let lines = (0..TILE_PIXELS)
            .filter(|&pixel| share(pixel) > 0.0 && (pixel == 0 || share(pixel - 1) == 0.0));
        // Four inner lines and the edge line, which is split between both ends.
        assert_eq!(lines.count(), TILE_METRES as usize + 1);
    }
}
