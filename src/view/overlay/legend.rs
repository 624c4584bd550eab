//! Legend of the cubes' colours. In a window it is at the lower left, because the ball is in the middle. In a film it
//! is a strip above the picture.

use bevy_egui::egui::{Align2, Color32, Mesh, Pos2, Rangef, Rect, Vec2, pos2, vec2};
use cubewire_codec::Form;
use cubewire_inspector::words::grouped;
use cubewire_palette::{AMOUNTS, form};

use super::caption::BOTTOM;
use super::text::Pen;
use crate::theme::egui_color;
use crate::view::costs::{Costs, CubeColors, Scale};

impl Pen<'_> {
    pub(super) fn legend(&self, picture: Rect, colors: CubeColors, costs: &Costs) {
        let Some(title) = colors.title() else { return };
        let (is_known, is_form) = (costs.unknown.is_none(), colors == CubeColors::Form);
        let is_low = picture.height() < LOW;
        let is_listed = |form: &Option<Form>| match is_form {
            true => !is_low || costs.counts(*form) != [0; 2],
            false => form.is_none(),
        };
        let listed: Vec<_> = forms().filter(|form| is_known && is_listed(form)).collect();
        // Rows below the title: the reason for missing costs, or the ramp and its labels.
        let first = match (is_known, is_form) {
            (false, _) => 2,
            (true, true) => 1,
            (true, false) => 3,
        };
        let row = 1.5 * self.sizes.small;
        let padding = Vec2::splat(0.66 * self.sizes.small);
        let rows = (first + listed.len()) as f32;
        let size = vec2(WIDTH * self.sizes.small, row * rows) + 2.0 * padding;
        let caption = BOTTOM + 2.0 * self.sizes.small;
        let at = pos2(
            picture.min.x + self.sizes.margin,
            picture.max.y - caption - ABOVE_CAPTION - size.y,
        );
        let area = Rect::from_min_size(at, size);
        self.painter.rect_filled(area, 4.0, self.veil());
        let inside = area.shrink2(padding);
        let middle = |index: usize| inside.min.y + (index as f32 + 0.5) * row;
        let left =
            |row, text: &str| self.note(pos2(inside.min.x, middle(row)), Align2::LEFT_CENTER, text);
        let right = |row, text: &str| {
            self.note(pos2(inside.max.x, middle(row)), Align2::RIGHT_CENTER, text)
        };
        left(0, title);
        if let Some(why) = costs.unknown {
            left(1, why);
        } else if is_form {
            right(0, "cubes");
        } else {
            right(0, &format!("largest {}", amount(costs.range[1])));
            let bar = vec2(inside.width(), 0.7 * row);
            let bar = Rect::from_center_size(pos2(inside.center().x, middle(1)), bar);
            self.painter.add(ramp(bar));
            for (index, label) in labels(colors, costs.scale).iter().enumerate() {
                let share = index as f32 / (AMOUNTS.len() - 1) as f32;
                let anchor = match index {
                    0 => Align2::LEFT_CENTER,
                    4 => Align2::RIGHT_CENTER,
                    _ => Align2::CENTER_CENTER,
                };
                self.note(pos2(bar.min.x + bar.width() * share, middle(2)), anchor, label);
            }
        }
        for (index, form) in (first..).zip(listed) {
            self.swatch(pos2(inside.min.x, middle(index)), colors, form);
            right(index, &counted(costs, form));
        }
    }

    fn note(&self, at: Pos2, anchor: Align2, text: &str) -> f32 {
        let part = (text, self.sizes.small, self.colors().ink);
        self.write(at, anchor, part).max.x
    }

    /// Paints a colour and its label, starting at the middle of the left edge. Returns the right end.
    fn swatch(&self, at: Pos2, colors: CubeColors, form_of: Option<Form>) -> f32 {
        let row = 1.5 * self.sizes.small;
        let center = pos2(at.x + row / 2.0, at.y);
        let swatch = Rect::from_center_size(center, Vec2::splat(0.6 * row));
        let color = form_of.map_or(self.colors().not_sent, form);
        let color = egui_color(color);
        self.painter.rect_filled(swatch, 2.0, color);
        let name = form_of.map_or(colors.below_scale(), Form::name);
        self.note(pos2(swatch.max.x + 6.0, at.y), Align2::LEFT_CENTER, name)
    }

    pub(super) fn legend_strip(
        &self,
        across: Rangef,
        y: f32,
        (colors, scale): (CubeColors, Scale),
    ) {
        let small = self.sizes.small;
        let note = |x, text: &str| self.note(pos2(x, y), Align2::LEFT_CENTER, text);
        let mut end = note(across.min, colors.title().unwrap_or_default());
        if colors == CubeColors::Form {
            for each in forms() {
                end = self.swatch(pos2(end + small, y), colors, each);
            }
            return;
        }
        let [first, .., last] = labels(colors, scale);
        let start = note(end + small, &first) + 0.5 * small;
        let bar = vec2((across.span() / 4.0).min(RAMP), small);
        let bar = Rect::from_min_size(pos2(start, y - bar.y / 2.0), bar);
        self.painter.add(ramp(bar));
        end = note(bar.max.x + 0.5 * small, &last);
        self.swatch(pos2(end + small, y), colors, None);
    }
}

