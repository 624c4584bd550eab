//! Films of the last seconds (F11), made during play and in a viewer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;
use cubewire::controls::{Action, PastFilm};
use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::LaneGame;
use cubewire::game::window::film::{FilmPlugin, FilmSize};
use cubewire::history::Wanted;
use cubewire::recording::export::ExportPlugin;
use cubewire::recording::{Clip, InputLogPlugin, RecordingFolder, Script};
use cubewire::replication::{
    ConnectionStatus, DisplayedState, LaneMeter, LaneSettings, LinkSettings,
};
use cubewire::simulation::{CubeWorld, ResetSimulation, state_hash};
use cubewire::view::{
    self, CubeColors, Notices, PaneContent, Selected, Side, Trails, ViewCube, ViewPlugin,
};
use cubewire_codec::{BodyState, Snapshot};
use cubewire_scene::CUBES;

use crate::common::{eventually, lane, names, script, steps};
use crate::decode::read_mp4;
use crate::udp::{address, dial, server, status, step};

fn small_films(folder: &Path) -> impl Plugin {
    let folder = folder.to_owned();
    move |app: &mut App| {
        app.add_plugins((ViewPlugin, FilmPlugin))
            .init_resource::<Notices>()
            .insert_resource(FilmSize(UVec2::new(160, 90)))
            .insert_resource(RecordingFolder(folder.clone()));
        app.world_mut().resource_mut::<Wanted>().panel = true;
    }
}

fn game(settings: LaneSettings, folder: &Path) -> LaneGame {
    let plugins = (small_films(folder), InputLogPlugin, ExportPlugin);
    LaneGame::with_plugins(Some(script("katamari")), settings, plugins).unwrap()
}

const fn film(seconds: u32) -> Action {
    Action::FilmLast(PastFilm { seconds, ticks_per_frame: 2 })
}

/// Hash of positions, orientations and the interacting flags, as of drawn cubes.
fn hash(cubes: &[BodyState]) -> u64 {
    let drawn = cubes.iter().map(|cube| BodyState {
        position: cube.position,
        orientation: cube.orientation,
        interacting: cube.interacting,
        ..BodyState::default()
    });
    let bodies = drawn.collect();
    state_hash(0, &Snapshot { bodies })
}

/// Adds the hashes of what both halves show at the newest tick. A half without a lane shows the simulation.
fn note(app: &mut App, shown: &mut HashMap<u64, [Option<u64>; 2]>) {
    let world = app.world_mut();
    let mut lanes = world.query::<(&Side, &DisplayedState, &LaneMeter)>();
    let mut hashes = [None; 2];
    let mut newest = None;
    for (side, displayed, meter) in lanes.iter(world) {
        hashes[*side as usize] = Some(hash(&displayed.cubes));
        newest = newest.max(meter.newest_tick());
    }
    if let Some(simulation) = world.get_resource::<CubeWorld>() {
        hashes[0].get_or_insert_with(|| hash(&simulation.current().bodies));
    }
    if let Some(tick) = newest {
        shown.insert(tick, hashes);
    }
}

fn said(app: &App) -> Vec<String> {
    app.world().resource::<Notices>().sentences().map(str::to_owned).collect()
}

/// Hashes of what an app shows of a clip, tick by tick. The film is drawn from the same cubes.
fn filmed(clip: &Clip) -> Vec<(u64, [u64; 2])> {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ViewPlugin));
    clip.set_up(app.world_mut());
    let mut cubes = app.world_mut().query::<(&Side, &ViewCube, &Transform)>();
    let hashes = clip.ticks.clone().map(|tick| {
        clip.show(tick, app.world_mut());
        app.update();
        let hashes = Side::ALL.map(|half| {
            let mut shown = vec![BodyState::default(); CUBES];
            for (_, cube, at) in cubes.iter(app.world()).filter(|(side, ..)| **side == half) {
                let body = &mut shown[cube.index];
                (body.position, body.orientation) = (at.translation, at.rotation);
                body.interacting = cube.interacting;
            }
            hash(&shown)
        });
        (tick, hashes)
    });
    hashes.collect()
}

fn only_file(folder: &Path) -> PathBuf {
    let files = names(folder);
    assert_eq!(files.len(), 1, "{files:?}");
    folder.join(&files[0])
}

