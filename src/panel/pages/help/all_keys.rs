//! The whole table of keys, as a card over the halves.

use bevy_egui::egui::{Align2, Margin, Popup, RectAlign, Response, ScrollArea, Ui, vec2};

use crate::controls::{BINDINGS, Binding};
use crate::panel::style::{GAP, Look, MARGIN, ROW, SMALL};
use crate::panel::widgets::{Row, balanced, caps, heading, keys_width, over_picture};

/// Draws the card at the bottom of what lies left of the panel, so that the headline stays in sight. `opens` opens it, and a click or Esc closes it: as a
/// popup, so that keys do not reach the game meanwhile, and it does not outlive its page.
pub(super) fn draw(ui: &Ui, opens: &Response) {
    let look = Look::of(ui);
    let window = ui.ctx().viewport_rect();
    let halves = window.with_max_x(ui.max_rect().left() - MARGIN);
    let width = CARD.min(window.width() - 2.0 * MARGIN) - 2.0 * MARGIN;
    let height = window.height() - 4.0 * MARGIN - 3.0 * ROW;
    let frame = over_picture(look, look.line).inner_margin(Margin::symmetric(16, 12));
    let middle = RectAlign {
        parent: Align2::CENTER_BOTTOM,
        child: Align2::CENTER_BOTTOM,
    };
    let card = Popup::menu(opens)
        .at_position(halves.center_bottom() - vec2(0.0, MARGIN))
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
        let columns = if width < TWO_COLUMNS { 1 } else { 2 };
        rows.show(ui, |ui| {
            ui.spacing_mut().item_spacing.x = MARGIN;
            ui.columns(columns, |columns| {
                let rows = BINDINGS.chunks(BINDINGS.len().div_ceil(columns.len()));
                for (ui, bindings) in columns.iter_mut().zip(rows) {
                    bindings.iter().for_each(|binding| draw_row(ui, binding));
                }
            });
        });
    });
}

/// What the keys of a row do, beside them, in as many lines as that needs.
fn draw_row(ui: &mut Ui, binding: &Binding) {
    let look = Look::of(ui);
    let names = binding.names();
    let about = binding.about.replace('`', "");
    let x = ABOUT.max(keys_width(ui, &names, "") + GAP);
    let words = balanced(ui, &about, SMALL, look.ink, ui.available_width() - x);
    let height = ROW.max(words.size().y + GAP);
    let row = Row::show(ui, height, &format!("{}: {about}", binding.keys)).rect;
    caps(ui, row, &names);
    let at = row.left_center() + vec2(x, -words.size().y / 2.0);
    ui.painter().galley(at, words, look.ink);
}

/// Logical points: of the card, of one with room for two columns, and to what a key does.
const CARD: f32 = 840.0;
const TWO_COLUMNS: f32 = 568.0;
const ABOUT: f32 = 112.0;
