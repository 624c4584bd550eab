//! Replays: recording with F9, and playing them.

use std::fs;
use std::path::Path;

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_rapier3d::prelude::RapierConfiguration;
use cubewire::commands::play::{Played, play};
use cubewire::controls::ControlsPlugin;
use cubewire::game::headless::LaneGame;
use cubewire::recording::{
    InputLog, InputLogPlugin, Outcome, RecorderPlugin, RecordingFolder, Script, ScriptPlayback,
};
use cubewire::replication::{
    LaneSettings, LaneSettingsQuery, LinkSettings, LiveLadder, SenderSettings,
};
use cubewire::simulation::{HeldKeys, ResetSimulation, state_hash};
use cubewire::view::{self, Notices, Overlay, PaneContent, Selected, Side, ViewPlugin};
use cubewire_codec::ladder;
use cubewire_physics::Input;
use cubewire_scene::{Keys, PLAYER};

use crate::command_line::{cubewire, printed};
use crate::common::{component, script, steps};
use crate::mistakes::complaint;

fn game() -> LaneGame {
    let resources = |app: &mut App| {
        app.init_resource::<ButtonInput<KeyCode>>()
            .init_resource::<Notices>()
            .insert_resource(RecordingFolder("not a folder".into()));
        app.world_mut().spawn((Window::default(), PrimaryWindow));
    };
    let plugins = (ViewPlugin, ControlsPlugin, InputLogPlugin, RecorderPlugin, resources);
    LaneGame::with_plugins(None, LaneSettings::default(), plugins).unwrap()
}

fn hold(game: &mut LaneGame, keys: Keys, ticks: usize) {
    game.app.insert_resource(HeldKeys::from(keys));
    for _ in 0..ticks {
        step(game);
    }
}

/// Plays one tick and releases the keys.
fn step(game: &mut LaneGame) {
    game.step();
    let world = game.app.world_mut();
    world.resource_mut::<ButtonInput<KeyCode>>().reset_all();
}

/// Takes effect in the next update, before its tick.
fn press_f9(game: &mut LaneGame) {
    let world = game.app.world_mut();
    let mut keys = world.resource_mut::<ButtonInput<KeyCode>>();
    keys.press(KeyCode::F9);
}

fn log(game: &LaneGame) -> &InputLog {
    game.app.world().resource::<InputLog>()
}

const RIGHT: Keys =
    Keys { right: true, left: false, up: false, down: false, blow: false, gather: false };

const GATHER: Keys = Keys { gather: true, ..RIGHT };

#[test]
fn what_f9_wrote_down_is_repeated_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let mut game = game();
    game.app.insert_resource(RecordingFolder(folder.path().to_owned()));
    hold(&mut game, RIGHT, 40);
    // The replay does not need the time before a reset.
    game.app.world_mut().write_message(ResetSimulation);
    hold(&mut game, GATHER, 150);
    press_f9(&mut game);
    hold(&mut game, RIGHT, 100);
    component::<SenderSettings>(&mut game).stages = ladder::DELTA.stages;
    hold(&mut game, Keys::default(), 400);
    // A reset in the middle is part of the replay.
    game.app.world_mut().write_message(ResetSimulation);
    hold(&mut game, GATHER, 130);
    assert_eq!(log(&game).recorded_ticks(), Some(630));
    let hash = log(&game).hash;
    press_f9(&mut game);
    hold(&mut game, RIGHT, 10);

    let path = folder.path().join("cubewire-1.ron");
    assert!(fs::metadata(&path).unwrap().len() < 1_500, "it is small");
    let replay = Script::load(&path).unwrap();
    assert_eq!((replay.lead_in, replay.ticks), (150, 780));
    let text =
        |content: &Option<Box<PaneContent>>| content.as_ref().and_then(|content| content.to_text());
    assert_eq!(text(&replay.left).as_deref(), Some("simulation"));
    assert_eq!(text(&replay.right).as_deref(), Some("rung:changed-flags"));
    let switch = replay.steps.iter().find(|step| step.at == 250).unwrap();
    assert_eq!(text(&switch.right).as_deref(), Some("rung:delta"));
    let played = play(replay, 780).unwrap();
    let outcome = Some(Outcome::Same);
    assert_eq!(played, Played { hash, outcome });

    // The next one gets another name, and is also written if the game ends before.
    press_f9(&mut game);
    hold(&mut game, RIGHT, 10);
    game.app.world_mut().write_message(AppExit::Success);
    step(&mut game);
    let next = Script::load(&folder.path().join("cubewire-2.ron")).unwrap();
    assert_eq!(next.ticks - next.lead_in, 11);
}

