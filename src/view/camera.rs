//! Two cameras that follow the player, one per world, and a third that draws their images, text and the panel on the
//! canvas.

use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::input::ButtonState;
use bevy::input::mouse::{AccumulatedMouseScroll, MouseButtonInput, MouseScrollUnit};
use bevy::prelude::*;
use bevy::window::{PrimaryWindow, WindowEvent};
use bevy_egui::{EguiGlobalSettings, PrimaryEguiContext};

use super::Inset;
use super::canvas::Canvas;
use super::compose;
use super::cubes::ViewCube;
use super::panes::Pane;
use super::side::{SHARED, Side};
use crate::history::Selection;
use crate::simulation::OwnPlayer;

/// Height of the player above the focus of the cameras, metres.
const LOOK_BELOW: f32 = 0.4;

/// Time constant of the camera's smoothing, seconds.
const EASE_SECONDS: f32 = 0.1;

/// Maximum lag of the camera, metres. A larger distance means that the player was teleported.
const MAX_LAG: f32 = 8.0;

/// Rotation per logical pixel of mouse drag, radians.
const DRAG: f32 = 0.006;
/// Factor of the distance per step of the mouse wheel.
const ZOOM: f32 = 0.9;
const PIXELS_PER_STEP: f32 = 40.0;
const DISTANCE: std::ops::RangeInclusive<f32> = 3.0..=80.0;
const PITCH: std::ops::RangeInclusive<f32> = 0.05..=1.5;

/// Fog density per metre. Half of the light passes 92 m of fog, less than 0.1 % passes 300 m.
const FOG_DENSITY: f32 = 0.009;

/// Direction and distance of both cameras from their focus, in radians and metres.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub(super) struct Orbit {
    yaw: f32,
    pitch: f32,
    pub(super) distance: f32,
}

impl Default for Orbit {
    /// Same distance as in the article's demo. With this pitch the horizon is below the headline, a sixth of the picture from
    /// its top.
    fn default() -> Self {
        Self { yaw: 0.0, pitch: 0.37, distance: 12.5 }
    }
}

impl Orbit {
    /// Rotates by a drag of this many logical pixels.
    pub(super) fn drag(&mut self, pixels: Vec2) {
        self.yaw -= pixels.x * DRAG;
        self.pitch = (self.pitch + pixels.y * DRAG).clamp(*PITCH.start(), *PITCH.end());
    }

    /// Multiplies the distance, clamped to 3 to 80 metres.
    pub(super) fn scale(&mut self, factor: f32) {
        self.distance = (self.distance * factor).clamp(*DISTANCE.start(), *DISTANCE.end());
    }

    fn offset(self) -> Vec3 {
        let flat = Quat::from_rotation_z(self.yaw) * Vec3::NEG_Y;
        (flat * self.pitch.cos() + Vec3::Z * self.pitch.sin()) * self.distance
    }
}

/// Focus of a camera. `None` before it has seen the player.
#[derive(Component, Clone, Copy, Debug, Default)]
pub(super) struct Follow(Option<Vec3>);

pub(super) fn spawn(
    mut commands: Commands,
    mut egui: ResMut<EguiGlobalSettings>,
    mut images: ResMut<Assets<Image>>,
    canvas: Res<Canvas>,
) {
    egui.auto_create_primary_context = false;
    for (order, side) in (0..).zip(Side::ALL) {
        commands.spawn((
            side,
            Follow::default(),
            (Pane::default(), Pane::target(&mut images)),
            Camera3d::default(),
            Camera { order, ..compose::source() },
            // Keeps the palette's colours where a surface is fully lit.
            Tonemapping::None,
            Projection::Perspective(PerspectiveProjection {
                fov: 60_f32.to_radians(),
                far: 400.0,
                ..default()
            }),
            DistanceFog {
                falloff: FogFalloff::ExponentialSquared { density: FOG_DENSITY },
                ..default()
            },
            Transform::default(),
            RenderLayers::layer(SHARED).with(side.layer()),
        ));
    }
    // The canvas: the pictures of the panes are copied to it, then text and panel are drawn.
    commands.spawn((
        canvas.target.clone(),
        PrimaryEguiContext,
        Camera2d,
        Msaa::Off,
        Tonemapping::None,
        RenderLayers::none(),
        Camera { order: 2, ..default() },
    ));
}

