//! The pictures that the cameras draw, and their areas on the canvas.
//!
//! Each camera draws to a separate image, because Bevy's ambient occlusion and FXAA process the whole render target and
//! not only the viewport. An image can also have more pixels than its area, or at low detail fewer.

use bevy::anti_alias::fxaa::Fxaa;
use bevy::asset::RenderAssetUsages;
use bevy::camera::visibility::RenderLayers;
use bevy::camera::{ImageRenderTarget, RenderTarget};
use bevy::math::uvec2;
use bevy::prelude::*;
use bevy::render::extract_component::ExtractComponent;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use super::canvas::Canvas;
use super::costs::CubeColors;
use super::overlay::Overlay;
use super::quality::{Detail, LargestTexture, Sharpness};
use super::side::{SHARED, Side};
use super::{Inset, ViewMode};

/// Width of the gap between the halves, pixels.
pub(crate) const GAP: u32 = 4;

/// Image pixels per canvas pixel along each axis, at high detail.
const SUPERSAMPLING: u32 = 2;

/// Largest supersampled image, pixels: half of a canvas of 3840 × 1600.
const MAX_SUPERSAMPLED: u32 = 12_500_000;

#[derive(Component, ExtractComponent, Clone, Copy, Debug, Default)]
pub(super) struct Pane {
    /// Area on the canvas, pixels. Empty while the side is hidden.
    pub(super) area: URect,
}

impl Pane {
    /// Returns the target of a pane's camera: an empty image, which only sets the size of the picture. Cameras with equal
    /// targets would share a texture.
    pub(super) fn target(images: &mut Assets<Image>) -> RenderTarget {
        // Without data, and with the usage that copying at a new size needs: `Image::new_target_texture` lacks both.
        let mut image = Image::new_uninit(
            Extent3d::default(),
            TextureDimension::D2,
            TextureFormat::Rgba8UnormSrgb,
            RenderAssetUsages::default(),
        );
        image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
        RenderTarget::Image(ImageRenderTarget { handle: images.add(image), scale_factor: 1.0 })
    }
}

/// Area of the picture on the canvas, pixels. Excludes the panel and the bands of a film. The heights `above` and
/// `below` are in points.
fn picture(canvas: &Canvas, inset: Inset, [above, below]: [f32; 2]) -> URect {
    let pixels = |points: f32| (points * canvas.scale_factor).round() as u32;
    let min = uvec2(0, pixels(above)).min(canvas.size);
    let free = uvec2(pixels(inset.right), pixels(inset.bottom + below));
    let max = canvas.size.saturating_sub(free);
    URect { min, max: max.max(min) }
}

/// Area of one side, pixels. Empty if the side is hidden.
fn area(mode: ViewMode, side: Side, picture: URect) -> URect {
    if !mode.shows(side) {
        return URect::default();
    }
    let URect { mut min, mut max } = picture;
    let width = max.x - min.x;
    match (mode, side) {
        (ViewMode::Split, Side::Left) => max.x = min.x + (width / 2).saturating_sub(GAP / 2),
        (ViewMode::Split, Side::Right) => min.x = (min.x + width / 2 + GAP / 2).min(max.x),
        _ => {}
    }
    URect { min, max }
}

/// Size of the image for an area of `size`, pixels. It is limited to the largest texture, which a window can exceed during
/// the frame of a resize.
fn image_size(
    detail: Detail,
    sharpness: Sharpness,
    size: UVec2,
    LargestTexture(largest): LargestTexture,
) -> UVec2 {
    let large = size * SUPERSAMPLING;
    let fits = large.element_product() <= MAX_SUPERSAMPLED && large.max_element() <= largest;
    let size = match detail {
        Detail::High { .. } if fits => large,
        Detail::High { .. } => size,
        Detail::Low => (size.as_vec2() * sharpness.resolution()).ceil().as_uvec2(),
    };
    size.min(UVec2::splat(largest))
}

type Cameras<'a> = (
    &'a Side,
    &'a mut Pane,
    &'a RenderTarget,
    &'a mut Camera,
    &'a mut Projection,
    &'a mut RenderLayers,
    (&'a mut Msaa, Option<&'a mut Fxaa>),
);

