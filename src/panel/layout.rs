//! How the parts of the panel are laid out: whole at the right, or as a slim bar at the bottom.

use bevy_egui::egui::{
    self, Align, Frame, Id, Layout, Margin, Panel, RichText, ScrollArea, Sense, Stroke, StrokeKind,
    Ui, UiBuilder, WidgetInfo, WidgetType, vec2,
};
use cubewire_codec::ladder::LADDER;
use cubewire_scene::TICKS_PER_SECOND;

use super::explain::{self, Explained};
use super::lane::{Drawn, LaneView};
use super::pages::ladder::kbps_of;
use super::pages::pickers;
use super::settings::{PanelSize, PanelState};
use super::style::{BODY, BUTTON, GAP, Look, MARGIN, SMALL};
use super::timeline::Strip;
use super::toolbar::Pressed;
use super::tour::{self, Guide};
use super::widgets::{BEYOND, Choice, segmented};
use super::{graph, pages, style, terms, timeline, toolbar};
use crate::controls::{Action, key_of};
use crate::replication::{Accounting, Totals, factor, grouped, millimetres};
use crate::view::Side;

/// Draws the panel in `ctx`, inside a running pass, and the explanation of the screen or the tour if
/// one is wanted.
pub fn draw(ctx: &egui::Context, state: &mut PanelState, lane: LaneView<'_>) -> Drawn {
    let window = ctx.viewport_rect();
    // A minimized window may have no size.
    if window.width() < 1.0 || window.height() < 1.0 {
        return Drawn::default();
    }
    style::apply(ctx, state.theme, Some(lane.side));
    state.is_narrow = window.width() < NARROW;
    let guide = Guide::of(&lane);
    state.flag_of_tour = guide.as_ref().and_then(Guide::number);
    let explained = (state.explaining && guide.is_none()).then(|| Explained::of(&lane));
    let mut root = Ui::new(
        ctx.clone(),
        Id::new("panel_root"),
        UiBuilder::new()
            .layer_id(egui::LayerId::background())
            .max_rect(window),
    );
    let strip = state.timeline.then(|| Strip::of(&lane));
    let mut drawn = match state.shown_size() {
        PanelSize::Whole => whole(&mut root, state, lane),
        PanelSize::Slim => slim(&mut root, state, lane),
        PanelSize::Hidden => Drawn::default(),
    };
    if let Some(strip) = strip {
        let (height, moment) = timeline::draw(&mut root, state.theme, &strip, &mut state.range);
        drawn.inset.bottom += height;
        drawn.moment = moment;
    }
    if let Some(guide) = guide {
        let pressed = tour::draw(ctx, state, &guide, drawn.inset);
        drawn.asked = drawn.asked.or(pressed);
    }
    if let Some(explained) = explained {
        let pressed = explain::draw(ctx, state, &explained, drawn.inset);
        drawn.asked = drawn.asked.or(pressed);
    }
    drawn
}

fn whole(root: &mut Ui, state: &mut PanelState, mut lane: LaneView<'_>) -> Drawn {
    let window = root.max_rect();
    let width = match state.is_narrow {
        true => WIDTH.min(MAX_FRACTION * window.width()),
        false => WIDTH,
    };
    let look = Look::of(root);
    let margin = Margin {
        left: MARGIN as i8,
        right: MARGIN as i8,
        top: 12,
        bottom: 10,
    };
    let mut drawn = Drawn::default();
    let panel = Panel::right(Id::new("panel"))
        .resizable(false)
        .show_separator_line(false)
        .exact_size(width)
        .frame(Frame::new().fill(look.ground).inner_margin(margin));
    let panel = panel.show(root, |ui| {
        ui.spacing_mut().item_spacing = egui::Vec2::ZERO;
        drawn.asked = header(ui, state, &mut lane);
        ui.add_space(8.0);
        let plot = if window.height() < LOW {
            LOW_PLOT
        } else {
            PLOT
        };
        let height = graph::AROUND_PLOT + plot;
        graph::draw(ui, state, &lane.shown, lane.past.moment, height);
        ui.add_space(GAP);
        pages::bar(ui, state, &lane);
        let status = lane.status.clone();
        let link_is_cut = lane.settings.link.conditions.cut;
        let page = ui.available_rect_before_wrap();
        let page = page.with_max_y(page.bottom() - toolbar::HEIGHT);
        let asked = page_in(ui, page, state, lane);
        drawn.desyncs = asked.desyncs;
        let below = egui::Rect::from_min_max(
            egui::pos2(page.left(), page.bottom() + 8.0),
            ui.max_rect().right_bottom(),
        );
        let line = Stroke::new(1.0, look.line);
        let whole = (page.left() - MARGIN)..=(page.right() + MARGIN);
        ui.painter().hline(whole, page.bottom() - 0.5, line);
        let mut below = ui.new_child(UiBuilder::new().max_rect(below));
        match toolbar::draw(&mut below, &status, link_is_cut) {
            Some(Pressed::Action(action)) => drawn.asked = Some(action),
            Some(Pressed::Export(export)) => drawn.export = Some(export),
            None => {}
        }
    });
    let rect = panel.response.rect;
    let edge = Stroke::new(1.0, look.line);
    root.painter()
        .vline(rect.left() + 0.5, rect.y_range(), edge);
    drawn.inset.right = rect.width();
    drawn
}

