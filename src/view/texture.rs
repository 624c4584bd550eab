//! Textures of two colours.

use bevy::asset::RenderAssetUsages;
use bevy::image::{ImageAddressMode, ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

/// Creates a square, repeating texture with all mip levels, so that distant lines fade and do not flicker. `mix`
/// returns the share of the second colour, 0 to 1, by row and column. `size` is a power of two. `anisotropy` is the
/// maximum number of samples on a slanted surface.
pub(super) fn mixed(
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

/// Averages 2 × 2 pixels to compute the next mip level.
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