/// Returns the hash of all states of a world without Bevy, with the inputs of the replay.
pub(crate) fn hash_without_bevy(replay: &Script, ticks: u64) -> u64 {
    let mut world = cubewire_physics::World::with_players(replay.players());
    (0..ticks).fold(0, |hash, tick| {
        world.advance(Input {
            resets: replay.step_at(tick).is_some_and(|step| step.reset),
            rebuilds: replay.step_at(tick).is_some_and(|step| step.rebuild),
            keys: replay.keys_at(tick),
        });
        state_hash(hash, &world.snapshot())
    })
}

/// If a lane starts to simulate in the middle of a game, the scene is rebuilt, which is part of the replay. A world
/// without Bevy reaches the same states.
#[test]
fn a_rebuild_for_a_lane_that_simulates_is_repeated() {
    let mut game = game();
    press_f9(&mut game);
    hold(&mut game, GATHER, 300);
    component::<SenderSettings>(&mut game).stages = ladder::SIMULATED.stages;
    hold(&mut game, GATHER, 200);
    assert_eq!(game.check().wrong, 0);
    assert!(game.cubes().rebuilt().is_some());
    let (replay, hash) = (log(&game).replay().unwrap(), log(&game).hash);
    let rebuilds = replay.steps.iter().filter(|step| step.rebuild);
    assert_eq!(rebuilds.count(), 1);
    let played = play(replay.clone(), 500).unwrap();
    let outcome = Some(Outcome::Same);
    assert_eq!(played, Played { hash, outcome });
    assert_eq!(hash_without_bevy(&replay, 500), hash);
}

/// Only the plugin of Rapier moves cubes: they stand still while its configuration disables it.
#[test]
fn the_plugin_of_rapier_steps_the_world() {
    let mut game = game();
    let height = |game: &LaneGame| game.cubes().current().bodies[PLAYER].position.z;
    let start = height(&game);
    steps(&mut game, 10);
    let fallen = height(&game);
    assert!(fallen < start);
    let mut configurations = game.app.world_mut().query::<&mut RapierConfiguration>();
    let world = game.app.world_mut();
    let mut configuration = configurations.single_mut(world).unwrap();
    configuration.physics_pipeline_active = false;
    steps(&mut game, 10);
    assert_eq!(height(&game), fallen);
}

/// Returns a replay of a script as F9 records it, and the hash of its states. `lead_in` ticks were played before.
pub(crate) fn recorded(script_name: &str, lead_in: usize, ticks: usize) -> (Script, u64) {
    let script = Some(script(script_name));
    let mut game = LaneGame::with_plugins(script, LaneSettings::default(), InputLogPlugin).unwrap();
    steps(&mut game, lead_in);
    game.app.world_mut().resource_mut::<InputLog>().begin();
    steps(&mut game, ticks);
    let log = log(&game);
    (log.replay().unwrap(), log.hash)
}

#[test]
#[ignore = "plays for three minutes, as fast as it goes"]
fn a_minute_of_scripted_play_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.ron");
    let (replay, hash) = recorded("mix", 0, 3_600);
    replay.save(&path).unwrap();
    let said = printed(cubewire(&["play", "--headless"]).arg(&path));
    for wanted in
        ["3\u{2009}600", &format!("{hash:016x}"), "every state matches the recording, bit for bit"]
    {
        assert!(said.contains(&format!("{wanted} |")), "{said}");
    }

    // A world without Bevy reaches the same states with the replay's keys.
    assert_eq!(hash_without_bevy(&replay, 3_600), hash);
}

