//! Keys that pause, step and reset the game, and keys that play it.

use bevy::input::ButtonState;
use bevy::input::InputPlugin;
use bevy::input::keyboard::{Key, KeyboardFocusLost, KeyboardInput, NativeKey};
use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;
use cubewire::controls::Action;
use cubewire::game::headless::LaneGame;
use cubewire::recording::KeyboardPlugin;
use cubewire::replication::{ForceDesync, LaneSettings, LaneSync};
use cubewire::simulation::HeldKeys;
use cubewire::view::{ViewMode, ViewPlugin};
use cubewire_scene::{PLAYER, initial_position};

use crate::common::{change, lane, steps};

fn game() -> LaneGame {
    let egui = |app: &mut App| {
        app.init_resource::<EguiWantsInput>();
    };
    let plugins = (InputPlugin, egui, ViewPlugin, KeyboardPlugin);
    LaneGame::with_plugins(None, LaneSettings::default(), plugins).unwrap()
}

fn key(game: &mut LaneGame, key_code: KeyCode, state: ButtonState) {
    send(game, key_code, Key::Unidentified(NativeKey::Unidentified), state, false);
}

fn send(
    game: &mut LaneGame,
    key_code: KeyCode,
    logical_key: Key,
    state: ButtonState,
    repeat: bool,
) {
    let window = Entity::PLACEHOLDER;
    let input = KeyboardInput { key_code, logical_key, state, text: None, repeat, window };
    game.app.world_mut().write_message(input);
}

/// Presses a key for one frame.
fn tap(game: &mut LaneGame, code: KeyCode) {
    key(game, code, ButtonState::Pressed);
    game.step();
    key(game, code, ButtonState::Released);
    game.step();
}

fn player(game: &LaneGame) -> Vec3 {
    game.cubes().current().bodies[PLAYER].position
}

#[test]
fn arrow_keys_roll_the_player_until_they_are_let_go() {
    let mut game = game();
    steps(&mut game, 120);
    let start = player(&game);
    key(&mut game, KeyCode::ArrowRight, ButtonState::Pressed);
    steps(&mut game, 60);
    let rolled = player(&game).x - start.x;
    assert!(rolled > 3.0, "{rolled} m");
    key(&mut game, KeyCode::ArrowRight, ButtonState::Released);
    steps(&mut game, 240);
    let rest = player(&game);
    game.step();
    assert_eq!(player(&game), rest, "it rolls to a stop");
}

#[test]
fn p_pauses_at_once_n_steps_one_tick_r_puts_everything_back_and_v_goes_through_the_views() {
    let mut game = game();
    steps(&mut game, 200);
    let tick = game.cubes().tick();
    tap(&mut game, KeyCode::KeyP);
    steps(&mut game, 10);
    assert_eq!(game.cubes().tick(), tick);
    assert!(player(&game).distance(initial_position(PLAYER)) > 5.0);
    tap(&mut game, KeyCode::KeyR);
    assert!(player(&game).distance(initial_position(PLAYER)) < 0.1);
    let tick = game.cubes().tick();
    tap(&mut game, KeyCode::KeyP);
    assert!(game.cubes().tick() > tick);
    // Steps work both paused and running.
    let tick = game.cubes().tick();
    for step in 1..4 {
        tap(&mut game, KeyCode::KeyN);
        assert_eq!(game.cubes().tick(), tick + step);
    }
    // Old messages are dropped during a pause too.
    for _ in 0..100 {
        key(&mut game, KeyCode::KeyX, ButtonState::Pressed);
        game.step();
    }
    let kept = game.app.world().resource::<Messages<KeyboardInput>>();
    assert!(kept.len() < 5, "{} messages", kept.len());
    let modes = [ViewMode::Left, ViewMode::Right, ViewMode::Difference, ViewMode::Split];
    for mode in modes {
        tap(&mut game, KeyCode::KeyV);
        assert_eq!(*game.app.world().resource::<ViewMode>(), mode);
    }
}

