//! The page *Link and playout*: conditions of the link, arrived and lost snapshots, and playout.

mod arrived;
mod conditions;
mod playout;

use cubewire_link::Bandwidth;
use cubewire_protocol::{BaselineChoice, CANDIDATES};

use crate::panel::lane::LaneView;
use crate::panel::prelude::*;
use crate::panel::terms;
use crate::replication::LaneSettings;
use conditions::BETWEEN;

/// Draws the page. Its graphs cover the last `seconds`.
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
        more(ui, lane.settings);
    }
    divider(ui);
    arrived::draw(ui, lane.meter, seconds);
    divider(ui);
    playout::draw(ui, lane, seconds);
    if !has_room {
        divider(ui);
        more(ui, lane.settings);
    }
}

/// Draws the less common settings: bandwidth limit, and baseline.
fn more(ui: &mut Ui, settings: &mut LaneSettings) {
    ui.spacing_mut().item_spacing.y = BETWEEN;
    limit(ui, &mut settings.link.conditions.bandwidth);
    let smallest = format!(
        "Of the newest {CANDIDATES} acknowledged snapshots, the one with the smallest packet. The sender encodes \
         against each of them."
    );
    let newest = "The newest acknowledged snapshot.";
    let baselines = [
        Choice::new(BaselineChoice::Newest, "newest", newest),
        Choice::new(BaselineChoice::Smallest, "smallest", smallest),
    ];
    let baseline = &mut settings.sender.baseline;
    switch(ui, LABEL, "Baseline", baseline, &baselines).on_hover_text(terms::BASELINE);
    ui.spacing_mut().item_spacing.y = 0.0;
}

fn limit(ui: &mut Ui, bandwidth: &mut Option<Bandwidth>) {
    let row = named(ui, LABEL, "Limit", SMALL, |ui| {
        let limited = Some(bandwidth.unwrap_or(FIRST_LIMIT));
        let states = choices([
            (None, "off", "The bandwidth is unlimited."),
            (limited, "on", "A bottleneck, with a queue in front of it."),
        ]);
        segmented(ui, 56.0, bandwidth, &states);
        let Some(bandwidth) = bandwidth else { return };
        ui.spacing_mut().item_spacing.x = 6.0;
        let mut kbps = bandwidth.bits_per_second as f64 / 1000.0;
        let drag = DragValue::new(&mut kbps).range(16.0..=1_000_000.0).fixed_decimals(0);
        if field(ui, "Limit in kbps", LIMIT, drag, "kbps").changed() {
            bandwidth.bits_per_second = (kbps * 1000.0).round() as u64;
        }
        let drag = DragValue::new(&mut bandwidth.queue_bytes).range(1_500..=1_000_000);
        field(ui, "Queue in bytes", LIMIT, drag.speed(100.0), "bytes")
            .on_hover_text("The queue. Packets that do not fit into it are dropped.");
    });
    row.0.on_hover_text("Bandwidth of the link, and the queue in front of it.");
}

const FIRST_LIMIT: Bandwidth = Bandwidth { bits_per_second: 256_000, queue_bytes: 16_000 };

/// Sizes, logical points.
const LIMIT: f32 = 60.0;

/// Width of the labels of settings, logical points.
const LABEL: f32 = 104.0;

/// Height of the page below the switch of the tab at which all settings fit, logical points.
const ROOMY: f32 = 402.0 + 2.0 * 27.0;
