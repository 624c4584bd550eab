//! What the graph shows, and how: a row of switches.

use bevy_egui::egui;

use super::axis::Axis;
use super::series::{Point, Points};
use crate::panel::lane::Measured;
use crate::panel::settings::{MAX_GRAPH_SECONDS, MIN_GRAPH_SECONDS, PanelState};
use crate::panel::terms;
use crate::replication::Accounting;

/// Switches for what the graph shows, in one row.
pub(in crate::panel) fn controls(
    ui: &mut egui::Ui,
    state: &mut PanelState,
    lanes: &[Measured<'_>],
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        for accounting in Accounting::ALL {
            ui.selectable_value(&mut state.accounting, accounting, accounting.name())
                .on_hover_text(terms::accounting(accounting));
        }
        ui.separator();
        for (axis, name, about) in [
            (
                Axis::Automatic,
                "auto",
                "Logarithmic while the rates that are shown differ much, otherwise linear.",
            ),
            (Axis::Linear, "linear", "Scale of the vertical axis."),
            (Axis::Logarithmic, "log", "Scale of the vertical axis."),
        ] {
            ui.selectable_value(&mut state.axis, axis, name)
                .on_hover_text(about);
        }
        ui.separator();
        let seconds = MIN_GRAPH_SECONDS..=MAX_GRAPH_SECONDS;
        let seconds = egui::DragValue::new(&mut state.graph_seconds)
            .range(seconds)
            .suffix(" s");
        ui.add(seconds)
            .on_hover_text("Time span of the graph. Drag, or click and type.");
        let paused = state.frozen.is_some();
        let freeze = ui
            .selectable_label(paused, "freeze")
            .on_hover_text("Stops the graph. The game goes on.");
        if freeze.clicked() {
            state.frozen = if paused {
                None
            } else {
                let points = |lane: &Measured<'_>| -> Points {
                    lane.meter.samples().iter().map(Point::from).collect()
                };
                let lanes = lanes.iter().map(|lane| (lane.side, points(lane)));
                Some(lanes.collect())
            };
        }
    });
}
