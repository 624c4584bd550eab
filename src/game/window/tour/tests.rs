use bevy::input::keyboard::{Key, KeyboardInput, NativeKey};
use bevy::input::{ButtonState, InputPlugin};
use bevy_egui::input::EguiWantsInput;

use super::*;
use crate::game::headless::HeadlessGame;
use crate::game::show_halves;
use crate::panel::PanelPlugin;
use crate::recording::{KeyboardPlugin, Script};
use crate::replication::LaneSettings;
use crate::view::ViewPlugin;

#[test]
fn what_every_step_shows_is_legal_and_its_script_is_in_the_program() {
    for step in &STEPS {
        let setting = Setting::of_step(step);
        assert_ne!(setting.halves[1], PaneContent::Simulation, "{}", step.title);
        for content in setting.halves {
            if let PaneContent::Lane(lane) = content {
                assert!(!lane.lacks_velocity(), "{}", step.title);
            }
        }
    }
    for scene in Scene::ALL {
        let script = script_of(scene);
        assert!(script.ticks > 500 && script.recorded.is_none());
        let step = |step: &crate::recording::Step| step.left.is_some() || step.right.is_some();
        assert!(!script.steps.iter().any(step), "{scene:?}");
    }
}

#[test]
fn the_tour_begins_with_any_step() {
    let mut app = App::new();
    app.init_resource::<Tour>();
    begin(&mut app, 4);
    app.update();
    assert_eq!(app.world().resource::<Tour>().index, Some(4));
}

/// A game with the tour, and initial settings that no step uses.
fn game() -> (HeadlessGame, Setting) {
    let window = |app: &mut App| {
        app.init_resource::<EguiWantsInput>();
        install(app);
    };
    let plugins = (InputPlugin, ViewPlugin, PanelPlugin::default(), KeyboardPlugin, window);
    let mut game = HeadlessGame::with_plugins(None, plugins);
    let lane = |text: &str| text.parse::<LaneSettings>().unwrap();
    let world = game.app.world_mut();
    let left = PaneContent::Lane(lane("rung:index,link:3g,seed:7"));
    show_halves(world, left, lane("rung:predicted,rate:30,playout:adaptive")).unwrap();
    view::select_half(world, Side::Left);
    *world.resource_mut::<ViewMode>() = ViewMode::Difference;
    *world.resource_mut::<Exaggeration>() = Exaggeration::Ten;
    let mut panel = world.resource_mut::<PanelState>();
    panel.page = Page::Help;
    panel.colors = CubeColors::Distance;
    world.flush();
    game.step();
    let setting = Setting::of(game.app.world_mut());
    assert_eq!(setting.selected, Side::Left);
    (game, setting)
}

fn act(game: &mut HeadlessGame, action: Action) {
    game.app.world_mut().trigger(action);
    game.step();
}

pub(in crate::game::window) fn key(game: &mut HeadlessGame, key_code: KeyCode, state: ButtonState) {
    game.app.world_mut().write_message(KeyboardInput {
        key_code,
        logical_key: Key::Unidentified(NativeKey::Unidentified),
        state,
        text: None,
        repeat: false,
        window: Entity::PLACEHOLDER,
    });
    game.step();
}

fn tap(game: &mut HeadlessGame, code: KeyCode) {
    key(game, code, ButtonState::Pressed);
    key(game, code, ButtonState::Released);
}

fn tour(game: &HeadlessGame) -> Tour {
    *game.app.world().resource::<Tour>()
}

fn setting(game: &mut HeadlessGame) -> Setting {
    Setting::of(game.app.world_mut())
}

fn plays(game: &HeadlessGame) -> bool {
    game.app.world().contains_resource::<ScriptPlayback>()
}

