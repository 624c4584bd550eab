//! The card of a step, docked below the halves: what the step says, the article's figure beside the one here and now,
//! and dots to go to another step.

use bevy_egui::egui::{
    self, Align, Frame, Label, Layout, Margin, Panel, Rect, RichText, Sense, Stroke, Ui, UiBuilder,
    WidgetInfo, WidgetType, vec2,
};

use super::seen;
use super::state::Tour;
use super::steps::{STEPS, TourStep};
use crate::controls::{Action, key_of};
use crate::panel::lane::LaneView;
use crate::panel::style::{BODY, GAP, LARGE, LINE, Look, ROW, SMALL};
use crate::panel::widgets::{At, Kind, button, key_figure, link, text, tick};
use crate::view::Side;

/// What the card shows.
#[derive(Clone, Debug)]
pub(in crate::panel) struct Guide {
    tour: Tour,
    index: usize,
    step: &'static TourStep,
    /// The number to watch, as it is now in each lane, the right one first.
    seen: Vec<(Side, Option<f64>)>,
}

impl Guide {
    /// None outside of the tour.
    pub(in crate::panel) fn of(lane: &LaneView<'_>) -> Option<Self> {
        let tour = lane.status.tour.filter(|tour| !tour.is_elsewhere)?;
        let step = tour.step()?;
        Some(Self {
            tour,
            index: tour.index?,
            step,
            seen: seen(lane, step.watch),
        })
    }

    /// The number of the step, counted from 1.
    pub(in crate::panel) const fn number(&self) -> usize {
        self.index + 1
    }

    /// What is seen at the right, its unit, and what it counts.
    fn now(&self) -> [String; 3] {
        let watch = self.step.watch;
        let figure = |value: Option<f64>| match value {
            Some(value) => watch.figure(value),
            None => ("…".to_owned(), ""),
        };
        let (value, unit) = self
            .seen
            .first()
            .map_or_else(|| figure(None), |(_, value)| figure(*value));
        let mut counts = watch.name().to_owned();
        if let Some((_, left)) = self.seen.get(1) {
            counts = format!("at the right; {} at the left", figure(*left).0);
        }
        [value, unit.to_owned(), counts]
    }
}

/// Draws the card. Returns its height, and the action of what was pressed.
pub(in crate::panel) fn draw(root: &mut Ui, guide: &Guide) -> (f32, Option<Action>) {
    let look = Look::of(root);
    let has_columns = root.available_width() >= WIDE;
    let height = if has_columns { HEIGHT } else { LOW };
    let mut pressed = None;
    let panel = Panel::bottom(egui::Id::new("tour"))
        .resizable(false)
        .show_separator_line(false)
        .exact_size(height)
        .frame(
            Frame::new()
                .fill(look.ground)
                .inner_margin(Margin::symmetric(24, 0)),
        );
    let panel = panel.show(root, |ui| {
        let all = ui.max_rect();
        let edge = Rect::from_x_y_ranges(
            all.left() - 24.0..=all.right() + 24.0,
            all.top()..=all.top() + 3.0,
        );
        ui.painter()
            .rect_filled(edge, 0.0, Side::Right.color_in(look));
        let (above, below) = all.split_top_bottom_at_y(all.bottom() - BUTTONS);
        let words = match has_columns {
            true => above.with_max_x(all.left() + 0.54 * all.width()),
            false => above,
        };
        let mut ui_of_words = ui.new_child(UiBuilder::new().max_rect(words));
        said(&mut ui_of_words, guide, !has_columns);
        if has_columns {
            columns(ui, above.with_min_x(words.right() + 24.0), guide);
        }
        pressed = controls(ui, below, guide);
    });
    (panel.response.rect.height(), pressed)
}

/// The title and the text of the step; where there is no room for columns, the figures in one line.
fn said(ui: &mut Ui, guide: &Guide, has_figures: bool) {
    let look = Look::of(ui);
    ui.spacing_mut().item_spacing.y = GAP;
    ui.add_space(12.0);
    let size = if has_figures { BODY } else { LARGE };
    ui.add(Label::new(RichText::new(guide.step.title).size(size)).truncate());
    let color = if has_figures { look.muted } else { look.ink };
    let words = RichText::new(guide.step.text).size(BODY).color(color);
    ui.add(Label::new(words).wrap());
    if has_figures {
        let [value, unit, counts] = guide.now();
        let article = guide.step.article.map_or_else(String::new, |article| {
            format!("The article: {} {}. ", article.value, article.unit)
        });
        let line = RichText::new(format!("{article}Here, now: {value} {unit}, {counts}."));
        ui.add(Label::new(line.size(SMALL)).truncate());
    }
}

