//! The key bindings.
//!
//! [`BINDINGS`] is the only table of keys. Input handling, the panel's list, `--help` and PLAYING.md use it.
//! [`ControlsPlugin`] triggers an [`Action`] event for each key press, and view, panel and recording observe the
//! actions that they handle. Keys that act while they are held are read with [`Keyboard::held`].
//!
//! Letters follow the player's keyboard layout: see [`Letters`].

mod bindings;
mod letters;

use std::hash::Hash;

use bevy::ecs::system::SystemParam;
use bevy::input::InputSystems;
use bevy::input::keyboard::{Key, KeyboardInput};
use bevy::prelude::*;
use bevy_egui::EguiPreUpdateSet;
use bevy_egui::input::EguiWantsInput;
use cubewire_scene::{Keys, TICKS_PER_SECOND};

pub use bindings::{BINDINGS, Binding, RUNG_KEYS, Trigger, help, key_of, works};
pub use letters::{Letters, character};

/// A film of the last seconds of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PastFilm {
    pub seconds: u32,
    /// 1 or 2, so that every frame shows a whole tick.
    pub ticks_per_frame: u32,
}

impl PastFilm {
    pub const fn frames_per_second(self) -> u32 {
        TICKS_PER_SECOND / self.ticks_per_frame
    }
}

#[derive(Event, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Reset,
    Pause,
    Step,
    NextRung,
    PreviousRung,
    /// Switches the selected lane to this rung, counted from 0.
    Rung(usize),
    CutLink,
    NextView,
    ResetCamera,
    Trails,
    Exaggerate,
    Timeline,
    CubeColors,
    Help,
    Panel,
    Replay,
    /// Opens or closes the card *Film this*. Pressed again, its key films the chosen length.
    Film,
    FilmLast(PastFilm),
    StopFilm,
    /// Saves a replay of the last seconds, and copies the command that films it.
    CopyFilm(PastFilm),
    Screenshot,
    /// Saves the last minute of the selected lane as a table with one row per tick.
    SaveCsv,
    /// Copies the contents of both halves as an address or a command.
    CopyLink,
    Reconnect,
    Open(&'static str),
    /// Starts or leaves the tour of the article.
    Tour,
    /// Shows this step of the tour, counted from 0.
    TourStep(usize),
    /// Shows the next step of the tour. After the last step, shows the final card, and then leaves the tour.
    TourNext,
    TourBack,
    LeaveTour,
}

/// Reads keys, in [`RunFixedMainLoop`] before the ticks of a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControlsSystems;

#[derive(Debug)]
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<KeyboardInput>()
            .init_resource::<Letters>()
            .add_systems(
                PreUpdate,
                letters::read.after(InputSystems).before(EguiPreUpdateSet::ProcessInput),
            )
            .add_systems(
                RunFixedMainLoop,
                press.in_set(ControlsSystems).in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
            );
    }
}

fn press(keyboard: Keyboard<'_>, mut inputs: MessageReader<KeyboardInput>, mut commands: Commands) {
    let is_typing = keyboard.is_typing();
    let is_shortcut = has_modifier(&keyboard.keys);
    // Not from `ButtonInput<Key>`: a key that is released after Shift has another character by then, so it would count
    // as held forever.
    let typed = inputs.read().filter(|input| input.state.is_pressed() && !input.repeat);
    let typed: Vec<_> = typed.map(|input| (input.key_code, &input.logical_key)).collect();
    let types = |key: &Key, wanted: &str| matches!(key, Key::Character(text) if text == wanted);
    // A key with the character of a control does not act by its position.
    let triggers = || BINDINGS.iter().flat_map(|row| row.presses);
    let is_labelled = |key| {
        let letter = keyboard.letter(key);
        letter == Some(GATHER)
            || triggers().any(|(trigger, _)| match *trigger {
                Trigger::Letter(wanted) => letter == Some(wanted),
                Trigger::Character(wanted) => {
                    let mut typed = typed.iter();
                    typed.any(|(code, text)| *code == key && types(text, wanted))
                }
                Trigger::Key(_) => false,
            })
    };
    let is_pressed = |trigger| match trigger {
        Trigger::Letter(letter) => {
            let mut pressed = keyboard.keys.get_just_pressed();
            !is_shortcut && pressed.any(|key| keyboard.letter(*key) == Some(letter))
        }
        Trigger::Key(key) => !is_shortcut && keyboard.keys.just_pressed(key) && !is_labelled(key),
        Trigger::Character(wanted) => typed.iter().any(|(_, key)| types(key, wanted)),
    };
    for binding in &BINDINGS {
        if is_typing && !binding.works_while_typing {
            continue;
        }
        for &(trigger, action) in binding.presses {
            if is_pressed(trigger) {
                commands.trigger(action);
            }
        }
    }
}

