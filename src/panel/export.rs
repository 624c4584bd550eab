//! The files that save what is measured.

use bevy::prelude::*;

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

    /// The name of its entry in the list.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csv => "Last minute, CSV",
            Self::JsonLines => "Last minute, JSON lines",
            Self::GraphPng => "Graph, PNG",
            Self::GraphCsv => "Graph, CSV",
        }
    }

    pub(super) const fn about(self) -> &'static str {
        match self {
            Self::Csv => "The last minute of this lane: a row for each tick.",
            Self::JsonLines => {
                "The last minute as an object for each tick, with the headers of its packets and what every bit of them \
                 is for."
            }
            Self::GraphPng => "The graph above as a picture.",
            Self::GraphCsv => "The lines of the graph above: a row for each tick.",
        }
    }
}