/// A drag with the mouse, followed by the positions of the cursor. Devices with absolute positions, as remote desktops
/// have, report no relative motion.
#[derive(Debug, Default)]
pub(super) struct Drag {
    cursor: Option<Vec2>,
    /// The button that began the drag. `None` without a drag.
    button: Option<MouseButton>,
    /// Whether the cursor left the window and was not seen since. If it is next seen inside, the drag ends, because the
    /// button may have been released unnoticed.
    is_lost: bool,
}

impl Drag {
    /// Follows an event. Returns the movement of the drag, logical pixels. `is_over_view` is for the cursor's position.
    fn follow(
        &mut self,
        event: &WindowEvent,
        size: Vec2,
        is_over_view: impl Fn(Vec2) -> bool,
    ) -> Option<Vec2> {
        match event {
            WindowEvent::CursorMoved(moved) => {
                let to = moved.position;
                let before = self.cursor.replace(to);
                let is_inside = Rect::from_corners(Vec2::ZERO, size).contains(to);
                if std::mem::take(&mut self.is_lost) && is_inside {
                    self.button = None;
                }
                return Some(to - before?).filter(|_| self.button.is_some());
            }
            WindowEvent::MouseButtonInput(MouseButtonInput { button, state, .. }) => {
                let begins = [MouseButton::Left, MouseButton::Right].contains(button)
                    && self.button.is_none()
                    && self.cursor.is_some_and(is_over_view);
                match state {
                    ButtonState::Pressed if begins => self.button = Some(*button),
                    ButtonState::Released if self.button == Some(*button) => self.button = None,
                    _ => {}
                }
            }
            WindowEvent::CursorLeft(_) => self.is_lost = true,
            WindowEvent::WindowFocused(focus) if !focus.focused => self.button = None,
            _ => {}
        }
        None
    }
}

/// Orbits on a drag and zooms with the wheel, both cameras alike. Ignores input that begins over the panel.
pub(super) fn orbit(
    mut events: MessageReader<WindowEvent>,
    scroll: Res<AccumulatedMouseScroll>,
    inset: Res<Inset>,
    window: Single<&Window, With<PrimaryWindow>>,
    mut drag: Local<Drag>,
    mut orbit: ResMut<Orbit>,
) {
    let is_over_view = |pointer| !inset.covers(pointer, window.size());
    for event in events.read() {
        if let Some(pixels) = drag.follow(event, window.size(), is_over_view) {
            orbit.drag(pixels);
        }
    }
    let over_view = window.cursor_position().is_some_and(is_over_view);
    if over_view && scroll.delta.y != 0.0 {
        let steps = match scroll.unit {
            MouseScrollUnit::Line => scroll.delta.y,
            MouseScrollUnit::Pixel => scroll.delta.y / PIXELS_PER_STEP,
        };
        orbit.scale(ZOOM.powf(steps));
    }
}

/// Lets the cameras jump to their targets in the next frame, after a skip in time.
pub fn settle_cameras(world: &mut World) {
    let mut cameras = world.query::<&mut Follow>();
    for mut camera in cameras.iter_mut(world) {
        *camera = Follow::default();
    }
}

pub(super) fn follow(
    time: Res<Time<Real>>,
    orbit: Res<Orbit>,
    selection: Res<Selection>,
    own: Res<OwnPlayer>,
    cubes: Query<(&Side, &ViewCube, &Transform), Without<Follow>>,
    mut cameras: Query<(&Side, &mut Follow, &mut Transform)>,
) {
    // No smoothing while the clock is stopped.
    let closed = match time.delta_secs() {
        0.0 => 1.0,
        seconds => 1.0 - (-seconds / EASE_SECONDS).exp(),
    };
    let followed = selection.cube.filter(|_| selection.follows).unwrap_or(own.cube());
    for (side, mut follow, mut transform) in &mut cameras {
        let Some((_, _, player)) =
            cubes.iter().find(|(other, cube, _)| *other == side && cube.index == followed)
        else {
            continue;
        };
        let target = player.translation - Vec3::Z * LOOK_BELOW;
        let focus = match follow.0 {
            Some(focus) if focus.distance(target) < MAX_LAG => focus.lerp(target, closed),
            _ => target,
        };
        follow.0 = Some(focus);
        *transform = Transform::from_translation(focus + orbit.offset()).looking_at(focus, Vec3::Z);
    }
}

