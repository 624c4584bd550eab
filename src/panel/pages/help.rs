//! How to use the window: theme, size, the command that opens it like this, and the keys of most use.

mod all_keys;

use bevy_egui::egui::{Id, Ui, vec2};

use super::pickers;
use crate::controls::{Action, BINDINGS};
use crate::panel::lane::Status;
use crate::panel::scale;
use crate::panel::settings::PanelState;
use crate::panel::style::{CONTROL, GAP, Look, SMALL};
use crate::panel::tour::STEPS;
use crate::panel::widgets::{
    At, Kind, button, chip, choices, divider, keys, label, segmented, text,
};
use crate::theme::Theme;

/// Returns the action that a button asks for.
pub(in crate::panel) fn draw(
    ui: &mut Ui,
    state: &mut PanelState,
    status: &Status<'_>,
) -> Option<Action> {
    ui.spacing_mut().item_spacing = vec2(GAP, 2.0);
    ui.horizontal(|ui| {
        label(ui, NAME, "Theme");
        let states = choices([
            (Theme::Dark, "dark", "Light text on dark surfaces."),
            (Theme::Light, "light", "Dark text on light surfaces."),
        ]);
        segmented(ui, SWITCH, &mut state.theme, &states);
    });
    size(ui, state);
    let row = ui.horizontal(|ui| {
        label(ui, NAME, "This view");
        pickers::copy(ui, ui.available_width())
    });
    let copies = row.inner;
    divider(ui);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let width = ui.available_width();
        for row in OF_MOST_USE.map(|index| &BINDINGS[index]) {
            keys(ui, width, &row.names(), row.about);
        }
    });
    ui.add_space(GAP);
    buttons(ui, state, status).or(copies)
}

fn size(ui: &mut Ui, state: &mut PanelState) {
    let look = Look::of(ui);
    ui.horizontal(|ui| {
        label(ui, NAME, "Text size");
        for (name, steps, about) in [
            ("−", -1.0, "Smaller: Ctrl and minus."),
            ("+", 1.0, "Larger: Ctrl and plus."),
        ] {
            let pressed = button(ui, 32.0, name, "", Kind::Usual { is_on: false });
            if pressed.on_hover_text(about).clicked() {
                scale::change(state, steps);
            }
            if steps < 0.0 {
                let percent = format!("{:.0} %", 100.0 * scale::wanted(ui.ctx(), state));
                let share = label(ui, PERCENT, "");
                let middle = At::Center(PERCENT / 2.0);
                text(ui.painter(), share.rect, middle, percent, SMALL, look.ink);
            }
        }
        ui.add_space(GAP);
        let by_window = chip(ui, CONTROL, 12, "by window", state.scale.is_none());
        let about = "Follows the height of the window alone: Ctrl and 0.";
        if by_window.on_hover_text(about).clicked() {
            state.scale = None;
        }
    });
}

fn buttons(ui: &mut Ui, state: &mut PanelState, status: &Status<'_>) -> Option<Action> {
    let gap = 8.0;
    let room = ui.available_width() - 2.0 * gap;
    let [narrow, wide] = [0.28 * room, 0.36 * room];
    let row = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let opens = button(ui, narrow, "All keys", "", Kind::Secondary);
        all_keys::draw(ui, &opens);
        let article = button(ui, wide, "Read the article", "", Kind::Secondary);
        let article = article.on_hover_text("Snapshot Compression, by Glenn Fiedler.");
        reset(ui, wide, state, status);
        article.clicked()
    });
    row.inner.then_some(Action::Open(STEPS[0].address))
}

/// The button that resets the panel when it is pressed once more.
fn reset(ui: &mut Ui, width: f32, state: &mut PanelState, status: &Status<'_>) {
    let id = Id::new("asks whether to reset");
    let now = ui.input(|input| input.time);
    let asked_at: Option<f64> = ui.data(|data| data.get_temp(id));
    let asks = asked_at.is_some_and(|at| now - at < ASKING_SECONDS);
    let name = match asks {
        true => "Really reset it?",
        false => "Reset the panel",
    };
    let response = button(ui, width, name, "", Kind::Secondary);
    if response.clicked() && asks {
        *state = PanelState {
            explained: true,
            last_rung: state.last_rung,
            ..PanelState::default()
        };
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

/// Rows of the table of keys.
const OF_MOST_USE: [usize; 13] = [0, 1, 2, 3, 4, 6, 7, 9, 10, 12, 14, 15, 16];

/// How long the panel asks whether to reset it.
const ASKING_SECONDS: f64 = 4.0;

/// Logical points.
const NAME: f32 = 68.0;
const SWITCH: f32 = 120.0;
const PERCENT: f32 = 56.0;
