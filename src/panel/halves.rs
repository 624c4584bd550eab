//! What each half of the screen shows, with the lanes as editable text in the form of the command line.

use bevy_egui::egui;

use super::{Halves, Measured};
use crate::view::{Half, Side};

pub(super) fn draw(ui: &mut egui::Ui, halves: &mut Halves, lanes: &[Measured<'_>]) {
    ui.horizontal(|ui| {
        ui.label("Left:");
        ui.selectable_value(&mut halves.left_is_lane, false, "simulation");
        ui.selectable_value(&mut halves.left_is_lane, true, "a lane")
            .on_hover_text(
                "A second lane to compare with. It starts with the settings of the right one.",
            );
    });
    if lanes.len() > 1 {
        ui.horizontal(|ui| {
            ui.label("Panel and keys:");
            for side in Side::ALL {
                ui.selectable_value(&mut halves.selected, side, side.name())
                    .on_hover_text("The lane that the sections below and the keys apply to.");
            }
        });
    }
    for lane in lanes {
        if let Some(half) = field(ui, lane) {
            halves.typed = Some((lane.side, half));
        }
    }
    let text = |side: Side| match lanes.iter().find(|lane| lane.side == side) {
        Some(lane) => lane.text.clone(),
        None => Half::Simulation.to_text(),
    };
    let arguments = text(Side::Left).zip(text(Side::Right));
    let copy = egui::Button::new("copy for the command line");
    let copy = ui
        .add_enabled(arguments.is_some(), copy)
        .on_hover_text(
            "Arguments for `cubewire`, which opens the window like this, and `cubewire record`.",
        )
        .on_disabled_hover_text("A link that replays recorded delays has no text form.");
    if let Some((left, right)) = arguments
        && copy.clicked()
    {
        ui.copy_text(format!("--left {left} --right {right}"));
    }
}

fn field_id(side: Side) -> egui::Id {
    egui::Id::new(("lane as text", side))
}

/// An editable field with the text of a lane. Returns what was typed, once the user presses Enter.
fn field(ui: &mut egui::Ui, lane: &Measured<'_>) -> Option<Half> {
    let current = lane.text.clone().unwrap_or_default();
    let id = field_id(lane.side);
    let mut text = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    if !ui.memory(|memory| memory.has_focus(id)) {
        text = current;
    }
    let field = egui::TextEdit::singleline(&mut text)
        .id(id)
        .font(egui::TextStyle::Monospace)
        .desired_width(f32::INFINITY)
        .hint_text("recorded delays have no text form");
    let response = ui
        .add(field)
        .on_hover_text("The settings of this lane as text. Edit, then press Enter.");
    let half = match lane.side {
        Side::Left => text.parse::<Half>(),
        Side::Right => text.parse().map(Half::Lane),
    };
    if let Err(error) = &half
        && (response.has_focus() || response.lost_focus())
    {
        ui.colored_label(ui.visuals().error_fg_color, error.to_string());
    }
    ui.data_mut(|data| data.insert_temp(id, text));
    let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    half.ok().filter(|_| is_entered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::LaneMeter;

    /// Types into the field of the right lane and presses Enter; returns what was entered.
    fn typed(text: &str) -> Option<(Side, Half)> {
        let ctx = egui::Context::default();
        let meter = LaneMeter::default();
        let key = |key, modifiers| egui::Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        };
        let mut halves = Halves {
            left_is_lane: false,
            selected: Side::Right,
            typed: None,
        };
        let frames = [
            vec![],
            vec![],
            vec![
                key(egui::Key::A, egui::Modifiers::COMMAND),
                egui::Event::Text(text.to_owned()),
            ],
            vec![key(egui::Key::Enter, egui::Modifiers::NONE)],
        ];
        for (frame, events) in frames.into_iter().enumerate() {
            let input = egui::RawInput {
                events,
                ..egui::RawInput::default()
            };
            let output = ctx.run_ui(input, |ui| {
                let lane = Measured {
                    side: Side::Right,
                    meter: &meter,
                    text: Some("rung:delta".to_owned()),
                };
                draw(ui, &mut halves, &[lane]);
            });
            output.drop_without_applying_deltas();
            if frame == 0 {
                ctx.memory_mut(|memory| memory.request_focus(field_id(Side::Right)));
            }
        }
        halves.typed
    }

    #[test]
    fn typed_lane_text_takes_effect_on_enter() {
        let lane = "rung:index,link:4g".parse().unwrap();
        assert_eq!(typed("rung:index,link:4g"), Some((Side::Right, lane)));
        assert_eq!(typed("rung:indxe"), None);
    }
}
