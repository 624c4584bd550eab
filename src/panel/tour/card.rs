//! The card of a step, docked below the halves: its text, the article's figure next to the measurement, and dots that
//! select another step.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{STEPS, Tour, TourStep};
use crate::panel::lane::LaneView;
use crate::panel::prelude::*;

#[derive(Clone, Debug)]
pub(crate) struct Guide {
    tour: Tour,
    index: usize,
    step: &'static TourStep,
    /// Present value of the watched number for each lane, the left one first. `None` until it is measured.
    seen: Vec<(Side, Option<f64>)>,
}

impl Guide {
    /// Returns `None` outside of the tour. `graph_seconds` is the time span for [`Watch::Lost`](super::Watch::Lost).
    pub(crate) fn of(lane: &LaneView<'_>, graph_seconds: u32) -> Option<Self> {
        let tour = lane.status.tour.filter(|tour| !tour.is_elsewhere)?;
        let step = tour.step()?;
        let lanes = lane.shown.iter();
        Some(Self {
            tour,
            index: tour.index?,
            step,
            seen: lanes.map(|lane| (lane.side, step.watch.of(lane.meter, graph_seconds))).collect(),
        })
    }

    /// Returns the name, value and colour of each figure: the article's figure, then the measurements.
    fn figures(&self, look: Look) -> Vec<(&'static str, String, Color32)> {
        let watch = self.step.watch;
        let article = self.step.article;
        let name = self.step.article_name();
        let article = article.map(|value| (name, watch.text(value), look.ink));
        let is_one = self.seen.len() < 2;
        let seen = self.seen.iter().map(|&(side, value)| {
            let name = match side {
                _ if is_one => "here, now",
                Side::Left => "left, now",
                Side::Right => "right, now",
            };
            let value = value.map_or_else(|| "…".to_owned(), |value| watch.text(value));
            (name, value, side.color_in(look))
        });
        article.into_iter().chain(seen).collect()
    }

    /// Text with all figures in a line, and their difference from the article.
    fn line(&self, look: Look) -> String {
        let [what, unit] = self.step.watch.name_and_unit();
        let figures = self.figures(look).into_iter();
        let figures = figures.map(|(name, value, _)| format!("{value} {unit} ({name})"));
        let figures = figures.collect::<Vec<_>>().join(", ");
        format!("{what}: {figures}. {}", self.step.difference)
    }

    fn number(&self) -> String {
        format!("{} of {}", self.index + 1, STEPS.len())
    }
}

/// Draws the card. Returns its height and the action of the pressed button.
pub(crate) fn draw(root: &mut Ui, guide: &Guide) -> (f32, Option<Action>) {
    let look = Look::of(root);
    let width = root.available_width() - 2.0 * BESIDE;
    let lines = (width < WIDE).then(|| lines(root, guide, width));
    let height = lines.as_ref().map_or(180.0, |lines| narrow_height(guide, width, lines));
    let (edge, margin) = (Panel::bottom(Id::new("tour")), Margin::symmetric(BESIDE as i8, 0));
    let (rect, pressed) = docked(root, edge, height, margin, |ui| {
        let all = ui.max_rect();
        let edge = all.expand2(vec2(BESIDE, 0.0)).with_max_y(all.top() + EDGE);
        ui.painter().rect_filled(edge, 0.0, Side::Right.color_in(look));
        match lines {
            Some(lines) => narrow(ui, all, guide, lines),
            None => wide(ui, all, guide),
        }
    });
    (rect.height(), pressed)
}

/// Draws the text left of the figures, above the dots and the buttons.
fn wide(ui: &mut Ui, all: Rect, guide: &Guide) -> Option<Action> {
    let look = Look::of(ui);
    let (above, below) = all.split_top_bottom_at_y(all.bottom() - BUTTONS);
    let words = above.with_max_x(all.left() + 0.54 * all.width());
    let mut said = ui.new_child(UiBuilder::new().max_rect(words));
    said.spacing_mut().item_spacing.y = GAP;
    said.add_space(12.0);
    said.add(Label::new(RichText::new(guide.step.title).size(LARGE)).truncate());
    said.add(Label::new(balanced(&said, guide.step.text, BODY, look.ink, words.width())));
    columns(ui, above.with_min_x(words.right() + BESIDE), guide);
    let (pressed, left) = buttons(ui, below.with_max_y(below.bottom() - 12.0), guide, 136.0);
    let mut ui = row_in(ui, left);
    let pressed = pressed.or(dots(&mut ui, guide));
    ui.label(RichText::new(guide.number()).size(SMALL));
    ui.add_space(MARGIN);
    pressed.or(article(&mut ui, guide))
}

