//! What each half of the screen shows: pickers, and the lanes as text in the form of the command line.

mod typed;

use bevy_egui::egui::{Rect, Response, Sense, Ui, pos2, vec2};

use super::pickers;
use crate::controls::Action;
use crate::panel::lane::{Halves, LaneView};
use crate::panel::style::{self, BODY, CONTROL, Look, SMALL};
use crate::panel::widgets::{At, Kind, button, choices, named, segmented, text};
use crate::replication::{LaneSettings, rung_name};
use crate::view::{PaneContent, Side};

/// Returns the action that a button asks for.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) -> Option<Action> {
    let halves = lane.halves.as_deref_mut()?;
    let of = |side: Side| {
        let shown = lane.shown.iter().find(|shown| shown.side == side);
        shown.map(|shown| &shown.settings)
    };
    for side in Side::ALL {
        ui.add_space(ABOVE);
        let drawn = ui.push_id(side, |ui| {
            style::in_half(ui, side, |ui| half(ui, halves, side, of(side)));
        });
        let rect = drawn.response.rect;
        let edge = Rect::from_min_max(rect.left_top(), pos2(rect.left() + EDGE, rect.bottom()));
        let color = side.color_in(Look::of(ui));
        ui.painter().rect_filled(edge, 0.0, color);
    }
    ui.add_space(ABOVE);
    let both = of(Side::Left).zip(of(Side::Right));
    buttons(ui, halves, both)
}

/// Everything about one half, beside its edge.
fn half(ui: &mut Ui, halves: &mut Halves, side: Side, settings: Option<&LaneSettings>) {
    ui.horizontal(|ui| {
        ui.add_space(EDGE + BESIDE);
        ui.vertical(|ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = BETWEEN;
            what(ui, halves, side);
            let Some(settings) = settings else {
                return;
            };
            let mut picked = settings.clone();
            pick(ui, &mut picked);
            if picked != *settings {
                halves.typed.push((side, PaneContent::Lane(picked)));
            }
            if let Some(content) = typed::field(ui, LABEL, side, settings) {
                halves.typed.push((side, content));
            }
        });
    });
}

/// The name of the half, and whether it shows a lane.
fn what(ui: &mut Ui, halves: &mut Halves, side: Side) {
    let look = Look::of(ui);
    let name = match side {
        Side::Left => "Left half",
        Side::Right => "Right half",
    };
    let width = ui.available_width();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let (rect, _) = ui.allocate_exact_size(vec2(LABEL, CONTROL), Sense::hover());
        text(ui.painter(), rect, At::Left(0.0), name, BODY, look.half);
        if side == Side::Right {
            let always = ui.weak("always a replica");
            always.on_hover_text("The other end of the network, rebuilt from packets alone.");
            return;
        }
        let contents = choices([
            (
                false,
                "simulation",
                "The physics itself, without any network.",
            ),
            (true, "a replica", REPLICA),
        ]);
        segmented(ui, width - LABEL, &mut halves.left_is_lane, &contents);
    });
}

fn pick(ui: &mut Ui, lane: &mut LaneSettings) {
    let size = [ui.available_width() - LABEL, CONTROL];
    named(ui, LABEL, "Stages", SMALL, |ui| {
        let shown = rung_name(lane.sender.stages);
        pickers::rung_named(ui, &mut lane.sender, shown, size);
    });
    named(ui, LABEL, "Network", SMALL, |ui| {
        pickers::network(ui, &mut lane.link.conditions, size);
    });
    named(ui, LABEL, "Snapshots/s", SMALL, |ui| {
        pickers::rate(ui, RATES, &mut lane.sender);
        named(ui, PLAYOUT, "delay", SMALL, |ui| pickers::delay(ui, lane));
    });
    pickers::interpolation(ui, LABEL, &mut lane.playout.interpolation);
}

/// What applies to both halves.
fn buttons(
    ui: &mut Ui,
    halves: &mut Halves,
    both: Option<(&LaneSettings, &LaneSettings)>,
) -> Option<Action> {
    let width = (ui.available_width() - 2.0 * APART) / 3.0;
    let selected = halves.selected;
    let mut set = |side: Side, settings: &LaneSettings| {
        let content = PaneContent::Lane(settings.clone());
        halves.typed.push((side, content));
    };
    let usual = |ui: &mut Ui, name, about| -> Response {
        button(ui, width, name, "", Kind::Usual { is_on: false })
            .on_hover_text(about)
            .on_disabled_hover_text("The left half shows the simulation.")
    };
    let row = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = APART;
        ui.add_enabled_ui(both.is_some(), |ui| {
            let about = "Each half gets the settings of the other.";
            let swap = usual(ui, "Swap halves", about).clicked();
            let about = "The other half gets the settings of the one that the panel is about.";
            let same = usual(ui, "Same settings", about).clicked();
            let Some((left, right)) = both else {
                return;
            };
            if swap || (same && selected == Side::Right) {
                set(Side::Left, right);
            }
            if swap || (same && selected == Side::Left) {
                set(Side::Right, left);
            }
        });
        pickers::copy(ui, width)
    });
    row.inner
}

const REPLICA: &str = "A second replica to compare with: the same snapshots, with other settings. It starts with those of the \
     right one.";

/// Logical points.
const ABOVE: f32 = 8.0;
const BETWEEN: f32 = 2.0;
const EDGE: f32 = 3.0;
const BESIDE: f32 = 8.0;
const LABEL: f32 = 80.0;
const RATES: f32 = 112.0;
const PLAYOUT: f32 = 36.0;
const APART: f32 = 8.0;
