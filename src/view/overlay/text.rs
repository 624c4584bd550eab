//! Lays out and paints text over the scene.

use std::sync::Arc;

use bevy_egui::egui::text::{LayoutJob, TextFormat};
use bevy_egui::egui::{Align, Color32, FontId, Galley, Painter, Pos2, Rect, Vec2, pos2, vec2};
use bevy_egui::egui::{Stroke, StrokeKind};

use super::wrap::{longest_word, wrap};
use crate::theme::{Theme, egui_color};
use crate::view::side::Side;

/// Sizes of type, points. The smaller ones are for narrow halves. All type is larger where it would have fewer
/// than [`MIN_PIXELS`].
const FIGURES_SIZE: (f32, f32) = (24.0, 44.0);
const CAPTION_SIZE: (f32, f32) = (11.0, 18.0);
const NOTICE_SIZE: (f32, f32) = (11.0, 17.0);
const RECORDING_SIZE: f32 = 16.0;
const DETAIL_SIZE: (f32, f32) = (10.0, 14.0);

/// Smallest readable type, physical pixels.
const MIN_PIXELS: f32 = 9.0;

/// Widths of a half in multiples of the type's size.
const FIGURES_PER_HALF: f32 = 10.0;
const CAPTIONS_PER_HALF: f32 = 34.0;
const DETAILS_PER_HALF: f32 = 24.0;

/// Height of the figures at the top, points.
const FIGURES_END: f32 = 96.0;

/// Distance between text and the edge of the picture, and between texts, points.
const MARGIN: f32 = 10.0;

/// Width by which the background exceeds its text, points.
const VEIL_MARGIN: Vec2 = vec2(6.0, 3.0);

/// Fraction of a half that its caption may take: videos have a graph between the two captions.
const CAPTION_WIDTH: f32 = 0.72;

/// Fraction of a half that other text may take.
const TEXT_WIDTH: f32 = 0.94;

/// Where a stale half says so, above the player: fraction of its height.
const STALE_AT: f32 = 0.2;

/// Width of the frame around a stale half, points.
const FRAME: f32 = 4.0;

/// Opacity of the veil over a stale half.
const DIMMING: f32 = 0.12;

/// Paints text in the colours of a theme.
pub(super) struct Pen<'a> {
    pub(super) painter: &'a Painter,
    pub(super) theme: Theme,
}

/// A text with a part in another colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    text: &'a str,
    color: Color32,
    /// Number of bytes at the start, and their colour.
    name: (usize, Color32),
}

/// The size of type that fits `per_half` times into the width of a half, between two bounds.
fn fitting(half: Rect, per_half: f32, (min, max): (f32, f32)) -> f32 {
    (half.width() / per_half).clamp(min, max)
}

