//! What each half of the screen shows: pickers, and the lanes as text in the form of the command line.

mod typed;

use bevy_egui::egui::{Rect, Sense, Ui, pos2, vec2};

use super::pickers;
use crate::controls::Action;
use crate::panel::lane::{Halves, Measured};
use crate::panel::style::{self, BODY, CONTROL, Look, SMALL};
use crate::panel::widgets::{At, Choice, Kind, button, named, segmented, text};
use crate::replication::LaneSettings;
use crate::view::{PaneContent, Side};

/// Returns the action that a button asks for.
pub(in crate::panel) fn draw(
    ui: &mut Ui,
    halves: &mut Halves,
    lanes: &[Measured<'_>],
) -> Option<Action> {
    ui.spacing_mut().item_spacing.y = 0.0;
    let of = |side: Side| {
        let lane = lanes.iter().find(|lane| lane.side == side);
        lane.and_then(|lane| lane.settings.as_ref())
    };
    for side in Side::ALL {
        ui.add_space(ABOVE);
        let drawn = ui.push_id(side, |ui| {
            style::in_half(ui, side, |ui| half(ui, halves, side, of(side)));
        });
        let rect = drawn.response.rect;
        let edge = Rect::from_min_max(rect.left_top(), pos2(rect.left() + EDGE, rect.bottom()));
        let color = Look::of(ui).of_half(side);
        ui.painter().rect_filled(edge, 0.0, color);
    }
    ui.add_space(BELOW);
    let both = of(Side::Left).zip(of(Side::Right));
    buttons(ui, halves, both)
}

/// Everything about one half, beside its edge.
fn half(ui: &mut Ui, halves: &mut Halves, side: Side, settings: Option<&LaneSettings>) {
    ui.horizontal(|ui| {
        ui.add_space(EDGE + BESIDE);
        ui.vertical(|ui| {
            ui.set_width(ui.available_width());
            what(ui, halves, side);
            let Some(settings) = settings else {
                return;
            };
            let mut picked = settings.clone();
            choices(ui, &mut picked);
            if picked != *settings {
                halves.typed.push((side, PaneContent::Lane(picked)));
            }
            ui.add_space(BETWEEN);
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
        let (rect, _) =
            ui.allocate_exact_size(vec2(LABEL, CONTROL), Sense::hover());
        text(ui.painter(), rect, At::Left(0.0), name, BODY, look.half);
        if side == Side::Right {
            let always = ui.weak("always a replica");
            always.on_hover_text("The other end of the network, rebuilt from packets alone.");
            return;
        }
        let contents = [
            Choice::new(
                false,
                "simulation",
                "The physics itself, without any network.",
            ),
            Choice::new(
                true,
                "a replica",
                "A second replica to compare with: the same snapshots, with other settings. It starts with those of the \
                 right one.",
            ),
        ];
        segmented(ui, width - LABEL, &mut halves.left_is_lane, &contents);
    });
}

fn choices(ui: &mut Ui, lane: &mut LaneSettings) {
    let width = ui.available_width() - LABEL;
    ui.add_space(BETWEEN);
    named(ui, LABEL, "Stages", SMALL, |ui| {
        pickers::rung(ui, &mut lane.sender, [width, CONTROL]);
    });
    ui.add_space(BETWEEN);
    named(ui, LABEL, "Network", SMALL, |ui| {
        pickers::network(ui, &mut lane.link.conditions, [width, CONTROL]);
    });
    ui.add_space(BETWEEN);
    named(ui, LABEL, "Snapshots / s", SMALL, |ui| {
        pickers::rate(ui, RATES, &mut lane.sender);
        named(ui, PLAYOUT, "playout", SMALL, |ui| {
            let fixed = lane.playout.rule_delay(&lane.sender);
            let width = ui.available_width();
            pickers::delay(ui, &mut lane.playout.delay, fixed, width);
        });
    });
    ui.add_space(BETWEEN);
    named(ui, LABEL, "Interpolation", SMALL, |ui| {
        pickers::interpolation(ui, width, &mut lane.playout.interpolation);
    });
}

/// What applies to both halves.
fn buttons(
    ui: &mut Ui,
    halves: &mut Halves,
    both: Option<(&LaneSettings, &LaneSettings)>,
) -> Option<Action> {
    let width = (ui.available_width() - 2.0 * APART) / 3.0;
    let row = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = APART;
        ui.add_enabled_ui(both.is_some(), |ui| {
            let swap = button(ui, width, "Swap halves", "", Kind::Usual { is_on: false });
            let swap = swap
                .on_hover_text("Each half gets the settings of the other.")
                .on_disabled_hover_text("The left half shows the simulation.");
            if let Some((left, right)) = both.filter(|_| swap.clicked()) {
                set(halves, Side::Left, right);
                set(halves, Side::Right, left);
            }
            let same = button(ui, width, "Same settings", "", Kind::Usual { is_on: false });
            let same = same
                .on_hover_text(
                    "The other half gets the settings of the one that the panel is about.",
                )
                .on_disabled_hover_text("The left half shows the simulation.");
            if let Some((left, right)) = both.filter(|_| same.clicked()) {
                match halves.selected {
                    Side::Left => set(halves, Side::Right, left),
                    Side::Right => set(halves, Side::Left, right),
                }
            }
        });
        pickers::copy(ui, width)
    });
    row.inner
}

fn set(halves: &mut Halves, side: Side, settings: &LaneSettings) {
    let content = PaneContent::Lane(settings.clone());
    halves.typed.push((side, content));
}

/// Logical points.
const ABOVE: f32 = 8.0;
const BELOW: f32 = 8.0;
const BETWEEN: f32 = 2.0;
const EDGE: f32 = 3.0;
const BESIDE: f32 = 10.0;
const LABEL: f32 = 92.0;
const RATES: f32 = 112.0;
const PLAYOUT: f32 = 52.0;
const APART: f32 = 8.0;
