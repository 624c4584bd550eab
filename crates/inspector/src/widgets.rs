//! The parts that the pages are made of: rows, switches, chips, bars, figures with their units, plots.
//!
//! They take their colours from [`Look`], and their heights and type from [`style`](crate::style). Whatever can be
//! pressed is at least 20 points high, and says its name to those who cannot see it.

mod chart;
mod choice;
mod controls;
mod entry;
mod keys;
mod list;
mod marks;
mod picker;
mod shapes;
mod slider;
mod stack;
mod words;

use std::sync::Arc;

use bevy_egui::egui::{
    self, Align2, Color32, DragValue, FontId, Galley, Painter, Rect, Response, Sense, Shape,
    Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

use crate::style::{BODY, BUTTON, CONTROL, GAP, LARGE, LINE, Look, ROW, SMALL};

pub use chart::{AXIS, Chart, Scale};
pub use choice::{Choice, chip, segmented};
pub use controls::{choices, switch, unless};
pub use entry::{entry, named};
pub use keys::{key, keys, keys_width};
pub use list::list;
pub use marks::Label;
pub use picker::{opens, picker};
pub use shapes::{Pointing, ring, triangle};
pub use slider::{Parameter, Slide, parameter, slider};
pub use stack::stack;
pub use words::{balanced, line, note, reserved, wrapped};

/// Where a text stands in its row: that far from the left edge, from the right edge, or around a point from the left.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Left(f32),
    Right(f32),
    Center(f32),
}

/// Lays out a text in one line. What is measured and what is painted, in any colour, share one layout.
pub fn laid_out(painter: &Painter, text: impl ToString, font: FontId) -> Arc<Galley> {
    painter.layout_no_wrap(text.to_string(), font, Color32::PLACEHOLDER)
}

/// Paints a text in the vertical middle of a row. Returns its rectangle.
pub fn text(
    painter: &Painter,
    row: Rect,
    at: At,
    text: impl ToString,
    size: f32,
    color: Color32,
) -> Rect {
    let (x, align) = match at {
        At::Left(x) => (row.left() + x, Align2::LEFT_CENTER),
        At::Right(x) => (row.right() - x, Align2::RIGHT_CENTER),
        At::Center(x) => (row.left() + x, Align2::CENTER_CENTER),
    };
    let galley = laid_out(painter, text, FontId::proportional(size));
    let rect = align.anchor_size(pos2(x, row.center().y), galley.size());
    painter.galley(rect.min, galley, color);
    rect
}

/// As near to a point as a range allows; its start if the range is empty.
pub const fn within(x: f32, from: f32, to: f32) -> f32 {
    x.min(to).max(from)
}

/// How wide a text is.
pub fn width(ui: &Ui, text: &str, size: f32) -> f32 {
    laid_out(ui.painter(), text, FontId::proportional(size))
        .size()
        .x
}

/// A row of a table or a list, across the page.
#[derive(Debug)]
pub struct Row {
    pub rect: Rect,
    pub response: Response,
}

impl Row {
    /// A row that can only be pointed at. `name` is for those who cannot see it.
    pub fn show(ui: &mut Ui, height: f32, name: &str) -> Self {
        Self::new(ui, height, name, Sense::hover(), false)
    }

    /// A row that can be pressed, marked if it is the selected one.
    pub fn button(ui: &mut Ui, height: f32, name: &str, is_selected: bool) -> Self {
        Self::new(ui, height, name, Sense::click(), is_selected)
    }

    fn new(ui: &mut Ui, height: f32, name: &str, sense: Sense, is_selected: bool) -> Self {
        let size = vec2(ui.available_width(), height);
        let (rect, response) = ui.allocate_exact_size(size, sense);
        let kind = match sense.senses_click() {
            true => WidgetType::SelectableLabel,
            false => WidgetType::Label,
        };
        response.widget_info(|| WidgetInfo::selected(kind, true, is_selected, name));
        let look = Look::of(ui);
        let wide = rect.expand2(vec2(BEYOND, 0.0));
        let painter = ui.painter();
        if is_selected {
            painter.rect_filled(wide, 0.0, look.tint);
            let edge = wide.with_max_x(wide.left() + 3.0);
            painter.rect_filled(edge, 0.0, look.half);
        } else if response.hovered() {
            painter.rect_filled(wide, 0.0, look.raised);
        }
        if response.has_focus() {
            focus_ring(painter, look, wide);
        }
        Self { rect, response }
    }

    /// Paints a text in it.
    pub fn text(&self, ui: &Ui, at: At, words: impl ToString, size: f32, color: Color32) -> Rect {
        text(ui.painter(), self.rect, at, words, size, color)
    }