/// The state that a receiver needs is requested in one step and made in a later step, with frames between them.
#[test]
fn ends_that_simulate_are_in_sync_again_after_single_steps() {
    let mut game = game();
    change(&mut game, lane("simulated"));
    steps(&mut game, 60);
    let entity = game.lane;
    let synced =
        |game: &LaneGame| game.app.world().get::<LaneSync>(entity).and_then(LaneSync::synced_ticks);
    assert!(synced(&game).is_some());
    game.app.world_mut().trigger(ForceDesync { entity });
    let tick = game.cubes().tick();
    for _ in 0..60 {
        tap(&mut game, KeyCode::KeyN);
        // Frames without a step.
        game.step();
        game.step();
    }
    assert_eq!(game.cubes().tick(), tick + 60);
    let synced = synced(&game).expect("they are in sync again");
    assert!((30..55).contains(&synced), "{synced} ticks");
}

#[test]
fn a_question_mark_asks_for_help_even_where_it_has_the_place_of_a_rung() {
    use ButtonState::{Pressed, Released};
    let mut game = watched();
    // Shift is released first.
    for _ in 0..2 {
        type_text(&mut game, KeyCode::Slash, "?", Pressed);
        type_text(&mut game, KeyCode::Slash, "/", Released);
        assert_eq!(asked(&mut game), [Action::Help]);
    }
    // A German layout.
    type_text(&mut game, KeyCode::Minus, "?", Pressed);
    assert_eq!(asked(&mut game), [Action::Help]);
    type_text(&mut game, KeyCode::Minus, "ß", Released);
    type_text(&mut game, KeyCode::Minus, "ß", Pressed);
    assert_eq!(asked(&mut game), [Action::Rung(10)]);
}

