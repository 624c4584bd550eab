//! The inspector's style with the colours of the theme and of the selected half.

use bevy_egui::egui::{self, Area, AsId, Color32, Frame, Id, Margin, Order, Panel, Rect, Ui, vec2};
use cubewire_inspector::style::set;
pub(super) use cubewire_inspector::style::{
    BODY, BUTTON, CONTROL, GAP, LARGE, LINE, Look, MARGIN, ROW, SMALL, page_left, row_from_right,
    row_in,
};

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
pub(super) fn apply(ctx: &egui::Context, theme: Theme, side: Side) {
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

/// Draws a panel of a fixed size at an edge of the window. Returns its rectangle.
pub(super) fn docked<R>(
    root: &mut Ui,
    edge: Panel,
    size: f32,
    margin: Margin,
    show: impl FnOnce(&mut Ui) -> R,
) -> (Rect, R) {
    let frame = Frame::new().fill(Look::of(root).ground);
    let edge = edge.resizable(false).show_separator_line(false);
    let shown = edge.exact_size(size).frame(frame.inner_margin(margin)).show(root, show);
    (shown.response.rect, shown.inner)
}

/// Draws with the colours of a half instead of the selected one.
pub(super) fn in_half<R>(ui: &mut Ui, side: Side, draw: impl FnOnce(&mut Ui) -> R) -> R {
    let before = Look::of(ui);
    let look = in_side(before, side);
    look.set(ui.ctx());
    let drawn = ui.scope(|ui| {
        ui.visuals_mut().selection.bg_fill = look.tint;
        draw(ui)
    });
    before.set(ui.ctx());
    drawn.inner
}

/// Returns the part of the window that the panel leaves free.
pub(super) fn free(ctx: &egui::Context, inset: Inset) -> Rect {
    let window = ctx.viewport_rect();
    Rect::from_min_max(window.min, window.max - vec2(inset.right, inset.bottom))
}

/// Returns an area over the views, which appears at once.
pub(super) fn over_views(id: impl AsId) -> Area {
    Area::new(Id::new(id)).order(Order::Middle).fade_in(false)
}
