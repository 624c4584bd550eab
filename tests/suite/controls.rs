//! Keys that stop, step and reset the game, and those that play it.

use bevy::input::ButtonState;
use bevy::input::InputPlugin;
use bevy::input::keyboard::{Key, KeyboardInput, NativeKey};
use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;
use cubewire::controls::Action;
use cubewire::game::headless::LaneGame;
use cubewire::recording::KeyboardPlugin;
use cubewire::replication::{ChangeLane, ForceDesync, LaneSettings, LaneSync};
use cubewire::view::{ViewMode, ViewPlugin};
use cubewire_codec::ladder;
use cubewire_scene::{PLAYER, initial_position};

use crate::common::steps;

/// A game that is played by keys.
fn game() -> LaneGame {
    struct Egui;
    impl Plugin for Egui {
        fn build(&self, app: &mut App) {
            app.init_resource::<EguiWantsInput>();
        }
    }
    let plugins = (InputPlugin, Egui, ViewPlugin, KeyboardPlugin);
    LaneGame::with_plugins(None, LaneSettings::default(), plugins).unwrap()
}

fn key(game: &mut LaneGame, key_code: KeyCode, state: ButtonState) {
    let unknown = Key::Unidentified(NativeKey::Unidentified);
    type_key(game, key_code, unknown, state);
}

fn type_key(game: &mut LaneGame, key_code: KeyCode, logical_key: Key, state: ButtonState) {
    game.app.world_mut().write_message(KeyboardInput {
        key_code,
        logical_key,
        state,
        text: None,
        repeat: false,
        window: Entity::PLACEHOLDER,
    });
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
    // Whether paused or not.
    let tick = game.cubes().tick();
    for step in 1..4 {
        tap(&mut game, KeyCode::KeyN);
        assert_eq!(game.cubes().tick(), tick + step);
    }
    // A pause forgets messages as play does.
    for _ in 0..100 {
        key(&mut game, KeyCode::KeyX, ButtonState::Pressed);
        game.step();
    }
    let kept = game.app.world().resource::<Messages<KeyboardInput>>();
    assert!(kept.len() < 5, "{} messages", kept.len());
    let modes = [
        ViewMode::Left,
        ViewMode::Right,
        ViewMode::Difference,
        ViewMode::Split,
    ];
    for mode in modes {
        tap(&mut game, KeyCode::KeyV);
        assert_eq!(*game.app.world().resource::<ViewMode>(), mode);
    }
}

/// The state that it needs for that is asked for in one step and made in a later one, with frames between them.
#[test]
fn ends_that_simulate_are_in_sync_again_after_single_steps() {
    let mut game = game();
    let mut settings = LaneSettings::default();
    settings.sender.stages = ladder::SIMULATED.stages;
    let entity = game.lane;
    game.app
        .world_mut()
        .trigger(ChangeLane { entity, settings });
    steps(&mut game, 60);
    let synced = |game: &LaneGame| {
        let lane = game.app.world().get::<LaneSync>(entity);
        lane.and_then(LaneSync::synced_ticks)
    };
    assert!(synced(&game).is_some());
    game.app.world_mut().trigger(ForceDesync { entity });
    let tick = game.cubes().tick();
    for _ in 0..60 {
        tap(&mut game, KeyCode::KeyN);
        // Nothing happens in these frames.
        game.step();
        game.step();
    }
    assert_eq!(game.cubes().tick(), tick + 60);
    let synced = synced(&game).expect("they are in sync again");
    assert!((30..55).contains(&synced), "{synced} ticks");
}

#[test]
fn a_question_mark_asks_for_help_again_and_again_even_if_shift_is_released_first() {
    #[derive(Resource, Default)]
    struct Asked(usize);
    let mut game = game();
    game.app.init_resource::<Asked>().add_observer(
        |action: On<Action>, mut asked: ResMut<Asked>| {
            asked.0 += usize::from(*action == Action::Help);
        },
    );
    for times in 1..=2 {
        for (character, state) in [("?", ButtonState::Pressed), ("/", ButtonState::Released)] {
            let character = Key::Character(character.into());
            type_key(&mut game, KeyCode::Slash, character, state);
            game.step();
        }
        assert_eq!(game.app.world().resource::<Asked>().0, times);
    }
}
