//! Layout of the panel: the whole panel at the right, or a slim bar at the bottom.

use bevy_egui::egui::text::{LayoutJob, TextFormat};

use super::lane::{Drawn, Halves};
use super::pages::pickers;
use super::timeline::Strip;
use super::tour::{self, Guide};
use super::{explain, film, graph, pages, style, timeline, toolbar};
use crate::panel::prelude::*;
use crate::replication::millimetres;

/// Draws the panel in `ctx`, inside a running pass. Draws the explanation of the screen or the tour if it is open.
pub(super) fn draw(ctx: &Context, state: &mut PanelState, mut lane: LaneView<'_>) -> Drawn {
    let window = ctx.viewport_rect();
    // A minimized window may have no size.
    if window.width() < 1.0 || window.height() < 1.0 {
        return Drawn::default();
    }
    style::apply(ctx, state.theme, lane.side);
    state.is_narrow = window.width() < NARROW;
    state.is_low = window.height() < LOW;
    state.is_touring = lane.status.tour.is_some_and(|tour| tour.has_card());
    let is_explained = state.explaining && !state.is_touring;
    let mut root = Ui::new(
        ctx.clone(),
        Id::new("panel_root"),
        UiBuilder::new().layer_id(egui::LayerId::background()).max_rect(window),
    );
    let mut drawn = match state.shown_size() {
        PanelSize::Whole => whole(&mut root, state, &mut lane),
        PanelSize::Slim => slim(&mut root, state, &mut lane),
        PanelSize::Hidden => Drawn::default(),
    };
    if let Some(guide) = Guide::of(&lane, state.graph_seconds.0) {
        let (height, pressed) = tour::draw(&mut root, &guide);
        drawn.inset.bottom += height;
        drawn.asked = drawn.asked.or(pressed);
    }
    if state.shows_timeline(lane.status.is_paused) {
        let strip = Strip::of(&lane, state);
        let (height, moment) = timeline::draw(&mut root, &strip, &mut state.range);
        drawn.inset.bottom += height;
        drawn.moment = moment;
    }
    if lane.status.tour.is_some_and(|tour| tour.is_over()) {
        drawn.asked = drawn.asked.or(tour::draw_end(ctx, &lane, drawn.inset, state.is_narrow));
    }
    let is_busy = is_explained || state.is_touring || state.shown_size() == PanelSize::Hidden;
    drawn.asked = drawn.asked.or(film::draw(ctx, state, &lane.status, drawn.inset, !is_busy));
    if is_explained {
        drawn.asked = drawn.asked.or(explain::draw(ctx, state, &lane, drawn.inset));
    }
    drawn
}

fn whole(root: &mut Ui, state: &mut PanelState, lane: &mut LaneView<'_>) -> Drawn {
    let window = root.max_rect();
    let width = match state.is_narrow {
        true => (MAX_FRACTION * window.width()).clamp(MIN_WIDTH, WIDTH),
        false => (FRACTION * window.width()).clamp(WIDTH, WIDEST),
    };
    let width = width.floor().min(window.width());
    let look = Look::of(root);
    let margin = Margin { left: MARGIN as i8, right: MARGIN as i8, top: 12, bottom: 10 };
    let (rect, asked) = docked(root, Panel::right(Id::new("panel")), Some(width), margin, |ui| {
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        let asked = header(ui, lane);
        ui.add_space(8.0);
        // A lower window has few rows for a page, so the graph is only in the slim bar.
        if window.height() >= LOWEST {
            let plot = if state.is_low { 56.0 } else { 88.0 };
            let height = graph::AROUND_PLOT + plot;
            graph::draw(ui, state, &lane.shown, lane.past.moment, height);
            ui.add_space(GAP);
        }
        pages::bar(ui, state);
        let (edge, margin) = (Panel::bottom(Id::new("toolbar")), Margin { top: 8, ..Margin::ZERO });
        let cut = lane.settings.link.conditions.cut;
        let (rect, pressed) = docked(ui, edge, Some(BUTTON + 8.0), margin, |ui| {
            // The edges of the buttons extend into the margins.
            ui.set_clip_rect(ui.clip_rect().expand2(vec2(MARGIN, 0.0)));
            toolbar::draw(ui, state, &lane.status, cut)
        });
        let whole = rect.x_range().expand(MARGIN);
        ui.painter().hline(whole, rect.top() - 0.5, Stroke::new(1.0, look.line));
        asked.or(pressed).or(page(ui, state, lane))
    });
    root.painter().vline(rect.left() + 0.5, rect.y_range(), Stroke::new(1.0, look.line));
    Drawn { inset: Inset { right: rect.width(), bottom: 0.0 }, asked, moment: None }
}

