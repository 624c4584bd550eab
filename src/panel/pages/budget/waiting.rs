//! The cubes that have waited for their turn within a budget.

use bevy_egui::egui::Ui;
use cubewire_codec::Plan;
use cubewire_inspector::{names::Names, waiting::Waiting};
use cubewire_scene::TICKS_PER_SECOND;

use crate::panel::lane::LaneView;
use crate::panel::terms;

pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let waits = lane.standings.map(|standings| standings.waits.longest());
    let plan = Plan::cubes();
    let waiting = Waiting {
        waits: &waits.unwrap_or_default(),
        ticks_per_second: TICKS_PER_SECOND,
        names: Names::of_cubes(&plan),
        unit: ("mm", 1000.0),
        width: WIDTH,
        hint: "Hover a row: the cube is outlined in both halves.",
    };
    let heading = lane.selection.lit(|lit| waiting.draw(ui, lit));
    heading.on_hover_text(terms::STANDING);
}

/// Of the numbers of cubes, logical points.
const WIDTH: f32 = 48.0;
