//! The legend of the cubes' colours, at the upper left of the picture.

use bevy_egui::egui::{Align2, Color32, FontId, Rect, Vec2, pos2, vec2};
use cubewire_codec::Form;
use cubewire_palette::{amount, form};

use super::text::Pen;
use crate::theme::egui_color;
use crate::view::costs::{Costs, CubeColors};

impl Pen<'_> {
    /// Paints what the colours of the cubes mean, below `top`; nothing for the usual ones. Returns its lower end.
    pub(super) fn legend(&self, picture: Rect, top: f32, colors: CubeColors, costs: &Costs) -> f32 {
        let Some(title) = colors.title() else {
            return top;
        };
        let forms = [None].into_iter().chain(Form::ALL.map(Some));
        let rows = match colors {
            CubeColors::Form => forms.clone().count() as f32,
            _ => 2.0,
        };
        let size = vec2(WIDTH, TITLE + rows * ROW) + 2.0 * MARGIN;
        let area = Rect::from_min_size(pos2(picture.min.x, top) + MARGIN, size);
        let end = area.max.y;
        self.painter.rect_filled(area, 4.0, self.veil());
        let area = area.shrink2(MARGIN);
        let ink = egui_color(self.theme.colors().ink);
        let font = FontId::proportional(SIZE);
        let text = |at, align: Align2, text: String| {
            self.painter.text(at, align, text, font.clone(), ink);
        };
        text(area.min, Align2::LEFT_TOP, title.to_owned());
        let top = area.min.y + TITLE;
        if let Some(why) = costs.unknown {
            text(pos2(area.min.x, top), Align2::LEFT_TOP, why.to_owned());
            return end;
        }
        if colors == CubeColors::Form {
            for (row, each) in forms.enumerate() {
                let y = top + (row as f32 + 0.5) * ROW;
                let swatch = pos2(area.min.x + SWATCH / 2.0, y);
                let swatch = Rect::from_center_size(swatch, Vec2::splat(SWATCH));
                self.painter
                    .rect_filled(swatch, 2.0, egui_color(form(each)));
                let name = each.map_or("not sent", Form::name);
                let at = pos2(swatch.max.x + 6.0, y);
                text(at, Align2::LEFT_CENTER, name.to_owned());
            }
            return end;
        }
        let steps = area.width() as usize;
        for step in 0..steps {
            let x = area.min.x + step as f32;
            let bar = Rect::from_min_size(pos2(x, top + 2.0), vec2(1.0, ROW - 4.0));
            let color: Color32 = egui_color(amount(step as f32 / steps as f32));
            self.painter.rect_filled(bar, 0.0, color);
        }
        let y = top + ROW;
        let scale_end = costs.scale_end;
        text(pos2(area.min.x, y), Align2::LEFT_TOP, "> 0".to_owned());
        text(
            pos2(area.center().x, y),
            Align2::CENTER_TOP,
            format!("{}", scale_end / 2.0),
        );
        text(
            pos2(area.max.x, y),
            Align2::RIGHT_TOP,
            format!("≥ {scale_end}"),
        );
        end
    }
}

/// Points.
const WIDTH: f32 = 170.0;
const TITLE: f32 = 18.0;
const ROW: f32 = 16.0;
const SIZE: f32 = 12.0;
const SWATCH: f32 = 10.0;
const MARGIN: Vec2 = vec2(8.0, 6.0);
