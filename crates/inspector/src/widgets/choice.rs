//! Segmented switches and chips.

use std::borrow::Cow;

use bevy_egui::egui::{
    Button, Rect, Response, RichText, Sense, Stroke, TextWrapMode, Ui, WidgetInfo, WidgetType,
    pos2, vec2,
};

use super::width;
use crate::style::{CONTROL, Look, SMALL};

/// A segment of a switch.
#[derive(Clone, Debug)]
pub struct Choice<T> {
    pub value: T,
    pub name: Cow<'static, str>,
    pub about: Cow<'static, str>,
    /// Why it cannot be chosen; `None` if it can.
    pub refusal: Option<Cow<'static, str>>,
    /// Whether it shows an asterisk: choosing it changes more than this switch.
    pub is_marked: bool,
}

impl<T> Choice<T> {
    pub fn new(
        value: T,
        name: impl Into<Cow<'static, str>>,
        about: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { value, name: name.into(), about: about.into(), refusal: None, is_marked: false }
    }

    fn text(&self) -> Cow<'_, str> {
        match self.is_marked {
            true => format!("{}*", self.name).into(),
            false => Cow::Borrowed(&self.name),
        }
    }
}

/// Draws a switch of width `across`. Segment widths follow from their names. A click sets the value, unless the segment
/// is refused.
pub fn segmented<T: PartialEq + Clone>(
    ui: &mut Ui,
    across: f32,
    value: &mut T,
    choices: &[Choice<T>],
) {
    let (all, _) = ui.allocate_exact_size(vec2(across, CONTROL), Sense::hover());
    let names = choices.iter();
    let names = names.map(|choice| width(ui, &choice.text(), SMALL));
    let names: Vec<f32> = names.collect();
    let gaps = choices.len().saturating_sub(1) as f32;
    let room = across - gaps - names.iter().sum::<f32>();
    let padding = room / choices.len().max(1) as f32;
    let mut left = all.left();
    for (choice, name) in choices.iter().zip(names) {
        let right = left + name + padding;
        let rect = Rect::from_min_max(pos2(left, all.top()), pos2(right, all.bottom()));
        left = right + 1.0;
        let response = segment(ui, rect, choice, *value == choice.value);
        if response.clicked() {
            *value = choice.value.clone();
            // Earlier segments were already drawn with the old value.
            ui.ctx().request_discard("another segment is chosen");
        }
    }
}

fn segment<T>(ui: &mut Ui, rect: Rect, choice: &Choice<T>, is_selected: bool) -> Response {
    let look = Look::of(ui);
    let is_possible = choice.refusal.is_none();
    let name = RichText::new(choice.text()).size(SMALL);
    let button = match is_possible {
        true => Button::new(name).selected(is_selected),
        false => Button::new(name.color(look.impossible[1]))
            .fill(look.impossible[0])
            .sense(Sense::hover()),
    };
    let button = button.wrap_mode(TextWrapMode::Extend).min_size(rect.size());
    let response = ui.place(rect, button.corner_radius(2));
    response.widget_info(|| {
        WidgetInfo::selected(WidgetType::RadioButton, is_possible, is_selected, &*choice.name)
    });
    if is_selected {
        let line = rect.with_min_y(rect.bottom() - 2.0);
        ui.painter().rect_filled(line, 0.0, look.half);
    }
    match &choice.refusal {
        Some(refusal) => response.on_hover_text(format!("{refusal}\n{}", choice.about)),
        None if choice.about.is_empty() => response,
        None => response.on_hover_text(&*choice.about),
    }
}

/// Draws a rounded button with 12-point text, for a preset or an option. `radius` is 12 for presets, 4 for options.
pub fn chip(ui: &mut Ui, height: f32, radius: u8, name: &str, is_on: bool) -> Response {
    let look = Look::of(ui);
    let words = RichText::new(name).size(SMALL);
    let mut chip = match ui.is_enabled() {
        true => Button::new(words),
        false => Button::new(words.color(look.impossible[1])),
    };
    if is_on {
        chip = chip.stroke(Stroke::new(1.0, look.half));
    }
    let size = vec2(width(ui, name, SMALL) + 14.0, height);
    ui.add_sized(
        size,
        chip.wrap_mode(TextWrapMode::Extend).min_size(size).corner_radius(radius).selected(is_on),
    )
}
