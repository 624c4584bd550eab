//! The legend of the cubes' colours: at the lower left of the picture, as the ball and what it touches are above, or in a band
//! of a film.

use bevy_egui::egui::{Align2, Color32, Mesh, Pos2, Rangef, Rect, Vec2, pos2, vec2};
use cubewire_codec::Form;
use cubewire_inspector::words::grouped;
use cubewire_palette::{AMOUNTS, form};

use super::caption::BOTTOM;
use super::text::Pen;
use crate::theme::egui_color;
use crate::view::costs::{Costs, CubeColors, Scale};

impl Pen<'_> {
    /// Paints what the colours of the cubes mean, above the caption; nothing for the usual ones.
    pub(super) fn legend(&self, picture: Rect, colors: CubeColors, costs: &Costs) {
        let Some(title) = colors.title() else {
            return;
        };
        let forms: Vec<_> = [None].into_iter().chain(Form::ALL.map(Some)).collect();
        let row = 1.5 * self.sizes.small;
        let rows = match colors {
            _ if costs.unknown.is_some() => 1,
            CubeColors::Form => forms.len(),
            CubeColors::Bits | CubeColors::Wait => 3,
            _ => 2,
        };
        let padding = Vec2::splat(0.66 * self.sizes.small);
        let size = |columns: usize| {
            let across = WIDTH * self.sizes.small * columns as f32;
            vec2(across, row * (rows.div_ceil(columns) + 1) as f32) + 2.0 * padding
        };
        // In a low picture, what is tall would reach up to the ball.
        let is_tall = size(1).y > LOW * picture.height();
        let columns = if is_tall && rows > 3 { 2 } else { 1 };
        let size = size(columns);
        let caption = BOTTOM + 2.0 * self.sizes.small;
        let at = pos2(
            picture.min.x + self.sizes.margin,
            picture.max.y - caption - ABOVE_CAPTION - size.y,
        );
        let area = Rect::from_min_size(at, size);
        self.painter.rect_filled(area, 4.0, self.veil());
        let inside = area.shrink2(padding);
        let write = |at, anchor, text: &str| {
            self.write(at, anchor, (text, self.sizes.small, self.colors().ink));
        };
        let middle = |index: usize| inside.min.y + (index as f32 + 0.5) * row;
        write(pos2(inside.min.x, middle(0)), Align2::LEFT_CENTER, title);
        let named = |index: usize, each: Option<Form>| {
            let (below, beside) = ((index - 1) / columns, (index - 1) % columns);
            let x = inside.min.x + beside as f32 * inside.width() / columns as f32;
            self.swatch(pos2(x, middle(below + 1)), colors, each);
        };
        if let Some(why) = costs.unknown {
            write(pos2(inside.min.x, middle(1)), Align2::LEFT_CENTER, why);
        } else if colors == CubeColors::Form {
            for (index, each) in forms.into_iter().enumerate() {
                named(index + 1, each);
            }
        } else {
            let bar = Rect::from_center_size(
                pos2(inside.center().x, middle(1)),
                vec2(inside.width(), 0.7 * row),
            );
            self.painter.add(ramp(bar));
            for (index, label) in labels(colors, costs.scale).into_iter().enumerate() {
                let x = bar.min.x + bar.width() * index as f32 / (AMOUNTS.len() - 1) as f32;
                let anchor = match index {
                    0 => Align2::LEFT_CENTER,
                    4 => Align2::RIGHT_CENTER,
                    _ => Align2::CENTER_CENTER,
                };
                write(pos2(x, middle(2)), anchor, &label);
            }
            if rows == 3 {
                named(3, None);
            }
        }
    }

    /// Paints a colour and what it means, from a point at the middle of its left edge. Returns its right end.
    fn swatch(&self, at: Pos2, colors: CubeColors, form_of: Option<Form>) -> f32 {
        let row = 1.5 * self.sizes.small;
        let center = pos2(at.x + row / 2.0, at.y);
        let swatch = Rect::from_center_size(center, Vec2::splat(0.6 * row));
        self.painter
            .rect_filled(swatch, 2.0, egui_color(form(form_of)));
        let none = match colors {
            CubeColors::Wait => "no wait",
            _ => "not sent",
        };
        let name = (
            form_of.map_or(none, Form::name),
            self.sizes.small,
            self.colors().ink,
        );
        let at = pos2(swatch.max.x + 6.0, at.y);
        self.write(at, Align2::LEFT_CENTER, name).max.x
    }

    /// Paints the same in one line of a film.
    pub(super) fn legend_strip(
        &self,
        across: Rangef,
        y: f32,
        (colors, scale): (CubeColors, Scale),
    ) {
        let small = self.sizes.small;
        let write = |x, text: &str| {
            let part = (text, small, self.colors().ink);
            self.write(pos2(x, y), Align2::LEFT_CENTER, part).max.x
        };
        let mut end = write(across.min, colors.title().unwrap_or_default());
        if colors == CubeColors::Form {
            for each in [None].into_iter().chain(Form::ALL.map(Some)) {
                end = self.swatch(pos2(end + small, y), colors, each);
            }
            return;
        }
        let [first, .., last] = labels(colors, scale);
        let start = write(end + small, &first) + 0.5 * small;
        let bar = vec2((across.span() / 4.0).min(RAMP), small);
        let bar = Rect::from_min_size(pos2(start, y - bar.y / 2.0), bar);
        self.painter.add(ramp(bar));
        end = write(bar.max.x + 0.5 * small, &last);
        if matches!(colors, CubeColors::Bits | CubeColors::Wait) {
            self.swatch(pos2(end + small, y), colors, None);
        }
    }
}

