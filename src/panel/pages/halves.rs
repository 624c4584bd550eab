//! What each half of the screen shows: pickers, and the lanes as text in the form of the command line.

use std::time::Duration;

use bevy_egui::egui::{self, Id, Ui};
use cubewire_codec::ladder::{self, LADDER};
use cubewire_protocol::Interpolation;

use super::network;
use crate::panel::lane::{Halves, Measured};
use crate::panel::style;
use crate::replication::{LaneSettings, PlayoutDelay};
use crate::theme::Theme;
use crate::view::{PaneContent, Side};

pub(in crate::panel) fn draw(
    ui: &mut Ui,
    theme: Theme,
    halves: &mut Halves,
    lanes: &[Measured<'_>],
) {
    for side in Side::ALL {
        let lane = lanes.iter().find(|lane| lane.side == side);
        ui.push_id(side, |ui| half(ui, theme, halves, side, lane));
        ui.separator();
    }
    let text = |side: Side| match lanes.iter().find(|lane| lane.side == side) {
        Some(lane) => lane.settings.as_ref().and_then(LaneSettings::to_text),
        None => PaneContent::Simulation.to_text(),
    };
    copy_button(ui, text(Side::Left).zip(text(Side::Right)));
}

/// Everything about one half.
fn half(ui: &mut Ui, theme: Theme, halves: &mut Halves, side: Side, lane: Option<&Measured<'_>>) {
    ui.horizontal(|ui| {
        let name = match side {
            Side::Left => "Left half",
            Side::Right => "Right half",
        };
        let color = style::half(theme.colors(), side);
        ui.label(egui::RichText::new(name).strong().color(color));
        if side == Side::Left {
            ui.selectable_value(&mut halves.left_is_lane, false, "simulation")
                .on_hover_text("The physics itself, without any network.");
            ui.selectable_value(&mut halves.left_is_lane, true, "a lane")
                .on_hover_text(
                    "A second replica to compare with: the same snapshots, with other settings. It starts \
                     with those of the right one.",
                );
        }
        if halves.left_is_lane {
            ui.selectable_value(&mut halves.selected, side, "selected")
                .on_hover_text("The panel's other tabs and the keys apply to this lane.");
        }
    });
    let Some(settings) = lane.and_then(|lane| lane.settings.as_ref()) else {
        return;
    };
    let mut picked = settings.clone();
    pickers(ui, &mut picked);
    if picked != *settings {
        halves.typed = Some((side, PaneContent::Lane(picked)));
    }
    if let Some(content) = field(ui, side, settings) {
        halves.typed = Some((side, content));
    }
}

fn pickers(ui: &mut Ui, lane: &mut LaneSettings) {
    egui::Grid::new("pickers").num_columns(2).show(ui, |ui| {
        ui.label("stages");
        let rung = ladder::rung_of(lane.sender.stages);
        let title = rung.map_or("custom", |rung| rung.name);
        egui::ComboBox::from_id_salt("rung")
            .selected_text(title)
            .width(PICKER_WIDTH)
            .show_ui(ui, |ui| {
                for rung in LADDER {
                    ui.selectable_value(&mut lane.sender.stages, rung.stages, rung.name)
                        .on_hover_text(rung.summary);
                }
            });
        ui.end_row();
        ui.label("network");
        network::preset(ui, "network", &mut lane.link.conditions);
        ui.end_row();
        ui.label("a second");
        ui.horizontal(|ui| network::send_rate(ui, &mut lane.sender));
        ui.end_row();
        ui.label("interpolation");
        ui.horizontal(|ui| {
            for kind in Interpolation::ALL {
                ui.selectable_value(&mut lane.playout.interpolation, kind, kind.name());
            }
        });
        ui.end_row();
        ui.label("playout");
        ui.horizontal(|ui| {
            let delay = &mut lane.playout.delay;
            ui.selectable_value(delay, PlayoutDelay::Rule, "by rule");
            ui.selectable_value(delay, PlayoutDelay::Adaptive, "adaptive");
            if let PlayoutDelay::Fixed(fixed) = *delay {
                let text = format!("{} ms", fixed.as_millis());
                ui.selectable_value(delay, PlayoutDelay::Fixed(fixed), text);
            }
        });
        ui.end_row();
    });
}

fn copy_button(ui: &mut Ui, arguments: Option<(String, String)>) {
    let id = Id::new("copied at");
    let now = ui.input(|input| input.time);
    let copied_at: Option<f64> = ui.data(|data| data.get_temp(id));
    let is_fresh = copied_at.is_some_and(|at| now - at < COPIED_TIME.as_secs_f64());
    let title = if is_fresh {
        "Copied"
    } else {
        "Copy for the command line"
    };
    let copy = ui
        .add_enabled(arguments.is_some(), egui::Button::new(title))
        .on_hover_text(
            "Arguments for `cubewire`, which opens the window like this, and for `cubewire record`.",
        )
        .on_disabled_hover_text("A link that replays recorded delays has no text form.");
    if let Some((left, right)) = arguments
        && copy.clicked()
    {
        ui.copy_text(format!("--left {left} --right {right}"));
        ui.data_mut(|data| data.insert_temp(id, now));
    }
}

fn field_id(side: Side) -> Id {
    Id::new(("lane as text", side))
}

/// An editable field with the text of a lane. Returns what was typed, once the user presses Enter.
fn field(ui: &mut Ui, side: Side, settings: &LaneSettings) -> Option<PaneContent> {
    let current = settings.to_text().unwrap_or_default();
    let id = field_id(side);
    // What is wrong stays until it is mended, or given up with Esc.
    let parse = |text: &str| match side {
        Side::Left => text.parse::<PaneContent>(),
        Side::Right => text.parse().map(PaneContent::Lane),
    };
    let has_focus = ui.memory(|memory| memory.has_focus(id));
    let typed: Option<String> = ui.data(|data| data.get_temp(id));
    let typed = typed.filter(|typed| has_focus || parse(typed).is_err());
    let mut text = typed.unwrap_or_else(|| current.clone());
    let response = ui
        .horizontal(|ui| {
            ui.label("as text");
            let field = egui::TextEdit::singleline(&mut text)
                .id(id)
                .font(egui::TextStyle::Monospace)
                .desired_width(f32::INFINITY)
                .hint_text("recorded delays have no text form");
            ui.add(field)
        })
        .inner;
    let content = parse(&text);
    match &content {
        Err(error) if text != current => {
            ui.colored_label(ui.visuals().error_fg_color, error.to_string());
        }
        _ if !response.has_focus() => {
            response
                .clone()
                .on_hover_text("The settings of this lane as text. Edit, then press Enter.");
        }
        // A tooltip would cover what is typed, and its error.
        _ => {}
    }
    if response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Escape)) {
        ui.data_mut(|data| data.remove_temp::<String>(id));
        return None;
    }
    ui.data_mut(|data| data.insert_temp(id, text));
    let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    content.ok().filter(|_| is_entered)
}

/// How long the button says that it copied.
const COPIED_TIME: Duration = Duration::from_secs(2);

/// Logical points.
const PICKER_WIDTH: f32 = 150.0;
