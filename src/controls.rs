//! The key bindings.
//!
//! [`BINDINGS`] is the one table of all keys: for input handling, the panel's list, `--help` and the README.
//! [`ControlsPlugin`] triggers an [`Action`], an event, for each key press; view, panel and recording observe
//! the actions that they handle. Keys that have an effect while they are held are read by [`Keyboard::held`] instead.
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
use cubewire_scene::Keys;

pub use bindings::{BINDINGS, Binding, RUNG_KEYS, Trigger, help, key_of};
pub use letters::{Letters, character};

/// Something that a key press asks for.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Puts every cube back to its start.
    Reset,
    /// Pauses, or resumes.
    Pause,
    /// Pauses, and steps one tick.
    Step,
    /// Takes the selected lane to the next rung of the ladder.
    NextRung,
    /// Takes it to the previous rung.
    PreviousRung,
    /// Takes it to this rung, counted from 0.
    Rung(usize),
    /// Cuts the link of the selected lane, or restores it.
    CutLink,
    /// Has its receiver lose its world: see [`ForceDesync`](crate::replication::ForceDesync).
    Desync,
    /// Shows the halves in another way.
    NextView,
    /// Turns both cameras back to where they started.
    ResetCamera,
    /// Shows trails, or hides them.
    Trails,
    /// Shows the timeline, or hides it.
    Timeline,
    /// Colours the cubes by something else.
    CubeColors,
    /// Explains what is on the screen, or stops explaining it.
    Help,
    /// Shows the panel whole, as a slim bar, or not at all.
    Panel,
    /// Starts to record a replay, or stops.
    Replay,
    /// Starts to record a video, or stops.
    Video,
    /// Saves a picture of the window.
    Screenshot,
    /// Saves the last minute of the selected lane as a table: a row for each tick.
    SaveCsv,
    /// Saves the last minute with the header of every packet, and its bits where they are recorded.
    SaveJsonLines,
    /// Copies what both halves show, as an address or a command.
    CopyLink,
    /// Connects to the server again.
    Reconnect,
    /// Opens this address in a browser.
    Open(&'static str),
    /// Starts the tour of the article, or leaves it.
    Tour,
    /// Goes to this step of the tour, counted from 0.
    TourStep(usize),
    /// Goes to the next step of the tour, after the last one to the card at the end, and from there leaves it.
    TourNext,
    /// Goes to the step before.
    TourBack,
    /// Leaves the tour, if there is one.
    LeaveTour,
}

/// When keys are read, in [`RunFixedMainLoop`], before the ticks of a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControlsSystems;

/// Triggers the [`Action`] of each key that is pressed.
#[derive(Debug)]
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<KeyboardInput>()
            .init_resource::<Letters>()
            .add_systems(
                PreUpdate,
                letters::read
                    .after(InputSystems)
                    .before(EguiPreUpdateSet::ProcessInput),
            )
            .add_systems(
                RunFixedMainLoop,
                press
                    .in_set(ControlsSystems)
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
            );
    }
}

fn press(keyboard: Keyboard<'_>, mut inputs: MessageReader<KeyboardInput>, mut commands: Commands) {
    let is_typing = keyboard.is_typing();
    let is_shortcut = has_modifier(&keyboard.keys);
    // Not from `ButtonInput<Key>`: a key that is released after Shift is released as another character, and
    // would count as held for good.
    let typed = inputs
        .read()
        .filter(|input| input.state.is_pressed() && !input.repeat);
    let typed: Vec<_> = typed
        .map(|input| (input.key_code, &input.logical_key))
        .collect();
    let types = |key: &Key, wanted: &str| matches!(key, Key::Character(text) if text == wanted);
    // A key that has a control's character is not meant by its position.
    let triggers = || BINDINGS.iter().flat_map(|row| row.presses());
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
        if is_typing && !binding.works_while_typing() {
            continue;
        }
        for &(trigger, action) in binding.presses() {
            if is_pressed(trigger) {
                commands.trigger(action);
            }
        }
    }
}

/// What can be pressed.
#[derive(SystemParam, Debug)]
pub struct Inputs<'w> {
    keys: Option<Res<'w, ButtonInput<KeyCode>>>,
    buttons: Option<Res<'w, ButtonInput<MouseButton>>>,
    touches: Option<Res<'w, Touches>>,
}

impl Inputs<'_> {
    /// Whether a key, a button or the screen was pressed since the last frame.
    #[must_use]
    pub fn is_any_pressed(&self) -> bool {
        self.is_key_pressed() || self.is_pointer_pressed()
    }

    /// Whether a key was pressed that is not only held with others.
    #[must_use]
    pub fn is_key_pressed(&self) -> bool {
        let mut pressed = self.keys.iter().flat_map(|keys| keys.get_just_pressed());
        pressed.any(|key| !MODIFIERS.contains(key))
    }

    /// Whether a button of the mouse, or the screen, was pressed.
    #[must_use]
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

/// Whether Ctrl or Command is held: the keys are then the panel's or the system's.
fn has_modifier(keys: &ButtonInput<KeyCode>) -> bool {
    keys.any_pressed(MODIFIERS[..4].iter().copied())
}

/// The letter of the key that gathers.
const GATHER: char = 'z';

/// The keys of the player.
#[derive(SystemParam, Debug)]
pub struct Keyboard<'w> {
    keys: Res<'w, ButtonInput<KeyCode>>,
    letters: Option<Res<'w, Letters>>,
    egui: Option<Res<'w, EguiWantsInput>>,
}

impl Keyboard<'_> {
    /// Whether the panel takes keys.
    fn is_typing(&self) -> bool {
        let egui = self.egui.as_ref();
        egui.is_some_and(|egui| egui.wants_any_keyboard_input())
    }

    fn letter(&self, key: KeyCode) -> Option<char> {
        match &self.letters {
            Some(letters) => letters.of(key),
            None => Letters::default().of(key),
        }
    }

    /// Keys that the player holds down; no keys while the panel takes them.
    #[must_use]
    pub fn held(&self) -> Keys {
        if self.is_typing() {
            return Keys::default();
        }
        // A key that was tapped between two frames counts as held for one.
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