#[test]
fn next_through_to_the_end_and_back_shows_every_step_and_restores_the_settings() {
    let (mut game, before) = game();
    tap(&mut game, KeyCode::F3);
    let there = 0..STEPS.len();
    let back = there.clone().rev().skip(1);
    let mut last = 0;
    for index in there.clone().chain(back).chain(there.skip(1)) {
        let turned = match index.cmp(&last) {
            std::cmp::Ordering::Greater => Some(KeyCode::F5),
            std::cmp::Ordering::Less => Some(KeyCode::F4),
            std::cmp::Ordering::Equal => None,
        };
        if let Some(turned) = turned {
            tap(&mut game, turned);
        }
        last = index;
        assert_eq!(tour(&game).index, Some(index));
        let wanted = Setting::of_step(&STEPS[index]);
        assert_eq!(setting(&mut game), wanted, "{}", STEPS[index].title);
        assert!(plays(&game) && tour(&game).plays);
    }
    // The final card covers the last step.
    tap(&mut game, KeyCode::F5);
    assert!(tour(&game).is_over() && plays(&game));
    tap(&mut game, KeyCode::F5);
    assert_eq!(tour(&game).index, None);
    assert_eq!(setting(&mut game), before);
    assert!(!plays(&game));
}

#[test]
fn escape_from_every_step_restores_the_settings_whatever_was_changed_there() {
    let (mut game, before) = game();
    for (index, step) in STEPS.iter().enumerate() {
        act(&mut game, Action::Tour);
        for _ in 0..index {
            act(&mut game, Action::TourNext);
        }
        assert_eq!(tour(&game).index, Some(index));
        for action in
            [Action::Rung(0), Action::NextView, Action::Trails, Action::CutLink, Action::CubeColors]
        {
            act(&mut game, action);
        }
        game.app.world_mut().resource_mut::<PanelState>().page = Page::Help;
        assert_ne!(setting(&mut game), before);
        tap(&mut game, KeyCode::Escape);
        assert_eq!(tour(&game).index, None);
        assert_eq!(setting(&mut game), before, "{}", step.title);
        assert!(!plays(&game));
    }
}

#[test]
fn a_script_that_played_before_plays_on() {
    let (mut game, before) = game();
    let mine = ScriptPlayback::new(Script { ticks: 77, ..Script::default() });
    game.app.insert_resource(mine);
    act(&mut game, Action::Tour);
    act(&mut game, Action::TourNext);
    let ticks = |game: &HeadlessGame| game.app.world().resource::<ScriptPlayback>().script.ticks;
    assert_eq!(ticks(&game), script_of(Scene::Katamari).ticks);
    act(&mut game, Action::LeaveTour);
    assert_eq!(ticks(&game), 77);
    assert_eq!(setting(&mut game), before);
    // If the window is closed during the tour, the tab from before is kept.
    act(&mut game, Action::Tour);
    assert_ne!(setting(&mut game).page, before.page);
    game.app.world_mut().write_message(AppExit::Success);
    game.step();
    assert_eq!(setting(&mut game).page, before.page);
}

#[test]
fn the_game_goes_on_and_a_key_takes_over_until_the_next_step() {
    let (mut game, _) = game();
    act(&mut game, Action::Pause);
    act(&mut game, Action::Tour);
    assert!(!game.app.world().resource::<Time<Virtual>>().is_paused());
    assert!(plays(&game) && !tour(&game).is_done);
    key(&mut game, KeyCode::ArrowLeft, ButtonState::Pressed);
    game.step();
    assert!(!plays(&game) && !tour(&game).plays);
    assert!(tour(&game).is_done, "the first step asks for that");
    let held = game.app.world().resource::<crate::simulation::HeldKeys>().0[0];
    assert!(held.left);
    key(&mut game, KeyCode::ArrowLeft, ButtonState::Released);
    act(&mut game, Action::TourNext);
    assert!(plays(&game) && tour(&game).plays && !tour(&game).is_done);
}

#[test]
fn tasks_are_ticked_off() {
    let (mut game, _) = game();
    act(&mut game, Action::Tour);
    for step in &STEPS {
        assert_eq!(tour(&game).step().unwrap().title, step.title);
        let doing: &[Action] = match step.task {
            Some(Task::CutLink) => &[Action::CutLink; 2],
            Some(Task::TakeOver) | None => &[],
        };
        for &action in doing {
            assert!(!tour(&game).is_done);
            act(&mut game, action);
        }
        let is_todo = step.task == Some(Task::CutLink);
        assert_eq!(tour(&game).is_done, is_todo, "{}", step.title);
        act(&mut game, Action::TourNext);
    }
}
