//! Characters on the keys of the player's keyboard.

use std::collections::HashMap;

use bevy::input::keyboard::{Key, KeyboardInput};
use bevy::prelude::*;

/// Character of each key at its last press.
///
/// A key is held until it is released at its position, even if Shift or a change of the layout gives it another
/// character in between.
#[derive(Resource, Clone, Debug, Default)]
pub struct Letters(HashMap<KeyCode, Option<char>>);

impl Letters {
    /// Character of a key in lower case: see [`character`]. Before the first press of a key, its character on a US
    /// keyboard.
    pub fn of(&self, key: KeyCode) -> Option<char> {
        self.0.get(&key).copied().unwrap_or_else(|| on_us_keyboard(key))
    }
}

pub(super) fn read(mut inputs: MessageReader<KeyboardInput>, mut letters: ResMut<Letters>) {
    let pressed = inputs.read().filter(|input| input.state.is_pressed() && !input.repeat);
    for input in pressed {
        letters.0.insert(input.key_code, character(input));
    }
}

/// Character of the pressed key in lower case. For a layout with a script other than Latin, the character of a US
/// keyboard at that position, if a control uses it.
pub fn character(input: &KeyboardInput) -> Option<char> {
    match &input.logical_key {
        Key::Character(text) => {
            let mut characters = text.chars();
            let first = characters.next()?;
            if !is_latin(first) {
                return on_us_keyboard(input.key_code);
            }
            characters.next().is_none().then(|| first.to_ascii_lowercase())
        }
        Key::Unidentified(_) => on_us_keyboard(input.key_code),
        _ => None,
    }
}

/// Whether a character is a Latin letter, with or without diacritics, or an ASCII character.
const fn is_latin(character: char) -> bool {
    matches!(character, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

fn on_us_keyboard(key: KeyCode) -> Option<char> {
    US_KEYBOARD.iter().find(|(code, _)| *code == key).map(|(_, character)| *character)
}

/// Characters that controls use, and their keys on a US keyboard.
const US_KEYBOARD: [(KeyCode, char); 12] = [
    (KeyCode::KeyB, 'b'),
    (KeyCode::KeyE, 'e'),
    (KeyCode::KeyH, 'h'),
    (KeyCode::KeyL, 'l'),
    (KeyCode::KeyN, 'n'),
    (KeyCode::KeyP, 'p'),
    (KeyCode::KeyR, 'r'),
    (KeyCode::KeyT, 't'),
    (KeyCode::KeyV, 'v'),
    (KeyCode::KeyZ, 'z'),
    (KeyCode::Comma, ','),
    (KeyCode::Period, '.'),
];

#[cfg(test)]
mod tests {
    use bevy::input::ButtonState;

    use super::*;
    use crate::controls::{BINDINGS, Trigger};

    fn pressed(key_code: KeyCode, text: &str) -> KeyboardInput {
        KeyboardInput {
            key_code,
            logical_key: Key::Character(text.into()),
            state: ButtonState::Pressed,
            text: None,
            repeat: false,
            window: Entity::PLACEHOLDER,
        }
    }

    #[test]
    fn a_key_has_the_character_of_the_layout_or_of_a_us_keyboard() {
        for (key, text, wanted) in [
            (KeyCode::KeyZ, "z", Some('z')),
            (KeyCode::KeyZ, "Z", Some('z')),
            // German, French, Dvorak, Bépo.
            (KeyCode::KeyY, "z", Some('z')),
            (KeyCode::KeyZ, "y", Some('y')),
            (KeyCode::KeyZ, "w", Some('w')),
            (KeyCode::KeyM, ",", Some(',')),
            (KeyCode::KeyZ, ";", Some(';')),
            (KeyCode::Period, "v", Some('v')),
            (KeyCode::KeyZ, "à", Some('à')),
            (KeyCode::BracketLeft, "z", Some('z')),
            // Turkish: letters with diacritics or without a dot are different letters.
            (KeyCode::KeyR, "ı", Some('ı')),
            (KeyCode::KeyE, "ğ", Some('ğ')),
            // Russian, Greek, Hebrew, Arabic, Thai.
            (KeyCode::KeyZ, "я", Some('z')),
            (KeyCode::KeyZ, "Я", Some('z')),
            (KeyCode::Comma, "б", Some(',')),
            (KeyCode::KeyQ, "й", None),
            (KeyCode::KeyL, "λ", Some('l')),
            (KeyCode::KeyT, "א", Some('t')),
            (KeyCode::KeyB, "لا", Some('b')),
            (KeyCode::KeyH, "\u{e49}", Some('h')),
            (KeyCode::KeyZ, "", None),
        ] {
            assert_eq!(character(&pressed(key, text)), wanted, "{key:?} {text}");
        }
        let enter = KeyboardInput { logical_key: Key::Enter, ..pressed(KeyCode::KeyZ, "") };
        assert_eq!(character(&enter), None);
    }

    #[test]
    fn every_letter_of_a_control_has_a_place_on_a_us_keyboard() {
        for binding in &BINDINGS {
            for (trigger, action) in binding.presses {
                let Trigger::Letter(letter) = *trigger else { continue };
                let place = US_KEYBOARD.iter().find(|(_, character)| *character == letter);
                let (place, _) = place.unwrap_or_else(|| panic!("{action:?}"));
                assert_eq!(format!("{place:?}"), format!("Key{}", letter.to_ascii_uppercase()));
                assert_eq!(binding.keys, letter.to_uppercase().to_string());
            }
        }
    }
}