/// Draws the open page below the switch of its tab. Marked rows and the scroll bar extend into the margins.
fn page(ui: &mut Ui, state: &mut PanelState, lane: &mut LaneView<'_>) -> Option<Action> {
    ui.add_space(8.0);
    // The switch is outside of the scroll area.
    pages::switch(ui, state, lane);
    let page = ui.available_rect_before_wrap();
    let wide = page.with_min_x(page.left() - BEYOND).with_max_x(page.right() + MARGIN);
    let mut child = ui.new_child(UiBuilder::new().max_rect(wide));
    let margin = Margin { left: BEYOND as i8, right: MARGIN as i8, ..Margin::ZERO };
    let area = ScrollArea::vertical().id_salt(state.page).auto_shrink(false);
    let shown = area.max_height(wide.height().max(1.0)).show(&mut child, |ui| {
        Frame::new().inner_margin(margin).show(ui, |ui| {
            ui.set_width(page.width());
            ui.spacing_mut().item_spacing = vec2(GAP, GAP);
            pages::draw(ui, state, lane)
        })
    });
    shown.inner.inner
}

fn slim(root: &mut Ui, state: &mut PanelState, lane: &mut LaneView<'_>) -> Drawn {
    let mut drawn = Drawn::default();
    let (edge, margin) = (Panel::bottom(Id::new("slim panel")), Margin::symmetric(12, 10));
    let (rect, ()) = docked(root, edge, Some(88.0), margin, |ui| {
        let all = ui.max_rect();
        let left = all.with_max_x(all.left() + 280.0);
        let right = all.with_min_x(all.right() - SLIM_BUTTONS);
        let plot = all.with_min_x(left.right() + MARGIN).with_max_x(right.left() - MARGIN);
        let mut at = |rect| ui.new_child(UiBuilder::new().max_rect(rect));
        drawn.asked = slim_rung(&mut at(left), lane);
        if plot.width() > 140.0 {
            graph::draw_slim(&mut at(plot), state, &lane.shown, lane.past.moment);
        }
        let mut ui = at(right);
        ui.spacing_mut().item_spacing.y = 8.0;
        // Only one button is primary. A card may already offer the tour or its next step.
        let is_offered = state.is_touring || state.explaining;
        let tour = if is_offered { Kind::Usual } else { Kind::Primary };
        let tour = lane.status.tour.map(|_| ("Tour", Action::Tour, tour));
        for (name, action, kind) in [("Panel", Action::Panel, Kind::Usual)].into_iter().chain(tour)
        {
            if button(&mut ui, SLIM_BUTTONS, name, key_of(action), kind).clicked() {
                drawn.asked = Some(action);
            }
        }
    });
    drawn.inset.bottom = rect.height();
    drawn
}

fn slim_rung(ui: &mut Ui, lane: &mut LaneView<'_>) -> Option<Action> {
    let mut pressed = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = vec2(GAP, 0.0);
        let mut step = |ui: &mut Ui, pointing, name, action| {
            let step = plain_button(ui, name, action);
            let (at, color) = (step.rect.center(), Look::of(ui).ink);
            triangle(ui.painter(), at, vec2(6.0, 9.0), pointing, color);
            if step.clicked() {
                pressed = Some(action);
            }
        };
        step(ui, Vec2::LEFT, "The previous rung", Action::PreviousRung);
        let halves = lane.halves.as_deref();
        let beside = halves.map_or(0.0, |halves| compare_width(halves) + GAP);
        let width = ui.available_width() - BUTTON - GAP - beside;
        let shown = rung_name(lane.stages_shown());
        pickers::rung_named(ui, &mut lane.settings.sender, shown, [width, BUTTON]);
        step(ui, Vec2::RIGHT, "The next rung", Action::NextRung);
        compare(ui, lane);
    });
    ui.add_space(8.0);
    let (row, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let stages = lane.stages_shown();
    let place = pages::ladder::index_of(stages);
    let place = place.map(|index| format!("rung {} of {}", index + 1, LADDER.len()));
    let place = place.unwrap_or_else(|| rung_name(stages).to_owned());
    text(ui.painter(), row, At::Right(0.0), place, SMALL, Look::of(ui).muted);
    figure(&mut row_in(ui, row, Align::Min), lane, "kbps");
    pressed
}

/// Draws the lane, its rung, the button that compares, the cost if there is room, and the button that shrinks the panel.
/// The cost has a fixed width, so that more digits do not move the others.
fn header(ui: &mut Ui, lane: &mut LaneView<'_>) -> Option<Action> {
    let (row, _) = ui.allocate_exact_size(vec2(ui.available_width(), BUTTON), Sense::hover());
    let mut ui = row_in(ui, row, Align::Min);
    ui.spacing_mut().item_spacing = vec2(BESIDE, 0.0);
    let mut picker = ui.available_width() - BUTTON - BESIDE;
    if let Some(halves) = &mut lane.halves {
        if halves.left_is_lane {
            let sides = Side::ALL.map(|side| {
                Choice::new(side, side.name(), "The lane that panel and keys apply to.")
            });
            segmented(&mut ui, SIDES, &mut halves.selected, &sides);
            picker -= SIDES + BESIDE;
        }
        picker -= compare_width(halves) + BESIDE;
    }
    let has_cost = picker - KBPS - BESIDE >= PICKER;
    if has_cost {
        picker -= KBPS + BESIDE;
    }
    let shown = rung_name(lane.stages_shown());
    pickers::rung_named(&mut ui, &mut lane.settings.sender, shown, [picker, BUTTON]);
    compare(&mut ui, lane);
    if has_cost {
        let layout = Layout::right_to_left(Align::Center);
        ui.allocate_ui_with_layout(vec2(KBPS, BUTTON), layout, |ui| {
            ui.set_min_width(KBPS);
            figure(ui, lane, "kbps").on_hover_text(about_cost(lane.second().as_ref()));
        });
    }
    shrink(&mut ui).then_some(Action::Panel)
}