#[derive(SystemParam, Debug)]
pub struct Inputs<'w> {
    keys: Option<Res<'w, ButtonInput<KeyCode>>>,
    buttons: Option<Res<'w, ButtonInput<MouseButton>>>,
    touches: Option<Res<'w, Touches>>,
}

impl Inputs<'_> {
    /// Whether a key or mouse button was pressed or the screen was touched since the last frame.
    pub fn is_any_pressed(&self) -> bool {
        self.is_key_pressed() || self.is_pointer_pressed()
    }

    /// Whether a key or mouse button is held or the screen is touched.
    pub fn is_any_held(&self) -> bool {
        let keys = self.keys.as_ref().is_some_and(|it| it.get_pressed().next().is_some());
        let buttons = self.buttons.as_ref().is_some_and(|it| it.get_pressed().next().is_some());
        keys || buttons || self.touches.as_ref().is_some_and(|it| it.iter().next().is_some())
    }

    pub fn is_key_pressed(&self) -> bool {
        let mut pressed = self.keys.iter().flat_map(|keys| keys.get_just_pressed());
        pressed.any(|key| !MODIFIERS.contains(key))
    }

    /// Whether a mouse button was pressed or the screen was touched since the last frame.
    pub fn is_pointer_pressed(&self) -> bool {
        let mut clicked = self.buttons.iter().flat_map(|it| it.get_just_pressed());
        let touches = self.touches.as_ref();
        clicked.next().is_some() || touches.is_some_and(|touches| touches.any_just_pressed())
    }
}

const MODIFIERS: [KeyCode; 8] = [
    KeyCode::ControlLeft,
    KeyCode::ControlRight,
    KeyCode::SuperLeft,
    KeyCode::SuperRight,
    KeyCode::ShiftLeft,
    KeyCode::ShiftRight,
    KeyCode::AltLeft,
    KeyCode::AltRight,
];

/// Whether Ctrl or Command is held, or was released in this frame. Keys then belong to the panel or the system.
fn has_modifier(keys: &ButtonInput<KeyCode>) -> bool {
    let modifiers = || MODIFIERS[..4].iter().copied();
    keys.any_pressed(modifiers()) || keys.any_just_released(modifiers())
}

const GATHER: char = 'z';

#[derive(SystemParam, Debug)]
pub struct Keyboard<'w> {
    keys: Res<'w, ButtonInput<KeyCode>>,
    letters: Option<Res<'w, Letters>>,
    egui: Option<Res<'w, EguiWantsInput>>,
}

impl Keyboard<'_> {
    fn is_typing(&self) -> bool {
        let egui = self.egui.as_ref();
        egui.is_some_and(|egui| egui.wants_any_keyboard_input())
    }

    fn letter(&self, key: KeyCode) -> Option<char> {
        self.letters.as_ref().map_or_else(|| Letters::default().of(key), |it| it.of(key))
    }

    /// Returns the held keys, or no keys while the panel takes keyboard input.
    pub fn held(&self) -> Keys {
        if self.is_typing() {
            return Keys::default();
        }
        // A key that was tapped between two frames counts as held for one frame.
        let mut all = self.keys.get_pressed().chain(self.keys.get_just_pressed());
        let holds = |key| self.keys.pressed(key) || self.keys.just_pressed(key);
        Keys {
            left: holds(KeyCode::ArrowLeft),
            right: holds(KeyCode::ArrowRight),
            up: holds(KeyCode::ArrowUp),
            down: holds(KeyCode::ArrowDown),
            blow: holds(KeyCode::Space),
            gather: all.any(|key| self.letter(*key) == Some(GATHER)),
        }
    }
}
