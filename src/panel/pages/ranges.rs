//! Sliders for the parameters of the stages, what their ranges have to hold, and what they trade: kilobits
//! against the replica error.

mod histogram;
mod tradeoff;
pub(in crate::panel) mod tried;

use std::ops::RangeInclusive;

use bevy_egui::egui::{self, Slider};
use cubewire_codec::quantize::smallest_three::{MAX_BITS, MIN_BITS};
use cubewire_codec::stages::{Delta, Orientation, Position, RelativeOrientation, RelativePosition};
use cubewire_codec::{StageOptions, Stages};

use crate::panel::settings::PanelState;
use crate::replication::{DeltaCounts, LaneMeter};
use tried::Tradeoffs;

/// What the page reads.
pub(in crate::panel) struct Measured<'a> {
    pub(in crate::panel) counts: Option<&'a DeltaCounts>,
    pub(in crate::panel) meter: &'a LaneMeter,
    pub(in crate::panel) tradeoffs: &'a Tradeoffs,
}

pub(in crate::panel) fn draw(
    ui: &mut egui::Ui,
    state: &PanelState,
    stages: &mut Stages,
    what: &Measured<'_>,
) {
    ui.spacing_mut().item_spacing.y = 3.0;
    sliders(ui, stages);
    ui.separator();
    histogram::draw(ui, state.theme, *stages, what);
    ui.separator();
    tradeoff::draw(ui, state.theme, *stages, what.tradeoffs);
}

/// A slider for each parameter; disabled where the stages do not have it, with the reason.
fn sliders(ui: &mut egui::Ui, stages: &mut Stages) {
    ui.spacing_mut().slider_width = SLIDER_WIDTH;
    let log = match stages.position {
        Position::Quantized { steps_per_metre } => Ok(steps_per_metre.ilog2() as u8),
        _ => Err("The positions are not quantized."),
    };
    let limits = Position::MIN_STEPS.ilog2() as u8..=Position::MAX_STEPS.ilog2() as u8;
    let steps = |log: f64, _| format!("{}", 1_u32 << log as u32);
    let text = "position, steps a metre";
    parameter(
        ui,
        stages,
        (log, limits),
        |slider| slider.custom_formatter(steps).text(text),
        |options, log| {
            options.position = Position::Quantized {
                steps_per_metre: 1 << log,
            };
        },
    );
    let bits = match stages.orientation {
        Orientation::SmallestThree { bits } => Ok(bits),
        Orientation::Full => Err("The orientations are sent as floats."),
    };
    let text = "orientation, bits a component";
    parameter(
        ui,
        stages,
        (bits, MIN_BITS..=MAX_BITS),
        |slider| slider.text(text),
        |options, bits| {
            options.orientation = Orientation::SmallestThree { bits };
        },
    );
    let ranges = stages.relative_position.range_bits();
    let max = RelativePosition::MAX_RANGE_BITS;
    pair(
        ui,
        stages,
        "position",
        ranges,
        max,
        |options, [small, large]| {
            options.relative_position = RelativePosition::TwoRanges { small, large };
        },
    );
    let ranges = stages.relative_orientation.range_bits();
    let max = RelativeOrientation::MAX_RANGE_BITS;
    pair(
        ui,
        stages,
        "orientation",
        ranges,
        max,
        |options, [small, large]| {
            options.relative_orientation = RelativeOrientation::TwoRanges { small, large };
        },
    );
    let ranges = stages.delta.range_bits();
    pair(
        ui,
        stages,
        "relative index",
        ranges,
        Delta::MAX_RANGE_BITS,
        |options, [small, large]| {
            options.delta = Delta::RelativeIndices { small, large };
        },
    );
}

/// One slider: the value, or why there is none, and its limits. What it sets takes effect if the codec accepts it.
fn parameter(
    ui: &mut egui::Ui,
    stages: &mut Stages,
    (value, limits): (Result<u8, &str>, RangeInclusive<u8>),
    look: impl FnOnce(Slider<'_>) -> Slider<'_>,
    set: impl FnOnce(&mut StageOptions, u8),
) {
    let mut wanted = value.unwrap_or(*limits.end());
    let slider = look(Slider::new(&mut wanted, limits));
    let response = ui.add_enabled(value.is_ok(), slider);
    let response = match value {
        Ok(_) => response,
        Err(absent) => response.on_disabled_hover_text(absent),
    };
    if !response.changed() {
        return;
    }
    let mut candidate = **stages;
    set(&mut candidate, wanted);
    match candidate.check() {
        Ok(legal) => *stages = legal,
        Err(illegal) => response.show_tooltip_text(illegal.to_string()),
    }
}

/// The two widths of growing ranges.
fn pair(
    ui: &mut egui::Ui,
    stages: &mut Stages,
    name: &str,
    ranges: Option<[u8; 2]>,
    max: u8,
    set: impl Fn(&mut StageOptions, [u8; 2]),
) {
    let absent = "The stages have no such two ranges: see the Stages tab.";
    let [small, large] = ranges.unwrap_or([1, max]);
    let value = |value| ranges.map(|_| value).ok_or(absent);
    ui.horizontal(|ui| {
        ui.spacing_mut().slider_width = PAIR_WIDTH;
        parameter(
            ui,
            stages,
            (value(small), 1..=large),
            |slider| slider,
            |options, small| {
                set(options, [small, large]);
            },
        );
        let text = format!("bits, {name}");
        parameter(
            ui,
            stages,
            (value(large), small..=max),
            |slider| slider.text(text),
            |options, large| {
                set(options, [small, large]);
            },
        );
    });
}

/// Logical points.
const SLIDER_WIDTH: f32 = 130.0;
const PAIR_WIDTH: f32 = 46.0;
