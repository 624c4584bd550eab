//! The whole table of keys, as a card over the halves.

use bevy_egui::egui::{Align2, Margin, Popup, RectAlign, Response, ScrollArea, Ui, vec2};

use crate::controls::BINDINGS;
use crate::panel::style::{Look, MARGIN, ROW, SMALL};
use crate::panel::widgets::{At, Row, caps, heading, over_picture};

/// Draws the card in the middle of what lies left of the panel. `opens` opens it, and a click or Esc closes it: as a
/// popup, so that keys do not reach the game meanwhile, and it does not outlive its page.
pub(super) fn draw(ui: &Ui, opens: &Response) {
    let look = Look::of(ui);
    let window = ui.ctx().viewport_rect();
    let halves = window.with_max_x(ui.max_rect().left() - MARGIN);
    let width = CARD.min(window.width() - 2.0 * MARGIN) - 2.0 * MARGIN;
    let height = window.height() - 4.0 * MARGIN - 3.0 * ROW;
    let frame = over_picture(look, look.line).inner_margin(Margin::symmetric(16, 12));
    let middle = RectAlign {
        parent: Align2::CENTER_CENTER,
        child: Align2::CENTER_CENTER,
    };
    let card = Popup::menu(opens)
        .at_position(halves.center())
        .align(middle)
        .align_alternatives(&[])
        .width(width)
        .frame(frame);
    card.show(|ui| {
        ui.set_width(width);
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
                caps(ui, row.rect, &binding.names());
                row.text(ui, At::Left(ABOUT), about, SMALL, look.ink);
            }
        });
    });
}

/// Logical points: of the card, and to what a key does.
const CARD: f32 = 840.0;
const ABOUT: f32 = 236.0;
