//! What is set about a link less often: the kind of jitter, a limit, the baseline, the cut.

use bevy_egui::egui::{DragValue, Ui};
use cubewire_link::{Bandwidth, Conditions, Jitter};
use cubewire_protocol::{BaselineChoice, CANDIDATES};

use super::LABEL;
use super::conditions::{BETWEEN, TWO_TICKS, USUAL_TAIL};
use crate::panel::style::SMALL;
use crate::panel::terms;
use crate::panel::widgets::{Choice, Kind, button, choices, field, named, segmented, switch};
use crate::replication::{LaneSettings, LinkSettings};

/// What is wanted less often: the kind of jitter, the limit of the link, the baseline; cut and reset.
pub(super) fn draw(ui: &mut Ui, settings: &mut LaneSettings) {
    ui.spacing_mut().item_spacing.y = BETWEEN;
    let link = &mut settings.link.conditions;
    kinds_of_jitter(ui, &mut link.jitter);
    limit(ui, &mut link.bandwidth);
    let smallest = format!(
        "The one of the newest {CANDIDATES} acknowledged snapshots that makes the smallest packet. The \
         sender encodes against each of them."
    );
    let newest = "The newest acknowledged snapshot.";
    let baselines = [
        Choice::new(BaselineChoice::Newest, "newest", newest),
        Choice::new(BaselineChoice::Smallest, "smallest", smallest),
    ];
    let baseline = &mut settings.sender.baseline;
    switch(ui, LABEL, "Baseline", baseline, &baselines).on_hover_text(terms::BASELINE);
    cut(ui, link);
    ui.spacing_mut().item_spacing.y = 0.0;
}

fn cut(ui: &mut Ui, link: &mut Conditions) {
    named(ui, LABEL, "Link", SMALL, |ui| {
        let states = choices([
            (
                false,
                "whole",
                "Packets go through, under the conditions above.",
            ),
            (
                true,
                "cut",
                "Drops packets in both directions. Those already on their way still arrive. Key: L.",
            ),
        ]);
        segmented(ui, HALF, &mut link.cut, &states);
        let usual = LinkSettings::default().conditions;
        ui.add_enabled_ui(*link != usual, |ui| {
            let across = ui.available_width();
            let reset = button(ui, across, "Reset the link", "", Kind::Secondary);
            let reset = reset.on_hover_text("Back to 50 ms each way, without losses.");
            if reset.clicked() {
                *link = usual;
            }
        });
    });
}

fn kinds_of_jitter(ui: &mut Ui, jitter: &mut Jitter) {
    let kind = match jitter {
        Jitter::None => 0,
        Jitter::Uniform { .. } => 1,
        Jitter::LogNormal { .. } => 2,
    };
    named(ui, LABEL, "Kind of jitter", SMALL, |ui| {
        let mut chosen = kind;
        let across = ui.available_width() - SIGMA;
        let states = choices([
            (0, "none", "Every packet takes as long."),
            (1, "uniform", "Uniformly distributed around the delay."),
            (
                2,
                "log-normal",
                "Usually a small extra delay, occasionally a long one.",
            ),
        ]);
        segmented(ui, across, &mut chosen, &states);
        if chosen != kind {
            *jitter = match chosen {
                0 => Jitter::None,
                1 => Jitter::Uniform { spread: TWO_TICKS },
                _ => USUAL_TAIL,
            };
        }
        if let Jitter::LogNormal { sigma, .. } = jitter {
            let drag = DragValue::new(sigma).range(0.0..=2.0).speed(0.01);
            let sigma = field(ui, SMALL_FIELD, drag.fixed_decimals(1), "sigma");
            sigma.on_hover_text(
                "Length of the tail: at 1, one packet in a hundred is ten times as late as usual.",
            );
        }
    });
}

fn limit(ui: &mut Ui, bandwidth: &mut Option<Bandwidth>) {
    let row = named(ui, LABEL, "Limit", SMALL, |ui| {
        let mut is_limited = bandwidth.is_some();
        let states = choices([
            (false, "off", "Any number of bits goes through."),
            (true, "on", "A bottleneck, with a queue in front of it."),
        ]);
        segmented(ui, SMALL_SWITCH, &mut is_limited, &states);
        if is_limited != bandwidth.is_some() {
            *bandwidth = is_limited.then_some(FIRST_LIMIT);
        }
        let Some(bandwidth) = bandwidth else {
            return;
        };
        ui.spacing_mut().item_spacing.x = 6.0;
        let mut kbps = bandwidth.bits_per_second as f64 / 1000.0;
        let drag = DragValue::new(&mut kbps).range(16.0..=1_000_000.0);
        if field(ui, SMALL_FIELD, drag.fixed_decimals(0), "kbps").changed() {
            bandwidth.bits_per_second = (kbps * 1000.0).round() as u64;
        }
        let drag = DragValue::new(&mut bandwidth.queue_bytes).range(1_500..=1_000_000);
        field(ui, SMALL_FIELD, drag.speed(100.0), "bytes")
            .on_hover_text("The queue. Packets that do not fit into it are dropped.");
    });
    row.0.on_hover_text(
        "Bits that the link lets through in a second, and the queue in front of it.",
    );
}

const FIRST_LIMIT: Bandwidth = Bandwidth {
    bits_per_second: 256_000,
    queue_bytes: 16_000,
};

/// Logical points.
const HALF: f32 = 132.0;
const SIGMA: f32 = 104.0;
const SMALL_FIELD: f32 = 52.0;
const SMALL_SWITCH: f32 = 72.0;
