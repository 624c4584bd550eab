//! The floor: a one-metre grid that makes motion visible. Every fifth line is bolder. The edges lie at the horizon.

use bevy::asset::RenderAssetUsages;
use bevy::camera::visibility::{NoFrustumCulling, RenderLayers};
use bevy::image::{ImageAddressMode, ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use bevy::light::NotShadowCaster;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

use super::quality::Detail;
use super::side::SHARED;
use super::surface::Surface;
use crate::theme::{Theme, bevy_color};

/// Size of one texture tile, metres.
const TILE_METRES: f32 = 5.0;
/// Size of one texture tile, pixels.
const TILE_PIXELS: usize = 256;

/// Distances from the centre of the lines of vertices, metres. Chromium's software renderer interpolates the depth of large
/// triangles with an error of up to half a cube, so the ones near the cubes are small.
const LATTICE: [f32; 10] = [0.0, 5.0, 10.0, 20.0, 30.0, 45.0, 70.0, 150.0, 600.0, 4_000.0];

/// Half the thickness of a line in metres, and its opacity: inside of a tile and at its edges.
const FINE: (f32, f32) = (0.012, 0.5);
const BOLD: (f32, f32) = (0.03, 1.0);

#[derive(Resource, Clone, Debug)]
pub(super) struct Floor(Handle<StandardMaterial>);

pub(super) fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let material = materials.add(StandardMaterial {
        // A rougher floor becomes brighter towards the horizon.
        perceptual_roughness: 0.6,
        reflectance: 0.0,
        ..default()
    });
    commands.spawn((
        Mesh3d(meshes.add(lattice())),
        Surface(material.clone()),
        NoFrustumCulling,
        NotShadowCaster,
        RenderLayers::layer(SHARED).with(1).with(2),
    ));
    commands.insert_resource(Floor(material));
}

/// A plane with vertices at the distances of [`LATTICE`] along both axes. Tile corners meet at its centre.
fn lattice() -> Mesh {
    let negative = LATTICE[1..].iter().rev().map(|at| -at);
    let lines: Vec<f32> = negative.chain(LATTICE).collect();
    let count = lines.len() as u16;
    let vertices = lines.iter().flat_map(|&y| lines.iter().map(move |&x| [x, y]));
    let vertices: Vec<_> = vertices.collect();
    let cells = (0..count - 1).flat_map(|row| (0..count - 1).map(move |column| [row, column]));
    let indices = cells.flat_map(|[row, column]| {
        let first = row * count + column;
        let corners = [first, first + 1, first + 1 + count, first + count];
        [0, 1, 2, 0, 2, 3].map(|corner: usize| corners[corner])
    });
    let uvs: Vec<_> = vertices.iter().map(|at| at.map(|at| at / TILE_METRES)).collect();
    let normals = vec![[0.0, 0.0, 1.0]; vertices.len()];
    let positions: Vec<_> = vertices.into_iter().map(|[x, y]| [x, y, 0.0]).collect();
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        .with_inserted_indices(Indices::U16(indices.collect()))
}

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
    mixed(TILE_PIXELS, anisotropy, [ground, line], mix)
}

fn share(pixel: usize) -> f32 {
    let metres = (pixel as f32 + 0.5) / TILE_PIXELS as f32 * TILE_METRES;
    let to_line = (metres - metres.round()).abs();
    let on_edge = (metres.round() as u32).is_multiple_of(TILE_METRES as u32);
    let (half, opacity) = if on_edge { BOLD } else { FINE };
    if to_line < half { opacity } else { 0.0 }
}

/// Creates a square, repeating texture with all mip levels, so that distant lines fade and do not flicker. `mix`
/// returns the share of the second colour, 0 to 1, by row and column. `size` is a power of two. `anisotropy` is the
/// maximum number of samples on a slanted surface.
fn mixed(
    size: usize,
    anisotropy: u16,
    colors: [Color; 2],
    mix: impl Fn(usize, usize) -> f32,
) -> Image {
    let [from, to] = colors.map(|color| color.to_srgba());
    let mut level: Vec<f32> =
        (0..size * size).map(|pixel| mix(pixel / size, pixel % size)).collect();
    let mut level_size = size;
    let mut levels = 1;
    let mut data = Vec::new();
    loop {
        for &share in &level {
            data.extend(from.mix(&to, share).to_u8_array());
        }
        if level_size == 1 {
            break;
        }
        level = halve(&level, level_size);
        level_size /= 2;
        levels += 1;
    }
    let extent = Extent3d { width: size as u32, height: size as u32, depth_or_array_layers: 1 };
    let mut image = Image::new_uninit(
        extent,
        TextureDimension::D2,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::RENDER_WORLD,
    );
    image.texture_descriptor.mip_level_count = levels;
    image.data = Some(data);
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::Repeat,
        address_mode_v: ImageAddressMode::Repeat,
        mag_filter: ImageFilterMode::Linear,
        min_filter: ImageFilterMode::Linear,
        mipmap_filter: ImageFilterMode::Linear,
        anisotropy_clamp: anisotropy,
        ..default()
    });
    image
}

fn halve(level: &[f32], size: usize) -> Vec<f32> {
    let half = size / 2;
    let pixel = |x: usize, y: usize| level[y * size + x];
    (0..half * half)
        .map(|index| {
            let (x, y) = (index % half * 2, index / half * 2);
            (pixel(x, y) + pixel(x + 1, y) + pixel(x, y + 1) + pixel(x + 1, y + 1)) / 4.0
        })
        .collect()
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

    #[test]
    fn a_texture_has_all_mip_levels_down_to_its_mean() {
        let checkered = |row: usize, column: usize| ((row + column) % 2) as f32;
        let image = mixed(8, 1, [Color::BLACK, Color::WHITE], checkered);
        assert_eq!(image.texture_descriptor.mip_level_count, 4);
        let data = image.data.unwrap();
        assert_eq!(data.len(), (64 + 16 + 4 + 1) * 4);
        assert_eq!(data[..8], [0, 0, 0, 255, 255, 255, 255, 255]);
        let mean = data[data.len() - 4];
        assert!((127..=128).contains(&mean), "{mean}");
    }
}
