//! The settings of the panel itself, and the list of all keys.

use bevy_egui::egui::{self, gui_zoom};

use crate::controls::BINDINGS;
use crate::panel::lane::Status;
use crate::panel::settings::PanelState;
use crate::theme::Theme;

pub(in crate::panel) fn draw(ui: &mut egui::Ui, state: &mut PanelState, status: &Status<'_>) {
    ui.horizontal(|ui| {
        ui.label("Theme");
        ui.selectable_value(&mut state.theme, Theme::Light, "light");
        ui.selectable_value(&mut state.theme, Theme::Dark, "dark");
        ui.separator();
        ui.label("Size");
        let ctx = ui.ctx().clone();
        if ui.button("−").on_hover_text("Smaller: Ctrl −").clicked() {
            gui_zoom::zoom_out(&ctx);
        }
        ui.monospace(format!("{:3.0} %", 100.0 * ctx.zoom_factor()));
        if ui.button("+").on_hover_text("Larger: Ctrl +").clicked() {
            gui_zoom::zoom_in(&ctx);
        }
        let is_automatic = state.scale.is_none();
        let automatic = ui
            .selectable_label(is_automatic, "automatic")
            .on_hover_text("Follows the size of the window.");
        if automatic.clicked() {
            state.scale = None;
        }
    });
    if let Some(path) = status.settings {
        let text = format!("Kept for the next start in {}", path.display());
        ui.horizontal(|ui| {
            let reset = ui.button("Reset the panel");
            if reset
                .on_hover_text("Puts theme, size, tab and graph back to their defaults.")
                .clicked()
            {
                *state = PanelState {
                    explained: true,
                    last_rung: state.last_rung,
                    ..PanelState::default()
                };
            }
            ui.add(egui::Label::new(egui::RichText::new(&text).weak().small()).truncate())
                .on_hover_text(&text);
        });
    }
    ui.separator();
    ui.spacing_mut().item_spacing.y = 1.0;
    for row in &BINDINGS {
        ui.horizontal_top(|ui| {
            ui.scope(|ui| {
                ui.set_width(KEYS_WIDTH);
                let keys = egui::RichText::new(row.keys).monospace().small();
                ui.add(egui::Label::new(keys).wrap());
            });
            ui.add(egui::Label::new(row.about).wrap());
        });
    }
}

/// Logical points: the longest list of keys takes a line.
const KEYS_WIDTH: f32 = 158.0;
