//! Keys that go to the client's end of a lane and travel to the simulation.

use cubewire::game::headless::LaneGame;
use cubewire::replication::{PlayAt, Sample};
use cubewire::simulation::PlayerKeys;
use cubewire_scene::Keys;

use crate::common::{game, lane, script};

/// A round trip of 150 ms, two frames of jitter and 2 % loss.
const NETWORK: &str = "link:latency=75ms+jitter=uniform/33ms+loss=0.02";

/// A game whose script plays at one of the ends.
fn play(script: &str, rung: &str, play_at: PlayAt) -> LaneGame {
    let mut game = game(script, &format!("{rung},{NETWORK}"));
    game.app.insert_resource(play_at);
    game
}

/// Runs for some ticks. Returns the keys of each tick.
fn keys(game: &mut LaneGame, ticks: u64) -> Vec<Keys> {
    let tick = |_| {
        game.step();
        game.app.world().resource::<PlayerKeys>().0
    };
    (0..ticks).map(tick).collect()
}

/// Without equal neighbours.
fn changes(keys: impl IntoIterator<Item = Keys>) -> Vec<Keys> {
    let mut changes: Vec<_> = keys.into_iter().collect();
    changes.dedup();
    changes
}

/// Kilobits per second up and down on the wire.
fn kbps(game: &LaneGame) -> [f64; 2] {
    let samples = game.meter().samples();
    let sum = |of: fn(&Sample) -> usize| samples.iter().map(of).sum::<usize>() as f64;
    let traffic = [sum(|it| it.traffic.ack_bytes), sum(|it| it.traffic.wire_bytes)];
    traffic.map(|bytes| 8.0 * 60.0 / 1000.0 * bytes / samples.len() as f64)
}

#[test]
fn every_key_moves_the_cube_a_round_trip_later() {
    let mut game = play("ball", "predicted", PlayAt::Client);
    let used = keys(&mut game, 3600);
    let script = script("ball");
    let pressed = (0..3600).map(|tick| script.keys_at(tick));
    let (used, pressed) = (changes(used), changes(pressed));
    println!("{} {}", used.len(), pressed.len());
    let samples = game.meter().samples();
    let ages: Vec<_> =
        samples.iter().filter_map(|it| it.input_age).map(|it| it.as_secs_f64() * 1e3).collect();
    let queue: Vec<_> = samples.iter().filter_map(|it| it.queued_inputs).collect();
    println!(
        "ages {:?} queue {:?}",
        ages.iter().sum::<f64>() / ages.len() as f64,
        queue.iter().map(|&it| f64::from(it)).sum::<f64>() / queue.len() as f64
    );
    println!("{:?}", kbps(&game));
    let mut at_simulation = play("ball", "predicted", PlayAt::Simulation);
    keys(&mut at_simulation, 3600);
    println!("{:?}", kbps(&at_simulation));
    assert_eq!(game.check().wrong, 0);
    assert!(used == pressed[..used.len()], "{used:?} {pressed:?}");
    let _ = lane;
}