const fn compare_width(halves: &Halves) -> f32 {
    if halves.left_is_lane { 44.0 } else { 74.0 }
}

fn compare(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let Some(halves) = &mut lane.halves else { return };
    let (name, about) = match halves.left_is_lane {
        true => ("End", "Ends the comparison: the left half shows the simulation again."),
        false => (
            "Compare",
            "Shows a replica in the left half, too. It keeps the present settings as a reference.",
        ),
    };
    let button = button(ui, compare_width(halves), name, "", Kind::usual(halves.left_is_lane));
    halves.left_is_lane ^= button.on_hover_text(about).clicked();
}

/// Draws a square button for an icon. Its tooltip has the name and the key.
fn plain_button(ui: &mut Ui, name: &str, action: Action) -> Response {
    let button = button(ui, BUTTON, "", "", Kind::Usual);
    button.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, name));
    button.on_hover_text(format!("{name}: {}", key_of(action)))
}

fn shrink(ui: &mut Ui) -> bool {
    let response = plain_button(ui, "Shrink the panel", Action::Panel);
    let color = Look::of(ui).muted;
    let screen = Rect::from_center_size(response.rect.center(), vec2(14.0, 12.0));
    let edge = Stroke::new(1.0, color);
    let painter = ui.painter();
    painter.rect_stroke(screen, 1.0, edge, StrokeKind::Inside);
    painter.rect_filled(screen.with_min_y(screen.bottom() - 4.0).shrink(1.0), 0.0, color);
    response.clicked()
}

/// Draws the bandwidth with its unit. Before the first measurement, draws an estimate if possible.
fn figure(ui: &mut Ui, lane: &LaneView<'_>, unit: &str) -> Response {
    let look = Look::of(ui);
    let (kbps, color) = match lane.second() {
        Some(second) => (grouped(second.kbps(second.accounting())), look.half),
        None => {
            let about = lane.rung_costs().estimate().map(|kbps| format!("~{}", grouped(kbps)));
            (about.unwrap_or_else(|| "…".to_owned()), look.muted)
        }
    };
    let mut words = LayoutJob::default();
    for (text, color) in [(&*(kbps + " "), color), (unit, look.muted)] {
        words.append(text, 0.0, TextFormat::simple(FontId::proportional(BODY), color));
    }
    ui.label(words)
}

fn about_cost(second: Option<&Totals>) -> String {
    const ESTIMATE: &str =
        "An estimate, until a whole second has the same stages, budget and rate.";
    let Some(totals) = second else { return ESTIMATE.to_owned() };
    let mut about = format!(
        "Mean bandwidth of this lane in the second before the displayed tick. {} On the wire {} kbps.",
        terms::accounting(totals.accounting()),
        grouped(totals.kbps(Accounting::OnTheWire)),
    );
    if let Some(mean) = totals.mean_error_m() {
        let [mean, max] = [mean, totals.max_error_m.into()].map(millimetres);
        about += &format!(
            " Mean distance of the red cubes from the simulation at the displayed tick: {mean}; largest: {max}."
        );
    }
    about
}

/// Width of the panel in a window of 1280 points, where each half has 460, and its largest width in wider windows.
const WIDTH: f32 = 356.0;
const WIDEST: f32 = 408.0;

/// Fraction of a window between these widths.
const FRACTION: f32 = WIDTH / 1280.0;

/// Width of the window below which the panel starts as a slim bar, logical points.
const NARROW: f32 = 1000.0;

/// Width below which the panel is illegible, logical points.
const MIN_WIDTH: f32 = 320.0;

/// Fraction of a narrow window that the whole panel may cover.
const MAX_FRACTION: f32 = 0.45;

/// Heights of the window below which the plot is lower and below which it is omitted, logical points.
const LOW: f32 = 640.0;
const LOWEST: f32 = 520.0;

/// Sizes and distances, logical points.
const SLIM_BUTTONS: f32 = 84.0;
const SIDES: f32 = 74.0;
const BESIDE: f32 = 6.0;

/// Widths of the longest name of a rung and of the largest cost, logical points.
const PICKER: f32 = 158.0;
const KBPS: f32 = 88.0;
