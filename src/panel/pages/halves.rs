//! What each half of the screen shows: pickers, and the lanes as text in the form of the command line.

mod typed;

use bevy_egui::egui::{Rect, Sense, Ui, pos2};

use super::pickers;
use crate::panel::lane::{Halves, Measured};
use crate::panel::style::{self, BODY, CONTROL, Look};
use crate::panel::widgets::{
    At, Choice, Kind, button, copy_button, labelled, picker, segmented, text,
};
use crate::replication::{LaneSettings, PlayoutDelay};
use crate::view::{PaneContent, Side};

pub(in crate::panel) fn draw(ui: &mut Ui, halves: &mut Halves, lanes: &[Measured<'_>]) {
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
    buttons(ui, halves, both, of);
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
            ui.allocate_exact_size(bevy_egui::egui::vec2(LABEL, CONTROL), Sense::hover());
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
    let size = [ui.available_width() - LABEL, CONTROL];
    ui.add_space(BETWEEN);
    labelled(ui, LABEL, "Stages", |ui| {
        pickers::rung(ui, &mut lane.sender, size);
    });
    ui.add_space(BETWEEN);
    labelled(ui, LABEL, "Network", |ui| {
        pickers::network(ui, &mut lane.link.conditions, size);
    });
    ui.add_space(BETWEEN);
    labelled(ui, LABEL, "Snapshots / s", |ui| {
        let interval = &mut lane.sender.send_interval_ticks;
        segmented(ui, RATES, interval, &pickers::rates());
        labelled(ui, PLAYOUT, "playout", |ui| {
            let width = ui.available_width();
            playout(ui, &mut lane.playout.delay, width);
        });
    });
    ui.add_space(BETWEEN);
    labelled(ui, LABEL, "Interpolation", |ui| {
        let kind = &mut lane.playout.interpolation;
        segmented(ui, size[0], kind, &pickers::interpolations());
    });
}

fn playout(ui: &mut Ui, delay: &mut PlayoutDelay, width: f32) {
    let fixed = match *delay {
        PlayoutDelay::Fixed(fixed) => Some(fixed),
        _ => None,
    };
    let name = |delay: PlayoutDelay| match delay {
        PlayoutDelay::Rule => "by rule".to_owned(),
        PlayoutDelay::Adaptive => "adaptive".to_owned(),
        PlayoutDelay::Fixed(fixed) => format!("{} ms", fixed.as_millis()),
    };
    let choices = [
        (PlayoutDelay::Rule, pickers::BY_RULE),
        (PlayoutDelay::Adaptive, pickers::ADAPTIVE),
    ];
    let fixed = fixed.map(|fixed| (PlayoutDelay::Fixed(fixed), pickers::FIXED));
    let chosen = name(*delay);
    picker(ui, "playout", [width, CONTROL], &chosen, |ui| {
        for (choice, about) in choices.into_iter().chain(fixed) {
            ui.selectable_value(delay, choice, name(choice))
                .on_hover_text(about);
        }
    });
}

/// What applies to both halves.
fn buttons<'a>(
    ui: &mut Ui,
    halves: &mut Halves,
    both: Option<(&LaneSettings, &LaneSettings)>,
    of: impl Fn(Side) -> Option<&'a LaneSettings>,
) {
    let width = (ui.available_width() - 2.0 * APART) / 3.0;
    ui.horizontal(|ui| {
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
        let text = |side: Side| match of(side) {
            Some(settings) => settings.to_text(),
            None => PaneContent::Simulation.to_text(),
        };
        copy(ui, width, text(Side::Left).zip(text(Side::Right)));
    });
}

fn set(halves: &mut Halves, side: Side, settings: &LaneSettings) {
    let content = PaneContent::Lane(settings.clone());
    halves.typed.push((side, content));
}

/// Copies both halves for the command line.
fn copy(ui: &mut Ui, width: f32, arguments: Option<(String, String)>) {
    ui.add_enabled_ui(arguments.is_some(), |ui| {
        let (left, right) = arguments.unwrap_or_default();
        let command = format!("--left {left} --right {right}");
        copy_button(ui, width, "Copy command", &command)
            .on_hover_text(
                "Arguments for cubewire, which opens the window like this, and for cubewire record.",
            )
            .on_disabled_hover_text("A link that replays recorded delays has no text form.");
    });
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
