//! Lays out and paints text over the scene.

use bevy_egui::egui::text::LayoutJob;
use bevy_egui::egui::{Align, Color32, FontId, Painter, Pos2, Rect, Vec2, pos2, vec2};

use crate::view::Side;

const CYAN: Color32 = Color32::from_rgb(0, 158, 191);
const INK: Color32 = Color32::from_rgb(41, 46, 56);
const RED: Color32 = Color32::from_rgb(217, 26, 26);

/// Background of text over cubes.
fn veil() -> Color32 {
    Color32::from_rgba_unmultiplied(250, 251, 252, 190)
}

/// Font sizes of the figures, the titles, captions and notices, recordings, and the accounting, points.
const FIGURES_SIZE: f32 = 44.0;
const TITLE_SIZE: f32 = 30.0;
const TEXT_SIZE: f32 = 18.0;
const RECORDING_SIZE: f32 = 16.0;
const ACCOUNTING_SIZE: f32 = 14.0;

/// Height of the figures at the top, points.
const FIGURES_END: f32 = 80.0;

/// Distance between text and the edge of the picture, points.
const MARGIN: f32 = 10.0;

/// Width by which the background exceeds its text on either side, points.
const VEIL_MARGIN: f32 = 4.0;

/// Fraction of a half that its caption may take: videos have a graph between the two captions.
const CAPTION_WIDTH: f32 = 0.72;

/// Paints the caption of a half in its lower outer corner.
pub(super) fn caption(painter: &Painter, half: Rect, side: Side, text: &str) {
    let (align, x) = match side {
        Side::Left => (Align::Min, half.min.x + MARGIN + VEIL_MARGIN),
        Side::Right => (Align::Max, half.max.x - MARGIN - VEIL_MARGIN),
    };
    let style = Style::new(TEXT_SIZE, INK).veiled();
    let wrap_width = half.width() * CAPTION_WIDTH - 2.0 * VEIL_MARGIN;
    let bottom = half.max.y - MARGIN;
    paint(painter, text, style, align, wrap_width, |size| {
        pos2(x, bottom - size.y)
    });
}

/// Paints the bandwidth of a lane at the top, with the accounting.
pub(super) fn figures(painter: &Painter, over: Rect, article: &str, wire: &str) {
    let x = over.center().x;
    let figures = Style::new(FIGURES_SIZE, CYAN);
    let top = over.min.y + 4.0;
    let end = centred(painter, article, figures, over, |_| pos2(x, top));
    let accounting = format!("article accounting; wire {wire}");
    centred(
        painter,
        &accounting,
        Style::new(ACCOUNTING_SIZE, INK),
        over,
        |_| pos2(x, end),
    );
}

/// Paints the recordings in progress beside a red dot at the left.
pub(super) fn recording(painter: &Painter, picture: Rect, text: &str) {
    const RADIUS: f32 = 7.0;
    if text.is_empty() {
        return;
    }
    let dot = picture.min + vec2(MARGIN + RADIUS, FIGURES_END + MARGIN + RADIUS);
    painter.circle_filled(dot, RADIUS, RED);
    let style = Style::new(RECORDING_SIZE, INK);
    paint(painter, text, style, Align::Min, picture.width(), |size| {
        dot + vec2(RADIUS + 8.0, -size.y / 2.0)
    });
}

/// Paints notices below the figures.
pub(super) fn notices(painter: &Painter, picture: Rect, text: &str) {
    let at = pos2(picture.center().x, picture.min.y + FIGURES_END);
    centred(painter, text, Style::new(TEXT_SIZE, INK), picture, |_| at);
}

/// Paints what was switched in the upper half of the picture.
pub(super) fn title(painter: &Painter, picture: Rect, text: &str) {
    let middle = picture.min.y + 0.3 * picture.height() + FIGURES_END / 2.0;
    let style = Style::new(TITLE_SIZE, INK).veiled();
    centred(painter, text, style, picture, |size| {
        pos2(picture.center().x, middle - size.y / 2.0)
    });
}

#[derive(Clone, Copy, Debug)]
struct Style {
    /// Points.
    size: f32,
    colour: Color32,
    has_veil: bool,
}

impl Style {
    const fn new(size: f32, colour: Color32) -> Self {
        Self {
            size,
            colour,
            has_veil: false,
        }
    }

    const fn veiled(mut self) -> Self {
        self.has_veil = true;
        self
    }
}

fn centred(
    painter: &Painter,
    text: &str,
    style: Style,
    over: Rect,
    top: impl FnOnce(Vec2) -> Pos2,
) -> f32 {
    let wrap_width = over.width() - 2.0 * VEIL_MARGIN;
    paint(painter, text, style, Align::Center, wrap_width, top)
}

/// Paints `text`, wrapped, and returns its bottom. `top` maps the size of the text to the anchor at its
/// upper edge: the left end, the middle or the right end, by `align`.
fn paint(
    painter: &Painter,
    text: &str,
    style: Style,
    align: Align,
    wrap_width: f32,
    top: impl FnOnce(Vec2) -> Pos2,
) -> f32 {
    let font = FontId::monospace(style.size);
    let mut job = LayoutJob::simple(text.to_owned(), font, style.colour, wrap_width.max(0.0));
    job.halign = align;
    let galley = painter.layout_job(job);
    let at = top(galley.size());
    let covered = galley.rect.translate(at.to_vec2());
    if text.is_empty() {
        return covered.min.y;
    }
    if style.has_veil {
        painter.rect_filled(covered.expand2(vec2(VEIL_MARGIN, 0.0)), 0.0, veil());
    }
    painter.galley(at, galley, style.colour);
    covered.max.y
}
