//! Sliders, each with a number field.

use crate::prelude::*;

#[derive(Clone, Debug)]
pub struct Slide {
    pub name: String,
    pub size: Vec2,
    pub range: RangeInclusive<f64>,
    pub scale: Scale,
    /// Colour of the groove left of the knob.
    pub color: Color32,
}

impl Slide {
    pub fn draw(&self, ui: &mut Ui, value: &mut f64) -> Response {
        let look = Look::of(ui);
        let is_enabled = ui.is_enabled();
        let margin = self.size.y / HEIGHT_OF_RADIUS;
        let slider = ui.scope(|ui| {
            ui.spacing_mut().slider_width = self.size.x;
            ui.spacing_mut().interact_size.y = self.size.y;
            let visuals = ui.visuals_mut();
            visuals.selection.bg_fill = if is_enabled { self.color } else { look.line };
            let widgets = &mut visuals.widgets;
            widgets.inactive.bg_fill = look.line;
            // egui's knob would have the colour of the groove. It is hidden, and another one is painted.
            let states = [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active];
            for widget in states.into_iter().chain([&mut widgets.noninteractive]) {
                widget.expansion = -margin;
            }
            let slider = egui::Slider::new(value, self.range.clone())
                .logarithmic(self.scale == Scale::Logarithmic)
                .integer()
                .trailing_fill(true)
                .handle_shape(egui::style::HandleShape::Circle)
                .show_value(false);
            ui.add(slider)
        });
        let response = slider.inner;
        response.widget_info(|| WidgetInfo::slider(is_enabled, *value, &self.name));
        let (rect, painter) = (response.rect, ui.painter());
        let knob = pos2(rect.left() + self.x_of(*value), rect.center().y);
        let ink = if is_enabled { look.ink } else { look.impossible[1] };
        painter.circle_filled(knob, margin - 1.0, ink);
        if response.has_focus() {
            focus_ring(painter, look, rect);
        }
        response
    }

    /// Returns the position of a value, from the left end of the slider.
    pub fn x_of(&self, value: f64) -> f32 {
        let margin = self.size.y / HEIGHT_OF_RADIUS;
        egui::lerp(margin..=self.size.x - margin, self.scale.fraction(value, &self.range) as f32)
    }
}

#[derive(Clone, Debug)]
pub struct Parameter<'a> {
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

impl Parameter<'_> {
    pub fn draw(&self, ui: &mut Ui, value: &mut u8) -> Response {
        let [label, width, number] = self.widths;
        let slide = Slide {
            name: self.name.clone(),
            size: vec2(width, ROW),
            range: f64::from(*self.range.start())..=f64::from(*self.range.end()),
            scale: Scale::Linear,
            color: Look::of(ui).half,
        };
        let row = ui.add_enabled_ui(self.absent.is_none(), |ui| {
            named(ui, label, self.label, SMALL, |ui| {
                let mut wanted = f64::from(*value);
                let slider = slide.draw(ui, &mut wanted);
                *value = wanted as u8;
                let mut drag = DragValue::new(value).range(self.range.clone()).speed(0.1);
                if self.is_power {
                    drag = drag.custom_formatter(|power, _| grouped(power.exp2())).custom_parser(
                        |typed| typed.replace(char::is_whitespace, "").parse().ok().map(f64::log2),
                    );
                }
                slider.union(field(ui, &self.name, number, drag, self.unit))
            })
        });
        let (_, response) = row.inner;
        response.on_disabled_hover_text(self.absent.unwrap_or_default())
    }
}

/// egui's knob stays this fraction of the height away from the ends: `height / 2.5`.
const HEIGHT_OF_RADIUS: f32 = 2.5;