impl Pen<'_> {
    /// Paints the caption of a half in its lower outer corner. It starts with `name`, in the half's colour.
    pub(super) fn caption(&self, half: Rect, side: Side, name: &str, text: &str) {
        let (align, x) = match side {
            Side::Left => (Align::Min, half.min.x + MARGIN + VEIL_MARGIN.x),
            Side::Right => (Align::Max, half.max.x - MARGIN - VEIL_MARGIN.x),
        };
        let line = Line {
            name: (name.len(), egui_color(side.color(self.theme))),
            ..self.plain(text)
        };
        let size = fitting(half, CAPTIONS_PER_HALF, CAPTION_SIZE);
        let width = half.width() * CAPTION_WIDTH;
        let galley = self.layout(line, size, align, width);
        let top = half.max.y - MARGIN - VEIL_MARGIN.y - galley.size().y;
        self.paint(galley, pos2(x, top), true);
    }

    /// Paints the bandwidth of a side's lane at the top of its half, and below it the `details`. Returns their lower
    /// end.
    pub(super) fn figures(&self, over: Rect, side: Side, article: &str, details: &str) -> f32 {
        let size = fitting(over, FIGURES_PER_HALF, FIGURES_SIZE);
        let figures = Line {
            color: egui_color(side.color(self.theme)),
            ..self.plain(article)
        };
        let end = self.centred(figures, size, over, over.min.y + 4.0, true) - VEIL_MARGIN.y;
        let size = fitting(over, DETAILS_PER_HALF, DETAIL_SIZE);
        self.centred(self.plain(details), size, over, end, true)
    }

    /// Paints the recordings in progress next to a red dot at the left, below `top`.
    pub(super) fn recording(&self, picture: Rect, top: f32, text: &str) {
        const RADIUS: f32 = 7.0;
        if text.is_empty() {
            return;
        }
        let top = top.max(picture.min.y + FIGURES_END);
        let dot = pos2(picture.min.x, top) + Vec2::splat(MARGIN + RADIUS);
        let red = egui_color(self.theme.colors().error);
        self.painter.circle_filled(dot, RADIUS, red);
        let galley = self.layout(
            self.plain(text),
            RECORDING_SIZE,
            Align::Min,
            picture.width(),
        );
        let at = dot + vec2(RADIUS + 8.0, -galley.size().y / 2.0);
        self.paint(galley, at, false);
    }

    /// Paints a notice or a title at the top of a half or the picture, and returns its lower end.
    pub(super) fn notice(&self, over: Rect, top: f32, text: &str) -> f32 {
        let size = fitting(over, CAPTIONS_PER_HALF, NOTICE_SIZE);
        self.centred(self.plain(text), size, over, top + MARGIN, true)
    }

    /// Dims a stale half and frames it.
    pub(super) fn frame(&self, half: Rect) {
        let warning = egui_color(self.theme.colors().warning);
        self.painter
            .rect_filled(half, 0.0, warning.gamma_multiply(DIMMING));
        let stroke = Stroke::new(FRAME, warning);
        self.painter
            .rect_stroke(half, 0.0, stroke, StrokeKind::Inside);
    }

    /// Paints what is wrong with a half's link, below `top`.
    pub(super) fn warning(&self, half: Rect, top: f32, text: &str) {
        let line = Line {
            color: egui_color(self.theme.colors().warning),
            ..self.plain(text)
        };
        let at = half.min.y + STALE_AT * half.height();
        let size = fitting(half, CAPTIONS_PER_HALF, NOTICE_SIZE);
        self.centred(line, size, half, at.max(top + MARGIN), true);
    }

    fn plain<'a>(&self, text: &'a str) -> Line<'a> {
        let color = egui_color(self.theme.colors().ink);
        Line {
            text,
            color,
            name: (0, color),
        }
    }

    /// Paints centred text and returns its lower end, `top` if there is no text.
    fn centred(&self, line: Line<'_>, size: f32, over: Rect, top: f32, has_veil: bool) -> f32 {
        if line.text.is_empty() {
            return top;
        }
        let galley = self.layout(line, size, Align::Center, over.width() * TEXT_WIDTH);
        self.paint(galley, pos2(over.center().x, top), has_veil)
    }

    /// Breaks the text into lines of at most `width` points. The type gets smaller if a word needs that.
    fn layout(&self, line: Line<'_>, size: f32, align: Align, width: f32) -> Arc<Galley> {
        let size = size.max(MIN_PIXELS / self.painter.pixels_per_point());
        let advance = |size: f32| {
            let font = FontId::monospace(size);
            self.painter
                .fonts_mut(|fonts| fonts.glyph_width(&font, 'x'))
        };
        let longest = longest_word(line.text) as f32 * advance(size);
        let size = if longest > width {
            size * width / longest
        } else {
            size
        };
        let columns = (width / advance(size)).floor() as usize;
        let text = wrap(line.text, columns);
        let (name, rest) = text.split_at(line.name.0);
        let mut job = LayoutJob::default();
        for (part, color) in [(name, line.name.1), (rest, line.color)] {
            let format = TextFormat::simple(FontId::monospace(size), color);
            job.append(part, 0.0, format);
        }
        job.halign = align;
        self.painter.layout_job(job)
    }

    /// Paints text, whose upper edge is at `at`: its left end, middle or right end, as it is aligned.
    /// Returns its lower end.
    fn paint(&self, galley: Arc<Galley>, at: Pos2, has_veil: bool) -> f32 {
        let covered = galley.rect.translate(at.to_vec2());
        if galley.is_empty() {
            return at.y;
        }
        let mut end = covered.max.y;
        if has_veil {
            let veil = covered.expand2(VEIL_MARGIN);
            self.painter.rect_filled(veil, 4.0, self.veil());
            end = veil.max.y;
        }
        let ink = egui_color(self.theme.colors().ink);
        self.painter.galley(at, galley, ink);
        end
    }

    /// Background of text over cubes.
    pub(super) fn veil(&self) -> Color32 {
        egui_color(self.theme.colors().surface).gamma_multiply(0.82)
    }
}

#[cfg(test)]
mod tests {
    use bevy_egui::egui::{Context, LayerId, RawInput};

    use super::*;

    /// The lines of a caption of this width, and whether its box is as high and as wide as they are.
    fn lines(text: &str, width: f32) -> Vec<String> {
        let ctx = Context::default();
        let mut lines = Vec::new();
        let mut output = ctx.run_ui(RawInput::default(), |ui| {
            let painter = ui.ctx().layer_painter(LayerId::background());
            let pen = Pen {
                painter: &painter,
                theme: Theme::Light,
            };
            let galley = pen.layout(pen.plain(text), CAPTION_SIZE.1, Align::Max, width);
            lines = galley.rows.iter().map(|row| row.text()).collect();
            let rows = galley.rows.iter().map(|row| row.size);
            let height: f32 = rows.clone().map(|size| size.y).sum();
            let longest = rows.map(|size| size.x).fold(0.0, f32::max);
            assert!((galley.rect.height() - height).abs() < 1.0, "{text}");
            assert!((galley.rect.width() - longest).abs() < 1.0, "{text}");
            assert!(galley.rect.width() <= width + 1.0, "{text}");
        });
        // Nothing draws it.
        output.textures_delta.clear();
        let lines = lines.iter().map(|line| line.trim_end().to_owned());
        lines.collect()
    }

    #[test]
    fn a_caption_breaks_between_words_and_its_box_fits_the_lines() {
        let text = "replica: relative-orientation\n100 ms round trip, 10 a second";
        assert_eq!(lines(text, 2_000.0).len(), 2);
        for width in [400.0, 300.0, 200.0, 120.0, 60.0] {
            let lines = lines(text, width);
            let words = |text: &str| -> Vec<String> {
                text.split_whitespace().map(ToOwned::to_owned).collect()
            };
            assert_eq!(words(&lines.join(" ")), words(text), "{width}");
        }
        assert_eq!(
            lines(text, 300.0)[..2],
            ["replica:", "relative-orientation"]
        );
    }

    #[test]
    fn type_is_smaller_in_narrow_halves() {
        let half = |width: f32| Rect::from_min_size(Pos2::ZERO, vec2(width, 360.0));
        let size = |width| fitting(half(width), CAPTIONS_PER_HALF, CAPTION_SIZE);
        assert_eq!((size(100.0), size(1_000.0)), CAPTION_SIZE);
        assert!(size(480.0) > size(400.0));
    }
}