/// Draws the figures in a row under their heading; below them their difference from the article and the task.
fn columns(ui: &mut Ui, area: Rect, guide: &Guide) {
    let look = Look::of(ui);
    let area = area.with_min_y(area.top() + 14.0);
    ui.painter().vline(area.left(), area.y_range(), Stroke::new(1.0, look.line));
    let inside = area.with_min_x(area.left() + MARGIN);
    let (heading, below) = inside.split_top_bottom_at_y(inside.top() + LINE);
    let [what, unit] = guide.step.watch.name_and_unit();
    text(ui.painter(), heading, At::Left(0.0), what, SMALL, look.ink);
    let below = below.with_min_y(below.top() + 2.0);
    let (row, below) = below.split_top_bottom_at_y(below.top() + FIGURE);
    let figures = guide.figures(look);
    let width = row.width() / figures.len().max(2) as f32;
    for (index, (name, value, color)) in figures.iter().enumerate() {
        let at = row.min + vec2(index as f32 * width, 0.0);
        let cell = Rect::from_min_size(at, vec2(width, FIGURE));
        ui.interact(cell, ui.id().with(name), Sense::hover()).widget_info(|| {
            WidgetInfo::labeled(WidgetType::Label, true, format!("{what}, {name}: {value} {unit}"))
        });
        key_figure(ui, cell, [name, value, unit], *color);
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

fn task(ui: &mut Ui, guide: &Guide) {
    if let Some(task) = guide.step.task {
        tick(ui, guide.tour.is_done, task.text());
    }
}

/// Returns the text and the line of figures for a card without columns.
fn lines(ui: &Ui, guide: &Guide, width: f32) -> [Arc<Galley>; 2] {
    let look = Look::of(ui);
    [
        balanced(ui, guide.step.text, BODY, look.ink, width),
        balanced(ui, &guide.line(look), SMALL, look.muted, width),
    ]
}

/// Draws a card without columns: the buttons, and below them the texts.
fn narrow(ui: &mut Ui, all: Rect, guide: &Guide, lines: [Arc<Galley>; 2]) -> Option<Action> {
    let all = all.with_min_y(all.top() + EDGE + 8.0);
    let (above, below) = all.split_top_bottom_at_y(all.top() + BUTTON);
    let (mut pressed, left) = buttons(ui, above, guide, 84.0);
    let mut beside = row_in(ui, left);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(below.with_min_y(below.top() + GAP)));
    ui.spacing_mut().item_spacing.y = GAP;
    let title = Label::new(RichText::new(guide.step.title).size(BODY)).truncate();
    let number = RichText::new(guide.number()).size(SMALL);
    let has_room = all.width() >= BESIDE_BUTTONS;
    if has_room {
        beside.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(number);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(title));
        });
    } else {
        beside.label(number);
        ui.add(title);
    }
    for line in lines {
        ui.add(Label::new(line));
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = LINE;
        pressed = pressed.or(article(ui, guide));
        if has_room {
            ui.add_space(MARGIN);
            task(ui, guide);
        }
    });
    if !has_room {
        task(&mut ui, guide);
    }
    pressed
}

fn narrow_height(guide: &Guide, width: f32, lines: &[Arc<Galley>; 2]) -> f32 {
    // Without room next to the buttons and the link, title and task have their own rows.
    let rows = match guide.step.task {
        _ if width >= BESIDE_BUTTONS => 0.0,
        Some(_) => 2.0,
        None => 1.0,
    };
    let lines: f32 = lines.iter().map(|line| line.size().y + GAP).sum();
    EDGE + 8.0 + BUTTON + GAP + rows * (ROW + GAP) + lines + LINE + 10.0
}

/// Draws the buttons at the right end of an area. Returns the action of the pressed button, and the free area.
fn buttons(ui: &mut Ui, area: Rect, guide: &Guide, next_width: f32) -> (Option<Action>, Rect) {
    let mut ui = row_from_right(ui, area);
    ui.spacing_mut().item_spacing.x = 8.0;
    ui.spacing_mut().interact_size.y = area.height();
    let mut pressed = None;
    let is_last = guide.index + 1 == STEPS.len();
    let next = if is_last { "Done" } else { "Next" };
    for (name, key, width, kind) in [
        (next, Action::TourNext, next_width, Kind::Primary),
        ("Back", Action::TourBack, 76.0, Kind::Usual),
        ("Leave", Action::LeaveTour, 84.0, Kind::Secondary),
    ] {
        let widget = |ui: &mut Ui| button(ui, width, name, key_of(key), kind);
        let is_enabled = key != Action::TourBack || guide.index > 0;
        if ui.add_enabled(is_enabled, widget).clicked() {
            pressed = Some(match key {
                // In the past, `LeaveTour` would only return to the present.
                Action::LeaveTour => Action::Tour,
                action => action,
            });
        }
    }
    (pressed, ui.available_rect_before_wrap())
}

fn article(ui: &mut Ui, guide: &Guide) -> Option<Action> {
    let link = RichText::new("Read the article").size(SMALL).underline();
    ui.link(link).clicked().then_some(Action::Open(guide.step.address))
}

/// Draws a dot for each step. Earlier steps are filled, and the present one is larger.
fn dots(ui: &mut Ui, guide: &Guide) -> Option<Action> {
    let look = Look::of(ui);
    let mut pressed = None;
    ui.spacing_mut().item_spacing.x = 0.0;
    for (index, step) in STEPS.iter().enumerate() {
        let (rect, response) = ui.allocate_exact_size(vec2(15.0, ROW), Sense::click());
        let said = format!("{}. {}", index + 1, step.title);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &said));
        let painter = ui.painter();
        let center = rect.center();
        let (radius, fill, edge) = match index.cmp(&guide.index) {
            Ordering::Less => (4.0, look.ink, Stroke::NONE),
            Ordering::Equal => (6.0, Side::Right.color_in(look), Stroke::NONE),
            Ordering::Greater => (4.0, Color32::TRANSPARENT, Stroke::new(1.0, look.quiet)),
        };
        painter.circle(center, radius, fill, edge);
        if response.has_focus() || response.hovered() {
            painter.circle_stroke(center, 7.0, Stroke::new(1.0, look.ink));
        }
        if response.on_hover_text(said).clicked() {
            pressed = Some(Action::TourStep(index));
        }
    }
    ui.add_space(8.0);
    pressed
}

/// Sizes and distances, logical points.
const BESIDE: f32 = 24.0;
const EDGE: f32 = 3.0;
const BUTTONS: f32 = 48.0;
const FIGURE: f32 = 50.0;

/// Smallest widths with figures next to the text, and with the title next to the buttons, logical points.
const WIDE: f32 = 772.0;
const BESIDE_BUTTONS: f32 = 600.0;
