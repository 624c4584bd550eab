//! Keys that go to the client's end of a lane and travel to the simulation, with and without prediction.

use cubewire::game::headless::LaneGame;
use cubewire::replication::{Prediction, Sample};
use cubewire::simulation::{PlayerKeys, ResetSimulation};
use cubewire_scene::Keys;

use crate::common::{change, game, lane, pause, script};

/// A round trip of 150 ms, two frames of jitter and 2 % loss.
const NETWORK: &str = "predicted,link:latency=75ms+jitter=uniform/33ms+loss=0.02";

/// A game whose script plays with these settings besides.
fn play(script: &str, settings: &str) -> LaneGame {
    game(script, &format!("{NETWORK}{settings}"))
}

/// Runs for some ticks. Returns the keys of each tick.
fn keys(game: &mut LaneGame, ticks: u64) -> Vec<Keys> {
    let tick = |_| {
        game.step();
        game.app.world().resource::<PlayerKeys>().0[0]
    };
    (0..ticks).map(tick).collect()
}

/// Kilobits per second up and down on the wire.
fn kbps(game: &LaneGame) -> [f64; 2] {
    let samples = game.meter().samples();
    let sum = |of: fn(&Sample) -> usize| samples.iter().map(of).sum::<usize>() as f64;
    let traffic = [sum(|it| it.traffic.ack_bytes), sum(|it| it.traffic.wire_bytes)];
    traffic.map(|bytes| 8.0 * 60.0 / 1000.0 * bytes / samples.len() as f64)
}

fn milliseconds(game: &LaneGame) -> Vec<f64> {
    let ages = game.meter().samples().iter().skip(300).filter_map(|sample| sample.input_age);
    ages.map(|age| 1000.0 * age.as_secs_f64()).collect()
}

#[test]
fn every_key_moves_the_cube_a_round_trip_later() {
    let mut game = play("ball", ",play-at:client");
    let mut used = keys(&mut game, 1800);
    let script = script("ball");
    let mut pressed: Vec<_> = (0..1800).map(|tick| script.keys_at(tick)[0]).collect();
    used.dedup();
    pressed.dedup();
    assert!(used.len() > 3 && used == pressed[..used.len()], "{used:?}, {pressed:?}");
    let ages = milliseconds(&game);
    let mean = ages.iter().sum::<f64>() / ages.len() as f64;
    // The round trip, the queue, and the playout delay.
    assert!((235.0..400.0).contains(&mean), "{mean} ms");
    assert_eq!(game.check().wrong, 0);

    let mut at_simulation = play("ball", "");
    keys(&mut at_simulation, 1800);
    assert!(milliseconds(&at_simulation).is_empty());
    let [with, without] = [&game, &at_simulation].map(|game| kbps(game)[0]);
    assert!((4.0..12.0).contains(&(with - without)), "{with} kbps up, {without} without keys");
}

/// The corrections of the player's cube in cm, for each tick, ascending.
fn corrections(game: &LaneGame) -> Vec<f32> {
    let samples = game.meter().samples().iter().skip(300);
    let corrections = samples.map(|sample| 100.0 * sample.correction_m.unwrap_or(0.0));
    let mut corrections: Vec<_> = corrections.collect();
    corrections.sort_by(f32::total_cmp);
    corrections
}

#[test]
fn with_prediction_a_key_acts_at_once() {
    for script in ["ball", "rolling"] {
        let mut game = play(script, ",play-at:client,predict:own");
        keys(&mut game, 1800);
        let ages = milliseconds(&game);
        assert!(ages.len() > 1400 && ages.iter().all(|&age| age < 17.0), "{ages:?}");
        let corrections = corrections(&game);
        let percentile = |percent: usize| corrections[(corrections.len() - 1) * percent / 100];
        assert!(percentile(50) < 2.0 && percentile(95) < 15.0, "{script}: {corrections:?}");
        // Nothing else changes.
        assert_eq!(game.check().wrong, 0);
        let mut without = play(script, ",play-at:client");
        keys(&mut without, 1800);
        assert_eq!(game.cubes().current(), without.cubes().current());
    }
}

