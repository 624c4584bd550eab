//! The render target: a window or an image.

use bevy::camera::RenderTarget;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;

/// A window or an image: the primary window, unless another canvas was inserted before the start.
#[derive(Resource, Clone, Debug, Default)]
pub struct Canvas {
    /// The render target of the cameras.
    pub target: RenderTarget,
    /// Size in pixels.
    pub size: UVec2,
    /// Pixels per logical point.
    pub scale_factor: f32,
}

/// Copies size and scale factor of the primary window.
pub(super) fn follow_window(
    window: Option<Single<&Window, With<PrimaryWindow>>>,
    mut canvas: ResMut<Canvas>,
) {
    if let Some(window) = window {
        canvas.size = window.physical_size();
        canvas.scale_factor = window.scale_factor();
    }
}
