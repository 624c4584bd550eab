//! How to use the window: theme, size, the command that opens it like this, and the keys of most use.

mod all_keys;

use bevy_egui::egui::{Id, Popup, RectAlign, Ui, vec2};

use crate::controls::Action;
use crate::panel::lane::{Measured, Status};
use crate::panel::scale;
use crate::panel::settings::PanelState;
use crate::panel::style::{CONTROL, GAP, Look, SMALL};
use crate::panel::widgets::{
    At, Choice, Kind, button, chip, code, copy_button, divider, group, keys, label, segmented, text,
};
use crate::replication::LaneSettings;
use crate::theme::Theme;
use crate::view::{PaneContent, Side};

/// Returns the action that a button asks for.
pub(in crate::panel) fn draw(
    ui: &mut Ui,
    state: &mut PanelState,
    status: &Status<'_>,
    shown: &[Measured<'_>],
) -> Option<Action> {
    ui.spacing_mut().item_spacing = vec2(GAP, 2.0);
    theme(ui, state);
    size(ui, state);
    let action = command(ui, shown);
    divider(ui);
    ui.horizontal_top(|ui| {
        let left = 0.48 * ui.available_width();
        column(ui, left - GAP, &PLAY_AND_COMPRESS);
        column(ui, ui.available_width(), &LOOK_SAVE_AND_LEARN);
    });
    ui.add_space(GAP);
    buttons(ui, state, status);
    action
}

fn theme(ui: &mut Ui, state: &mut PanelState) {
    ui.horizontal(|ui| {
        label(ui, NAME, "Theme");
        let themes = [
            Choice::new(Theme::Dark, "dark", "Light text on dark surfaces."),
            Choice::new(Theme::Light, "light", "Dark text on light surfaces."),
        ];
        segmented(ui, SWITCH, &mut state.theme, &themes);
    });
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

/// The command that opens the window with what both halves show.
fn command(ui: &mut Ui, shown: &[Measured<'_>]) -> Option<Action> {
    let half = |side| shown.iter().find(|lane| lane.side == side);
    let lane = |lane: &Measured<'_>| lane.settings.as_ref().and_then(LaneSettings::to_text);
    let left = match half(Side::Left) {
        Some(left) => lane(left).map(|left| format!("--left {left} ")),
        None => PaneContent::Simulation.to_text().map(|_| String::new()),
    };
    let right = half(Side::Right).and_then(lane);
    let arguments = left.zip(right);
    let row = ui.horizontal(|ui| {
        label(ui, NAME, "This view");
        let width = ui.available_width() - COPY - 8.0;
        let words = match &arguments {
            Some((left, right)) => format!("{left}--right {right}"),
            None => "recorded delays have no text".to_owned(),
        };
        code(ui, width, &words);
        ui.add_space(GAP);
        let name = match cfg!(target_family = "wasm") {
            true => "Copy address",
            false => "Copy command",
        };
        let copy = ui.add_enabled_ui(arguments.is_some(), |ui| {
            button(ui, COPY, name, "", Kind::Usual { is_on: false })
        });
        let about = "Copies what opens the window with what both halves show.";
        copy.inner.on_hover_text(about).clicked()
    });
    row.inner.then_some(Action::CopyLink)
}

/// Keys and what they do; without keys it is a heading.
type Line = (&'static [&'static str], &'static str);

fn column(ui: &mut Ui, width: f32, lines: &[Line]) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.set_width(width);
        for (names, about) in lines {
            if names.is_empty() {
                group(ui, width, about);
            } else {
                keys(ui, width, names, about);
            }
        }
    });
}

fn buttons(ui: &mut Ui, state: &mut PanelState, status: &Status<'_>) {
    let gap = 8.0;
    let room = ui.available_width() - 2.0 * gap;
    let [narrow, wide] = [0.28 * room, 0.36 * room];
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let opens = button(ui, narrow, "All keys", "", Kind::Secondary);
        all_keys::draw(ui, opens.clicked());
        let opens = button(ui, wide, "Read the article", "", Kind::Secondary);
        let about = opens
            .clone()
            .on_hover_text("Snapshot Compression, by Glenn Fiedler.");
        let popup = Popup::menu(&about).align(RectAlign::TOP_END);
        popup.show(|ui| {
            code(ui, ADDRESS, ARTICLE);
            copy_button(ui, ADDRESS, "Copy the address", ARTICLE);
        });
        reset(ui, wide, state, status);
    });
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

const PLAY_AND_COMPRESS: [Line; 12] = [
    (&[], "Play"),
    (&["Arrows"], "roll"),
    (&["Z"], "gather cubes"),
    (&["Space"], "blow them away"),
    (&["R"], "reset"),
    (&["P"], "pause, resume"),
    (&["N"], "one tick"),
    (&["L"], "cut the link"),
    (&[], "Compress"),
    (&["PgUp", "PgDn"], "rung up, down"),
    (&["1 to 9"], "rungs 1 to 9"),
    (&["0 to \\"], "rungs 10 to 16"),
];

const LOOK_SAVE_AND_LEARN: [Line; 13] = [
    (&[], "Look"),
    (&["V"], "one half, both, overlay"),
    (&["B"], "colours by bits, error"),
    (&["T"], "trails"),
    (&["H"], "timeline"),
    (&["Home"], "cameras back"),
    (&["F2"], "panel: whole, slim, off"),
    (&[], "Save"),
    (&["F9"], "replay"),
    (&["F10", "F12"], "video, picture"),
    (&[], "Learn"),
    (&["F1"], "explain the screen"),
    (&["F3"], "tour; F4 and F5 turn it"),
];

const ARTICLE: &str = "https://gafferongames.com/post/snapshot_compression/";

/// How long the panel asks whether to reset it.
const ASKING_SECONDS: f64 = 4.0;

/// Logical points.
const NAME: f32 = 68.0;
const SWITCH: f32 = 120.0;
const PERCENT: f32 = 56.0;
const COPY: f32 = 120.0;
const ADDRESS: f32 = 376.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controls::BINDINGS;

    #[test]
    fn every_key_of_the_page_is_one_of_the_game() {
        let table: Vec<_> = BINDINGS
            .iter()
            .flat_map(|row| row.keys.split(", "))
            .collect();
        let lines = PLAY_AND_COMPRESS.iter().chain(&LOOK_SAVE_AND_LEARN);
        for name in lines.flat_map(|(names, _)| *names) {
            let name = match *name {
                "Arrows" => "arrow keys",
                "PgUp" => "PageUp",
                "PgDn" => "PageDown",
                "0 to \\" => "0",
                name => name,
            };
            assert!(table.contains(&name), "{name}");
        }
    }
}
