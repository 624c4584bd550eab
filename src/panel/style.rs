//! The style of the panel: that of the inspector, with the colours of the theme and of the selected half.

use bevy_egui::egui::{self, Color32, Ui};
use cubewire_inspector::style::set;
pub(super) use cubewire_inspector::style::{
    BODY, BUTTON, CONTROL, GAP, LARGE, LINE, Look, MARGIN, ROW, SMALL, page_left,
};

use crate::theme::{Theme, egui_color, fonts};
use crate::view::Side;

/// These colours, for a half.
fn in_side(look: Look, side: Side) -> Look {
    let colors = look.colors();
    let tint = match side {
        Side::Left => colors.left_tint,
        Side::Right => colors.right_tint,
    };
    look.selecting(side.color_in(look), egui_color(tint))
}

impl Side {
    /// The colour of this half.
    pub(super) const fn color_in(self, look: Look) -> Color32 {
        egui_color(self.color_of(look.colors()))
    }
}

/// Sets the style of `ctx` for a theme, and the colours for the half of the selected lane.
pub(super) fn apply(ctx: &egui::Context, theme: Theme, side: Side) {
    let theme = egui::Theme::from(theme);
    let look = in_side(Look::new(theme), side);
    let before = look.set(ctx);
    if before == Some(look) {
        return;
    }
    if before.is_none() {
        ctx.set_fonts(fonts());
        // A press of any length counts.
        ctx.options_mut(|options| options.input_options.max_click_duration = f64::INFINITY);
    }
    ctx.set_theme(theme);
    ctx.style_mut_of(theme, |style| set(style, look));
}

/// Draws with the colours of a half, whichever is selected.
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
