//! Widgets of the pages: rows, switches, chips, bars, key figures, plots.
//!
//! Colours come from [`Look`], heights and fonts from [`style`](crate::style). Everything clickable is at least 20
//! points high and has an accessible name.

mod chart;
mod controls;
mod slider;
mod words;

pub use chart::{AXIS, Chart, Scale, line_between, plot_area};
pub use controls::{
    Choice, chip, choices, entry, list, named, opens, picker, segmented, switch, unless,
};
pub use slider::{Parameter, Slide};
pub use words::{key, keys, line, note, paragraph, reserved, wrapped};

use crate::prelude::*;

/// Horizontal position of a text in its row: distance from the left edge, from the right edge, or of its centre from
/// the left edge.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Left(f32),
    Right(f32),
    Center(f32),
}

/// Lays out a text in one line, without a colour. Measuring and painting share this layout.
pub fn laid_out(painter: &Painter, text: impl ToString, font: FontId) -> Arc<Galley> {
    painter.layout_no_wrap(text.to_string(), font, Color32::PLACEHOLDER)
}

/// Paints a text, vertically centred in a row. Returns its rectangle.
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

/// Clamps a value to a range. Returns `from` if the range is empty.
pub const fn within(x: f32, from: f32, to: f32) -> f32 {
    x.min(to).max(from)
}

pub fn width(ui: &Ui, text: &str, size: f32) -> f32 {
    laid_out(ui.painter(), text, FontId::proportional(size)).size().x
}

/// A row of a table or list, as wide as the page.
#[derive(Debug)]
pub struct Row {
    pub rect: Rect,
    pub response: Response,
}

impl Row {
    /// Adds a row that can only be hovered. `name` is its accessible name.
    pub fn show(ui: &mut Ui, height: f32, name: &str) -> Self {
        Self::new(ui, height, name, Sense::hover(), false)
    }

    /// Adds a clickable row, highlighted if selected.
    pub fn button(ui: &mut Ui, height: f32, name: &str, is_selected: bool) -> Self {
        Self::new(ui, height, name, Sense::click(), is_selected)
    }

    fn new(ui: &mut Ui, height: f32, name: &str, sense: Sense, is_selected: bool) -> Self {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), sense);
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
            painter.rect_filled(wide.with_max_x(wide.left() + 3.0), 0.0, look.half);
        } else if response.hovered() {
            painter.rect_filled(wide, 0.0, look.raised);
        }
        if response.has_focus() {
            focus_ring(painter, look, wide);
        }
        Self { rect, response }
    }

    pub fn text(&self, ui: &Ui, at: At, words: impl ToString, size: f32, color: Color32) -> Rect {
        text(ui.painter(), self.rect, at, words, size, color)
    }

    /// Paints a bar, 12 points high, in the row.
    pub fn bar(&self, ui: &Ui, from: f32, to: f32, color: Color32) {
        let middle = self.rect.center().y;
        let left = self.rect.left();
        let bar = Rect::from_x_y_ranges(left + from..=left + to, middle - 6.0..=middle + 6.0);
        ui.painter().rect_filled(bar, 1.0, color);
    }
}

/// How far a highlighted row extends beyond the page on both sides.
pub const BEYOND: f32 = 8.0;

pub fn focus_ring(painter: &Painter, look: Look, around: Rect) {
    painter.rect_stroke(around.shrink(1.0), 4.0, Stroke::new(2.0, look.ink), StrokeKind::Inside);
}

/// Draws a name at the left, and a value with its unit at the right. Returns the row's response.
pub fn figure(ui: &mut Ui, name: &str, value: impl ToString, unit: &str) -> Response {
    let look = Look::of(ui);
    let value = value.to_string();
    let row = Row::show(ui, ROW, format!("{name}: {value} {unit}").trim_end());
    row.text(ui, At::Left(0.0), name, SMALL, look.ink);
    let space = match unit {
        "" => 0.0,
        _ => row.text(ui, At::Right(0.0), unit, SMALL, look.muted).width() + GAP,
    };
    row.text(ui, At::Right(space), value, SMALL, look.ink);
    row.response
}

/// Draws a key figure: a caption, and below it a large number with its unit. `name` is its accessible name.
pub fn card(
    ui: &mut Ui,
    width: f32,
    name: &str,
    [caption, value, unit]: [&str; 3],
    color: Color32,
) -> Response {
    let look = Look::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(width, LINE + 30.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name));
    let (above, number) = area.split_top_bottom_at_y(area.top() + LINE);
    let painter = ui.painter();
    text(painter, above, At::Left(0.0), caption, SMALL, look.muted);
    let value = text(painter, number, At::Left(0.0), value, LARGE, color);
    let (after, number) = (value.width() + 8.0, number.translate(vec2(0.0, 3.0)));
    text(painter, number, At::Left(after), unit, SMALL, look.muted);
    response
}

pub fn over_picture(look: Look, edge: Color32) -> Frame {
    Frame::new().fill(look.ground).stroke(Stroke::new(1.0, edge)).corner_radius(8)
}

pub fn divider(ui: &mut Ui) {
    ui.add(egui::Separator::default().horizontal().spacing(9.0));
}

/// Draws a heading, and muted text at its right end if there is room.
pub fn heading(ui: &mut Ui, name: &str, right: impl ToString) -> Response {
    let (look, right) = (Look::of(ui), right.to_string());
    let row = Row::show(ui, ROW, name);
    let name = row.text(ui, At::Left(0.0), name, BODY, look.ink);
    if name.right() + 2.0 * GAP + width(ui, &right, SMALL) <= row.rect.right() {
        row.text(ui, At::Right(0.0), right, SMALL, look.muted);
    }
    row.response
}

