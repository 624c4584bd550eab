//! The card of a step, docked below the halves: what the step says, the article's figure beside the same here and now, and
//! dots to go to another step.

use std::sync::Arc;

use bevy_egui::egui::{
    self, Align, Color32, Frame, Galley, Label, Layout, Margin, Panel, Rect, RichText, Sense,
    Stroke, Ui, UiBuilder, WidgetInfo, WidgetType, vec2,
};

use super::state::Tour;
use super::steps::{STEPS, TourStep};
use crate::controls::{Action, key_of};
use crate::panel::lane::LaneView;
use crate::panel::style::{BODY, BUTTON, GAP, LARGE, LINE, Look, MARGIN, ROW, SMALL};
use crate::panel::terms::capital;
use crate::panel::widgets::{At, Kind, balanced, button, key_figure, link, text, tick};
use crate::view::Side;

/// What the card shows.
#[derive(Clone, Debug)]
pub(in crate::panel) struct Guide {
    tour: Tour,
    index: usize,
    step: &'static TourStep,
    /// The number to watch, as it is now in each lane, the left one first.
    seen: Vec<(Side, Option<f64>)>,
}

impl Guide {
    /// None outside of the tour. Graphs go back that many seconds.
    pub(in crate::panel) fn of(lane: &LaneView<'_>, graph_seconds: u32) -> Option<Self> {
        let tour = lane.status.tour.filter(|tour| !tour.is_elsewhere)?;
        let step = tour.step()?;
        let lanes = lane.shown.iter();
        Some(Self {
            tour,
            index: tour.index?,
            step,
            seen: lanes
                .map(|lane| (lane.side, step.watch.of(lane.meter, graph_seconds)))
                .collect(),
        })
    }

    /// The article's figure, then the number to watch as it is now: what each is called, its value, and its colour.
    fn figures(&self, look: Look) -> Vec<(&'static str, String, Color32)> {
        let article = self.step.article;
        let article = article.map(|it| (it.name, it.value.to_owned(), look.ink));
        let is_one = self.seen.len() < 2;
        let seen = self.seen.iter().map(|&(side, value)| {
            let name = match side {
                _ if is_one => "here, now",
                Side::Left => "left, now",
                Side::Right => "right, now",
            };
            let value = value.map_or_else(|| "…".to_owned(), |value| self.step.watch.text(value));
            (name, value, side.color_in(look))
        });
        article.into_iter().chain(seen).collect()
    }

    /// These in a line, and how they differ.
    fn line(&self, look: Look) -> String {
        let watch = self.step.watch;
        let figures = self.figures(look).into_iter();
        let figures = figures.map(|(name, value, _)| format!("{value} {} ({name})", watch.unit()));
        let figures = figures.collect::<Vec<_>>().join(", ");
        let what = capital(watch.name());
        format!("{what}: {figures}. {}", self.step.difference)
    }
}

/// Draws the card. Returns its height, and the action of what was pressed.
pub(in crate::panel) fn draw(root: &mut Ui, guide: &Guide) -> (f32, Option<Action>) {
    let look = Look::of(root);
    let width = root.available_width() - 2.0 * BESIDE;
    let is_wide = width >= WIDE;
    let narrow = (!is_wide).then(|| Narrow::new(root, guide, width));
    let height = narrow.as_ref().map_or(HEIGHT, Narrow::height);
    let mut pressed = None;
    let panel = Panel::bottom(egui::Id::new("tour"))
        .resizable(false)
        .show_separator_line(false)
        .exact_size(height)
        .frame(
            Frame::new()
                .fill(look.ground)
                .inner_margin(Margin::symmetric(BESIDE as i8, 0)),
        );
    let panel = panel.show(root, |ui| {
        let all = ui.max_rect();
        let edge = all.expand2(vec2(BESIDE, 0.0));
        let edge = edge.with_max_y(all.top() + EDGE);
        ui.painter()
            .rect_filled(edge, 0.0, Side::Right.color_in(look));
        pressed = match narrow {
            Some(narrow) => narrow.draw(ui, all, guide),
            None => wide(ui, all, guide),
        };
    });
    (panel.response.rect.height(), pressed)
}

/// What the step says beside its figures, above the buttons.
fn wide(ui: &mut Ui, all: Rect, guide: &Guide) -> Option<Action> {
    let look = Look::of(ui);
    let (above, below) = all.split_top_bottom_at_y(all.bottom() - BUTTONS);
    let words = above.with_max_x(all.left() + 0.54 * all.width());
    let mut said = ui.new_child(UiBuilder::new().max_rect(words));
    said.spacing_mut().item_spacing.y = GAP;
    said.add_space(12.0);
    said.add(Label::new(RichText::new(guide.step.title).size(LARGE)).truncate());
    let text = balanced(&said, guide.step.text, BODY, look.ink, words.width());
    said.add(Label::new(text));
    columns(ui, above.with_min_x(words.right() + BESIDE), guide);
    let below = below.with_max_y(below.bottom() - 12.0);
    controls(ui, below, guide, DOT, None)
}

