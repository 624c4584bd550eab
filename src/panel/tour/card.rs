//! The card of a step, docked below the halves: its text, the article's figure next to the measurement, and dots that
//! select another step.

use std::cmp::Ordering;

use super::{STEPS, Tour, TourStep};
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

pub(crate) fn draw(root: &mut Ui, guide: &Guide) -> (f32, Option<Action>) {
    let color = Side::Right.color_in(Look::of(root));
    let edge = Panel::bottom(Id::new("tour"));
    let margin = Margin { top: EDGE as i8, ..Margin::symmetric(BESIDE as i8, 0) };
    let bottom = root.available_rect_before_wrap().bottom();
    let (rect, pressed) = docked(root, edge, None, margin, |ui| {
        ui.spacing_mut().item_spacing.y = GAP;
        if ui.available_width() < 772.0 { narrow(ui, guide) } else { wide(ui, guide) }
    });
    if rect.bottom() != bottom {
        root.ctx().request_discard("the card has another height");
    }
    root.painter().rect_filled(rect.with_max_y(rect.top() + EDGE), 0.0, color);
    (rect.height(), pressed)
}

/// Draws the text left of the figures, above the dots and the buttons. Its height is the same in all steps.
fn wide(ui: &mut Ui, guide: &Guide) -> Option<Action> {
    let look = Look::of(ui);
    let width = 0.54 * ui.available_width();
    let size = vec2(ui.available_width(), HEIGHT);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
        ui.set_min_height(HEIGHT);
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.vertical(|ui| {
            ui.set_width(width);
            ui.add_space(12.0);
            ui.add(Label::new(RichText::new(guide.step.title).size(LARGE)).truncate());
            paragraph(ui, guide.step.text, BODY, look.ink);
        });
        ui.add_space(BESIDE);
        let right = ui.available_rect_before_wrap();
        let line = Stroke::new(1.0, look.line);
        ui.painter().vline(right.left(), right.top() + 14.0..=right.bottom(), line);
        ui.add_space(MARGIN);
        ui.vertical(|ui| figures(ui, guide));
    });
    let pressed = row(ui, guide, 36.0, 136.0, |ui| {
        let pressed = dots(ui, guide);
        ui.label(RichText::new(guide.number()).size(SMALL));
        ui.add_space(MARGIN);
        pressed.or(article(ui, guide))
    });
    ui.add_space(12.0);
    pressed
}

fn figures(ui: &mut Ui, guide: &Guide) {
    let look = Look::of(ui);
    let [what, unit] = guide.step.watch.name_and_unit();
    ui.spacing_mut().item_spacing = vec2(0.0, 2.0);
    ui.add_space(14.0);
    line(ui, what, look.ink);
    let figures = guide.figures(look);
    let width = ui.available_width() / figures.len().max(2) as f32;
    ui.horizontal(|ui| {
        for (name, value, color) in figures {
            let said = format!("{what}, {name}: {value} {unit}");
            card(ui, width, &said, [name, &value, unit], color);
        }
    });
    let who = match guide.tour.plays {
        true => "A script plays, until you press an arrow key, Space or Z.",
        false => "You play. Next and Back let the script play again.",
    };
    paragraph(ui, guide.step.difference, SMALL, look.ink).on_hover_text(who);
    task(ui, guide);
}

fn task(ui: &mut Ui, guide: &Guide) {
    if let Some(task) = guide.step.task {
        tick(ui, guide.tour.is_done, task.text());
    }
}

fn narrow(ui: &mut Ui, guide: &Guide) -> Option<Action> {
    let look = Look::of(ui);
    let has_room = ui.available_width() >= 600.0;
    let title = |ui: &mut Ui| {
        ui.add(Label::new(RichText::new(guide.step.title).size(BODY)).truncate());
    };
    ui.add_space(8.0);
    let mut pressed = row(ui, guide, BUTTON, 84.0, |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(RichText::new(guide.number()).size(SMALL));
            if has_room {
                ui.with_layout(Layout::left_to_right(Align::Center), title);
            }
        });
        None
    });
    if !has_room {
        title(ui);
    }
    paragraph(ui, guide.step.text, BODY, look.ink);
    paragraph(ui, &guide.line(look), SMALL, look.muted);
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = LINE;
        pressed = pressed.or(article(ui, guide));
        if has_room {
            ui.add_space(MARGIN);
            task(ui, guide);
        }
    });
    if !has_room {
        task(ui, guide);
    }
    ui.add_space(10.0);
    pressed
}

/// Draws a row with the buttons at its right end, and `rest` in the free space. Returns the action of the pressed button.
fn row(
    ui: &mut Ui,
    guide: &Guide,
    height: f32,
    next_width: f32,
    rest: impl FnOnce(&mut Ui) -> Option<Action>,
) -> Option<Action> {
    let size = vec2(ui.available_width(), height);
    let row = ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.spacing_mut().interact_size.y = height;
        let mut pressed = None;
        let next = if guide.index + 1 == STEPS.len() { "Done" } else { "Next" };
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
        ui.reset_style();
        pressed.or(ui.with_layout(Layout::left_to_right(Align::Center), rest).inner)
    });
    row.inner
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
const HEIGHT: f32 = 125.0;
