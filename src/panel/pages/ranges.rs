//! The page *Ranges*: parameters of the stages, distributions of the values that their ranges hold, and bandwidth against
//! replica error.

mod block;
pub(crate) mod tradeoff;

use cubewire_codec::ladder::{RELATIVE_INDEX, RELATIVE_ORIENTATION, RELATIVE_POSITION};
use cubewire_codec::quantize::smallest_three::{MAX_BITS, MIN_BITS};
use cubewire_codec::stages::{Delta, Orientation, Position, RelativeOrientation, RelativePosition};

use crate::panel::prelude::*;
use block::Block;

pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let counts = lane.counts.cloned().unwrap_or_default();
    let measured = lane.meter.second(None);
    let means = measured.clone().unwrap_or_default();
    let stages = &mut lane.settings.sender.stages;
    precisions(ui, stages);
    let [other, same] = counts.largest;
    let beyond = other / (other + same).max(1.0);
    let about_orientation = format!(
        "Bits per component of the difference between a changed orientation and the baseline. {:.1} % of the \
         orientations omit another component than the baseline's, and are sent whole.",
        100.0 * beyond
    );
    let position = Block {
        title: "Position difference",
        rung: RELATIVE_POSITION,
        about: ABOUT_POSITION,
        counts: &counts.position,
        last: usize::from(RelativePosition::MAX_RANGE_BITS),
        kind: BitKind::Position,
        ranges: stages.relative_position.range_bits(),
        set: |options, [small, large]| {
            options.relative_position = RelativePosition::TwoRanges { small, large };
        },
        beyond: 0.0,
        max: RelativePosition::MAX_RANGE_BITS,
    };
    let orientation = Block {
        title: "Orientation difference",
        rung: RELATIVE_ORIENTATION,
        about: &about_orientation,
        counts: &counts.orientation,
        last: usize::from(RelativeOrientation::MAX_RANGE_BITS) + 2,
        kind: BitKind::Orientation,
        ranges: stages.relative_orientation.range_bits(),
        set: |options, [small, large]| {
            options.relative_orientation = RelativeOrientation::TwoRanges { small, large };
        },
        beyond,
        max: RelativeOrientation::MAX_RANGE_BITS,
    };
    let index = Block {
        title: "Distance to the next cube",
        rung: RELATIVE_INDEX,
        about: "Bits of the distance from one changed cube to the next, minus 1.",
        counts: &counts.index,
        last: 10,
        kind: BitKind::Selection,
        ranges: stages.delta.range_bits(),
        set: |options, [small, large]| options.delta = Delta::RelativeIndices { small, large },
        beyond: 0.0,
        max: Delta::MAX_RANGE_BITS,
    };
    let mut blocks = [position, orientation, index];
    // Blocks with sliders go first, so that they are visible without scrolling.
    blocks.sort_by_key(|block| block.ranges.is_none());
    let [first, second, last] = blocks;
    first.draw(ui, stages, &means);
    second.draw(ui, stages, &means);
    divider(ui);
    tradeoff::draw(ui, *stages, measured.as_ref(), lane.tradeoffs);
    last.draw(ui, stages, &means);
}

/// Draws the sliders for the position grid, in powers of two, and for the bits of orientations.
fn precisions(ui: &mut Ui, stages: &mut Stages) {
    let power = |steps: u16| steps.ilog2() as u8;
    let (steps, absent) = match stages.position {
        Position::Quantized { steps_per_metre } => (steps_per_metre, None),
        _ => (Position::MAX_STEPS, Some("The positions are not quantized.")),
    };
    let grid = Parameter {
        label: "Position grid",
        name: "Position grid".to_owned(),
        widths: [NAME, ui.available_width() - NAME - NUMBER - UNIT, NUMBER],
        range: power(Position::MIN_STEPS)..=power(Position::MAX_STEPS),
        unit: "steps / m",
        is_power: true,
        absent,
    };
    edit(ui, stages, &grid, power(steps), |options, power| {
        let steps_per_metre = 1 << power;
        options.position = Position::Quantized { steps_per_metre };
    });
    let (bits, absent) = match stages.orientation {
        Orientation::SmallestThree { bits } => (bits, None),
        Orientation::Full => (MAX_BITS, Some("The orientations are sent as floats.")),
    };
    let component = Parameter {
        label: "Orientation",
        name: "Orientation".to_owned(),
        range: MIN_BITS..=MAX_BITS,
        unit: "bits each",
        is_power: false,
        absent,
        ..grid
    };
    let edited = edit(ui, stages, &component, bits, |options, bits| {
        options.orientation = Orientation::SmallestThree { bits };
    });
    edited.on_hover_text(COMPONENT_BITS);
}

/// Draws the slider of a parameter. Applies a change if the codec accepts it; otherwise shows the reason.
fn edit(
    ui: &mut Ui,
    stages: &mut Stages,
    of: &Parameter<'_>,
    mut value: u8,
    set: impl FnOnce(&mut StageOptions, u8),
) -> Response {
    let response = of.draw(ui, &mut value);
    if response.changed() {
        let mut candidate = **stages;
        set(&mut candidate, value);
        match candidate.check() {
            Ok(legal) => *stages = legal,
            Err(illegal) => response.show_tooltip_text(illegal.to_string()),
        }
    }
    response
}

const ABOUT_POSITION: &str = "Bits per component of the difference between a changed position and the baseline. \
    The lines are the ends of the small and of the large range. Positions beyond them are sent whole.";

const COMPONENT_BITS: &str = "Each of the three components is quantized between −1/√2 and +1/√2. With b bits per component, \
     an orientation takes 2 + 3 × b bits; the article uses b = 9.";

/// Sizes, logical points.
const NAME: f32 = 140.0;
const NUMBER: f32 = 48.0;
const UNIT: f32 = 76.0;