/// Draws a number field that can be dragged or typed in, followed by its unit. `name` is its accessible name.
pub fn field(ui: &mut Ui, name: &str, width: f32, value: DragValue<'_>, unit: &str) -> Response {
    let look = Look::of(ui);
    ui.scope(|ui| {
        ui.spacing_mut().interact_size = vec2(width, CONTROL);
        ui.style_mut().override_font_id = Some(FontId::proportional(SMALL));
        // A value that was set elsewhere must not change by being shown.
        let value = value.clamp_existing_to_range(false);
        let widgets = &mut ui.visuals_mut().widgets;
        for widget in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active] {
            widget.weak_bg_fill = look.sunken;
            widget.bg_stroke = Stroke::new(1.0, look.line);
        }
        let size = vec2(width, CONTROL);
        let layout = Layout::top_down(Align::Max);
        let response = ui.allocate_ui_with_layout(size, layout, |ui| ui.add(value)).inner;
        response.widget_info(|| WidgetInfo {
            label: Some(name.to_owned()),
            ..WidgetInfo::new(WidgetType::DragValue)
        });
        if !unit.is_empty() {
            ui.add(Label::new(RichText::new(unit).size(SMALL).color(look.muted)).truncate());
        }
        response
    })
    .inner
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Usual,
    /// Tinted.
    On,
    Primary,
    /// Outlined, for actions that leave the page.
    Secondary,
}

impl Kind {
    pub const fn usual(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Usual }
    }
}

/// Draws a button with its shortcut key. It is as high as the controls in this row, at least 28 points.
pub fn button(ui: &mut Ui, width: f32, name: &str, key: &str, kind: Kind) -> Response {
    let look = Look::of(ui);
    let is_enabled = ui.is_enabled();
    let is_on = kind == Kind::On;
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
    let size = vec2(width, ui.spacing().interact_size.y.max(BUTTON));
    let mut button = Button::new(RichText::new(name).size(BODY).color(ink))
        .gap(0.0)
        .min_size(size)
        .wrap_mode(TextWrapMode::Extend)
        .selected(is_on);
    if has_key {
        button = button.shortcut_text(RichText::new(key).monospace().size(SMALL).color(muted));
    }
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

/// Draws an item of a to-do list, with a box that is ticked when done.
pub fn tick(ui: &mut Ui, mut is_done: bool, words: &str) {
    let edge = Stroke::new(1.0, Look::of(ui).ink);
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = LINE;
        ui.visuals_mut().widgets.noninteractive.bg_stroke = edge;
        ui.add_enabled(false, egui::Checkbox::new(&mut is_done, RichText::new(words).size(SMALL)));
    });
}

/// Name, colour, and length of the dashes of a line, if it is dashed.
pub type LegendEntry = (String, Color32, Option<f32>);

/// Paints a legend entry: a solid or dashed line and its name. Returns the x position of the next entry.
pub fn legend(painter: &Painter, row: Rect, x: f32, entry: &LegendEntry) -> f32 {
    let &(ref name, color, dash) = entry;
    let y = row.center().y;
    let line = [pos2(row.left() + x, y), pos2(row.left() + x + 16.0, y)];
    line_between(painter, line, Stroke::new(2.0, color), dash);
    text(painter, row, At::Left(x + 21.0), name, SMALL, color).right() - row.left() + 12.0
}

/// Returns the distance from one legend entry to the next.
pub fn legend_width(ui: &Ui, name: &str) -> f32 {
    width(ui, name, SMALL) + 33.0
}

/// Paints a square in a kind's colour, 10 points wide.
pub fn swatch(painter: &Painter, row: Rect, x: f32, color: Color32) {
    let center = pos2(row.left() + x + 5.0, row.center().y);
    painter.rect_filled(Rect::from_center_size(center, vec2(10.0, 10.0)), 2.0, color);
}

/// Paints a filled triangle around a point. `direction` is a unit vector along an axis.
pub fn triangle(painter: &Painter, center: Pos2, size: Vec2, direction: Vec2, color: Color32) {
    let half = size / 2.0;
    let (tip, across) = (half * direction, half * vec2(direction.y.abs(), direction.x.abs()));
    let points = vec![center + tip, center - tip + across, center - tip - across];
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

/// Draws a bar across the page, divided in proportion to the values, with gaps of one point. Returns its response, and
/// the index of the part under the pointer.
pub fn stack(ui: &mut Ui, height: f32, parts: &[(f64, Color32)]) -> (Response, Option<usize>) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let total: f64 = parts.iter().map(|(value, _)| value).sum();
    let pointer = response.hover_pos();
    let mut hovered = None;
    let mut left = rect.left();
    for (index, &(value, color)) in parts.iter().enumerate() {
        if value <= 0.0 {
            continue;
        }
        let right = left + rect.width() * (value / total) as f32;
        let painted = (right - 1.0).max(left + 1.0);
        ui.painter().rect_filled(Rect::from_x_y_ranges(left..=painted, rect.y_range()), 0.0, color);
        if pointer.is_some_and(|pointer| (left..right).contains(&pointer.x)) {
            hovered = Some(index);
        }
        left = right;
    }
    (response, hovered)
}
