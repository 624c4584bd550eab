//! The size of text and panel: the user's choice, or one that follows the size of the window.

use bevy_egui::egui;

use super::settings::PanelState;
use super::settings::SCALES;

/// Applies the scale of `state`, and takes it from egui where the user changed it there, with Ctrl and + or −.
pub(super) fn follow(ctx: &egui::Context, state: &mut PanelState) {
    let id = egui::Id::new("scale of the panel");
    let applied: Option<f32> = ctx.data(|data| data.get_temp(id));
    let now = ctx.zoom_factor();
    if applied.is_some_and(|applied| applied != now) {
        state.scale = Some(now.clamp(*SCALES.start(), *SCALES.end()));
    }
    let wanted = state.scale.unwrap_or_else(|| {
        let window = ctx.viewport_rect().size() * now;
        automatic(window)
    });
    if wanted != now {
        ctx.set_zoom_factor(wanted);
    }
    ctx.data_mut(|data| data.insert_temp(id, wanted));
}

/// The scale for a window of this size, in points of the window's own scale factor: in quarters, such that
/// the panel takes about the same share of large windows.
fn automatic(window: egui::Vec2) -> f32 {
    let fits = (window.y / HEIGHT).min(window.x / WIDTH);
    let quarters = (4.0 * fits).floor() / 4.0;
    quarters.clamp(1.0, *SCALES.end())
}

/// Size of the window that one more time the scale needs, points.
const HEIGHT: f32 = 900.0;
const WIDTH: f32 = 1440.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automatic_scale_follows_the_window() {
        for (width, height, scale) in [
            (800.0, 450.0, 1.0),
            (1280.0, 720.0, 1.0),
            (1440.0, 900.0, 1.0),
            (1920.0, 1080.0, 1.0),
            (2560.0, 1440.0, 1.5),
            (3840.0, 2160.0, 2.25),
            (3840.0, 600.0, 1.0),
        ] {
            assert_eq!(
                automatic(egui::vec2(width, height)),
                scale,
                "{width}x{height}"
            );
        }
    }
}