#[test]
fn a_film_made_during_play_equals_what_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut game = game(lane("predicted,link:loss=0.05+latency=40ms"), folder.path());
    let mut shown = HashMap::new();
    for tick in 0..240 {
        let world = game.app.world_mut();
        match tick {
            80 => {
                let content = PaneContent::Lane(lane("delta,link:loss=0.2"));
                view::show(world, Side::Left, content).unwrap();
            }
            120 => drop(world.write_message(ResetSimulation)),
            180 => view::show(world, Side::Left, PaneContent::Simulation).unwrap(),
            200 => {
                let content = PaneContent::Lane(lane("index,link:loss=0.05+latency=40ms"));
                view::show(world, Side::Right, content).unwrap();
            }
            _ => {}
        }
        game.step();
        note(&mut game.app, &mut shown);
    }
    let clip = Clip::of_last(3, game.app.world_mut()).unwrap();
    game.app.world_mut().trigger(film(3));
    let newest = game.cubes().tick();
    let sentence = eventually("the film", || {
        game.step();
        said(&game.app).pop()
    });
    assert!(game.cubes().tick() > newest, "the game went on");
    assert_eq!(clip.ticks, newest - 179..=newest);
    let mut with_two_lanes = 0;
    for (tick, [left, right]) in filmed(&clip) {
        let [shown_left, shown_right] = shown[&tick];
        assert_eq!(Some(right), shown_right, "right, {tick}");
        // A new lane has no cubes until its first snapshot.
        if shown_left != Some(hash(&[])) {
            assert_eq!(Some(left), shown_left, "left, {tick}");
            with_two_lanes += u64::from((90..180).contains(&tick));
        }
    }
    assert!(with_two_lanes > 70, "{with_two_lanes}");
    let path = only_file(folder.path());
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("cubewire-20") && name.ends_with(".mp4"), "{name}");
    let (info, frames) = read_mp4(&path).unwrap();
    assert_eq!((frames.len(), info.size), (90, (160, 90)));
    assert_eq!(info.duration, Duration::from_secs(3));
    assert_eq!(sentence, format!("{}: 3.0 s of what the view showed", path.display()));
}

#[test]
fn a_film_made_in_a_viewer_equals_what_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut game = server(1);
    let settings = LaneSettings { link: LinkSettings::PERFECT, ..lane("predicted") };
    let connection = dial(address(&game));
    let plugins = small_films(folder.path());
    let mut viewer = HeadlessViewer::with_plugins(connection, settings, plugins);
    let seen = (Side::Right, Selected, DisplayedState::default());
    let lane = viewer.lane;
    viewer.app.world_mut().entity_mut(lane).insert(seen);
    let mut shown = HashMap::new();
    for _ in 0..150 {
        step(&mut game, &mut [&mut viewer], 1);
        note(&mut viewer.app, &mut shown);
    }
    assert_eq!(status(&viewer), ConnectionStatus::Connected);
    let clip = Clip::of_last(1, viewer.app.world_mut()).unwrap();
    viewer.app.world_mut().trigger(film(1));
    eventually("the film", || {
        step(&mut game, &mut [&mut viewer], 1);
        said(&viewer.app).pop()
    });
    assert_eq!(clip.length(), 60);
    for (tick, [_, right]) in filmed(&clip) {
        assert_eq!(Some(right), shown[&tick][1], "{tick}");
    }
    assert_eq!(read_mp4(&only_file(folder.path())).unwrap().1.len(), 30);
}

#[test]
fn why_there_is_no_film_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no");
    let mut game = game(lane("delta"), &missing);
    game.app.world_mut().trigger(film(10));
    game.step();
    assert_eq!(said(&game.app), ["No film: nothing was shown yet"]);
    steps(&mut game, 60);
    game.app.world_mut().trigger(film(10));
    let sentences = eventually("an error", || {
        game.step();
        Some(said(&game.app)).filter(|said| said.len() > 1)
    });
    let wanted = format!("No film: {0}: there is no folder {0}", missing.display());
    assert_eq!(sentences[1], wanted);
    assert_eq!(game.app.world().resource::<Notices>().film, None);
}

#[test]
fn a_game_that_is_closed_during_a_film_leaves_the_frames_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let mut game = game(lane("delta"), folder.path());
    game.app.insert_resource(CubeColors::Distance);
    game.app.world_mut().resource_mut::<Trails>().shown = true;
    steps(&mut game, 900);
    game.app.world_mut().trigger(film(60));
    // A second film has to wait for the first one.
    game.app.world_mut().trigger(film(60));
    eventually("the first frames", || {
        game.step();
        game.app.world().resource::<Notices>().film.and_then(|film| film.left_seconds)
    });
    game.app.world_mut().write_message(AppExit::Success);
    game.step();
    let (_, frames) = read_mp4(&only_file(folder.path())).unwrap();
    assert!((1..425).contains(&frames.len()), "{}", frames.len());
}

#[test]
fn the_copied_command_films_a_replay_and_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let mut game = game(lane("predicted,link:hostile"), folder.path());
    steps(&mut game, 300);
    let copied = |game: &mut LaneGame| {
        game.app.insert_resource(Notices::default());
        game.app.world_mut().trigger(Action::CopyFilm(PastFilm { seconds: 2, ticks_per_frame: 1 }));
        game.step();
        said(&game.app)
    };
    let sentences = copied(&mut game);
    let replay = folder.path().join("cubewire-1.ron");
    let wanted = format!("Copied: cubewire record --replay {} --fps 60 --out ", replay.display());
    assert!(sentences[0].starts_with(&wanted), "{sentences:?}");
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    let script = Script::load(&replay).unwrap();
    assert_eq!(script.ticks - script.lead_in, 120);
    game.app.world_mut().write_message(ResetSimulation);
    steps(&mut game, 60);
    let sentences = copied(&mut game);
    let wanted = "Unlike what was shown: links and baselines start anew at the reset, so other packets are lost; ";
    assert!(sentences[1].starts_with(wanted), "{sentences:?}");
}
