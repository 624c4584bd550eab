//! Touch input on the picture: one finger rolls the player, two turn and zoom the cameras.

use std::collections::HashSet;
use std::f32::consts::FRAC_PI_8;

use bevy::input::touch::{Touch, TouchInput};
use bevy::prelude::*;
use bevy::window::{PrimaryWindow, WindowFocused};
use cubewire_scene::Keys;

use super::Inset;
use super::camera::Orbit;
use crate::controls::Keyboard;

/// Distance that a finger moves before it rolls the player, logical pixels.
const DEAD_ZONE: f32 = 24.0;

/// The arrow keys that a finger simulates.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TouchKeys(pub Keys);

/// Keys that the player holds on the keyboard or by touch.
pub fn held(keyboard: &Keyboard<'_>, touch: Option<&TouchKeys>) -> Keys {
    let touch = touch.map(|touch| touch.0).unwrap_or_default();
    keyboard.held().or(touch)
}

/// Reads the fingers that first touched the picture and not the panel.
pub(super) fn read(
    touches: Res<Touches>,
    (mut messages, mut focus): (MessageReader<TouchInput>, MessageReader<WindowFocused>),
    (mut was_pair, mut ignored): (Local<bool>, Local<HashSet<u64>>),
    inset: Res<Inset>,
    window: Single<&Window, With<PrimaryWindow>>,
    mut held: ResMut<TouchKeys>,
    mut orbit: ResMut<Orbit>,
) {
    // Without the focus, the window may miss that a finger was lifted.
    if focus.read().any(|focus| !focus.focused) {
        ignored.extend(touches.iter().map(Touch::id));
    }
    ignored.retain(|&id| touches.get_pressed(id).is_some() && !touches.just_pressed(id));
    let mut fingers: Vec<&Touch> = touches
        .iter()
        .filter(|touch| !ignored.contains(&touch.id()))
        .filter(|touch| !inset.covers(touch.start_position(), window.size()))
        .collect();
    fingers.sort_by_key(|touch| touch.id());
    // After two fingers, the remaining one must not roll the player.
    *was_pair = fingers.len() > 1 || (*was_pair && !fingers.is_empty());
    let keys = match fingers[..] {
        [finger] if !*was_pair => arrows(finger.position() - finger.start_position()),
        _ => Keys::default(),
    };
    held.set_if_neq(TouchKeys(keys));
    // `Touches` keeps the last movement while fingers rest.
    let has_moved = messages.read().count() > 0;
    if let [one, other] = fingers[..]
        && has_moved
    {
        orbit.drag((one.delta() + other.delta()) / 2.0);
        let [before, now] = [
            one.previous_position().distance(other.previous_position()),
            one.position().distance(other.position()),
        ];
        if before > 0.0 && now > 0.0 {
            orbit.scale(before / now);
        }
    }
}

/// Arrow keys for a drag, in steps of 45 degrees.
fn arrows(dragged: Vec2) -> Keys {
    let length = dragged.length();
    if length < DEAD_ZONE {
        return Keys::default();
    }
    let enough = length * FRAC_PI_8.sin();
    Keys {
        left: dragged.x < -enough,
        right: dragged.x > enough,
        up: dragged.y < -enough,
        down: dragged.y > enough,
        ..Keys::default()
    }
}

#[cfg(test)]
mod tests {
    use bevy::input::touch::{TouchPhase, touch_screen_input_system};

    use super::*;

    #[test]
    fn a_drag_holds_one_arrow_or_two() {
        assert_eq!(arrows(Vec2::new(10.0, 10.0)), Keys::default());
        let keys = arrows(Vec2::new(100.0, 20.0));
        assert!(keys.right && !keys.up && !keys.down && !keys.left);
        let keys = arrows(Vec2::new(-60.0, -60.0));
        assert!(keys.left && keys.up && !keys.down && !keys.right);
    }

    fn app() -> App {
        let mut app = App::new();
        app.add_message::<TouchInput>()
            .add_message::<WindowFocused>()
            .init_resource::<Touches>()
            .init_resource::<Inset>()
            .init_resource::<Orbit>()
            .init_resource::<TouchKeys>()
            .add_systems(PreUpdate, touch_screen_input_system)
            .add_systems(Update, read);
        app.world_mut().spawn((Window::default(), PrimaryWindow));
        app
    }

    fn touch(app: &mut App, fingers: &[(u64, TouchPhase, [f32; 2])]) {
        for &(id, phase, position) in fingers {
            app.world_mut().write_message(TouchInput {
                phase,
                position: position.into(),
                window: Entity::PLACEHOLDER,
                force: None,
                id,
            });
        }
        app.update();
    }

    #[test]
    fn one_finger_rolls_and_two_turn_the_cameras_and_zoom() {
        use TouchPhase::{Ended, Moved, Started};
        let mut app = app();
        let orbit = |app: &App| *app.world().resource::<Orbit>();
        let keys = |app: &App| app.world().resource::<TouchKeys>().0;
        let before = orbit(&app);
        touch(&mut app, &[(1, Started, [100.0, 100.0])]);
        touch(&mut app, &[(1, Moved, [160.0, 100.0])]);
        assert!(keys(&app).right);
        assert_eq!(orbit(&app), before);
        touch(&mut app, &[(2, Started, [300.0, 100.0])]);
        assert_eq!(keys(&app), Keys::default());
        touch(&mut app, &[(1, Moved, [180.0, 100.0]), (2, Moved, [320.0, 100.0])]);
        let turned = orbit(&app);
        assert_ne!(turned, before);
        // Moving fingers apart zooms in.
        touch(&mut app, &[(1, Moved, [170.0, 100.0]), (2, Moved, [330.0, 100.0])]);
        assert!(orbit(&app).distance < turned.distance);
        let rested = orbit(&app);
        touch(&mut app, &[]);
        assert_eq!(orbit(&app), rested);
        // The remaining finger does not roll. The next touch does.
        touch(&mut app, &[(2, Ended, [330.0, 100.0])]);
        assert_eq!(keys(&app), Keys::default());
        touch(&mut app, &[(1, Ended, [170.0, 100.0])]);
        assert_eq!(keys(&app), Keys::default());
        touch(&mut app, &[(3, Started, [100.0, 100.0])]);
        touch(&mut app, &[(3, Moved, [100.0, 40.0])]);
        assert!(keys(&app).up);
    }

    #[test]
    fn fingers_do_nothing_after_the_focus_is_lost() {
        let mut app = app();
        let roll = |app: &mut App| {
            touch(app, &[(1, TouchPhase::Started, [100.0, 100.0])]);
            touch(app, &[(1, TouchPhase::Moved, [160.0, 100.0])]);
            assert!(app.world().resource::<TouchKeys>().0.right);
        };
        roll(&mut app);
        app.world_mut()
            .write_message(WindowFocused { window: Entity::PLACEHOLDER, focused: false });
        touch(&mut app, &[(1, TouchPhase::Moved, [170.0, 100.0])]);
        assert_eq!(app.world().resource::<TouchKeys>().0, Keys::default());
        // The same finger touches again.
        roll(&mut app);
    }

    #[test]
    fn a_finger_on_the_panel_does_not_roll() {
        let mut app = app();
        app.insert_resource(Inset { right: 400.0, ..Inset::default() });
        touch(&mut app, &[(1, TouchPhase::Started, [1_100.0, 100.0])]);
        touch(&mut app, &[(1, TouchPhase::Moved, [1_000.0, 100.0])]);
        assert_eq!(app.world().resource::<TouchKeys>().0, Keys::default());
    }
}