/// The article's figure, the one here and now, how they differ, and what to do.
fn columns(ui: &mut Ui, area: Rect, guide: &Guide) {
    let look = Look::of(ui);
    let area = area.with_min_y(area.top() + 14.0);
    let (figures, below) = area.split_top_bottom_at_y(area.top() + FIGURE);
    let now = guide.now();
    let now = ["here, now", &now[0], &now[1], &now[2]];
    let now = (now, Side::Right.color_in(look));
    let article = guide.step.article.map(|article| {
        let article = ["the article", article.value, article.unit, article.counts];
        (article, look.ink)
    });
    let shown = article.into_iter().chain([now]);
    let (left, right) = figures.split_left_right_at_fraction(0.5);
    for (half, (words, color)) in [left, right].into_iter().zip(shown) {
        figure(ui, half.with_max_x(half.right() - 12.0), words, color);
    }
    let below = below.with_min_y(below.top() + 2.0);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(below));
    ui.spacing_mut().item_spacing.y = 2.0;
    let difference = RichText::new(guide.step.difference).size(SMALL);
    let who = match guide.tour.plays {
        true => "A script plays, until you press an arrow key, Space or Z.",
        false => "You play. Next and Back let the script play again.",
    };
    ui.add(Label::new(difference).wrap()).on_hover_text(who);
    if let Some(task) = guide.step.task {
        tick(&mut ui, guide.tour.is_done, task.text());
    }
}

/// A caption, a large number with its unit, and what it counts, beside a line.
fn figure(
    ui: &mut Ui,
    area: Rect,
    [caption, value, unit, counts]: [&str; 4],
    color: egui::Color32,
) {
    let look = Look::of(ui);
    let response = ui.interact(area, ui.id().with(caption), Sense::hover());
    response.widget_info(|| {
        let said = format!("{caption}: {value} {unit}, {counts}");
        WidgetInfo::labeled(WidgetType::Label, true, said)
    });
    let edge = Stroke::new(1.0, look.line);
    ui.painter().vline(area.left(), area.y_range(), edge);
    let inside = area.with_min_x(area.left() + 16.0);
    key_figure(ui, inside, [caption, value, unit], color);
    let below = inside.with_min_y(inside.top() + 48.0);
    let below = below.with_max_y(below.top() + LINE);
    text(
        ui.painter(),
        below,
        At::Left(0.0),
        counts,
        SMALL,
        look.muted,
    );
}

/// The dots, the link, and the buttons.
fn controls(ui: &mut Ui, area: Rect, guide: &Guide) -> Option<Action> {
    let area = area.with_max_y(area.bottom() - 12.0);
    let mut ui = ui.new_child(
        UiBuilder::new()
            .max_rect(area)
            .layout(Layout::right_to_left(Align::Center)),
    );
    ui.spacing_mut().item_spacing.x = 8.0;
    ui.spacing_mut().interact_size.y = 36.0;
    let is_last = guide.index + 1 == STEPS.len();
    let next = if is_last { "Done" } else { "Next" };
    let usual = Kind::Usual { is_on: false };
    let mut pressed = None;
    for (name, key, width, kind) in [
        (next, Action::TourNext, 136.0, Kind::Primary),
        ("Back", Action::TourBack, 76.0, usual),
        ("Leave", Action::LeaveTour, 92.0, Kind::Secondary),
    ] {
        let widget = |ui: &mut Ui| button(ui, width, name, key_of(key), kind);
        let is_enabled = key != Action::TourBack || guide.index > 0;
        if ui.add_enabled(is_enabled, widget).clicked() {
            pressed = Some(match key {
                // In the past, Escape goes elsewhere.
                Action::LeaveTour => Action::Tour,
                action => action,
            });
        }
    }
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        pressed = pressed.or(dots(ui, guide));
        ui.add_space(8.0);
        let number = format!("{} of {}", guide.number(), STEPS.len());
        ui.label(RichText::new(number).size(SMALL));
        ui.add_space(16.0);
        if ui.available_width() > LINK && link(ui, "Read the article").clicked() {
            pressed = Some(Action::Open(guide.step.address));
        }
    });
    pressed
}

/// A dot for each step: those behind are filled, the present one is larger.
fn dots(ui: &mut Ui, guide: &Guide) -> Option<Action> {
    let look = Look::of(ui);
    let mut pressed = None;
    for (index, step) in STEPS.iter().enumerate() {
        let (rect, response) = ui.allocate_exact_size(vec2(DOT, ROW), Sense::click());
        let said = format!("{}. {}", index + 1, step.title);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &said));
        let painter = ui.painter();
        let center = rect.center();
        match index.cmp(&guide.index) {
            std::cmp::Ordering::Less => {
                painter.circle_filled(center, 4.0, look.ink);
            }
            std::cmp::Ordering::Equal => {
                painter.circle_filled(center, 6.0, Side::Right.color_in(look));
            }
            std::cmp::Ordering::Greater => {
                painter.circle_stroke(center, 4.0, Stroke::new(1.0, look.quiet));
            }
        }
        if response.has_focus() || response.hovered() {
            painter.circle_stroke(center, 7.0, Stroke::new(1.0, look.ink));
        }
        if response.on_hover_text(said).clicked() {
            pressed = Some(Action::TourStep(index));
        }
    }
    pressed
}

/// Logical points.
const HEIGHT: f32 = 180.0;
const LOW: f32 = 148.0;
const BUTTONS: f32 = 48.0;
const FIGURE: f32 = 66.0;
const DOT: f32 = 15.0;
const LINK: f32 = 132.0;

/// Width from which figures stand in columns, logical points.
const WIDE: f32 = 820.0;
