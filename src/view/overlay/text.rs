//! Lays out and paints text over the scene. Text that is too long ends in "…".

use std::sync::Arc;

use bevy_egui::egui::text::{LayoutJob, TextFormat, TextWrapping};
use bevy_egui::egui::{
    Align2, Color32, FontId, Galley, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, vec2,
};
use cubewire_palette::{Colors, Rgb};

use crate::theme::{Theme, egui_color};

/// Type sizes and distances, points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sizes {
    /// Ratio or bandwidth of a half.
    pub(super) headline: f32,
    /// Unit next to the headline.
    pub(super) unit: f32,
    /// Line below the headline.
    pub(super) line: f32,
    /// Ratio between the halves.
    pub(super) ratio: f32,
    /// Title of a film.
    pub(super) title: f32,
    /// All other text.
    pub(super) small: f32,
    /// Distance of text from the edges of a half.
    pub(super) margin: f32,
}

impl Sizes {
    const WINDOW: Self = Self {
        headline: 40.0,
        unit: 24.0,
        line: 14.0,
        ratio: 24.0,
        title: 14.0,
        small: 12.0,
        margin: 16.0,
    };

    const NARROW: Self =
        Self { headline: 24.0, unit: 14.0, line: 12.0, ratio: 14.0, margin: 8.0, ..Self::WINDOW };

    /// For a film with a height of 540 points.
    const FILM: Self = Self {
        headline: 34.0,
        unit: 20.0,
        line: 16.0,
        ratio: 28.0,
        title: 20.0,
        small: 14.0,
        margin: 16.0,
    };

    /// Sizes for a window or film of `width` points with halves of `half` points. Small type has at least
    /// [`MIN_PIXELS`].
    pub(super) fn of(is_film: bool, width: f32, half: f32, pixels_per_point: f32) -> Self {
        let sizes = match is_film {
            true if half < NARROW_COLUMN => Self { title: Self::FILM.title, ..Self::NARROW },
            true => Self::FILM,
            false if width < NARROW || half < NARROW_HALF => Self::NARROW,
            false => Self::WINDOW,
        };
        let least = MIN_PIXELS / pixels_per_point;
        Self { line: sizes.line.max(least), small: sizes.small.max(least), ..sizes }
    }
}

/// Widths of a window and of a half below which type is smaller, points.
const NARROW: f32 = 1000.0;
const NARROW_HALF: f32 = 320.0;

/// Width of a half or column of a film below which type is smaller, points.
const NARROW_COLUMN: f32 = 220.0;

/// Smallest readable type, physical pixels.
const MIN_PIXELS: f32 = 9.0;

const MAX_ROWS: usize = 3;

/// Width of the frame around a stale half, points.
const FRAME: f32 = 4.0;

/// Opacity of the colour over a stale half.
const DIMMING: f32 = 0.12;

pub(super) struct Pen<'a> {
    pub(super) painter: &'a Painter,
    pub(super) theme: Theme,
    pub(super) sizes: Sizes,
}

/// Part of a line: text, size and colour.
pub(super) type Part<'a> = (&'a str, f32, Rgb);