/// Part of a picture's height that a legend of one column may take.
const LOW: f32 = 0.4;

/// Width of the ramp in a film, at most, points.
const RAMP: f32 = 240.0;

/// Amounts at the stops of the ramp.
fn labels(colors: CubeColors, scale: Scale) -> [String; AMOUNTS.len()] {
    std::array::from_fn(|index| {
        let amount = scale.amount(index as f32 / (AMOUNTS.len() - 1) as f32);
        match index {
            // What takes no bits is not sent.
            0 if colors == CubeColors::Bits => "1".to_owned(),
            _ if colors == CubeColors::Wait => grouped(amount.into()),
            _ if amount.fract() == 0.0 => grouped(amount.into()),
            _ => format!("{amount}"),
        }
    })
}

/// The colours of amounts, as those of the cubes, from left to right.
fn ramp(bar: Rect) -> Mesh {
    let mut mesh = Mesh::default();
    for (index, color) in AMOUNTS.into_iter().enumerate() {
        let x = bar.min.x + bar.width() * index as f32 / (AMOUNTS.len() - 1) as f32;
        let color: Color32 = egui_color(color);
        mesh.colored_vertex(pos2(x, bar.min.y), color);
        mesh.colored_vertex(pos2(x, bar.max.y), color);
        if index > 0 {
            let first = 2 * (index as u32 - 1);
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first + 1, first + 2, first + 3);
        }
    }
    mesh
}

/// In multiples of the type's size.
const WIDTH: f32 = 14.0;

/// Points.
const ABOVE_CAPTION: f32 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::costs::WAITS_MS;

    #[test]
    fn the_legend_has_the_stops_of_the_cubes() {
        for (colors, end, said) in [
            (CubeColors::Bits, 128.0, ["1", "32", "64", "96", "128"]),
            (CubeColors::Distance, 1.0, ["0", "0.25", "0.5", "0.75", "1"]),
            (
                CubeColors::Wait,
                WAITS_MS[1],
                ["17", "33", "67", "133", "267"],
            ),
        ] {
            assert_eq!(labels(colors, Scale::of(colors, end)), said);
        }
        let bar = Rect::from_min_size(pos2(8.0, 0.0), vec2(100.0, 10.0));
        let mesh = ramp(bar);
        assert!(mesh.is_valid() && mesh.calc_bounds() == bar);
        let colors = mesh.vertices.iter().step_by(2).map(|vertex| vertex.color);
        assert!(colors.eq(AMOUNTS.map(egui_color)));
    }
}