    /// Paints a bar of 12 points in it.
    pub fn bar(&self, ui: &Ui, from: f32, to: f32, color: Color32) {
        let middle = self.rect.center().y;
        let left = self.rect.left();
        let bar = Rect::from_x_y_ranges(left + from..=left + to, middle - 6.0..=middle + 6.0);
        ui.painter().rect_filled(bar, 1.0, color);
    }
}

/// Height of the number of a key figure.
const NUMBER: f32 = 30.0;

/// How far a marked row reaches beyond the page at both sides.
pub const BEYOND: f32 = 8.0;

/// The ring around what has the focus of the keyboard.
pub fn focus_ring(painter: &Painter, look: Look, around: Rect) {
    let ring = Stroke::new(2.0, look.ink);
    painter.rect_stroke(around.shrink(1.0), 4.0, ring, StrokeKind::Inside);
}

/// A name at the left, and its value with its unit at the right. Returns the response of the row.
pub fn figure(ui: &mut Ui, name: &str, value: impl ToString, unit: &str) -> Response {
    let look = Look::of(ui);
    let value = value.to_string();
    let said = format!("{name}: {value} {unit}");
    let row = Row::show(ui, ROW, said.trim_end());
    row.text(ui, At::Left(0.0), name, SMALL, look.ink);
    let space = match unit {
        "" => 0.0,
        _ => {
            row.text(ui, At::Right(0.0), unit, SMALL, look.muted)
                .width()
                + GAP
        }
    };
    row.text(ui, At::Right(space), value, SMALL, look.ink);
    row.response
}

/// A key figure: a caption, a large number, and what it refers to.
pub fn card(ui: &mut Ui, width: f32, caption: &str, value: &str, unit: &str) -> Response {
    let look = Look::of(ui);
    let size = vec2(width, LINE + NUMBER);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| {
        let said = format!("{caption}: {value} {unit}");
        WidgetInfo::labeled(WidgetType::Label, true, said)
    });
    key_figure(ui, rect, [caption, value, unit], look.ink);
    response
}

/// Paints a caption at the top of an area, and below it a large number in that colour, and its unit.
pub fn key_figure(ui: &Ui, area: Rect, [caption, value, unit]: [&str; 3], color: Color32) {
    let (look, painter) = (Look::of(ui), ui.painter());
    let (above, below) = area.split_top_bottom_at_y(area.top() + LINE);
    let number = below.with_max_y(below.top() + NUMBER);
    text(painter, above, At::Left(0.0), caption, SMALL, look.muted);
    let value = text(painter, number, At::Left(0.0), value, LARGE, color);
    let (after, number) = (value.width() + 8.0, number.translate(vec2(0.0, 3.0)));
    text(painter, number, At::Left(after), unit, SMALL, look.muted);
}

/// The frame of a card over the picture.
pub fn over_picture(look: Look, edge: Color32) -> egui::Frame {
    egui::Frame::new()
        .fill(look.ground)
        .stroke(Stroke::new(1.0, edge))
        .corner_radius(8)
}

/// A line across the page, with space above and below.
pub fn divider(ui: &mut Ui) {
    ui.add(egui::Separator::default().horizontal().spacing(9.0));
}

/// A heading of a part of the page, and muted words at its right end if they have room.
pub fn heading(ui: &mut Ui, name: &str, right: impl ToString) -> Response {
    let (look, right) = (Look::of(ui), right.to_string());
    let row = Row::show(ui, ROW, name);
    let name = row.text(ui, At::Left(0.0), name, BODY, look.ink);
    if name.right() + 2.0 * GAP + width(ui, &right, SMALL) <= row.rect.right() {
        row.text(ui, At::Right(0.0), right, SMALL, look.muted);
    }
    row.response
}

/// A number that can be dragged and typed, in a sunken field of that width; the unit stands behind it. Its name is not painted.
pub fn field(ui: &mut Ui, name: &str, width: f32, value: DragValue<'_>, unit: &str) -> Response {
    let look = Look::of(ui);
    ui.scope(|ui| {
        ui.spacing_mut().interact_size = vec2(width, CONTROL);
        ui.style_mut().override_font_id = Some(FontId::proportional(SMALL));
        // What was set elsewhere is shown, not changed.
        let value = value.clamp_existing_to_range(false);
        let widgets = &mut ui.visuals_mut().widgets;
        for widget in [
            &mut widgets.inactive,
            &mut widgets.hovered,
            &mut widgets.active,
        ] {
            widget.weak_bg_fill = look.sunken;
            widget.bg_stroke = Stroke::new(1.0, look.line);
        }
        let size = vec2(width, CONTROL);
        let layout = egui::Layout::top_down(egui::Align::Max);
        let response = ui.allocate_ui_with_layout(size, layout, |ui| ui.add(value));
        let response = response.inner;
        response.widget_info(|| WidgetInfo {
            label: Some(name.to_owned()),
            ..WidgetInfo::new(WidgetType::DragValue)
        });
        if !unit.is_empty() {
            let unit = egui::RichText::new(unit).size(SMALL).color(look.muted);
            ui.add(egui::Label::new(unit).truncate());
        }
        response
    })
    .inner
}

