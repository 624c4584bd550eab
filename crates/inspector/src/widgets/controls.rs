//! Controls in rows, each with a name at the left; segmented switches, chips, and drop-down lists.

use std::borrow::Cow;

use crate::prelude::*;

pub fn choices<T, const N: usize>(of: [(T, &'static str, &'static str); N]) -> [Choice<T>; N] {
    of.map(|(value, name, about)| Choice::new(value, name, about))
}

/// Draws a name of width `label`, and a switch in the rest of the row. Returns the name's response.
pub fn switch<T: PartialEq + Clone>(
    ui: &mut Ui,
    label: f32,
    name: &str,
    value: &mut T,
    choices: &[Choice<T>],
) -> Response {
    let draw = |ui: &mut Ui| segmented(ui, ui.available_width(), value, choices);
    named(ui, label, name, SMALL, draw).0
}

/// Draws a widget that is disabled if there is a refusal. Its hover text is the refusal followed by `about`.
pub fn unless(ui: &mut Ui, refusal: Option<&str>, about: &str, widget: impl Widget) -> Response {
    let shown = ui.add_enabled(refusal.is_none(), widget);
    let refused = format!("{} {about}", refusal.unwrap_or_default());
    shown.on_hover_text(about).on_disabled_hover_text(refused)
}

impl Row {
    /// Draws controls at the right end of the row, from right to left.
    pub fn controls<R>(&self, ui: &mut Ui, show: impl FnOnce(&mut Ui) -> R) -> R {
        let mut controls = row_in(ui, self.rect, Align::Max);
        controls.spacing_mut().item_spacing.x = GAP;
        show(&mut controls)
    }
}

/// Draws a name of width `label` with font size `size`, and controls in the rest of the row.
pub fn named<R>(
    ui: &mut Ui,
    label: f32,
    name: &str,
    size: f32,
    controls: impl FnOnce(&mut Ui) -> R,
) -> (Response, R) {
    let look = Look::of(ui);
    let whole = vec2(ui.available_width(), CONTROL);
    let row = ui.allocate_ui_with_layout(whole, Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let (rect, response) = ui.allocate_exact_size(vec2(label, CONTROL), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name));
        text(ui.painter(), rect, At::Left(0.0), name, size, look.ink);
        ui.spacing_mut().item_spacing.x = 8.0;
        (response, controls(ui))
    });
    row.inner
}

/// Draws a name, a number field and its unit, with this total width. Units are aligned between rows.
pub fn entry(ui: &mut Ui, width: f32, name: &str, value: DragValue<'_>, unit: &str) -> Response {
    let size = vec2(width, CONTROL);
    let row = ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_width(width);
        named(ui, width - FIELD - UNIT, name, SMALL, |ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            field(ui, name, FIELD, value, unit)
        })
    });
    let (label, field) = row.inner;
    label.union(field)
}

/// Widths in logical points.
const FIELD: f32 = 44.0;
const UNIT: f32 = 50.0;

/// Repeats the layout in this frame if a click on this opens a list, because the first layout only determines the
/// list's size.
pub fn opens(response: &Response) {
    if response.clicked() {
        response.ctx.request_discard("a list opens");
    }
}

pub fn picker(
    ui: &mut Ui,
    id: &str,
    [width, height]: [f32; 2],
    chosen: &str,
    entries: impl FnOnce(&mut Ui),
) -> Response {
    let tint = Look::of(ui).tint;
    let picker = ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = height;
        let list = ComboBox::from_id_salt(id).selected_text(chosen).icon(|ui, rect, visuals, _| {
            let (at, color) = (rect.center(), visuals.fg_stroke.color);
            triangle(ui.painter(), at, vec2(8.0, 5.0), Vec2::DOWN, color);
        });
        let list = list.width(width).truncate().show_ui(ui, |ui| {
            ui.visuals_mut().selection.bg_fill = tint;
            entries(ui);
        });
        list.response
    });
    opens(&picker.inner);
    picker.inner
}

/// Draws a scrolling list of equally high rows. `show` draws the visible ones. The scroll bar is in the margin.
pub fn list(
    ui: &mut Ui,
    id: &'static str,
    height: f32,
    row: f32,
    count: usize,
    show: impl FnOnce(&mut Ui, Range<usize>),
) {
    let width = ui.available_width();
    let (rect, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let wide = rect.with_max_x(rect.right() + MARGIN);
    let mut child = ui.new_child(UiBuilder::new().id_salt(id).max_rect(wide));
    let spacing = child.spacing_mut();
    spacing.item_spacing.y = 0.0;
    // Without fading, the last row stays readable.
    spacing.scroll.fade.strength = 0.0;
    ScrollArea::vertical()
        .id_salt(id)
        .max_height(height)
        .min_scrolled_height(height)
        .auto_shrink(false)
        .show_rows(&mut child, row, count, |ui, shown| {
            ui.set_max_width(width);
            show(ui, shown);
        });
}

type Text = Cow<'static, str>;

#[derive(Clone, Debug)]
pub struct Choice<T> {
    pub value: T,
    pub name: Text,
    pub about: Text,
    /// Why it cannot be chosen; `None` if it can.
    pub refusal: Option<Text>,
    /// Whether it shows an asterisk: choosing it changes more than this switch.
    pub is_marked: bool,
}

impl<T> Choice<T> {
    pub fn new(value: T, name: impl Into<Text>, about: impl Into<Text>) -> Self {
        Self { value, name: name.into(), about: about.into(), refusal: None, is_marked: false }
    }

    fn text(&self) -> Cow<'_, str> {
        if self.is_marked { format!("{}*", self.name).into() } else { Cow::Borrowed(&self.name) }
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
    let names: Vec<f32> = choices.iter().map(|choice| width(ui, &choice.text(), SMALL)).collect();
    let gaps = choices.len().saturating_sub(1) as f32;
    let room = across - gaps - names.iter().sum::<f32>();
    let padding = room / choices.len().max(1) as f32;
    let mut left = all.left();
    for (choice, name) in choices.iter().zip(names) {
        let right = left + name + padding;
        let rect = Rect::from_min_max(pos2(left, all.top()), pos2(right, all.bottom()));
        left = right + 1.0;
        if segment(ui, rect, choice, *value == choice.value).clicked() {
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
        ui.painter().rect_filled(rect.with_min_y(rect.bottom() - 2.0), 0.0, look.half);
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
