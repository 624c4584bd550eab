//! Sliders, each with a number field.

use std::ops::RangeInclusive;

use crate::prelude::*;

#[derive(Clone, Debug)]
pub struct Slide {
    pub name: String,
    pub width: f32,
    pub range: RangeInclusive<f64>,
    pub scale: Scale,
    pub knob: f32,
    /// Colour of the groove left of the knob.
    pub color: Color32,
}

impl Slide {
    /// Returns the position of a value, from the left end of the slider.
    pub fn x_of(&self, value: f64) -> f32 {
        let fraction = self.scale.fraction(value, &self.range) as f32;
        egui::lerp(self.margin()..=self.width - self.margin(), fraction)
    }

    /// Distance of the knob from the ends at the extreme values.
    fn margin(&self) -> f32 {
        self.height() / HEIGHT_OF_RADIUS
    }

    fn height(&self) -> f32 {
        if self.knob > USUAL_KNOB { CONTROL } else { ROW }
    }
}

pub fn slider(ui: &mut Ui, slide: &Slide, value: &mut f64) -> Response {
    let look = Look::of(ui);
    let is_enabled = ui.is_enabled();
    let slider = ui.scope(|ui| {
        ui.spacing_mut().slider_width = slide.width;
        ui.spacing_mut().interact_size.y = slide.height();
        let visuals = ui.visuals_mut();
        // Colours of the groove: left of the knob, and right of it.
        visuals.selection.bg_fill = if is_enabled { slide.color } else { look.line };
        let widgets = &mut visuals.widgets;
        widgets.inactive.bg_fill = look.line;
        // egui's knob would have the colour of the groove. It is hidden, and another one is painted.
        let states = [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active];
        for widget in states.into_iter().chain([&mut widgets.noninteractive]) {
            widget.expansion = -slide.margin();
        }
        let slider = egui::Slider::new(value, slide.range.clone())
            .logarithmic(slide.scale == Scale::Logarithmic)
            .integer()
            .trailing_fill(true)
            .handle_shape(egui::style::HandleShape::Circle)
            .show_value(false);
        ui.add(slider)
    });
    let response = slider.inner;
    response.widget_info(|| WidgetInfo::slider(is_enabled, *value, &slide.name));
    let (rect, painter) = (response.rect, ui.painter());
    let knob = pos2(rect.left() + slide.x_of(*value), rect.center().y);
    let ink = if is_enabled { look.ink } else { look.impossible[1] };
    painter.circle_filled(knob, slide.knob / 2.0, ink);
    if response.has_focus() {
        focus_ring(painter, look, rect);
    }
    response
}

#[derive(Clone, Debug)]
pub struct Parameter<'a> {
    pub height: f32,
    /// Name shown in the row.
    pub label: &'a str,
    /// Full name, for accessibility.
    pub name: String,
    /// Widths of name, slider and field.
    pub widths: [f32; 3],
    pub range: RangeInclusive<u8>,
    pub unit: &'a str,
    /// Whether the field shows 2 to the power of the value.
    pub is_power: bool,
    /// Why the number does not exist; disables the row.
    pub absent: Option<&'a str>,
}

/// Draws the row. Returns the combined response of slider and field.
pub fn parameter(ui: &mut Ui, parameter: &Parameter<'_>, value: &mut u8) -> Response {
    let look = Look::of(ui);
    let [label, width, number] = parameter.widths;
    let range = &parameter.range;
    let slide = Slide {
        name: parameter.name.clone(),
        width,
        range: f64::from(*range.start())..=f64::from(*range.end()),
        scale: Scale::Linear,
        knob: USUAL_KNOB,
        color: look.half,
    };
    let is_there = parameter.absent.is_none();
    let size = vec2(ui.available_width(), parameter.height);
    let layout = Layout::left_to_right(Align::Center);
    let response = ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_height(parameter.height);
        ui.spacing_mut().item_spacing.x = 8.0;
        let (row, _) = ui.allocate_exact_size(vec2(label - 8.0, ROW), Sense::hover());
        let (size, color) = match (label > 100.0, is_there) {
            (true, _) => (BODY, look.ink),
            (false, true) => (SMALL, look.ink),
            (false, false) => (SMALL, look.impossible[1]),
        };
        text(ui.painter(), row, At::Left(0.0), parameter.label, size, color);
        ui.add_enabled_ui(is_there, |ui| {
            let mut wanted = f64::from(*value);
            let slider = slider(ui, &slide, &mut wanted);
            *value = wanted as u8;
            let mut drag = DragValue::new(value).range(range.clone()).speed(0.1);
            if parameter.is_power {
                drag = drag.custom_formatter(|power, _| grouped(power.exp2())).custom_parser(
                    |typed| typed.replace(char::is_whitespace, "").parse().ok().map(f64::log2),
                );
            }
            slider.union(field(ui, &parameter.name, number, drag, parameter.unit))
        })
        .inner
    });
    match parameter.absent {
        Some(absent) => response.inner.on_disabled_hover_text(absent),
        None => response.inner,
    }
}

/// Default diameter of the knob, in logical points.
const USUAL_KNOB: f32 = 14.0;

/// egui's knob stays this fraction of the height away from the ends: `height / 2.5`.
const HEIGHT_OF_RADIUS: f32 = 2.5;