/// How a [`button`] looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Raised, or tinted where it is on.
    Usual { is_on: bool },
    /// The one thing to press.
    Primary,
    /// An outline, for what leads away.
    Secondary,
}

/// A button of that width with the key that does the same, as high as the controls around it, 28 points at least.
pub fn button(ui: &mut Ui, width: f32, name: &str, key: &str, kind: Kind) -> Response {
    let look = Look::of(ui);
    let is_enabled = ui.is_enabled();
    let is_on = kind == Kind::Usual { is_on: true };
    let (ink, muted) = match kind {
        _ if !is_enabled => (look.impossible[1], look.impossible[1]),
        Kind::Primary => (look.ground, look.ground),
        _ => (look.ink, look.muted),
    };
    let name_and_key = [
        laid_out(ui.painter(), name, FontId::proportional(BODY)),
        laid_out(ui.painter(), key, FontId::monospace(SMALL)),
    ];
    let words: f32 = name_and_key.iter().map(|galley| galley.size().x).sum();
    // A narrow button leaves out the key.
    let has_key = !key.is_empty() && words + GAP <= width - 16.0;
    let mut atoms = egui::Atoms::new(egui::RichText::new(name).size(BODY).color(ink));
    if has_key {
        atoms.push_right(egui::Atom::grow());
        let key = egui::RichText::new(key).monospace().size(SMALL);
        atoms.push_right(key.color(muted));
    }
    let size = vec2(width, ui.spacing().interact_size.y.max(BUTTON));
    let mut button = egui::Button::new(atoms)
        .gap(0.0)
        .min_size(size)
        .wrap_mode(egui::TextWrapMode::Extend)
        .selected(is_on);
    if kind == Kind::Primary && is_enabled {
        button = button.fill(look.primary);
    } else if kind == Kind::Secondary {
        button = button.fill(look.ground).stroke(Stroke::new(1.0, look.line));
    }
    let response = ui.add_sized(size, button);
    let said = format!("{name} {key}");
    response.widget_info(|| {
        WidgetInfo::selected(WidgetType::Button, is_enabled, is_on, said.trim_end())
    });
    response
}

/// Underlined words that can be pressed.
pub fn link(ui: &mut Ui, words: &str) -> Response {
    ui.link(egui::RichText::new(words).size(SMALL).underline())
}

/// Something to do, with a box that is ticked once it is done.
pub fn tick(ui: &mut Ui, mut is_done: bool, words: &str) {
    let edge = Stroke::new(1.0, Look::of(ui).ink);
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = LINE;
        ui.visuals_mut().widgets.noninteractive.bg_stroke = edge;
        let words = egui::RichText::new(words).size(SMALL);
        ui.add_enabled(false, egui::Checkbox::new(&mut is_done, words));
    });
}

/// A line of a legend: a stroke, or a dashed one, and its name. Returns where the next begins.
pub fn legend(
    painter: &Painter,
    row: Rect,
    x: f32,
    name: &str,
    color: Color32,
    dash: Option<f32>,
) -> f32 {
    let y = row.center().y;
    let line = [pos2(row.left() + x, y), pos2(row.left() + x + 16.0, y)];
    let stroke = Stroke::new(2.0, color);
    match dash {
        Some(dash) => painter.extend(Shape::dashed_line(&line, stroke, dash, 3.0)),
        None => {
            painter.line_segment(line, stroke);
        }
    }
    let name = text(painter, row, At::Left(x + 21.0), name, SMALL, color);
    name.right() - row.left() + 12.0
}

/// How far the next line of a legend begins after this one.
pub fn legend_width(ui: &Ui, name: &str) -> f32 {
    width(ui, name, SMALL) + 33.0
}

/// A square of a kind's colour, 10 points wide.
pub fn swatch(painter: &Painter, row: Rect, x: f32, color: Color32) {
    let center = pos2(row.left() + x + 5.0, row.center().y);
    painter.rect_filled(Rect::from_center_size(center, vec2(10.0, 10.0)), 2.0, color);
}