pub(super) fn place(
    mode: Res<ViewMode>,
    inset: Res<Inset>,
    (overlay, colors): (Res<Overlay>, Res<CubeColors>),
    canvas: Res<Canvas>,
    (detail, sharpness, largest): (Res<Detail>, Res<Sharpness>, Res<LargestTexture>),
    mut images: ResMut<Assets<Image>>,
    mut cameras: Query<Cameras<'_>>,
) {
    let height = canvas.size.y as f32 / canvas.scale_factor;
    let picture = picture(&canvas, *inset, overlay.bands(*colors, height));
    for (&side, mut pane, target, mut camera, mut projection, mut layers, smoothing) in &mut cameras
    {
        let area = area(*mode, side, picture);
        // The area is empty if the window is minimized or narrower than the panel.
        camera.is_active = !area.is_empty();
        pane.area = area;
        if camera.is_active {
            let size = image_size(*detail, *sharpness, area.size(), *largest);
            let (mut msaa, fxaa) = smoothing;
            let is_low = *detail == Detail::Low;
            // High detail supersamples, because ambient occlusion does not support MSAA.
            msaa.set_if_neq(if is_low { sharpness.samples() } else { Msaa::Off });
            let has_fxaa = !is_low && size == area.size();
            if let Some(mut fxaa) = fxaa
                && fxaa.enabled != has_fxaa
            {
                fxaa.enabled = has_fxaa;
            }
            let size = Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 };
            let has_size = |image: &Image| image.texture_descriptor.size == size;
            if let Some(image) = target.as_image()
                && !images.get(image).is_some_and(has_size)
                && let Some(mut image) = images.get_mut(image)
            {
                image.resize(size);
                // Without this, the camera would see the new size one frame late.
                projection.set_changed();
            }
        }
        let seen = match *mode {
            ViewMode::Difference => {
                RenderLayers::from_layers(&[SHARED, Side::Left.layer(), Side::Right.layer()])
            }
            _ => RenderLayers::from_layers(&[SHARED, side.layer()]),
        };
        layers.set_if_neq(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIGH: Detail = Detail::High { occlusion: false, is_software: false };

    #[test]
    fn the_halves_leave_a_gap_and_cover_the_rest() {
        let picture = URect::new(0, 44, 1281, 620);
        let [left, right] = Side::ALL.map(|side| area(ViewMode::Split, side, picture));
        assert_eq!((left.min, right.max), (picture.min, picture.max));
        assert_eq!(right.min.x - left.max.x, GAP);
        for mode in [ViewMode::Left, ViewMode::Difference] {
            assert_eq!(area(mode, Side::Left, picture), picture);
            assert!(area(mode, Side::Right, picture).is_empty());
        }
    }

    #[test]
    fn a_window_of_any_size_has_an_area() {
        for width in 0..8 {
            for side in Side::ALL {
                let area = area(ViewMode::Split, side, URect::new(0, 0, width, 1));
                assert!(area.max.x <= width, "{area:?}");
            }
        }
    }

    #[test]
    fn pictures_are_supersampled_unless_they_are_huge_or_larger_than_the_adapter_can_draw() {
        for (detail, size, largest, expected) in [
            (HIGH, [638, 720], 16_384, [1276, 1440]),
            (Detail::Low, [638, 720], 16_384, [638, 720]),
            (HIGH, [1918, 2160], 16_384, [1918, 2160]),
            (HIGH, [1024, 64], 2048, [2048, 128]),
            (HIGH, [1025, 64], 2048, [1025, 64]),
            (HIGH, [5000, 64], 2048, [2048, 64]),
        ] {
            let largest = LargestTexture(largest);
            let found = image_size(detail, Sharpness::default(), size.into(), largest);
            assert_eq!(found, expected.into(), "{detail:?} {size:?}");
        }
    }

    #[test]
    fn what_is_drawn_fits_the_adapter_also_while_the_canvas_does_not() {
        for detail in [HIGH, Detail::Low] {
            let mut app = App::new();
            app.insert_resource(detail)
                .insert_resource(LargestTexture(4096))
                .init_resource::<Sharpness>()
                .insert_resource(Canvas {
                    size: UVec2::new(9000, 5000),
                    scale_factor: 1.0,
                    ..default()
                })
                .insert_resource(ViewMode::Left)
                .init_resource::<Inset>()
                .init_resource::<Overlay>()
                .init_resource::<CubeColors>()
                .init_resource::<Assets<Image>>()
                .add_systems(Update, place);
            let mut images = app.world_mut().resource_mut::<Assets<Image>>();
            let target = Pane::target(&mut images);
            let image = target.as_image().unwrap().clone();
            let camera = (Camera::default(), Projection::default(), RenderLayers::default());
            let camera = (camera, Msaa::default());
            app.world_mut().spawn((Side::Left, Pane::default(), target, camera));
            app.update();
            let images = app.world().resource::<Assets<Image>>();
            let size = images.get(&image).unwrap().texture_descriptor.size;
            assert_eq!([size.width, size.height], [4096; 2]);
        }
    }
}