#[test]
fn a_replay_that_comes_out_otherwise_is_told_from_one_that_does_not() {
    let (mut replay, _) = recorded("rolling", 0, 1300);
    let outcome = |replay: &Script, ticks| play(replay.clone(), ticks).unwrap().outcome.unwrap();
    assert_eq!(outcome(&replay, 1300), Outcome::Same);
    assert_eq!(outcome(&replay, 300), Outcome::Unfinished);
    // Simulates another result of the physics by changing the keys of the recording.
    let step = replay.steps.iter_mut().find(|step| step.at > 680).unwrap();
    step.hold = Some(Vec::new());
    let at = step.at;
    let Outcome::Different(difference) = outcome(&replay, 1300) else {
        panic!("other keys lead elsewhere");
    };
    assert!(difference.from <= at && at < difference.to, "{difference}");
    assert_eq!((difference.from, difference.to), (600, 1200));
    assert_eq!(
        difference.to_string(),
        "the states differ from the recorded ones between ticks 600 and 1200: it may have been recorded by another \
         build with different physics"
    );
}

#[test]
fn a_damaged_or_older_replay_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (replay, _) = recorded("blow", 0, 300);
    let path = folder.path().join("a.ron");
    let name = path.to_str().unwrap();
    replay.save(&path).unwrap();
    assert_eq!(Script::load(&path).unwrap(), replay);
    let text = fs::read_to_string(&path).unwrap();
    let refused = |text: &str| {
        fs::write(&path, text).unwrap();
        let said = complaint(&["play", "--headless", name]);
        said.trim().replace(name, "a.ron")
    };

    let ticks = refused(&text.replacen("ticks: 300", "ticks: 301", 1));
    assert!(ticks.starts_with("error: a.ron: the replay is damaged: its checksum is "), "{ticks}");
    let older = refused(&text.replacen("format: 1", "format: 0", 1));
    assert_eq!(
        older,
        "error: a.ron: the replay was recorded by cubewire 0.1.0, in format 0; this is cubewire \
         0.1.0 and plays format 1"
    );
    let half = refused(&text[..text.len() / 2]);
    assert!(half.starts_with("error: a.ron:"), "{half}");
}

#[test]
fn a_script_can_be_played_like_a_replay() {
    let path = crate::common::script_path("blow");
    let said = printed(cubewire(&["play", "--headless"]).arg(path));
    assert!(said.contains("which has no recorded states to compare with"), "{said}");
}

fn settings(game: &mut LaneGame, wanted: Side) -> Option<LaneSettings> {
    let world = game.app.world_mut();
    let mut lanes = world.query::<(&Side, LaneSettingsQuery)>();
    let found = lanes.iter(world).find(|(side, _)| **side == wanted);
    found.map(|(_, settings)| settings.get())
}

/// Plays a script that changes the halves, with further switches.
fn show_script(game: &mut LaneGame, script: &str, switches: &[&str]) {
    let script = Script::parse(script, Path::new("a.ron")).unwrap();
    let switches = switches.iter().map(|switch| switch.parse().unwrap());
    let playing = ScriptPlayback::new(script).showing_halves(switches.collect());
    game.app.insert_resource(playing);
}

