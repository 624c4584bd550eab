//! Buttons that save what is measured.

use bevy::prelude::*;
use bevy_egui::egui;

/// Asks for a file with what is measured. Something else saves it.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Export {
    /// The last minute of the selected lane as a table.
    Csv,
    /// The last minute with every packet's header, and its bits where they are recorded.
    JsonLines,
    /// The bandwidth graph as a picture.
    GraphPng,
    /// The bandwidth graph as a table.
    GraphCsv,
}

impl Export {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Csv, Self::JsonLines, Self::GraphPng, Self::GraphCsv];

    /// The name on its button.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::JsonLines => "JSON lines",
            Self::GraphPng => "graph PNG",
            Self::GraphCsv => "graph CSV",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Csv => "The last minute of this lane: a row for each tick.",
            Self::JsonLines => {
                "The same as an object for each tick, with the headers of the packets, and, of those that \
                 were sent while the timeline or the cubes' costs were shown, what every bit is for."
            }
            Self::GraphPng => "The graph above as a picture.",
            Self::GraphCsv => "The lines of the graph above: a row for each tick.",
        }
    }
}

/// Draws a button for each file. Returns the one that was pressed.
pub(super) fn row(ui: &mut egui::Ui) -> Option<Export> {
    // A narrow panel has no room for all of them in one row.
    let row = ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.label("Export:");
        let mut pressed = None;
        for export in Export::ALL {
            let button = ui.button(export.name()).on_hover_text(export.about());
            if button.clicked() {
                pressed = Some(export);
            }
        }
        pressed
    });
    row.inner
}
