//! How the parts of the panel are laid out: whole at the right, or as a slim bar at the bottom.

use bevy_egui::egui::{
    self, Align, Frame, Layout, Margin, Panel, RichText, ScrollArea, TextStyle, Ui,
};
use cubewire_codec::ladder::{self, LADDER};
use cubewire_scene::TICKS_PER_SECOND;

use super::explain::{self, Explained};
use super::lane::{Drawn, LaneView};
use super::settings::{PanelSize, PanelState};
use super::style::SCROLL_BAR;
use super::tabs::ladder::kbps_of;
use super::timeline::Strip;
use super::tour::{self, Guide};
use super::{graph, style, tabs, terms, timeline, toolbar};
use crate::controls::{Action, key_of};
use crate::replication::{Accounting, SenderSettings, Totals, factor, millimetres};
use crate::theme::Theme;
use crate::view::{Inset, Side};

/// Draws the panel in `ctx`, inside a running pass, and the explanation of the screen or the tour if
/// one is wanted.
pub fn draw(ctx: &egui::Context, state: &mut PanelState, lane: LaneView<'_>) -> Drawn {
    let window = ctx.viewport_rect();
    // A minimized window may have no size.
    if window.width() < 1.0 || window.height() < 1.0 {
        return Drawn::default();
    }
    style::apply(ctx, state.theme);
    let guide = Guide::of(&lane);
    let explained = (state.explaining && guide.is_none()).then(|| Explained::of(&lane));
    let mut root = Ui::new(
        ctx.clone(),
        egui::Id::new("panel_root"),
        egui::UiBuilder::new()
            .layer_id(egui::LayerId::background())
            .max_rect(window),
    );
    style::select_with(&mut root, state.theme, lane.side);
    let strip = state.timeline.then(|| Strip::of(&lane));
    let mut drawn = match state.size {
        PanelSize::Whole => whole(&mut root, state, lane),
        PanelSize::Slim => slim(&mut root, state, lane),
        PanelSize::Hidden => Drawn::default(),
    };
    if let Some(strip) = strip {
        let (height, moment) = timeline::draw(&mut root, state.theme, &strip, &mut state.range);
        drawn.inset.bottom += height;
        drawn.moment = moment;
    }
    if let Some(explained) = explained {
        let pressed = explain::draw(ctx, state, &explained, drawn.inset);
        drawn.action = drawn.action.or(pressed);
    }
    if let Some(guide) = guide {
        let pressed = tour::draw(ctx, state, &guide, drawn.inset);
        drawn.action = drawn.action.or(pressed);
    }
    drawn
}

fn whole(root: &mut Ui, state: &mut PanelState, mut lane: LaneView<'_>) -> Drawn {
    let window = root.max_rect();
    let max_width = (window.width() * MAX_WIDTH_FRACTION).max(1.0);
    let frame = Frame::side_top_panel(root.style()).inner_margin(Margin {
        left: 8,
        right: 2,
        top: 6,
        bottom: 4,
    });
    let mut action = None;
    let mut asked = tabs::Asked::default();
    let panel = Panel::right(egui::Id::new("panel"))
        .default_size(state.width)
        .size_range(MIN_WIDTH.min(max_width)..=max_width)
        .frame(frame)
        .show(root, |ui| {
            let rest = ui.available_rect_before_wrap();
            ui.set_max_width(rest.width() - SCROLL_BAR);
            action = header(ui, state, &mut lane);
            let height = GRAPH_HEIGHT.max(GRAPH_FRACTION * window.height());
            graph::draw(ui, state, &lane.shown, lane.past.moment, height);
            graph::controls(ui, state, &lane.shown);
            ui.separator();
            tabs::bar(ui, state, &lane);
            ui.separator();
            let buttons = toolbar::height(ui);
            let page = ui.available_height() - buttons;
            let status = lane.status.clone();
            let link_is_cut = lane.settings.link.conditions.cut;
            ui.allocate_ui_with_layout(
                egui::vec2(rest.width(), page.max(1.0)),
                Layout::top_down(Align::Min),
                |ui| {
                    ScrollArea::vertical()
                        .id_salt(state.tab)
                        .auto_shrink(false)
                        .max_height(page.max(1.0))
                        .show(ui, |ui| asked = tabs::page(ui, state, lane));
                },
            );
            let pressed = ui.scope(|ui| {
                ui.set_max_width(rest.width() - SCROLL_BAR);
                toolbar::draw(ui, &status, link_is_cut)
            });
            action = action.or(pressed.inner).or(asked.action);
        });
    let width = panel.response.rect.width();
    // Do not save a width that was forced by a small window.
    if width < max_width {
        state.width = width;
    }
    Drawn {
        inset: Inset {
            right: width,
            bottom: 0.0,
        },
        action,
        export: asked.export,
        desyncs: asked.desyncs,
        moment: None,
    }
}

fn slim(root: &mut Ui, state: &mut PanelState, mut lane: LaneView<'_>) -> Drawn {
    let mut action = None;
    let panel = Panel::bottom(egui::Id::new("slim panel"))
        .resizable(false)
        .exact_size(SLIM_HEIGHT)
        .show(root, |ui| {
            let height = ui.available_height();
            ui.horizontal_top(|ui| {
                ui.allocate_ui(egui::vec2(SLIM_WIDTH, height), |ui| {
                    ui.vertical(|ui| action = header(ui, state, &mut lane));
                });
                ui.vertical(|ui| {
                    graph::draw(ui, state, &lane.shown, lane.past.moment, height);
                });
            });
        });
    Drawn {
        inset: Inset {
            right: 0.0,
            bottom: panel.response.rect.height(),
        },
        action,
        ..Drawn::default()
    }
}

