//! The link of a lane: its conditions, what arrives through it, and how that is played back.

mod arrived;
mod conditions;
mod more;
mod playout;

use bevy_egui::egui::Ui;

use crate::panel::lane::LaneView;
use crate::panel::style::page_left;
use crate::panel::widgets::{divider, note};

/// Draws it with graphs that go back that many seconds.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>, seconds: u32) {
    let has_room = page_left(ui) >= ROOMY;
    let link = &mut lane.settings.link.conditions;
    match lane.peers.is_server() {
        true => {
            note(ui, "Simulated, in addition to the real network:");
        }
        false => conditions::presets(ui, link),
    }
    conditions::fields(ui, link);
    if has_room {
        more::draw(ui, lane.settings);
    }
    divider(ui);
    arrived::draw(ui, lane.meter, seconds);
    divider(ui);
    playout::draw(ui, lane, seconds);
    if !has_room {
        divider(ui);
        more::draw(ui, lane.settings);
    }
}

/// Width of the names of what is set, logical points.
const LABEL: f32 = 104.0;

/// Height of a page on which everything is in sight, below the switch of the tab, logical points.
const ROOMY: f32 = 402.0 + 3.0 * 27.0;
