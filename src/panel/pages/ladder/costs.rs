//! The ladder's table of a run, outside of the panel.

use bevy_egui::egui::{Rangef, RichText, Ui};
use cubewire_codec::ladder::LADDER;
use cubewire_inspector::words::{factor, rounded};

use super::table::{NAME, bar_color, cells, header, target};
use crate::panel::style::{BODY, GAP, Look, ROW};
use crate::panel::widgets::{At, Row, key, note};

/// Draws the table of a run outside of the panel: names of rungs, their kbps, and how many times less than uncompressed.
pub(crate) fn draw_costs(ui: &mut Ui, title: &str, costs: &[(&str, f64, f64)]) {
    let look = Look::of(ui);
    ui.label(RichText::new(title).size(TITLE));
    note(ui, ABOUT_COSTS);
    ui.add_space(2.0 * GAP);
    ui.spacing_mut().item_spacing.y = 0.0;
    header(ui, ["kbps", "less"], true, String::new());
    let top = ui.cursor().top();
    for &(name, kbps, less) in costs {
        let row = Row::show(ui, ROW, name);
        if let Some(index) = LADDER.iter().position(|rung| rung.name == name) {
            let number = (index + 1).to_string();
            key(ui.painter(), row.rect, 0.0, &number, look.muted);
        }
        row.text(ui, At::Left(NAME), name, BODY, look.ink);
        let figures = [(rounded(kbps), look.ink), (factor(less), look.muted)];
        cells(ui, &row, name, ([0.0, kbps], bar_color(look, kbps), figures));
    }
    target(ui, Rangef::new(top, ui.cursor().top()));
}

const ABOUT_COSTS: &str = "Mean bandwidth with IP and UDP headers, and the reduction factor relative to uncompressed. Bars \
    are on a logarithmic scale. The dashed line is the article's target, 256 kbps.";

/// Font size of the title outside of the panel, logical points.
const TITLE: f32 = 16.0;