/// The open page, in this rectangle. Marked rows and the scroll bar reach into the margins.
fn page_in(
    ui: &mut Ui,
    page: egui::Rect,
    state: &mut PanelState,
    lane: LaneView<'_>,
) -> pages::Asked {
    let wide = egui::Rect::from_min_max(
        page.left_top() + vec2(-BEYOND, 8.0),
        page.right_bottom() + vec2(MARGIN, 0.0),
    );
    let mut child = ui.new_child(UiBuilder::new().max_rect(wide));
    let area = ScrollArea::vertical()
        .id_salt(state.page)
        .auto_shrink(false)
        .max_height(wide.height().max(1.0));
    let shown = area.show(&mut child, |ui| {
        let inside = Frame::new().inner_margin(Margin {
            left: BEYOND as i8,
            right: MARGIN as i8,
            ..Margin::ZERO
        });
        inside.show(ui, |ui| {
            ui.set_width(page.width());
            ui.spacing_mut().item_spacing = vec2(GAP, GAP);
            pages::draw(ui, state, lane)
        })
    });
    shown.inner.inner
}

fn slim(root: &mut Ui, state: &mut PanelState, mut lane: LaneView<'_>) -> Drawn {
    let look = Look::of(root);
    let mut drawn = Drawn::default();
    let frame = Frame::new().fill(look.ground);
    let panel = Panel::bottom(Id::new("slim panel"))
        .resizable(false)
        .exact_size(SLIM_HEIGHT)
        .frame(frame.inner_margin(Margin::symmetric(12, 4)));
    let panel = panel.show(root, |ui| {
        let all = ui.max_rect();
        let (left, right) = all.split_left_right_at_x(all.left() + SLIM_WIDTH);
        let mut left = ui.new_child(UiBuilder::new().max_rect(left));
        drawn.asked = header(&mut left, state, &mut lane);
        left.add_space(GAP);
        let about = format!(
            "{} shows the panel · {} explains",
            key_of(Action::Panel),
            key_of(Action::Help)
        );
        super::widgets::note(&mut left, about);
        let right = right.with_min_x(right.left() + MARGIN);
        let mut right = ui.new_child(UiBuilder::new().max_rect(right));
        let height = right.available_height();
        graph::draw(&mut right, state, &lane.shown, lane.past.moment, height);
    });
    drawn.inset.bottom = panel.response.rect.height();
    drawn
}

/// The lane, its rung, what it costs, and the button that changes the size of the panel.
fn header(ui: &mut Ui, state: &mut PanelState, lane: &mut LaneView<'_>) -> Option<Action> {
    let mut action = None;
    let size = vec2(ui.available_width(), BUTTON);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 0.0);
        if let Some(halves) = &mut lane.halves
            && halves.left_is_lane
        {
            let sides = Side::ALL.map(|side| {
                Choice::new(side, side.name(), "The lane that panel and keys apply to.")
            });
            segmented(ui, SIDES, &mut halves.selected, &sides);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if resize(ui, state) {
                action = Some(Action::Panel);
            }
            cost(ui, lane);
            let width = ui.available_width().min(MAX_PICKER);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                pickers::rung(ui, &mut lane.settings.sender, [width, BUTTON]);
            });
        });
    });
    action
}

