//! The parameters of the stages, what their ranges have to hold, and what they trade: kilobits against the error of the
//! replica.

mod block;
mod histogram;
mod tradeoff;
pub(in crate::panel) mod tried;

use bevy_egui::egui::{Response, Ui};
use cubewire_codec::quantize::smallest_three::{MAX_BITS, MIN_BITS};
use cubewire_codec::stages::{Delta, Orientation, Position, RelativeOrientation, RelativePosition};
use cubewire_codec::{BitKind, StageOptions, Stages};
use cubewire_scene::TICKS_PER_SECOND;

use crate::panel::widgets::{Parameter, divider, parameter};
use crate::replication::{DeltaCounts, LaneMeter, Totals};
use block::Block;
use histogram::Bars;
use tried::Tradeoffs;

/// What the page reads.
pub(in crate::panel) struct Measured<'a> {
    pub(in crate::panel) counts: Option<&'a DeltaCounts>,
    pub(in crate::panel) meter: &'a LaneMeter,
    pub(in crate::panel) tradeoffs: &'a Tradeoffs,
}

pub(in crate::panel) fn draw(ui: &mut Ui, stages: &mut Stages, what: &Measured<'_>) {
    ui.spacing_mut().item_spacing.y = 0.0;
    precisions(ui, stages);
    let counts = what.counts.cloned().unwrap_or_default();
    let second = Totals::of(what.meter.newest(TICKS_PER_SECOND as usize));
    let bits =
        |kind| (second.sent_cubes > 0).then(|| second.ledger.kind(kind) / second.sent_cubes as f64);
    let position = Block {
        title: "Position difference",
        bars: Bars {
            about: ABOUT_POSITION,
            counts: &counts.position,
            last: usize::from(RelativePosition::MAX_RANGE_BITS),
            kind: BitKind::Position,
            ranges: stages.relative_position.range_bits(),
        },
        beyond: 0.0,
        bits_a_cube: bits(BitKind::Position),
        max: RelativePosition::MAX_RANGE_BITS,
    };
    let [other, same] = counts.largest;
    let beyond = other / (other + same).max(1.0);
    let about = format!(
        "Bits that a component of a changed orientation's difference from the baseline needs. {:.1} % of the \
         orientations omit another component than the baseline's, and are sent whole.",
        100.0 * beyond
    );
    let orientation = Block {
        title: "Orientation difference",
        bars: Bars {
            about: &about,
            counts: &counts.orientation,
            last: usize::from(RelativeOrientation::MAX_RANGE_BITS) + 2,
            kind: BitKind::Orientation,
            ranges: stages.relative_orientation.range_bits(),
        },
        beyond,
        bits_a_cube: bits(BitKind::Orientation),
        max: RelativeOrientation::MAX_RANGE_BITS,
    };
    let index = Block {
        title: "Distance to the next cube",
        bars: Bars {
            about: "Bits of the distance from one changed cube to the next, less 1.",
            counts: &counts.index,
            last: INDEX_BITS,
            kind: BitKind::Selection,
            ranges: stages.delta.range_bits(),
        },
        beyond: 0.0,
        bits_a_cube: bits(BitKind::Selection),
        max: Delta::MAX_RANGE_BITS,
    };
    divider(ui);
    position.draw(ui, stages, |options, [small, large]| {
        options.relative_position = RelativePosition::TwoRanges { small, large };
    });
    divider(ui);
    orientation.draw(ui, stages, |options, [small, large]| {
        options.relative_orientation = RelativeOrientation::TwoRanges { small, large };
    });
    divider(ui);
    tradeoff::draw(ui, *stages, what.tradeoffs);
    divider(ui);
    index.draw(ui, stages, |options, [small, large]| {
        options.delta = Delta::RelativeIndices { small, large };
    });
}

/// The grid of positions, by powers of two, and the bits of orientations.
fn precisions(ui: &mut Ui, stages: &mut Stages) {
    let power = |steps: u16| steps.ilog2() as u8;
    let (steps, absent) = match stages.position {
        Position::Quantized { steps_per_metre } => (power(steps_per_metre), None),
        _ => (
            power(Position::MAX_STEPS),
            Some("The positions are not quantized."),
        ),
    };
    let grid = Parameter {
        height: HEIGHT,
        label: "Position grid",
        name: "Position grid".to_owned(),
        widths: WIDTHS,
        range: power(Position::MIN_STEPS)..=power(Position::MAX_STEPS),
        unit: "steps / m",
        is_power: true,
        absent,
    };
    edit(ui, stages, &grid, steps, |options, power| {
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

/// A parameter that is set if the codec accepts it; says why not if it does not.
fn edit(
    ui: &mut Ui,
    stages: &mut Stages,
    of: &Parameter<'_>,
    mut value: u8,
    set: impl FnOnce(&mut StageOptions, u8),
) -> Response {
    let response = parameter(ui, of, &mut value);
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

const ABOUT_POSITION: &str = "Bits that a component of a changed position's difference from the baseline needs. The lines \
     are the ends of the small and of the large range; what is beyond is sent whole.";

const COMPONENT_BITS: &str = "Each of the three components is quantized between −1/√2 and +1/√2. With b bits per component, \
     an orientation takes 2 + 3 × b bits; the article uses b = 9.";

/// Bits of the index of a cube.
const INDEX_BITS: usize = 10;

/// Logical points.
const HEIGHT: f32 = 28.0;
const WIDTHS: [f32; 3] = [140.0, 112.0, 48.0];
