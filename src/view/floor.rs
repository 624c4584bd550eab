//! The floor: a one-metre grid with every fifth line bolder, which makes motion visible.

use bevy::asset::RenderAssetUsages;
use bevy::image::{ImageAddressMode, ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

/// Side of one tile of the texture, metres.
pub(super) const TILE_METRES: f32 = 5.0;
/// Likewise, pixels.
const TILE_PIXELS: usize = 256;

/// Half the thickness of the lines, metres.
const FINE: f32 = 0.012;
const BOLD: f32 = 0.03;

const GROUND: f32 = 0.80;
const FINE_LINE: f32 = 0.62;
const BOLD_LINE: f32 = 0.45;

/// A tile with all mip levels, so that the grid fades in the distance and does not flicker.
pub(super) fn tile() -> Image {
    let mut level: Vec<f32> = (0..TILE_PIXELS * TILE_PIXELS)
        .map(|pixel| shade(pixel % TILE_PIXELS).min(shade(pixel / TILE_PIXELS)))
        .collect();
    let mut size = TILE_PIXELS;
    let mut levels = 1;
    let mut data = Vec::new();
    loop {
        data.extend(level.iter().flat_map(|&grey| {
            let byte = (grey * 255.0).round() as u8;
            [byte, byte, byte, 255]
        }));
        if size == 1 {
            break;
        }
        level = halve(&level, size);
        size /= 2;
        levels += 1;
    }
    let extent = Extent3d {
        width: TILE_PIXELS as u32,
        height: TILE_PIXELS as u32,
        depth_or_array_layers: 1,
    };
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
        anisotropy_clamp: 8,
        ..default()
    });
    image
}

/// Brightness of a row or a column of pixels, 0 to 1.
fn shade(pixel: usize) -> f32 {
    let metres = (pixel as f32 + 0.5) / TILE_PIXELS as f32 * TILE_METRES;
    let to_line = (metres - metres.round()).abs();
    let on_edge = (metres.round() as u32).is_multiple_of(TILE_METRES as u32);
    match (on_edge, to_line) {
        (true, distance) if distance < BOLD => BOLD_LINE,
        (false, distance) if distance < FINE => FINE_LINE,
        _ => GROUND,
    }
}

/// The next mip level.
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
    fn a_tile_has_all_mip_levels() {
        let tile = tile();
        let levels = tile.texture_descriptor.mip_level_count;
        assert_eq!(1 << (levels - 1), TILE_PIXELS);
        let pixels: usize = (0..levels).map(|level| (TILE_PIXELS >> level).pow(2)).sum();
        assert_eq!(tile.data.unwrap().len(), pixels * 4);
    }

    #[test]
    fn there_is_a_line_every_metre() {
        let lines = (0..TILE_PIXELS)
            .filter(|&pixel| shade(pixel) < GROUND && (pixel == 0 || shade(pixel - 1) == GROUND));
        // Four inner lines, and the line at the edge, half of which is at either end.
        assert_eq!(lines.count(), TILE_METRES as usize + 1);
    }
}
