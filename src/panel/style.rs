//! The inspector's style with the colours of the theme and of the selected half, and the scale of text and panel: a factor for
//! the height of the window times a factor chosen by the user.

use bevy_egui::egui::{Area, AsId, Order, gui_zoom::kb_shortcuts};
use cubewire_inspector::prelude::*;
use cubewire_inspector::style::set;

use super::settings::{PanelState, SCALES};
use crate::theme::{Theme, egui_color, fonts};
use crate::view::{Inset, Side};

fn in_side(look: Look, side: Side) -> Look {
    let colors = look.colors();
    let tint = match side {
        Side::Left => colors.left_tint,
        Side::Right => colors.right_tint,
    };
    look.selecting(side.color_in(look), egui_color(tint))
}

impl Side {
    pub(super) const fn color_in(self, look: Look) -> Color32 {
        egui_color(self.color_of(look.colors()))
    }
}

/// Sets the style of `ctx` for a theme, with the colours of `side`, the half of the selected lane.
pub(super) fn apply(ctx: &Context, theme: Theme, side: Side) {
    let theme = egui::Theme::from(theme);
    let look = in_side(Look::new(theme), side);
    let before = look.set(ctx);
    if before == Some(look) {
        return;
    }
    if before.is_none() {
        ctx.set_fonts(fonts());
        // A press of any duration is a click.
        ctx.options_mut(|options| options.input_options.max_click_duration = f64::INFINITY);
    }
    ctx.set_theme(theme);
    ctx.style_mut_of(theme, |style| set(style, look));
}

/// Draws a panel at an edge of the window, of a fixed size or as large as its content. Returns its rectangle.
pub(super) fn docked<R>(
    root: &mut Ui,
    edge: Panel,
    size: Option<f32>,
    margin: Margin,
    show: impl FnOnce(&mut Ui) -> R,
) -> (Rect, R) {
    let frame = Frame::new().fill(Look::of(root).ground).inner_margin(margin);
    let edge = edge.resizable(false).show_separator_line(false).frame(frame);
    let shown = size.into_iter().fold(edge, Panel::exact_size).show(root, show);
    (shown.response.rect, shown.inner)
}

/// Returns the part of the window that the panel leaves free.
pub(super) fn free(ctx: &Context, inset: Inset) -> Rect {
    let window = ctx.viewport_rect();
    Rect::from_min_max(window.min, window.max - vec2(inset.right, inset.bottom))
}

/// Returns an area over the views, which appears at once.
pub(super) fn over_views(id: impl AsId) -> Area {
    Area::new(Id::new(id)).order(Order::Middle).fade_in(false)
}

/// Applies Ctrl with +, − or 0 to `state`, then sets the scale in `ctx`.
pub(super) fn follow_scale(ctx: &Context, state: &mut PanelState) {
    // egui's own shortcuts would set the total scale, without the factor for the window.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
    let pressed = |shortcut| ctx.input_mut(|input| input.consume_shortcut(&shortcut));
    if pressed(kb_shortcuts::ZOOM_RESET) {
        state.scale = None;
    }
    if pressed(kb_shortcuts::ZOOM_IN) || pressed(kb_shortcuts::ZOOM_IN_SECONDARY) {
        change_scale(state, 1.0);
    }
    if pressed(kb_shortcuts::ZOOM_OUT) {
        change_scale(state, -1.0);
    }
    let wanted = wanted_scale(ctx, state);
    if wanted != ctx.zoom_factor() {
        ctx.set_zoom_factor(wanted);
    }
}

/// Changes the user's factor by `steps` of 10 %.
pub(super) fn change_scale(state: &mut PanelState, steps: f32) {
    let factor = (STEPS * state.scale.unwrap_or(1.0) + steps).round() / STEPS;
    let factor = factor.clamp(*SCALES.start(), *SCALES.end());
    state.scale = (factor > 1.0).then_some(factor);
}

/// Returns the total scale for this window.
pub(super) fn wanted_scale(ctx: &Context, state: &PanelState) -> f32 {
    by_window(ctx.viewport_rect().height() * ctx.zoom_factor()) * state.scale.unwrap_or(1.0)
}

/// Returns the scale for a window height, in points at zoom factor 1. It grows more slowly than the height, because
/// people sit further away from larger screens.
fn by_window(height: f32) -> f32 {
    (SHARES * (height / HEIGHT).clamp(1.0, 3.0).powf(0.45)).round() / SHARES
}

/// Height of the window at which the scale is 1, points.
const HEIGHT: f32 = 720.0;

/// Reciprocal step sizes of the window's factor (1/20) and of the user's factor (1/10).
const SHARES: f32 = 20.0;
const STEPS: f32 = 10.0;

#[cfg(test)]
mod tests {
    use bevy_egui::egui::{Event, Key, Modifiers, RawInput, Rect, Vec2};

    use super::*;

    #[test]
    fn scale_follows_the_height_of_the_window() {
        for (height, scale) in [
            (1.0, 1.0),
            (450.0, 1.0),
            (720.0, 1.0),
            (1080.0, 1.2),
            (1440.0, 1.35),
            (2160.0, 1.65),
            (9000.0, 1.65),
        ] {
            assert!((by_window(height) - scale).abs() < 1e-4, "{height}");
        }
    }

    /// Runs a frame of a 1920 × 1080 window with Ctrl and `key` pressed.
    fn press(ctx: &Context, state: &mut PanelState, key: Option<Key>) {
        let size = Vec2::new(1920.0, 1080.0) / ctx.zoom_factor();
        let modifiers = Modifiers::COMMAND;
        let event = key.map(|key| Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        });
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            events: event.into_iter().collect(),
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| follow_scale(ui.ctx(), state));
        output.textures_delta.clear();
    }

    #[test]
    fn ctrl_keys_scale_up_to_twice_and_reset() {
        let (ctx, mut state) = (Context::default(), PanelState::default());
        for (key, times, factor) in [
            (None, 1, None),
            (Some(Key::Minus), 1, None),
            (Some(Key::Plus), 1, Some(1.1)),
            (Some(Key::Equals), 1, Some(1.2)),
            (Some(Key::Minus), 1, Some(1.1)),
            (Some(Key::Plus), 20, Some(2.0)),
            (Some(Key::Num0), 1, None),
        ] {
            for _ in 0..times {
                press(&ctx, &mut state, key);
                press(&ctx, &mut state, None);
            }
            assert_eq!(state.scale, factor, "{key:?}");
            assert!((ctx.zoom_factor() - 1.2 * factor.unwrap_or(1.0)).abs() < 1e-4, "{key:?}");
        }
    }
}
