//! The guided tour through the article: turns its pages, and draws the box that explains a step.
//!
//! The panel only turns the pages. What a step switches and plays is thrown by whoever owns the game, which
//! inserts the [`Tour`] and follows its step; without that resource there is no tour.

pub(super) mod state;
mod steps;
mod watch;

use bevy::prelude::*;
use bevy_egui::egui::{
    Align2, Area, Button, Checkbox, Context, Frame, Id, Margin, Order, RichText, ScrollArea, Sides,
    Stroke, TextStyle, Ui, Vec2, pos2, vec2,
};

use super::lane::LaneView;
use super::settings::PanelState;
use super::{figure, style};
use crate::controls::{Action, key_of};
use crate::history::Moment;
use crate::theme::egui_color;
use crate::view::{Inset, Side};

pub use state::Tour;
pub use steps::{STEPS, Scene, Task, TourStep};
pub use watch::Watch;

/// Turns the pages.
pub(super) fn on_action(
    action: On<Action>,
    tour: Option<ResMut<Tour>>,
    moment: Res<Moment>,
    mut state: ResMut<PanelState>,
) {
    let Some(mut tour) = tour else {
        return;
    };
    // Escape returns from the past first.
    if *action == Action::LeaveTour && moment.0.is_some() {
        return;
    }
    let was_there = tour.step().is_some();
    let after = tour.after(*action);
    tour.set_if_neq(after);
    // Whoever takes the tour needs no other explanation.
    if !was_there && after.step().is_some() && state.explaining {
        state.explaining = false;
        state.explained = true;
    }
}

/// What the box shows.
#[derive(Clone, Debug)]
pub(super) struct Guide {
    tour: Tour,
    step: &'static TourStep,
    /// The number to watch, as it is now.
    seen: String,
}

impl Guide {
    /// None outside of the tour.
    pub(super) fn of(lane: &LaneView<'_>) -> Option<Self> {
        let tour = lane.status.tour.filter(|tour| !tour.is_elsewhere)?;
        let step = tour.step()?;
        // What the step is about is at the right.
        let mut lanes: Vec<_> = lane.shown.iter().collect();
        lanes.sort_by_key(|lane| std::cmp::Reverse(lane.side));
        let values = lanes.iter().map(|lane| {
            let value = step.watch.of(lane.meter);
            let value = value.map_or_else(|| "…".to_owned(), |value| step.watch.text(value));
            if lanes.len() > 1 {
                format!("{} {value}", lane.side.name())
            } else {
                value
            }
        });
        let seen = values.collect::<Vec<_>>().join(", ");
        Some(Self { tour, step, seen })
    }

    /// The number of the step, counted from 1.
    pub(super) fn number(&self) -> Option<usize> {
        self.tour.index.map(|index| index + 1)
    }
}

/// Draws the box at the lower left of the view, next to the panel that covers `inset`. Returns the action
/// of the button that was pressed.
pub(super) fn draw(
    ctx: &Context,
    state: &PanelState,
    guide: &Guide,
    inset: Inset,
) -> Option<Action> {
    let mut picture = ctx.viewport_rect();
    picture.max -= vec2(inset.right, inset.bottom);
    let width = (picture.width() - 2.0 * EDGE).min(WIDTH);
    let room = picture.height() - ABOVE_CAPTIONS - EDGE;
    if width < MIN_WIDTH || room < MIN_HEIGHT {
        return None;
    }
    let colors = state.theme.colors();
    let color = style::half(colors, Side::Right);
    let mut action = None;
    Area::new(Id::new(AREA))
        .order(Order::Middle)
        .pivot(Align2::LEFT_BOTTOM)
        .fixed_pos(pos2(
            picture.left() + EDGE,
            picture.bottom() - ABOVE_CAPTIONS,
        ))
        .constrain(false)
        .fade_in(false)
        .show(ctx, |ui| {
            Frame::new()
                .fill(egui_color(colors.surface).gamma_multiply(VEIL))
                .stroke(Stroke::new(2.0, color))
                .corner_radius(6.0)
                .inner_margin(Margin::same(MARGIN as i8))
                .show(ui, |ui| {
                    ui.set_width(width - 2.0 * MARGIN);
                    ui.spacing_mut().item_spacing = vec2(6.0, 3.0);
                    title(ui, guide, color);
                    ScrollArea::vertical()
                        .id_salt(guide.tour.index)
                        .max_height((room - AROUND_TEXT).max(1.0))
                        .show(ui, |ui| guide.page(ui));
                    action = guide.buttons(ui);
                });
        });
    action
}