/// The figures beside each other below what they are of, how they differ, and what to do, beside a line.
fn columns(ui: &mut Ui, area: Rect, guide: &Guide) {
    let look = Look::of(ui);
    let area = area.with_min_y(area.top() + 14.0);
    let edge = Stroke::new(1.0, look.line);
    ui.painter().vline(area.left(), area.y_range(), edge);
    let inside = area.with_min_x(area.left() + MARGIN);
    let (heading, below) = inside.split_top_bottom_at_y(inside.top() + LINE);
    let watch = guide.step.watch;
    let what = capital(watch.name());
    text(ui.painter(), heading, At::Left(0.0), &what, SMALL, look.ink);
    let below = below.with_min_y(below.top() + 2.0);
    let (row, below) = below.split_top_bottom_at_y(below.top() + FIGURE);
    let figures = guide.figures(look);
    let width = row.width() / figures.len().max(2) as f32;
    for (index, (name, value, color)) in figures.iter().enumerate() {
        let at = row.min + vec2(index as f32 * width, 0.0);
        let cell = Rect::from_min_size(at, vec2(width, FIGURE));
        let response = ui.interact(cell, ui.id().with(name), Sense::hover());
        response.widget_info(|| {
            let said = format!("{what}, {name}: {value} {}", watch.unit());
            WidgetInfo::labeled(WidgetType::Label, true, said)
        });
        key_figure(ui, cell, [name, value, watch.unit()], *color);
    }
    let mut ui = ui.new_child(UiBuilder::new().max_rect(below));
    ui.spacing_mut().item_spacing.y = 2.0;
    let difference = balanced(&ui, guide.step.difference, SMALL, look.ink, below.width());
    let who = match guide.tour.plays {
        true => "A script plays, until you press an arrow key, Space or Z.",
        false => "You play. Next and Back let the script play again.",
    };
    ui.add(Label::new(difference)).on_hover_text(who);
    task(&mut ui, guide);
}

/// What there is to do in the step.
fn task(ui: &mut Ui, guide: &Guide) {
    if let Some(task) = guide.step.task {
        tick(ui, guide.tour.is_done, task.text());
    }
}

/// The card where there is no room for columns: one below the buttons, as high as its text.
struct Narrow {
    text: Arc<Galley>,
    figures: Arc<Galley>,
}

impl Narrow {
    fn new(ui: &Ui, guide: &Guide, width: f32) -> Self {
        let look = Look::of(ui);
        Self {
            text: balanced(ui, guide.step.text, BODY, look.ink, width),
            figures: balanced(ui, &guide.line(look), SMALL, look.muted, width),
        }
    }

    fn height(&self) -> f32 {
        let words = self.text.size().y + GAP + self.figures.size().y;
        EDGE + 8.0 + BUTTON + GAP + words + GAP + LINE + 10.0
    }

    fn draw(self, ui: &mut Ui, all: Rect, guide: &Guide) -> Option<Action> {
        let all = all.with_min_y(all.top() + EDGE + 8.0);
        let (above, below) = all.split_top_bottom_at_y(all.top() + BUTTON);
        let mut pressed = controls(ui, above, guide, NARROW_DOT, Some(guide.step.title));
        let below = below.with_min_y(below.top() + GAP);
        let mut ui = ui.new_child(UiBuilder::new().max_rect(below));
        ui.spacing_mut().item_spacing.y = GAP;
        ui.add(Label::new(self.text));
        ui.add(Label::new(self.figures));
        ui.horizontal(|ui| {
            ui.spacing_mut().interact_size.y = LINE;
            pressed = pressed.or(article(ui, guide));
            ui.add_space(MARGIN);
            task(ui, guide);
        });
        pressed
    }
}

/// The buttons at the right. At the left, the dots with the number and the link; or a title, and the dots at its right.
fn controls(
    ui: &mut Ui,
    area: Rect,
    guide: &Guide,
    dot: f32,
    title: Option<&str>,
) -> Option<Action> {
    let mut ui = ui.new_child(
        UiBuilder::new()
            .max_rect(area)
            .layout(Layout::right_to_left(Align::Center)),
    );
    ui.spacing_mut().item_spacing.x = 8.0;
    ui.spacing_mut().interact_size.y = area.height();
    let mut pressed = None;
    let is_last = guide.index + 1 == STEPS.len();
    let next = if is_last { "Done" } else { "Next" };
    let usual = Kind::Usual { is_on: false };
    let wide = if title.is_some() { 84.0 } else { 136.0 };
    for (name, key, width, kind) in [
        (next, Action::TourNext, wide, Kind::Primary),
        ("Back", Action::TourBack, 76.0, usual),
        ("Leave", Action::LeaveTour, 84.0, Kind::Secondary),
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
    let dots = |ui: &mut Ui| {
        let all = vec2(dot * STEPS.len() as f32, ui.available_height());
        let row = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(all, row, |ui| dots(ui, guide, dot))
            .inner
    };
    if let Some(title) = title {
        pressed = pressed.or(dots(&mut ui));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(Label::new(RichText::new(title).size(BODY)).truncate());
        });
        return pressed;
    }
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        pressed = pressed.or(dots(ui));
        let number = format!("{} of {}", guide.index + 1, STEPS.len());
        ui.label(RichText::new(number).size(SMALL));
        ui.add_space(8.0);
        pressed = pressed.or(article(ui, guide));
    });
    pressed
}

/// The link into the article.
fn article(ui: &mut Ui, guide: &Guide) -> Option<Action> {
    let is_clicked = link(ui, "Read the article").clicked();
    is_clicked.then_some(Action::Open(guide.step.address))
}

/// A dot for each step, that far apart: those behind are filled, the present one is larger.
fn dots(ui: &mut Ui, guide: &Guide, dot: f32) -> Option<Action> {
    let look = Look::of(ui);
    ui.spacing_mut().item_spacing.x = 0.0;
    let mut pressed = None;
    for (index, step) in STEPS.iter().enumerate() {
        let (rect, response) = ui.allocate_exact_size(vec2(dot, ROW), Sense::click());
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
const BESIDE: f32 = 24.0;
const EDGE: f32 = 3.0;
const BUTTONS: f32 = 48.0;
const FIGURE: f32 = 50.0;
const DOT: f32 = 15.0;
const NARROW_DOT: f32 = 10.0;

/// Width from which figures stand beside the text, logical points.
const WIDE: f32 = 772.0;
