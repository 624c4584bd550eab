//! The whole table of keys, as a card over the halves.

use bevy_egui::egui::{
    Align2, Area, Context, Frame, Id, Key, Margin, Modifiers, Order, ScrollArea, Stroke, Ui, vec2,
};

use crate::controls::BINDINGS;
use crate::panel::style::{Look, MARGIN, ROW, SMALL};
use crate::panel::widgets::{At, Row, heading, key};

/// Draws the card while it is open: it opens when that is asked for, and closes with a click or Esc.
pub(super) fn draw(ui: &Ui, opens: bool) {
    let id = Id::new("all keys are shown");
    let ctx = ui.ctx();
    let is_open = ctx.data(|data| data.get_temp(id)).unwrap_or(false);
    let is_closed = is_open && closes(ctx);
    let is_shown = (is_open && !is_closed) || (opens && !is_open);
    ctx.data_mut(|data| data.insert_temp(id, is_shown));
    if is_shown {
        let panel = ui.max_rect().left() - MARGIN;
        card(ctx, Look::of(ui), panel);
    }
}

fn closes(ctx: &Context) -> bool {
    ctx.input_mut(|input| {
        input.pointer.any_click() || input.consume_key(Modifiers::NONE, Key::Escape)
    })
}

/// Draws it over what lies left of the panel.
fn card(ctx: &Context, look: Look, panel: f32) {
    let window = ctx.viewport_rect();
    let halves = window.with_max_x(panel);
    let width = CARD.min(window.width() - 2.0 * MARGIN);
    let height = window.height() - 4.0 * MARGIN - 3.0 * ROW;
    let area = Area::new(Id::new("all keys"))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_CENTER)
        .fixed_pos(halves.center())
        .constrain_to(window);
    area.show(ctx, |ui| {
        let frame = Frame::new()
            .fill(look.ground.gamma_multiply(0.95))
            .stroke(Stroke::new(1.0, look.line))
            .corner_radius(8)
            .inner_margin(Margin::symmetric(16, 12));
        frame.show(ui, |ui| {
            ui.set_width(width - 2.0 * MARGIN);
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            heading(ui, "All keys", "Esc or a click closes");
            ui.add_space(4.0);
            let rows = ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height);
            rows.show(ui, |ui| {
                for binding in &BINDINGS {
                    let about = binding.about.replace('`', "");
                    let row = Row::show(ui, ROW, &format!("{}: {about}", binding.keys));
                    key(ui.painter(), row.rect, 0.0, binding.keys, look.ink);
                    row.text(ui, At::Left(ABOUT), about, SMALL, look.ink);
                }
            });
        });
    });
}

/// Logical points: of the card, and to what a key does.
const CARD: f32 = 800.0;
const ABOUT: f32 = 208.0;