#[test]
fn a_prediction_ends_with_its_setting() {
    let mut game = play("ball", ",play-at:client,predict:own");
    keys(&mut game, 300);
    let cubes = |game: &LaneGame| game.app.world().get::<Prediction>(game.lane).unwrap().cubes();
    assert!(cubes(&game) > 3);
    for settings in [",play-at:client", ",predict:own"] {
        change(&mut game, lane(&format!("{NETWORK}{settings}")));
        keys(&mut game, 60);
        assert_eq!(cubes(&game), 0, "{settings}");
        change(&mut game, lane(&format!("{NETWORK},play-at:client,predict:own")));
        keys(&mut game, 60);
        assert!(cubes(&game) > 3);
    }
}

/// On the rung `simulated`, nothing but keys that come too late is not as predicted.
#[test]
fn with_prediction_of_the_world_hardly_anything_is_simulated_again() {
    let network = NETWORK.replace("predicted", "simulated");
    for script in ["ball", "rolling"] {
        let mut game = game(script, &format!("{network},play-at:client,predict:world"));
        keys(&mut game, 3600);
        let ages = milliseconds(&game);
        assert!(ages.len() > 3200 && ages.iter().all(|&age| age < 17.0), "{ages:?}");
        let samples = game.meter().samples();
        // The scene is reset at the start of each pass of the script, which moves the cube far.
        let again = samples.iter().skip(300).filter(|it| {
            it.corrected_ticks > 0 && it.correction_m.is_none_or(|metres| metres < 2.0)
        });
        let empty = samples.iter().skip(300).filter(|it| it.queued_inputs == Some(0));
        let (again, empty) = (again.count(), empty.count());
        assert!(again <= empty, "{script}: {again} times, {empty} times without keys");
        assert_eq!((game.check().wrong, game.meter().refused), (0, 0));
    }
}

#[test]
fn a_prediction_survives_what_happens_to_a_game() {
    survives("predicted", "own");
    survives("simulated", "world");
}

/// Whatever happens in between, the prediction is as good afterwards.
fn survives(rung: &str, predict: &str) {
    let network = NETWORK.replace("predicted", rung);
    let predicting = format!("{network},play-at:client,predict:{predict}");
    let mut game = game("rolling", &predicting);
    keys(&mut game, 300);
    let with = |rest: &str| lane(&format!("{rest},play-at:client,predict:{predict}"));
    type Event<'a> = (&'a str, Box<dyn FnMut(&mut LaneGame) + 'a>);
    let events: [Event<'_>; 7] = [
        (
            "a cut link",
            Box::new(|game| {
                let mut cut = lane(&predicting);
                cut.link.conditions.cut = true;
                change(game, cut);
                keys(game, 180);
            }),
        ),
        (
            "a pause",
            Box::new(|game| {
                pause(&mut game.app, true);
                keys(game, 120);
                pause(&mut game.app, false);
            }),
        ),
        (
            "a reset",
            Box::new(|game| {
                game.app.world_mut().write_message(ResetSimulation);
                keys(game, 1);
            }),
        ),
        (
            "ten snapshots a second",
            Box::new(|game| {
                change(game, with(&format!("{network},rate:10")));
                keys(game, 240);
            }),
        ),
        (
            "a budget",
            Box::new(|game| {
                change(game, with(&format!("{network},budget:64kbps")));
                keys(game, 240);
            }),
        ),
        (
            "floats",
            Box::new(|game| {
                change(game, with("uncompressed,link:latency=75ms"));
                keys(game, 240);
            }),
        ),
        (
            "a quarter of a second and 20 % loss",
            Box::new(|game| {
                change(game, with(&format!("{rung},link:latency=125ms+loss=0.2")));
                keys(game, 240);
            }),
        ),
    ];
    for (what, mut event) in events {
        event(&mut game);
        change(&mut game, lane(&predicting));
        keys(&mut game, 360);
        let samples: Vec<_> = game.meter().samples().iter().rev().take(180).collect();
        assert!(
            samples.iter().all(|it| it.input_age.is_some_and(|age| age.as_millis() < 17)),
            "{predict}: {what}"
        );
        let queue = samples.iter().filter_map(|it| it.queued_inputs).map(u32::from).sum::<u32>();
        assert!(queue < 10 * 180, "{predict}: {what}: {queue}");
        let large = samples.iter().filter(|it| it.correction_m.is_some_and(|it| it > 0.3)).count();
        assert!(large < 20, "{predict}: {what}: {large}");
        assert_eq!(game.check().wrong, 0, "{predict}: {what}");
    }
}
