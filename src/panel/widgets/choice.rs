//! Switches of several segments, and chips.

use std::borrow::Cow;

use bevy_egui::egui::{
    Rect, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

use super::{At, focus_ring, text, width};
use crate::panel::style::{CONTROL, Look, SMALL};

/// A segment of a switch.
#[derive(Clone, Debug)]
pub(in crate::panel) struct Choice<T> {
    pub(in crate::panel) value: T,
    pub(in crate::panel) name: Cow<'static, str>,
    pub(in crate::panel) about: Cow<'static, str>,
    /// Why it cannot be chosen.
    pub(in crate::panel) refusal: Option<String>,
}

impl<T> Choice<T> {
    pub(in crate::panel) fn new(
        value: T,
        name: impl Into<Cow<'static, str>>,
        about: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            value,
            name: name.into(),
            about: about.into(),
            refusal: None,
        }
    }
}

/// A switch as wide as `across`, whose segments are as wide as their names ask for. A press sets the value, unless the
/// segment is refused. Returns the index of the one that was pressed, refused or not.
pub(in crate::panel) fn segmented<T: PartialEq + Clone>(
    ui: &mut Ui,
    across: f32,
    value: &mut T,
    choices: &[Choice<T>],
) -> Option<usize> {
    let (all, _) = ui.allocate_exact_size(vec2(across, CONTROL), Sense::hover());
    let names = choices.iter().map(|choice| width(ui, &choice.name, SMALL));
    let names: Vec<f32> = names.collect();
    let gaps = choices.len().saturating_sub(1) as f32;
    let room = across - gaps - names.iter().sum::<f32>();
    let padding = room / choices.len().max(1) as f32;
    let mut left = all.left();
    let mut pressed = None;
    for (index, (choice, name)) in choices.iter().zip(names).enumerate() {
        let right = left + name + padding;
        let rect = Rect::from_min_max(pos2(left, all.top()), pos2(right, all.bottom()));
        left = right + 1.0;
        let response = segment(ui, rect, index, choice, *value == choice.value);
        if response.clicked() {
            pressed = Some(index);
            if choice.refusal.is_none() {
                *value = choice.value.clone();
            }
        }
    }
    pressed
}

fn segment<T>(
    ui: &mut Ui,
    rect: Rect,
    index: usize,
    choice: &Choice<T>,
    is_selected: bool,
) -> Response {
    let look = Look::of(ui);
    let id = ui.next_auto_id().with((index, "segment"));
    let response = ui.interact(rect, id, Sense::click());
    let is_possible = choice.refusal.is_none();
    response.widget_info(|| {
        WidgetInfo::selected(
            WidgetType::RadioButton,
            is_possible,
            is_selected,
            &*choice.name,
        )
    });
    let (fill, ink) = match (is_possible, is_selected) {
        (false, _) => (look.impossible[0], look.impossible[1]),
        (true, true) => (look.tint, look.ink),
        (true, false) => (look.raised, look.ink),
    };
    let painter = ui.painter();
    painter.rect_filled(rect, 2.0, fill);
    if is_selected {
        let line = rect.with_min_y(rect.bottom() - 2.0);
        painter.rect_filled(line, 0.0, look.half);
    } else if response.hovered() && is_possible {
        let edge = Stroke::new(1.0, look.quiet);
        painter.rect_stroke(rect, 2.0, edge, StrokeKind::Inside);
    }
    if response.has_focus() {
        focus_ring(painter, look, rect);
    }
    let middle = At::Center(rect.width() / 2.0);
    text(painter, rect, middle, &choice.name, SMALL, ink);
    match &choice.refusal {
        Some(refusal) => response.on_hover_text(format!("{refusal}\n{}", choice.about)),
        None if choice.about.is_empty() => response,
        None => response.on_hover_text(&*choice.about),
    }
}

/// A rounded button of 12 points for a preset or an option. `radius` is 12 for presets, 4 for options.
pub(in crate::panel) fn chip(
    ui: &mut Ui,
    height: f32,
    radius: u8,
    name: &str,
    is_on: bool,
) -> Response {
    let look = Look::of(ui);
    let size = vec2(width(ui, name, SMALL) + 14.0, height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let is_enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::selected(WidgetType::Button, is_enabled, is_on, name));
    let painter = ui.painter();
    let (fill, ink) = match (is_enabled, is_on) {
        (false, _) => (look.impossible[0], look.impossible[1]),
        (true, true) => (look.tint, look.ink),
        (true, false) => (look.raised, look.ink),
    };
    painter.rect_filled(rect, radius, fill);
    let edge = if is_on {
        look.half
    } else if response.hovered() {
        look.quiet
    } else {
        fill
    };
    painter.rect_stroke(rect, radius, Stroke::new(1.0, edge), StrokeKind::Inside);
    if response.has_focus() {
        focus_ring(painter, look, rect);
    }
    text(
        painter,
        rect,
        At::Center(rect.width() / 2.0),
        name,
        SMALL,
        ink,
    );
    response
}