/// Keys of a layout and the text that they type.
type Layout = [(KeyCode, &'static str)];

const QWERTZ: &Layout =
    &[(KeyCode::KeyY, "z"), (KeyCode::KeyZ, "y"), (KeyCode::Minus, "ß"), (KeyCode::Digit1, "1")];
const AZERTY: &Layout =
    &[(KeyCode::KeyW, "z"), (KeyCode::KeyZ, "w"), (KeyCode::Minus, ")"), (KeyCode::Digit1, "&")];
const RUSSIAN: &Layout = &[
    (KeyCode::KeyZ, "я"),
    (KeyCode::KeyR, "к"),
    (KeyCode::KeyP, "з"),
    (KeyCode::KeyN, "т"),
    (KeyCode::KeyV, "м"),
    (KeyCode::KeyL, "д"),
    (KeyCode::KeyT, "е"),
    (KeyCode::KeyB, "и"),
    (KeyCode::KeyH, "р"),
];
const BEPO: &Layout = &[
    (KeyCode::BracketLeft, "z"),
    (KeyCode::KeyZ, "à"),
    (KeyCode::KeyU, "v"),
    (KeyCode::KeyV, "u"),
    (KeyCode::KeyO, "l"),
    (KeyCode::KeyL, "r"),
    (KeyCode::KeyR, "o"),
    (KeyCode::KeyE, "p"),
    (KeyCode::KeyF, "e"),
    (KeyCode::KeyP, "j"),
    (KeyCode::KeyQ, "b"),
    (KeyCode::KeyB, "k"),
    (KeyCode::Semicolon, "n"),
    (KeyCode::KeyN, "'"),
    (KeyCode::KeyJ, "t"),
    (KeyCode::KeyT, "è"),
    (KeyCode::Period, "h"),
    (KeyCode::KeyH, "c"),
];

/// Actions that keys triggered since the last call of `asked`.
#[derive(Resource, Default)]
struct Asked(Vec<Action>);

fn watched() -> LaneGame {
    let mut game = game();
    game.app
        .init_resource::<Asked>()
        .add_observer(|action: On<Action>, mut asked: ResMut<Asked>| asked.0.push(*action));
    game
}

fn asked(game: &mut LaneGame) -> Vec<Action> {
    std::mem::take(&mut game.app.world_mut().resource_mut::<Asked>().0)
}

fn gathers(game: &LaneGame) -> bool {
    game.app.world().resource::<HeldKeys>().0[0].gather
}

/// Presses or releases a key that types this text.
fn type_text(game: &mut LaneGame, code: KeyCode, text: &str, state: ButtonState) {
    send(game, code, Key::Character(text.into()), state, false);
    game.step();
}

#[test]
fn letters_are_those_of_the_keyboard_and_rungs_are_in_their_place() {
    use ButtonState::{Pressed, Released};
    let letters = [
        ("r", KeyCode::KeyR, Action::Reset),
        ("p", KeyCode::KeyP, Action::Pause),
        ("n", KeyCode::KeyN, Action::Step),
        ("v", KeyCode::KeyV, Action::NextView),
        ("l", KeyCode::KeyL, Action::CutLink),
        ("t", KeyCode::KeyT, Action::Trails),
        ("b", KeyCode::KeyB, Action::CubeColors),
        ("h", KeyCode::KeyH, Action::Timeline),
        ("e", KeyCode::KeyE, Action::Exaggerate),
    ];
    for layout in [&[], QWERTZ, AZERTY, RUSSIAN, BEPO] {
        let mut game = watched();
        // Finds a letter's key in the layout. Without one, the key at the letter's place on a US keyboard applies.
        let find = |letter: &'static str, place| {
            let there = layout.iter().find(|(_, text)| *text == letter);
            let instead = layout.iter().find(|(code, _)| *code == place);
            *there.or(instead).unwrap_or(&(place, letter))
        };
        for (letter, place, action) in letters {
            let (code, text) = find(letter, place);
            for text in [text.to_owned(), text.to_uppercase()] {
                type_text(&mut game, code, &text, Pressed);
                assert_eq!(asked(&mut game), [action], "{code:?} {text}");
                type_text(&mut game, code, &text, Released);
                assert_eq!(asked(&mut game), []);
            }
        }
        let (code, text) = find("z", KeyCode::KeyZ);
        type_text(&mut game, code, text, Pressed);
        assert!(gathers(&game), "{code:?} {text}");
        type_text(&mut game, code, text, Released);
        assert!(!gathers(&game) && asked(&mut game).is_empty());
        // Keys that type another letter at the place of one of ours.
        let others = layout.iter().filter(|(_, text)| {
            text.is_ascii() && !letters.iter().any(|(letter, ..)| letter == text) && *text != "z"
        });
        for &(code, text) in others {
            type_text(&mut game, code, text, Pressed);
            let rung = match code {
                KeyCode::Digit1 => Some(Action::Rung(0)),
                KeyCode::Minus => Some(Action::Rung(10)),
                _ => None,
            };
            assert_eq!(asked(&mut game), Vec::from_iter(rung), "{code:?} {text}");
            assert!(!gathers(&game), "{code:?} {text}");
            type_text(&mut game, code, text, Released);
        }
    }
}

#[test]
fn a_shortcut_within_one_frame_is_no_key_of_the_game() {
    let mut game = watched();
    for code in [KeyCode::Equal, KeyCode::Digit3, KeyCode::KeyP] {
        for (code, state) in [
            (KeyCode::ControlLeft, ButtonState::Pressed),
            (code, ButtonState::Pressed),
            (code, ButtonState::Released),
            (KeyCode::ControlLeft, ButtonState::Released),
        ] {
            key(&mut game, code, state);
        }
        game.step();
        assert_eq!(asked(&mut game), [], "{code:?}");
        tap(&mut game, code);
        assert_eq!(asked(&mut game).len(), 1, "{code:?}");
    }
}

#[test]
fn a_key_is_held_until_it_is_released_whatever_it_types_by_then() {
    use ButtonState::{Pressed, Released};
    let mut game = watched();
    let y = KeyCode::KeyY;
    // Released with Shift, with another layout and with the same layout.
    for released in ["Z", "y", "н", "z"] {
        type_text(&mut game, y, "z", Pressed);
        assert!(gathers(&game));
        game.step();
        assert!(gathers(&game));
        type_text(&mut game, y, released, Released);
        assert!(!gathers(&game), "{released}");
        game.step();
        assert!(!gathers(&game), "{released}");
    }
    // A repeated key types another letter after a change of the layout.
    type_text(&mut game, y, "z", Pressed);
    send(&mut game, y, Key::Character("y".into()), Pressed, true);
    game.step();
    assert!(gathers(&game));
    type_text(&mut game, y, "y", Released);
    // The key with the other letter was not one of ours.
    type_text(&mut game, y, "y", Pressed);
    assert!(!gathers(&game));
    type_text(&mut game, y, "z", Released);
    // The window loses focus, so the release never arrives.
    type_text(&mut game, y, "z", Pressed);
    assert!(gathers(&game));
    game.app.world_mut().write_message(KeyboardFocusLost);
    steps(&mut game, 2);
    assert!(!gathers(&game));
    type_text(&mut game, y, "z", Pressed);
    assert!(gathers(&game));
}
