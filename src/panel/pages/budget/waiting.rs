//! The cubes that wait for their turn within a budget.

use bevy_egui::egui::Ui;
use cubewire_codec::Plan;
use cubewire_inspector::{names::Names, waiting::Waiting};
use cubewire_scene::TICKS_PER_SECOND;

use crate::panel::lane::LaneView;
use crate::panel::terms;

pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    // With a budget, not every tick has a packet.
    let mut packets = lane
        .meter
        .second_until(None)
        .flat_map(|sample| &sample.snapshots);
    let plan = Plan::cubes();
    let waiting = Waiting {
        standings: lane.standings,
        tick: lane.now(),
        ticks_per_second: TICKS_PER_SECOND,
        changed: packets.next().map_or(0, |packet| packet.changed_cubes),
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
