//! Picks the cube under the pointer, in either half.

use bevy::ecs::system::SystemParam;
use bevy::math::bounding::{Aabb3d, RayCast3d};
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::input::EguiWantsInput;

use super::Inset;
use super::canvas::Canvas;
use super::cubes::ViewCube;
use super::panes::Pane;
use super::side::Side;
use crate::history::Selection;

/// Farthest pointer movement that still counts as a click and not as a drag, in logical pixels.
const CLICK_MOVE: f32 = 4.0;

type SeenCube<'a> = (&'a Side, &'a ViewCube, &'a Transform);

/// Pointer state, and the areas that take pointer input from the view.
#[derive(SystemParam)]
pub(super) struct Pointer<'w, 's> {
    window: Single<'w, 's, &'static Window, With<PrimaryWindow>>,
    buttons: Res<'w, ButtonInput<MouseButton>>,
    inset: Res<'w, Inset>,
    egui: Option<Res<'w, EguiWantsInput>>,
}

impl Pointer<'_, '_> {
    /// Pointer position in logical pixels, if it is over the view.
    fn over_view(&self) -> Option<Vec2> {
        let is_taken = self.egui.as_ref().is_some_and(|egui| egui.wants_any_pointer_input());
        let at = self.window.cursor_position()?;
        (!is_taken && !self.inset.covers(at, self.window.size())).then_some(at)
    }
}

/// Hovers the cube under the pointer and selects it on a click. A click on the background clears the selection.
pub(super) fn pick(
    pointer: Pointer<'_, '_>,
    canvas: Res<Canvas>,
    cameras: Query<(&Side, &Pane, &Camera, &GlobalTransform)>,
    cubes: Query<SeenCube<'_>>,
    mut pressed_at: Local<Option<Vec2>>,
    mut was_over_view: Local<bool>,
    mut selection: ResMut<Selection>,
) {
    let Some(at) = pointer.over_view() else {
        *pressed_at = None;
        // Outside the view, the panel sets the hovered cube. Clear it when the pointer leaves the view or the window.
        let has_left_view = std::mem::take(&mut *was_over_view);
        let has_left = has_left_view || pointer.window.cursor_position().is_none();
        if has_left {
            selection.hovered = None;
        }
        return;
    };
    *was_over_view = true;
    let hovered = cube_at(at * canvas.scale_factor, &cameras, &cubes);
    selection.hovered = hovered;
    if pointer.buttons.just_pressed(MouseButton::Left) {
        *pressed_at = Some(at);
    }
    if pointer.buttons.just_released(MouseButton::Left)
        && let Some(pressed) = pressed_at.take()
        && pressed.distance(at) <= CLICK_MOVE
        && selection.cube != hovered
    {
        selection.cube = hovered;
        selection.follows &= hovered.is_some();
    }
}

fn cube_at(
    pixel: Vec2,
    cameras: &Query<(&Side, &Pane, &Camera, &GlobalTransform)>,
    cubes: &Query<SeenCube<'_>>,
) -> Option<usize> {
    let (side, pane, camera, transform) =
        cameras.iter().find(|(_, pane, ..)| pane.area.contains(pixel.as_uvec2()))?;
    let size = camera.logical_viewport_size()?;
    let within = (pixel - pane.area.min.as_vec2()) / pane.area.size().as_vec2();
    let ray = camera.viewport_to_world(transform, within * size).ok()?;
    let hits = cubes.iter().filter(|(half, ..)| *half == side);
    let hits = hits.filter_map(|(_, cube, transform)| Some((cube.index, hit(ray, transform)?)));
    hits.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(cube, _)| cube)
}

/// Distance along `ray` to a cube with its scale as side length. `None` if the ray misses it.
fn hit(ray: Ray3d, cube: &Transform) -> Option<f32> {
    let turned_back = cube.rotation.inverse();
    let origin = turned_back * (ray.origin - cube.translation);
    let direction = Dir3::new(turned_back * *ray.direction).ok()?;
    let cast = RayCast3d::new(origin, direction, MAX_DISTANCE);
    cast.aabb_intersection_at(&Aabb3d::new(Vec3::ZERO, cube.scale / 2.0))
}

/// Far plane of the cameras, metres.
const MAX_DISTANCE: f32 = 400.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn ray(origin: Vec3) -> Ray3d {
        Ray3d::new(origin, Dir3::NEG_Z)
    }

    #[test]
    fn a_turned_cube_is_hit_where_it_is() {
        let cube = Transform::from_xyz(2.0, 0.0, 1.0)
            .with_rotation(Quat::from_rotation_y(std::f32::consts::FRAC_PI_4));
        // The cube's edge points up, so it reaches 0.707 m to the sides.
        let top = hit(ray(Vec3::new(2.0, 0.0, 10.0)), &cube).unwrap();
        assert!((top - (9.0 - 0.707)).abs() < 1e-3, "{top}");
        assert!(hit(ray(Vec3::new(2.65, 0.0, 10.0)), &cube).is_some());
        assert!(hit(ray(Vec3::new(2.75, 0.0, 10.0)), &cube).is_none());
        assert!(hit(ray(Vec3::new(2.0, 0.55, 10.0)), &cube).is_none());
    }

    #[test]
    fn a_large_cube_is_hit_farther_from_its_middle() {
        let cube = Transform::from_scale(Vec3::splat(3.0));
        assert!(hit(ray(Vec3::new(1.4, 0.0, 10.0)), &cube).is_some());
        assert!(hit(ray(Vec3::new(1.6, 0.0, 10.0)), &cube).is_none());
    }
}