#[test]
fn scripts_and_switches_change_what_the_halves_show_at_their_ticks() {
    let mut game = game();
    let text = r#"(ticks: 100, right: "rung:changed-flags", steps: [
        (at: 10, hold: [Right]),
        (at: 20, right: "rung:delta,rate:30"),
        (at: 30, left: "rung:index"),
        (at: 50, left: "simulation"),
    ])"#;
    show_script(&mut game, text, &["1s:rung:predicted,link:4g"]);
    for tick in 0..125_u32 {
        game.step();
        let held = game.app.world().resource::<HeldKeys>().0[0].right;
        assert_eq!(held, tick % 100 >= 10, "{tick}: keys stay held where only a half changes");
        let lanes = Side::ALL.map(|side| settings(&mut game, side));
        let [left, right] = lanes.map(|lane| lane.and_then(|lane| lane.to_text()));
        assert_eq!(left.as_deref(), (30..50).contains(&tick).then_some("rung:index"), "{tick}");
        let expected = match tick {
            // It starts again with the content at the start.
            0..20 | 100..120 => "rung:changed-flags",
            20..60 | 120.. => "rung:delta,rate:30",
            60..100 => "rung:predicted,link:4g,rate:30",
        };
        assert_eq!(right.as_deref(), Some(expected), "{tick}");
    }
}

#[test]
fn titles_name_what_changed_and_the_half_only_where_two_lanes_are_shown() {
    let mut game = game();
    game.app.init_resource::<Overlay>();
    let text = r#"(ticks: 100, steps: [
        (at: 20, right: "rung:delta,rate:30,link:4g"),
        (at: 30, left: "rung:index"),
        (at: 50, left: "simulation"),
    ])"#;
    let switches = [
        "0.6s:link:4g+cut",
        "0.7s:left.interpolation:hermite",
        "1s:link:latency=20ms,rate:30",
        "1.1s:rate:20",
    ];
    show_script(&mut game, text, &switches);
    let mut titles = Vec::new();
    for _ in 0..80 {
        game.step();
        let mut overlay = game.app.world_mut().resource_mut::<Overlay>();
        for side in Side::ALL {
            let title = overlay.titles[side as usize].take();
            titles.extend(title.map(|(title, _)| format!("{}: {title}", side.name())));
        }
    }
    assert_eq!(
        titles,
        [
            "right: delta, link: 4G, 30 a second",
            "left: index",
            "right: link cut",
            "left: hermite → linear: needs velocity",
            "left: simulation",
            "right: 40 ms round trip, link restored",
            "right: 20 a second",
        ]
    );
}

#[test]
fn a_lane_with_another_seed_is_another_lane() {
    let mut game = game();
    game.add_shadow();
    let first = game.lane;
    let world = game.app.world_mut();
    let lane = |text: &str| PaneContent::Lane(text.parse().unwrap());
    view::show(world, Side::Right, lane("rung:index,link:4g")).unwrap();
    assert!(world.get_entity(first).is_ok(), "it only has other settings");
    view::show(world, Side::Right, lane("rung:index,link:4g,seed:3")).unwrap();
    assert!(world.get_entity(first).is_err());
    let mut lanes = world.query_filtered::<&LinkSettings, (With<Selected>, With<LiveLadder>)>();
    assert_eq!(lanes.single(world).unwrap().seed, 3);
    steps(&mut game, 60);
}

#[test]
fn the_panel_is_about_a_lane_that_is_there() {
    let mut game = game();
    game.add_shadow();
    game.step();
    let world = game.app.world_mut();
    let left = PaneContent::Lane("rung:index".parse().unwrap());
    view::show(world, Side::Left, left).unwrap();
    let selected = |world: &mut World| {
        let mut lanes = world.query_filtered::<&Side, With<Selected>>();
        *lanes.single(world).unwrap()
    };
    assert_eq!(selected(world), Side::Right);
    view::select_half(world, Side::Left);
    world.flush();
    assert_eq!(selected(world), Side::Left);
    game.step();
    let world = game.app.world_mut();
    view::show(world, Side::Left, PaneContent::Simulation).unwrap();
    assert_eq!(selected(world), Side::Right);
    // The right half keeps its lane.
    view::show(world, Side::Right, PaneContent::Simulation).unwrap();
    assert_eq!(selected(world), Side::Right);
    let shadow = game.app.world().get::<LiveLadder>(game.lane);
    assert!(shadow.is_some(), "the shadow came back with it");
}
