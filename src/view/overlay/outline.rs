//! Outlines of the players, which their balls hide, and of the hovered and the selected cube, in both halves.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_egui::egui::{Rect, Stroke, pos2};
use cubewire_palette::Rgb;
use cubewire_scene::{MAX_PLAYERS, player};

use super::text::Pen;
use crate::history::Selection;
use crate::theme::egui_color;
use crate::view::cubes::ViewCube;
use crate::view::panes::Pane;
use crate::view::side::Side;

#[derive(SystemParam)]
pub(super) struct Outlined<'w, 's> {
    selection: Res<'w, Selection>,
    cameras: Query<
        'w,
        's,
        (&'static Side, &'static Pane, &'static Camera, &'static Transform),
        Without<ViewCube>,
    >,
    cubes: Query<'w, 's, (&'static Side, &'static ViewCube, &'static Transform)>,
}

/// Corner of a unit cube. Bits 0, 1 and 2 of the index select x, y and z.
fn corner(index: usize) -> Vec3 {
    let at = |bit: usize| if index >> bit & 1 == 1 { 0.5 } else { -0.5 };
    Vec3::new(at(0), at(1), at(2))
}

/// Edges of the faces that point to the eye, as pairs of corners. `eye` is in the space of the unit cube.
fn edges(eye: Vec3) -> impl Iterator<Item = (usize, usize)> {
    let from = (0..8).flat_map(|from| (0..3).map(move |bit| (from, from | 1 << bit)));
    from.filter(move |&(from, to)| {
        let mut beside = (0..3).filter(|axis| from | 1 << axis != to);
        from != to && beside.any(|axis| corner(from)[axis] * eye[axis] > 0.25)
    })
}

impl Pen<'_> {
    /// Paints the outlines over `half`, which shows the image of `side`.
    pub(super) fn outlines(&self, side: Side, half: Rect, what: &Outlined<'_, '_>) {
        let selection = *what.selection;
        let ink = self.colors().ink;
        for seat in 0..MAX_PLAYERS {
            self.outline(side, half, what, player(seat), (2.0, self.colors().players[seat]));
        }
        if let Some(cube) = selection.hovered.filter(|&cube| Some(cube) != selection.cube) {
            self.outline(side, half, what, cube, (1.5, ink));
        }
        if let Some(cube) = selection.cube {
            self.outline(side, half, what, cube, (3.0, ink));
        }
    }

    fn outline(
        &self,
        side: Side,
        half: Rect,
        what: &Outlined<'_, '_>,
        cube: usize,
        (width, color): (f32, Rgb),
    ) {
        let found =
            what.cubes.iter().find(|(other, found, _)| **other == side && found.index == cube);
        let Some((.., pose)) = found else { return };
        let camera = what.cameras.iter().find(|(other, ..)| **other == side);
        let Some((.., camera, eye)) = camera else { return };
        let Some(size) = camera.logical_viewport_size() else { return };
        // Slightly larger than the cube, so that its faces do not hide half of the line.
        let pose = pose.with_scale(pose.scale * 1.04);
        let eye = GlobalTransform::from(*eye);
        let corners: Vec<_> = (0..8)
            .map(|index| {
                let at = pose.transform_point(corner(index));
                let at = camera.world_to_viewport(&eye, at).ok()? / size;
                Some(pos2(half.min.x + at.x * half.width(), half.min.y + at.y * half.height()))
            })
            .collect();
        let painter = self.painter.with_clip_rect(half);
        let color = egui_color(color);
        let halo = egui_color(self.colors().ground);
        let eye = pose.compute_affine().inverse().transform_point3(eye.translation());
        for stroke in [Stroke::new(width + 2.0, halo), Stroke::new(width, color)] {
            for (from, to) in edges(eye) {
                if let (Some(from), Some(to)) = (corners[from], corners[to]) {
                    painter.line_segment([from, to], stroke);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::math::vec3;

    use super::*;

    #[test]
    fn an_outline_has_the_edges_of_the_faces_that_are_seen() {
        for (eye, count) in [
            (vec3(3.0, 2.0, 5.0), 9),
            (vec3(3.0, 0.4, 5.0), 7),
            (vec3(0.2, 0.4, -5.0), 4),
            (Vec3::ZERO, 0),
        ] {
            let edges: Vec<_> = edges(eye).collect();
            assert_eq!(edges.len(), count, "{eye}");
            for (from, to) in edges {
                assert_eq!(corner(from).distance(corner(to)), 1.0);
            }
        }
    }
}
