//! Draws the table of the panel's ladder to a PNG file, without a window or a graphics card.

use std::io;

use bevy_egui::egui::{self, Color32, ColorImage, RawInput, Rect, Shape, Ui, Vec2, pos2, vec2};
use cubewire_inspector::style::{Look, set};
use png::Compression;

use super::RungCost;
use crate::files::NewFile;
use crate::panel::draw_costs;
use crate::recording::picture::write_rgb;
use crate::theme::fonts;

/// Draws the costs to a PNG file. `played` is the name of the run.
pub(super) fn draw(costs: &[RungCost], played: &str, mut file: NewFile) -> io::Result<()> {
    let picture = chart(costs, played);
    let [width, height] = picture.size.map(|size| size as u32);
    let rgb: Vec<u8> = picture.pixels.iter().flat_map(|it| [it.r(), it.g(), it.b()]).collect();
    write_rgb(&mut file, (width, height), &rgb, Compression::High)?;
    file.finish().map(drop)
}

fn chart(costs: &[RungCost], played: &str) -> ColorImage {
    let title = format!("Bandwidth of each rung: {played}");
    let rows: Vec<_> = costs.iter().map(|cost| (cost.rung, cost.mean_kbps, cost.factor)).collect();
    paint(WIDTH, |ui| draw_costs(ui, &title, &rows))
}

/// Runs a pass of egui in the dark theme, with a margin, and paints it. The picture is `width` points wide and as high as
/// its content.
fn paint(width: f32, mut show: impl FnMut(&mut Ui)) -> ColorImage {
    let (ctx, look) = (egui::Context::default(), Look::new(egui::Theme::Dark));
    ctx.set_fonts(fonts());
    ctx.set_theme(egui::Theme::Dark);
    ctx.style_mut_of(egui::Theme::Dark, |style| set(style, look));
    let mut input = RawInput {
        screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(width, MAX_HEIGHT))),
        ..RawInput::default()
    };
    for viewport in input.viewports.values_mut() {
        viewport.native_pixels_per_point = Some(SCALE);
    }
    let mut height = 0.0;
    let mut output = ctx.run_ui(input, |ui| {
        height = egui::Frame::new().inner_margin(MARGIN).show(ui, &mut show).response.rect.bottom();
    });
    let shapes = std::mem::take(&mut output.shapes);
    output.drop_without_applying_deltas();
    let size = (vec2(width, height) * SCALE).ceil();
    let mut picture = ColorImage::filled([size.x as usize, size.y as usize], look.ground);
    let atlas = ctx.fonts(|fonts| fonts.image());
    for clipped in &shapes {
        add(&mut picture, &clipped.shape, &atlas);
    }
    picture
}

/// Adds a filled rectangle, a straight line, or a text, which are all shapes that a table has.
fn add(picture: &mut ColorImage, shape: &Shape, atlas: &ColorImage) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| add(picture, shape, atlas)),
        Shape::Rect(rect) => fill(picture, rect.rect, rect.fill),
        Shape::LineSegment { points, stroke } => {
            let half = Vec2::splat(stroke.width / 2.0);
            let along = (points[1] - points[0]).normalized();
            let across = half * vec2(along.y, along.x);
            fill(picture, Rect::from_two_pos(points[0] - across, points[1] + across), stroke.color);
        }
        Shape::Text(text) => {
            let own = text.galley.job.sections.first();
            let own = own.map_or(Color32::PLACEHOLDER, |section| section.format.color);
            let color = match own {
                Color32::PLACEHOLDER => text.fallback_color,
                own => own,
            };
            for row in &text.galley.rows {
                for glyph in &row.glyphs {
                    let uv = glyph.uv_rect;
                    let at = text.pos + row.pos.to_vec2() + glyph.pos.to_vec2() + uv.offset;
                    let at = (at.to_vec2() * SCALE).round();
                    for (y, v) in (at.y as usize..).zip(uv.min[1]..uv.max[1]) {
                        for (x, u) in (at.x as usize..).zip(uv.min[0]..uv.max[0]) {
                            let ink = atlas[(u.into(), v.into())].a();
                            blend(picture, [x, y], color.gamma_multiply_u8(ink));
                        }
                    }
                }
            }
        }
        _ => {}
    }
}

fn fill(picture: &mut ColorImage, rect: Rect, color: Color32) {
    let [xs, ys] = [rect.x_range(), rect.y_range()]
        .map(|range| (range.min * SCALE).round() as usize..(range.max * SCALE).round() as usize);
    for y in ys {
        for x in xs.clone() {
            blend(picture, [x, y], color);
        }
    }
}

fn blend(picture: &mut ColorImage, [x, y]: [usize; 2], color: Color32) {
    if x < picture.width() && y < picture.height() {
        let pixel = &mut picture[(x, y)];
        *pixel = pixel.blend(color);
    }
}

/// Width, largest height, and margin, logical points.
const WIDTH: f32 = 800.0;
const MAX_HEIGHT: f32 = 2_000.0;
const MARGIN: f32 = 16.0;

/// Pixels per point.
const SCALE: f32 = 1.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_their_length_and_a_colour_for_the_target() {
        let look = Look::new(egui::Theme::Dark);
        let widths = [17_368.8, 300.0, 256.0, 15.8].map(|mean_kbps| {
            let cost = RungCost {
                rung: "delta",
                mean_kbps,
                factor: 1.0,
                peak_kbps: mean_kbps,
                bytes: 0.0,
                bits: Vec::new(),
            };
            let picture = chart(&[cost], "a.ron");
            let rows = || picture.pixels.chunks(picture.width());
            [look.above_target, look.half].map(|color| {
                rows().map(|row| row.iter().filter(|it| **it == color).count()).max().unwrap()
            })
        });
        // A decade is 216 pixels wide, and the scale starts at 10 kbps.
        assert!(widths[0][0] > 690 && widths[0][1] == 0, "{widths:?}");
        assert!((310..330).contains(&widths[1][0]), "{widths:?}");
        assert!((295..315).contains(&widths[2][1]), "{widths:?}");
        assert!((35..55).contains(&widths[3][1]), "{widths:?}");
    }

    #[test]
    fn letters_are_painted_where_egui_puts_them() {
        let ink = |words: &str| {
            let picture = paint(100.0, |ui| _ = ui.label(words));
            let ground = Look::new(egui::Theme::Dark).ground.r();
            let pixels = picture.pixels.iter().enumerate();
            let inked = pixels.filter(|(_, pixel)| pixel.r() > ground + 60);
            let columns: Vec<_> = inked.map(|(at, _)| at % picture.width()).collect();
            [columns.iter().min(), columns.iter().max()].map(|it| *it.unwrap())
        };
        // The margin is 24 pixels.
        let [left, right] = ink("l");
        assert!(left >= 24 && right < 30, "{left} {right}");
        let [left, right] = ink("lll");
        assert!((8..=20).contains(&(right - left)), "{left} {right}");
    }
}