/// The lane, its rung, and what it costs.
fn header(ui: &mut Ui, state: &mut PanelState, lane: &mut LaneView<'_>) -> Option<Action> {
    let mut action = None;
    let is_whole = state.size == PanelSize::Whole;
    ui.horizontal(|ui| {
        if let Some(halves) = &mut lane.halves
            && halves.left_is_lane
        {
            for side in Side::ALL {
                ui.selectable_value(&mut halves.selected, side, side.name())
                    .on_hover_text("The lane that panel and keys apply to.");
            }
        }
        let is_compared = lane.shown.len() > 1;
        rung(
            ui,
            &mut lane.settings.sender,
            RUNG_WIDTHS[usize::from(is_compared)],
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (icon, about, size) = if is_whole {
                ("⬇", "Shrink the panel to a slim bar", PanelSize::Slim)
            } else {
                ("⬆", "Show the whole panel", PanelSize::Whole)
            };
            let about = format!("{about}: {}", key_of(Action::Panel));
            if ui.button(icon).on_hover_text(about).clicked() {
                state.size = size;
            }
            let about = format!("What am I looking at? {}", key_of(Action::Help));
            let help = egui::Button::new("?").selected(lane.status.explains);
            if ui.add(help).on_hover_text(about).clicked() {
                action = Some(Action::Help);
            }
            if is_whole {
                cost(ui, state.theme, lane);
            }
        });
    });
    if !is_whole {
        ui.horizontal(|ui| cost(ui, state.theme, lane));
    }
    action
}

fn rung(ui: &mut Ui, sender: &mut SenderSettings, width: f32) {
    let current = ladder::rung_of(sender.stages);
    let title = current.map_or("custom stages", |rung| rung.name);
    egui::ComboBox::from_id_salt("rung")
        .selected_text(title)
        .width(width)
        .truncate()
        .show_ui(ui, |ui| {
            for rung in LADDER {
                ui.selectable_value(&mut sender.stages, rung.stages, rung.name)
                    .on_hover_text(rung.summary);
            }
        })
        .response
        .on_hover_text("The stages of compression in use. PageUp and PageDown change the rung.");
}

/// The bandwidth of the lane, how far the replica is from the simulation, and, of a lane alone, how many times less than
/// uncompressed it is.
fn cost(ui: &mut Ui, theme: Theme, lane: &LaneView<'_>) {
    let moment = lane.past.moment;
    let kbps = lane.meter.kbps_until(moment, Accounting::PayloadAndUdp);
    let kbps = kbps.unwrap_or(0.0);
    let color = style::half(theme.colors(), lane.side);
    let is_reversed = ui.layout().prefer_right_to_left();
    // The first packets of a lane have no baseline: a mean of them alone says nothing.
    let is_measured = lane.meter.second_until(moment).count() >= TICKS_PER_SECOND as usize;
    let figure = match is_measured {
        // At the right end, the digits stay where they are.
        true if is_reversed => format!("{kbps:7.1} kbps"),
        true => format!("{kbps:.1} kbps"),
        false => "… kbps".to_owned(),
    };
    let figure = RichText::new(figure)
        .text_style(TextStyle::Monospace)
        .size(15.0)
        .color(color)
        .strong();
    let whole = lane
        .shadow
        .and_then(|shadow| kbps_of(shadow, &LADDER[0]))
        // The shadow ladder's figures are only of the present.
        .filter(|_| kbps > 0.0 && is_measured && moment.is_none());
    let factor = whole.map(|whole| factor(whole / kbps)).unwrap_or_default();
    let factor = match lane.shown.len() {
        0 | 1 => RichText::new(format!("{factor:>5}")).monospace().weak(),
        _ => RichText::default(),
    };
    let about = format!(
        "Bandwidth of this lane, mean of the last second{}, and how many times less than uncompressed. {}",
        if moment.is_some() {
            " up to what the views show"
        } else {
            ""
        },
        terms::accounting(Accounting::PayloadAndUdp)
    );
    let (error, about_error) = error(lane);
    let mut texts = [(figure, &about), (error, &about_error), (factor, &about)];
    if is_reversed {
        texts.reverse();
    }
    for (text, about) in texts {
        if !text.is_empty() {
            ui.label(text).on_hover_text(about);
        }
    }
}

/// How far the replica is from the simulation, and what is meant by that; nothing where that is not measured.
fn error(lane: &LaneView<'_>) -> (RichText, String) {
    let totals = Totals::of(lane.meter.second_until(lane.past.moment));
    let Some(mean) = totals.mean_error_m() else {
        return Default::default();
    };
    let [mean, max] = [mean, totals.max_error_m.into()].map(millimetres);
    let about = format!(
        "Distance of the red cubes from the simulation's, at the tick that is shown, mean of a second. The cube that was \
         farthest off: {max}."
    );
    (RichText::new(format!("{mean:>7}")).monospace(), about)
}

/// Logical points below which the panel is not readable.
const MIN_WIDTH: f32 = 380.0;

/// Fraction of the window's width that the panel may cover.
const MAX_WIDTH_FRACTION: f32 = 0.5;

/// Height of the graph with its legend: at least, in logical points, and as a share of the window.
const GRAPH_HEIGHT: f32 = 130.0;
const GRAPH_FRACTION: f32 = 0.18;

/// Logical points.
const SLIM_HEIGHT: f32 = 84.0;
const SLIM_WIDTH: f32 = 270.0;
/// Width with one lane, and with two, whose names stand next to it.
const RUNG_WIDTHS: [f32; 2] = [132.0, 78.0];