fn title(ui: &mut Ui, guide: &Guide, color: bevy_egui::egui::Color32) {
    Sides::new().shrink_left().truncate().show(
        ui,
        |ui| {
            let title = RichText::new(guide.step.title);
            ui.label(title.text_style(TextStyle::Heading).strong().color(color));
        },
        |ui| {
            let number = guide.tour.index.map_or(0, |index| index + 1);
            ui.monospace(format!("{number} of {}", STEPS.len()));
        },
    );
}

impl Guide {
    /// What the step says, its figures, and its task.
    fn page(&self, ui: &mut Ui) {
        ui.label(self.step.plain_text());
        let name = self.step.watch.name();
        if let Some(article) = self.step.article {
            figure(ui, &format!("{name}: the article"), article.to_owned());
        }
        figure(ui, &format!("{name}: now"), self.seen.clone())
            .on_hover_text("Mean of the last second.");
        if let Some(address) = self.step.address {
            ui.label(RichText::new(address).small());
        }
        if let Some(task) = self.step.task {
            // A tick, not a switch.
            let mut is_done = self.tour.is_done;
            ui.add(Checkbox::new(&mut is_done, task.text()));
        }
        let who = if self.tour.plays {
            "A script plays, until you press an arrow key, Space or Z."
        } else {
            "You play. Next and Back let the script play again."
        };
        ui.label(RichText::new(who).weak().small());
    }

    fn buttons(&self, ui: &mut Ui) -> Option<Action> {
        let is_last = self.tour.index == Some(STEPS.len() - 1);
        let next = if is_last { "Done" } else { "Next" };
        let buttons = [
            ("Back", Action::TourBack, self.tour.index != Some(0)),
            (next, Action::TourNext, true),
            ("Leave", Action::LeaveTour, true),
        ];
        let mut pressed = None;
        let gap = ui.spacing().item_spacing.x;
        let count = buttons.len() as f32;
        let width = (ui.available_width() - gap * (count - 1.0)) / count;
        ui.horizontal(|ui| {
            for (name, action, is_enabled) in buttons {
                let key = RichText::new(key_of(action)).weak().small();
                let button = Button::new(name)
                    .right_text(key)
                    .min_size(Vec2::new(width, BUTTON_HEIGHT));
                if ui.add_enabled(is_enabled, button).clicked() {
                    pressed = Some(action);
                }
            }
        });
        // In the past, Escape goes elsewhere.
        pressed.map(|action| match action {
            Action::LeaveTour => Action::Tour,
            action => action,
        })
    }
}

/// The area of the box.
pub(super) const AREA: &str = "tour";

/// Logical points: the box at most, and at least, below which it is left out.
const WIDTH: f32 = 420.0;
const MIN_WIDTH: f32 = 150.0;
const MIN_HEIGHT: f32 = 120.0;

/// Logical points, from the edges of the view.
const EDGE: f32 = 8.0;
const ABOVE_CAPTIONS: f32 = 64.0;

/// Logical points.
const MARGIN: f32 = 10.0;
const BUTTON_HEIGHT: f32 = 22.0;
/// The title, the buttons and the margins.
const AROUND_TEXT: f32 = 76.0;

/// Opacity of the box.
const VEIL: f32 = 0.95;

#[cfg(test)]
mod tests;
