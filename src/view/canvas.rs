//! The render target: a window or an image.

use bevy::camera::RenderTarget;
use bevy::prelude::*;
use bevy::window::{PrimaryWindow, WindowResizeConstraints};

use super::quality::LargestTexture;

/// The render target: the primary window, unless another canvas was inserted before startup.
#[derive(Resource, Clone, Debug, Default)]
pub struct Canvas {
    pub target: RenderTarget,
    /// Size in pixels.
    pub size: UVec2,
    /// Pixels per logical point.
    pub scale_factor: f32,
}

/// Limits the primary window to the largest texture, including when the user resizes it.
pub(super) fn bound_window(
    largest: Res<LargestTexture>,
    mut window: Single<&mut Window, With<PrimaryWindow>>,
) {
    let points = (largest.0 as f32 / window.scale_factor()).floor();
    let constraints = WindowResizeConstraints {
        max_width: points,
        max_height: points,
        ..window.resize_constraints
    };
    if window.resize_constraints != constraints {
        window.resize_constraints = constraints;
    }
    let size = window.physical_size();
    let bounded = size.min(UVec2::splat(largest.0));
    if bounded != size {
        let resolution = &mut window.resolution;
        resolution.set_physical_resolution(bounded.x, bounded.y);
    }
}

pub(super) fn follow_window(
    window: Single<&Window, With<PrimaryWindow>>,
    mut canvas: ResMut<Canvas>,
) {
    canvas.size = window.physical_size();
    canvas.scale_factor = window.scale_factor();
}

#[cfg(test)]
mod tests {
    use bevy::window::WindowResolution;

    use super::*;

    #[test]
    fn a_window_is_no_larger_than_the_adapter_can_draw() {
        for (size, expected) in
            [([1440, 900], [1440, 900]), ([5000, 900], [4096, 900]), ([9000, 5000], [4096, 4096])]
        {
            let mut app = App::new();
            app.insert_resource(LargestTexture(4096))
                .init_resource::<Canvas>()
                .add_systems(Update, (bound_window, follow_window).chain());
            let mut resolution = WindowResolution::new(size[0], size[1]);
            resolution.set_scale_factor(2.0);
            resolution.set_physical_resolution(size[0], size[1]);
            let window = Window { resolution, ..default() };
            let window = app.world_mut().spawn((window, PrimaryWindow)).id();
            app.update();
            let canvas = app.world().resource::<Canvas>();
            assert_eq!(canvas.size, UVec2::from(expected));
            let constraints = app.world().get::<Window>(window).unwrap().resize_constraints;
            assert_eq!([constraints.max_width, constraints.max_height], [2048.0; 2]);
        }
    }
}
