//! What each half of the screen shows, and the text that says so on the command line.

use bevy_egui::egui;

use super::{Halves, Measured};
use crate::replication::Side;

pub(super) fn draw(ui: &mut egui::Ui, halves: &mut Halves, lanes: &[Measured<'_>]) {
    ui.horizontal(|ui| {
        ui.label("Left:");
        ui.selectable_value(&mut halves.left_is_lane, false, "simulation");
        ui.selectable_value(&mut halves.left_is_lane, true, "a lane")
            .on_hover_text("A second lane, to compare: it starts as the right one is now.");
    });
    if lanes.len() > 1 {
        ui.horizontal(|ui| {
            ui.label("Below:");
            for side in Side::ALL {
                ui.selectable_value(&mut halves.selected, side, side.name())
                    .on_hover_text("Which of the two lanes the keys and the sections are about.");
            }
        });
    }
    let text = |side: Side| {
        let lane = lanes.iter().find(|lane| lane.side == side);
        lane.map_or(Some("simulation".to_owned()), |lane| lane.text.clone())
    };
    let texts = (text(Side::Left), text(Side::Right));
    let arguments = match &texts {
        (Some(left), Some(right)) => Some(format!("--left {left} --right {right}")),
        _ => None,
    };
    ui.horizontal(|ui| {
        let copy = ui.add_enabled(arguments.is_some(), egui::Button::new("copy"));
        let copy = copy
            .on_hover_text(
                "For the command line: `cubewire …` opens this, `cubewire record …` films it.",
            )
            .on_disabled_hover_text("A link that follows a recorded trace has no text.");
        if let Some(arguments) = &arguments {
            if copy.clicked() {
                ui.ctx().copy_text(arguments.clone());
            }
            ui.add(egui::Label::new(egui::RichText::new(arguments).small().monospace()).wrap());
        }
    });
}