#[cfg(test)]
mod tests {
    use bevy::window::{CursorLeft, CursorMoved, WindowFocused};

    use super::*;

    const WINDOW: Entity = Entity::PLACEHOLDER;

    fn moved(x: f32, y: f32) -> WindowEvent {
        CursorMoved { window: WINDOW, position: Vec2::new(x, y), delta: None }.into()
    }

    fn button(state: ButtonState) -> WindowEvent {
        MouseButtonInput { button: MouseButton::Left, state, window: WINDOW }.into()
    }

    fn focus(focused: bool) -> WindowEvent {
        WindowFocused { window: WINDOW, focused }.into()
    }

    fn app() -> App {
        let mut app = App::new();
        app.add_message::<WindowEvent>()
            .init_resource::<AccumulatedMouseScroll>()
            .insert_resource(Inset { right: 400.0, bottom: 0.0 })
            .init_resource::<Orbit>()
            .add_systems(Update, orbit);
        let window = Window { resolution: (1280, 720).into(), ..Window::default() };
        app.world_mut().spawn((window, PrimaryWindow));
        app
    }

    /// Sends the events of a frame. Returns how far they turn the cameras, pixels.
    fn frame(app: &mut App, events: impl IntoIterator<Item = WindowEvent>) -> f32 {
        let before = app.world().resource::<Orbit>().yaw;
        for event in events {
            app.world_mut().write_message(event);
        }
        app.update();
        ((before - app.world().resource::<Orbit>().yaw) / DRAG).round()
    }

    #[test]
    fn a_drag_follows_the_cursor_from_press_to_release_also_within_a_frame_and_outside() {
        use ButtonState::{Pressed, Released};
        let mut app = app();
        assert_eq!(frame(&mut app, [moved(100.0, 300.0)]), 0.0);
        let begin = [moved(200.0, 300.0), button(Pressed), moved(230.0, 300.0)];
        assert_eq!(frame(&mut app, begin), 30.0);
        assert_eq!(frame(&mut app, []), 0.0);
        let left = CursorLeft { window: WINDOW }.into();
        assert_eq!(frame(&mut app, [moved(5.0, 300.0), left, moved(-95.0, 300.0)]), -325.0);
        let end = [moved(45.0, 300.0), button(Released), moved(400.0, 300.0)];
        assert_eq!(frame(&mut app, end), 140.0);
        let click = [button(Pressed), moved(410.0, 300.0), button(Released)];
        assert_eq!(frame(&mut app, click), 10.0);
    }

    #[test]
    fn a_drag_ends_with_the_focus_and_when_its_release_may_have_been_missed() {
        let mut app = app();
        let begin = || [moved(200.0, 300.0), button(ButtonState::Pressed), moved(210.0, 300.0)];
        assert_eq!(frame(&mut app, begin()), 10.0);
        assert_eq!(frame(&mut app, [focus(false), focus(true), moved(300.0, 300.0)]), 0.0);
        assert_eq!(frame(&mut app, begin()), 10.0);
        let left = CursorLeft { window: WINDOW }.into();
        assert_eq!(frame(&mut app, [left, moved(300.0, 300.0), moved(320.0, 300.0)]), 0.0);
    }

    #[test]
    fn what_begins_on_the_panel_turns_nothing() {
        let mut app = app();
        let begin = [moved(1_000.0, 300.0), button(ButtonState::Pressed), moved(500.0, 300.0)];
        assert_eq!(frame(&mut app, begin), 0.0);
    }
}
