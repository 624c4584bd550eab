//! The page *Help*: theme, size, and the most important keys.

use crate::controls::{BINDINGS, Binding};
use crate::panel::prelude::*;
use crate::panel::style::{change_scale, wanted_scale};
use crate::panel::tour::STEPS;
use crate::theme::Theme;

pub(crate) fn draw(ui: &mut Ui, state: &mut PanelState, status: &Status<'_>) -> Option<Action> {
    ui.spacing_mut().item_spacing = vec2(GAP, 2.0);
    named(ui, NAME, "Theme", BODY, |ui| {
        let states = choices([
            (Theme::Dark, "dark", "Light text on dark surfaces."),
            (Theme::Light, "light", "Dark text on light surfaces."),
        ]);
        segmented(ui, 120.0, &mut state.theme, &states);
    });
    size(ui, state);
    divider(ui);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let rows =
            OF_MOST_USE.into_iter().flat_map(|keys| BINDINGS.iter().find(|row| row.keys == keys));
        let rows = rows.filter_map(|row| Some((row, row.about_in(status.plays)?)));
        for row in rows.take(10) {
            keys_of(ui, 134.0, row);
        }
    });
    ui.add_space(GAP);
    buttons(ui, state, status)
}

fn keys_of(ui: &mut Ui, column: f32, (binding, about): (&Binding, &str)) {
    let (width, about) = (ui.available_width(), about.replace('`', ""));
    keys(ui, width, column, &binding.names(), &about);
}

fn size(ui: &mut Ui, state: &mut PanelState) {
    named(ui, NAME, "Text size", BODY, |ui| {
        let mut step = |ui: &mut Ui, name, steps, about| {
            if button(ui, 32.0, name, "", Kind::Usual).on_hover_text(about).clicked() {
                change_scale(state, steps);
            }
        };
        step(ui, "−", -1.0, "Smaller: Ctrl and minus.");
        let (share, _) = ui.allocate_exact_size(vec2(PERCENT, BUTTON), Sense::hover());
        step(ui, "+", 1.0, "Larger: Ctrl and plus.");
        let percent = format!("{:.0} %", 100.0 * wanted_scale(ui.ctx(), state));
        text(ui.painter(), share, At::Center(PERCENT / 2.0), percent, SMALL, Look::of(ui).ink);
        let by_window = chip(ui, CONTROL, 12, "by window", state.scale.is_none());
        if by_window.on_hover_text("Follows the height of the window: Ctrl and 0.").clicked() {
            state.scale = None;
        }
    });
}

/// Draws the card with all keys at the bottom of the view, below the headline. The button `opens` opens it; a click or Esc
/// closes it. It is a popup, so that keys do not reach the game while it is open and it closes with its page.
fn all_keys(ui: &Ui, opens: &Response, has_game: bool) {
    let look = Look::of(ui);
    let window = ui.ctx().viewport_rect();
    let halves = window.with_max_x(ui.max_rect().left() - MARGIN);
    let width = 840_f32.min(window.width() - 2.0 * MARGIN) - 2.0 * MARGIN;
    let height = window.height() - 4.0 * MARGIN - 3.0 * ROW;
    let frame = over_picture(look, look.line).inner_margin(Margin::symmetric(16, 12));
    let middle = RectAlign { parent: Align2::CENTER_BOTTOM, child: Align2::CENTER_BOTTOM };
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
        let rows = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
        let columns = if width < 568.0 { 1 } else { 2 };
        let bindings = BINDINGS.iter().filter_map(|row| Some((row, row.about_in(has_game)?)));
        let bindings: Vec<_> = bindings.collect();
        rows.show(ui, |ui| {
            ui.spacing_mut().item_spacing.x = MARGIN;
            ui.columns(columns, |columns| {
                let rows = bindings.chunks(bindings.len().div_ceil(columns.len()));
                for (ui, bindings) in columns.iter_mut().zip(rows) {
                    bindings.iter().for_each(|&binding| keys_of(ui, 112.0, binding));
                }
            });
        });
    });
}

fn buttons(ui: &mut Ui, state: &mut PanelState, status: &Status<'_>) -> Option<Action> {
    let room = ui.available_width() - 2.0 * GAP;
    let [narrow, wide] = [0.22 * room, 0.39 * room];
    let row = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let opens = button(ui, narrow, "All keys", "", Kind::Secondary);
        all_keys(ui, &opens, status.plays);
        let article = button(ui, wide, "Read the article", "", Kind::Secondary);
        let article = article.on_hover_text("Snapshot Compression, by Glenn Fiedler.");
        reset(ui, wide, state, status);
        article.clicked()
    });
    row.inner.then_some(Action::Open(STEPS[0].address))
}

fn reset(ui: &mut Ui, width: f32, state: &mut PanelState, status: &Status<'_>) {
    let id = Id::new("asks whether to reset");
    let now = ui.input(|input| input.time);
    let asked_at: Option<f64> = ui.data(|data| data.get_temp(id));
    let asks = asked_at.is_some_and(|at| now - at < ASKING_SECONDS);
    let name = if asks { "Really reset it?" } else { "Reset the panel" };
    let response = button(ui, width, name, "", Kind::Secondary);
    if response.clicked() && asks {
        *state =
            PanelState { explained: true, last_rung: state.last_rung, ..PanelState::default() };
        ui.data_mut(|data| data.remove::<f64>(id));
    } else if response.clicked() {
        ui.data_mut(|data| data.insert_temp(id, now));
    }
    let mut about = "Puts theme, size, page and graph back to their defaults.".to_owned();
    if let Some(path) = status.settings {
        about += &format!(" They are kept for the next start in {}", path.display());
    }
    response.on_hover_text(about);
}

/// [`Binding::keys`], the most important first. The page shows as many as it has rows.
const OF_MOST_USE: [&str; 16] = [
    "arrow keys",
    "Space",
    "Z",
    "R",
    "P",
    "PageDown, PageUp",
    "V",
    "F1, ?",
    "F2",
    "F3",
    "L",
    "Enter",
    "T",
    "B",
    "H",
    "F11",
];

/// Time limit for the second press, seconds.
const ASKING_SECONDS: f64 = 4.0;

/// Sizes and distances, logical points.
const NAME: f32 = 68.0;
const PERCENT: f32 = 56.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_used_keys_are_in_the_table() {
        for keys in OF_MOST_USE {
            assert!(BINDINGS.iter().any(|row| row.keys == keys), "{keys}");
        }
    }
}