/// The button that shrinks the panel to the slim bar, or shows all of it.
fn resize(ui: &mut Ui, state: &PanelState) -> bool {
    let look = Look::of(ui);
    let is_whole = state.shown_size() == PanelSize::Whole;
    let (rect, response) = ui.allocate_exact_size(vec2(BUTTON, BUTTON), Sense::click());
    let name = match is_whole {
        true => "Shrink the panel",
        false => "Show the whole panel",
    };
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, name));
    let painter = ui.painter();
    painter.rect_filled(rect, 4.0, look.raised);
    let screen = egui::Rect::from_center_size(rect.center(), vec2(14.0, 12.0));
    let edge = Stroke::new(1.0, look.muted);
    painter.rect_stroke(screen, 1.0, edge, StrokeKind::Inside);
    let part = match is_whole {
        true => screen.with_min_y(screen.bottom() - 4.0),
        false => screen.with_min_x(screen.right() - 5.0),
    };
    painter.rect_filled(part.shrink(1.0), 0.0, look.muted);
    let about = format!("{name}: {}", key_of(Action::Panel));
    response.on_hover_text(about).clicked()
}

/// The bandwidth of the lane, how many times less than uncompressed it is if it is shown alone, and how far the replica
/// is from the simulation.
fn cost(ui: &mut Ui, lane: &LaneView<'_>) {
    let look = Look::of(ui);
    let moment = lane.past.moment;
    let second = || lane.meter.second_until(moment);
    let kbps = lane.meter.kbps_until(moment, Accounting::PayloadAndUdp);
    // The first packets of a lane have no baseline: a mean of them alone says nothing.
    let kbps = kbps.filter(|_| second().count() >= TICKS_PER_SECOND as usize);
    let totals = Totals::of(second());
    let error = totals.mean_error_m().map(millimetres);
    let about = about_cost(&totals, moment);
    if lane.shown.len() < 2 {
        let whole = lane.shadow.and_then(|shadow| kbps_of(shadow, &LADDER[0]));
        let less = whole.zip(kbps).filter(|(_, kbps)| *kbps > 0.0);
        if let Some((whole, kbps)) = less {
            let less = RichText::new(factor(whole / kbps))
                .size(BODY)
                .color(look.ink);
            ui.label(less).on_hover_text(&about);
        }
    }
    if let Some(error) = error.filter(|_| lane.shown.len() < 2) {
        let error = RichText::new(error).size(SMALL).color(look.muted);
        ui.label(error).on_hover_text(&about);
    }
    let figure = kbps.map_or_else(|| "…".to_owned(), grouped);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let unit = RichText::new("kbps").size(BODY).color(look.muted);
        ui.label(unit).on_hover_text(&about);
        let figure = RichText::new(figure).size(BODY).color(look.half);
        ui.label(figure).on_hover_text(&about);
    });
}

fn about_cost(totals: &Totals, moment: Option<u64>) -> String {
    let mut about = format!(
        "Bandwidth of this lane, mean of the last second{}, and how many times less than uncompressed. {} With all headers \
         {} kbps.",
        if moment.is_some() {
            " up to what the views show"
        } else {
            ""
        },
        terms::accounting(Accounting::PayloadAndUdp),
        grouped(totals.kbps(Accounting::OnTheWire)),
    );
    if let Some(mean) = totals.mean_error_m() {
        let [mean, max] = [mean, totals.max_error_m.into()].map(millimetres);
        about += &format!(
            " The red cubes are {mean} from the simulation's, at the tick that is shown; the farthest {max}."
        );
    }
    about
}

/// Width of the panel, logical points.
pub(super) const WIDTH: f32 = 408.0;

/// Width of the window below which the panel is a slim bar until it is asked for, logical points.
const NARROW: f32 = 1000.0;

/// Fraction of a narrow window that the whole panel may cover.
const MAX_FRACTION: f32 = 0.45;

/// Height of the window below which the plot is lower, and the heights of the plot, logical points.
const LOW: f32 = 640.0;
const LOW_PLOT: f32 = 56.0;
const PLOT: f32 = 88.0;

/// Logical points.
const SLIM_HEIGHT: f32 = 88.0;
const SLIM_WIDTH: f32 = 300.0;
const SIDES: f32 = 76.0;
const MAX_PICKER: f32 = 188.0;
