//! Painted symbols, which do not depend on the font's glyphs.

use bevy_egui::egui::{Color32, Painter, Pos2, Shape, Stroke, Vec2, vec2};

/// Direction of a [`triangle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointing {
    Up,
    Down,
    Left,
    Right,
}

/// Paints a filled triangle around a point.
pub fn triangle(painter: &Painter, center: Pos2, size: Vec2, pointing: Pointing, color: Color32) {
    let half = size / 2.0;
    let tip = match pointing {
        Pointing::Up => vec2(0.0, -half.y),
        Pointing::Down => vec2(0.0, half.y),
        Pointing::Left => vec2(-half.x, 0.0),
        Pointing::Right => vec2(half.x, 0.0),
    };
    let across = match pointing {
        Pointing::Up | Pointing::Down => vec2(half.x, 0.0),
        Pointing::Left | Pointing::Right => vec2(0.0, half.y),
    };
    let points = vec![center + tip, center - tip + across, center - tip - across];
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

/// Paints a ring around a point.
pub fn ring(painter: &Painter, center: Pos2, radius: f32, color: Color32) {
    painter.circle_stroke(center, radius, Stroke::new(2.0, color));
}
