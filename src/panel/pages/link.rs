//! The link of a lane: its conditions, what arrives through it, and how that is played back.

mod arrived;
mod conditions;
mod more;
mod playout;

use bevy_egui::egui::Ui;

use crate::panel::style::page_left;
use crate::panel::widgets::{divider, note};
use crate::replication::{LaneMeter, LaneSettings, ReplicaError};

/// What the page reads.
pub(super) struct Measured<'a> {
    pub(super) meter: &'a LaneMeter,
    pub(super) replica_error: Option<&'a ReplicaError>,
    /// Seconds that the graphs go back.
    pub(super) seconds: u32,
    /// Whether the sender is in another process.
    pub(super) is_remote: bool,
}

pub(super) fn draw(ui: &mut Ui, settings: &mut LaneSettings, what: &Measured<'_>) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let has_room = page_left(ui) >= ROOMY;
    let link = &mut settings.link.conditions;
    match what.is_remote {
        true => {
            note(ui, "Simulated, in addition to the real network:");
        }
        false => conditions::presets(ui, link),
    }
    conditions::fields(ui, link);
    if has_room {
        more::draw(ui, settings);
    }
    divider(ui);
    arrived::draw(ui, what.meter, what.seconds);
    divider(ui);
    playout::draw(ui, settings, what);
    if !has_room {
        divider(ui);
        more::draw(ui, settings);
    }
}

/// Height of a page on which everything is in sight, below the switch of the tab, logical points.
const ROOMY: f32 = 402.0 + 5.0 * 27.0;
