//! What the picture is drawn on.

use bevy::camera::RenderTarget;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;

/// A window or an image. It is the primary window, if there is one, unless somebody put in another
/// before the start.
#[derive(Resource, Clone, Debug, Default)]
pub struct Canvas {
    /// Where the cameras draw.
    pub target: RenderTarget,
    /// Pixels.
    pub size: UVec2,
    /// Pixels to a logical point.
    pub scale_factor: f32,
}

impl Canvas {
    /// In logical points.
    #[must_use]
    pub fn logical_size(&self) -> Vec2 {
        self.size.as_vec2() / self.scale_factor.max(f32::MIN_POSITIVE)
    }
}

/// Windows change their size.
pub(super) fn follow_window(
    window: Option<Single<&Window, With<PrimaryWindow>>>,
    mut canvas: ResMut<Canvas>,
) {
    if let Some(window) = window {
        canvas.size = window.physical_size();
        canvas.scale_factor = window.scale_factor();
    }
}