impl Pen<'_> {
    pub(super) const fn colors(&self) -> &'static Colors {
        self.theme.colors()
    }

    pub(super) fn width(&self, text: &str, size: f32) -> f32 {
        let part = (text, size, self.colors().ink);
        self.line(&[part], f32::INFINITY).size().x
    }

    /// Returns as many whole words as fit into `width` points, followed by "…" if some are left out.
    pub(super) fn words(&self, text: &str, size: f32, width: f32) -> String {
        let mut kept = text;
        let mut line = text.to_owned();
        while self.width(&line, size) > width
            && let Some((fewer, _)) = kept.rsplit_once(' ')
        {
            kept = fewer;
            line = format!("{kept} …");
        }
        line
    }

    pub(super) fn line(&self, parts: &[Part<'_>], width: f32) -> Arc<Galley> {
        let mut job = LayoutJob {
            wrap: TextWrapping { break_anywhere: true, ..TextWrapping::truncate_at_width(width) },
            ..LayoutJob::default()
        };
        for &(text, size, color) in parts {
            let format = TextFormat::simple(FontId::proportional(size), egui_color(color));
            job.append(text, 0.0, format);
        }
        self.painter.layout_job(job)
    }

    /// Paints a line without a background, its `anchor` at a point. Returns its rectangle.
    pub(super) fn write(&self, at: Pos2, anchor: Align2, part: Part<'_>) -> Rect {
        let galley = self.line(&[part], f32::INFINITY);
        let rect = anchor.anchor_size(at, galley.size());
        self.painter.galley(rect.min, galley, Color32::PLACEHOLDER);
        rect
    }

    /// Paints lines below each other on the default background, its `anchor` at a point. Returns the background's
    /// rectangle.
    pub(super) fn plate(
        &self,
        at: Pos2,
        anchor: Align2,
        padding: Vec2,
        lines: &[Arc<Galley>],
    ) -> Rect {
        self.ground(at, anchor, padding, lines, self.veil())
    }

    pub(super) fn ground(
        &self,
        at: Pos2,
        anchor: Align2,
        padding: Vec2,
        lines: &[Arc<Galley>],
        fill: Color32,
    ) -> Rect {
        let size = lines
            .iter()
            .fold(Vec2::ZERO, |size, line| vec2(size.x.max(line.size().x), size.y + line.size().y));
        let plate = anchor.anchor_size(at, size + 2.0 * padding);
        self.painter.rect_filled(plate, RADIUS, fill);
        let inside = plate.shrink2(padding);
        let mut top = inside.min.y;
        for line in lines {
            let x = anchor.x().align_size_within_range(line.size().x, inside.x_range());
            let at = Pos2::new(x.min, top);
            self.painter.galley(at, line.clone(), Color32::PLACEHOLDER);
            top += line.size().y;
        }
        plate
    }

    /// Horizontal padding of a line of small type, both sides together.
    pub(super) fn beside(&self) -> f32 {
        1.32 * self.sizes.small
    }

    /// Paints a line of small type, for example a caption, on a background twice as high as the type.
    pub(super) fn strip(&self, at: Pos2, anchor: Align2, width: f32, parts: &[Part<'_>]) -> Rect {
        let line = self.line(parts, width - self.beside());
        let padding = vec2(self.beside() / 2.0, (2.0 * self.sizes.small - line.size().y) / 2.0);
        self.plate(at, anchor, padding, &[line])
    }

    /// Paints small type in up to [`MAX_ROWS`] rows, centred in `over` at the height `top`. Returns the background's
    /// rectangle.
    pub(super) fn paragraph(&self, over: Rect, top: f32, text: &str, color: Rgb) -> Rect {
        let padding = Vec2::splat(0.5 * self.sizes.small);
        let font = FontId::proportional(self.sizes.small);
        let mut job = LayoutJob::simple(
            text.to_owned(),
            font,
            egui_color(color),
            over.width() - 2.0 * (self.sizes.margin + padding.x),
        );
        job.wrap.max_rows = MAX_ROWS;
        let lines = [self.painter.layout_job(job)];
        let at = Pos2::new(over.center().x, top);
        self.plate(at, Align2::CENTER_TOP, padding, &lines)
    }

    pub(super) fn frame(&self, half: Rect) {
        let warning = egui_color(self.colors().warning);
        self.painter.rect_filled(half, 0.0, warning.gamma_multiply(DIMMING));
        let stroke = Stroke::new(FRAME, warning);
        self.painter.rect_stroke(half, 0.0, stroke, StrokeKind::Inside);
    }

    /// Background colour of text over cubes. More opaque in the light theme, because colours blend in linear light,
    /// where a dark scene shows more through white.
    pub(super) fn veil(&self) -> Color32 {
        let opacity = match self.theme {
            Theme::Light => 0.93,
            Theme::Dark => 0.82,
        };
        egui_color(self.colors().sunken).gamma_multiply(opacity)
    }
}

/// Corner radius of backgrounds, points.
const RADIUS: f32 = 4.0;

#[cfg(test)]
pub(super) mod tests {
    use bevy_egui::egui::{Context, LayerId, RawInput, pos2};

    use super::*;

    /// Paints with a pen in a window of 1280 × 720.
    pub(in crate::view::overlay) fn with_pen(mut paint: impl FnMut(&Pen<'_>)) {
        let ctx = Context::default();
        ctx.set_fonts(crate::theme::fonts());
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let mut output = ctx.run_ui(input, |ui| {
            let painter = ui.ctx().layer_painter(LayerId::background());
            paint(&Pen { painter: &painter, theme: Theme::Dark, sizes: Sizes::WINDOW });
        });
        // No renderer uses the textures.
        output.textures_delta.clear();
    }

    #[test]
    fn a_caption_is_one_line_whatever_its_length_and_stays_in_its_width() {
        with_pen(|pen| {
            let long =
                "Replica · relative-orientation · 100 ms round trip, 10 a second, no interpolation";
            let ink = pen.colors().ink;
            for width in [2_000.0, 400.0, 200.0, 60.0] {
                let parts = [(long, 12.0, ink)];
                let strip = pen.strip(pos2(0.0, 700.0), Align2::LEFT_BOTTOM, width, &parts);
                assert!(strip.width() <= width + 0.5, "{strip} in {width}");
                assert_eq!((strip.height(), strip.max.y), (24.0, 700.0));
                let line = pen.line(&parts, width);
                assert_eq!(line.rows.len(), 1);
                assert_eq!(line.elided, width < 500.0);
            }
        });
    }

    #[test]
    fn a_notice_has_a_row_for_each_of_its_lines_and_for_what_does_not_fit() {
        with_pen(|pen| {
            let height = |text: &str, width| {
                let over = Rect::from_min_size(Pos2::ZERO, vec2(width, 700.0));
                let ground = pen.paragraph(over, 100.0, text, pen.colors().ink);
                assert!(over.contains_rect(ground), "{ground}");
                ground.height()
            };
            let rows = ["one", "one\ntwo", "one\ntwo\nthree"].map(|text| height(text, 900.0));
            assert!(rows.is_sorted() && rows[0] < rows[1] && rows[1] < rows[2]);
            assert_eq!(height("one two three four", 110.0), rows[1]);
            assert_eq!(height(&"many words ".repeat(90), 900.0), rows[2]);
        });
    }

    #[test]
    fn type_is_smaller_in_narrow_windows_and_halves_and_never_unreadable() {
        let headline = |width, half| Sizes::of(false, width, half, 1.0).headline;
        assert!(headline(1_280.0, 436.0) > headline(800.0, 400.0));
        assert!(headline(1_280.0, 436.0) > headline(1_100.0, 300.0));
        let tiny = Sizes::of(true, 640.0, 320.0, 0.5);
        assert!(tiny.small * 0.5 >= MIN_PIXELS);
    }
}