fn forms() -> impl Iterator<Item = Option<Form>> {
    [None].into_iter().chain(Form::ALL.map(Some))
}

/// Height of a picture below which a legend of every form would reach the ball, points.
const LOW: f32 = 400.0;

/// Maximum width of the ramp in a film, points.
const RAMP: f32 = 240.0;

/// Text of the number of cubes with a form, one number per half if they differ.
fn counted(costs: &Costs, form: Option<Form>) -> String {
    match costs.counts(form) {
        [left, right] if left == right => left.to_string(),
        [left, right] => format!("{left} | {right}"),
    }
}

fn labels(colors: CubeColors, scale: Scale) -> [String; AMOUNTS.len()] {
    let at = |index: usize| scale.amount(index as f32 / (AMOUNTS.len() - 1) as f32);
    std::array::from_fn(|index| match (index, colors) {
        // Cubes with 0 bits are not sent. Those with fewer bits than the start have its colour.
        (0, CubeColors::Bits) if at(0) == 0.0 => amount(1.0),
        (0, CubeColors::Bits) => format!("≤\u{2009}{}", amount(at(0))),
        _ => amount(at(index)),
    })
}

/// Formats an amount with two significant digits, or as a whole number from 10.
fn amount(amount: f32) -> String {
    let decimals = match amount {
        9.95.. => return grouped(amount.into()),
        0.995.. => 1,
        _ => 2,
    };
    format!("{amount:.decimals$}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

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

/// Width of the legend in multiples of the type size.
const WIDTH: f32 = 16.5;

/// Gap to the caption, points.
const ABOVE_CAPTION: f32 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_has_the_stops_of_the_cubes() {
        for (colors, range, said) in [
            (CubeColors::Bits, None, ["1", "32", "64", "96", "128"]),
            (CubeColors::Bits, Some([2.0, 6.0]), ["1", "2", "4", "6", "8"]),
            (CubeColors::Bits, Some([45.0, 65.0]), ["≤\u{2009}40", "48", "56", "64", "72"]),
            (CubeColors::Distance, None, ["0.98", "2.8", "7.9", "22", "64"]),
            (CubeColors::Distance, Some([0.5, 1.5]), ["0.98", "1.2", "1.4", "1.6", "2"]),
            (CubeColors::Wait, None, ["17", "33", "67", "133", "267"]),
        ] {
            assert_eq!(labels(colors, Scale::of(colors, range)), said);
        }
        let bar = Rect::from_min_size(pos2(8.0, 0.0), vec2(100.0, 10.0));
        let mesh = ramp(bar);
        assert!(mesh.is_valid() && mesh.calc_bounds() == bar);
        let colors = mesh.vertices.iter().step_by(2).map(|vertex| vertex.color);
        assert!(colors.eq(AMOUNTS.map(egui_color)));
    }
}
