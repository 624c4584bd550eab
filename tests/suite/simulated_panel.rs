//! What is known of a lane on the top rung, for people to watch: agreement, a nudge, and ghosts.

use bevy::prelude::*;
use cubewire::controls::Action;
use cubewire::game::headless::LaneGame;
use cubewire::replication::{LaneSimulation, Misprediction, NudgeLane};
use cubewire::transport::udp::Security;
use cubewire::view::{Ghosts, ReplicaPicture, Side, ViewCube, ViewPlugin};
use cubewire_protocol::AgreementStatus;

use crate::common::{lane, script};
use crate::udp;

const NUDGE_TICKS: u64 = 300;

fn game() -> LaneGame {
    LaneGame::with_plugins(Some(script("katamari")), lane("simulated"), ViewPlugin).unwrap()
}

fn simulation(game: &LaneGame) -> &LaneSimulation {
    game.app.world().get(game.lane).unwrap()
}

fn ghosts(game: &LaneGame) -> &Ghosts {
    game.app.world().resource()
}

/// Steps until something is so, and gives the number of ticks.
fn step_until(game: &mut LaneGame, limit: u64, is_so: impl Fn(&LaneGame) -> bool) -> u64 {
    for ticks in 0..limit {
        if is_so(game) {
            return ticks;
        }
        game.step();
    }
    panic!("after {limit} ticks: {:?}", simulation(game));
}

#[test]
fn a_lane_agrees_from_the_start_and_simulates_each_tick_once() {
    let mut game = game();
    for _ in 0..400 {
        game.step();
    }
    let simulation = simulation(&game);
    assert!(simulation.agreed_ticks().unwrap() > 390, "{simulation:?}");
    assert_eq!(simulation.corrected_cubes, 0);
    assert_eq!(simulation.mean_steps(), 1.0);
    assert!(!simulation.mean_time().is_zero());
    assert_eq!(simulation.state_kilobits, 0.0);
    assert_eq!(simulation.disagreements, 0);
    assert_eq!(simulation.sender.steps, 0);
    let steps = simulation.receiver.steps;
    assert!((390..=400).contains(&steps), "{steps}");
}

#[test]
fn a_nudged_lane_parts_from_the_simulation_and_agrees_again() {
    let mut game = game();
    for _ in 0..900 {
        game.step();
    }
    game.app.world_mut().trigger(Action::Ghosts);
    game.step();
    assert!(ghosts(&game).places(Side::Right).is_empty());
    let entity = game.lane;
    game.app.world_mut().trigger(NudgeLane {
        entity,
        ticks: NUDGE_TICKS,
    });
    let mut corrected = 0;
    let mut most_ghosts = 0;
    for tick in 0..NUDGE_TICKS {
        game.step();
        let simulation = simulation(&game);
        assert_eq!(simulation.agreement, AgreementStatus::Corrected, "{tick}");
        assert_eq!(simulation.nudged_ticks(), NUDGE_TICKS - tick);
        corrected += simulation.corrected_cubes;
        most_ghosts = most_ghosts.max(ghosts(&game).places(Side::Right).len());
    }
    assert!(corrected > NUDGE_TICKS, "{corrected} cubes were corrected");
    assert!(most_ghosts > 3, "{most_ghosts} ghosts");
    assert!(ghosts(&game).places(Side::Left).is_empty());
    assert!(simulation(&game).sender.steps > 0);

    let is_sending = |game: &LaneGame| simulation(game).state_progress.is_some();
    step_until(&mut game, 120, is_sending);
    let agrees = |game: &LaneGame| simulation(game).agreed_ticks().is_some();
    let ticks = step_until(&mut game, 300, agrees);
    println!(
        "{ticks} ticks, {:.0} kilobits of states, {corrected} cubes corrected, at most {most_ghosts} ghosts",
        simulation(&game).state_kilobits
    );
    assert!(simulation(&game).state_kilobits > 1.0);
    for _ in 0..120 {
        game.step();
    }
    assert!(ghosts(&game).places(Side::Right).is_empty());
    assert_eq!(simulation(&game).corrected_cubes, 0);
    assert_eq!(simulation(&game).disagreements, 0);
    assert_eq!(game.check().wrong, 0);
}

#[test]
fn a_ghost_is_as_far_from_its_cube_as_the_prediction_was() {
    let mut game = game();
    let entity = game.lane;
    game.app
        .world_mut()
        .entity_mut(entity)
        .insert(ReplicaPicture::default());
    for _ in 0..900 {
        game.step();
    }
    game.app.world_mut().trigger(Action::Ghosts);
    game.app.world_mut().trigger(NudgeLane {
        entity,
        ticks: NUDGE_TICKS,
    });
    let has_ghosts = |game: &LaneGame| !ghosts(game).places(Side::Right).is_empty();
    step_until(&mut game, NUDGE_TICKS, has_ghosts);
    let places = ghosts(&game).places(Side::Right).to_vec();
    let picture = *game.app.world().get::<ReplicaPicture>(entity).unwrap();
    let of = |tick: u64| simulation(&game).mispredictions(tick).to_vec();
    let wrong: Vec<Misprediction> = picture.between.into_iter().flat_map(of).collect();
    let mut cubes = game
        .app
        .world()
        .try_query::<(&Side, &ViewCube, &Transform)>();
    let cubes: Vec<_> = cubes.as_mut().unwrap().iter(game.app.world()).collect();
    for place in places {
        let is_there = wrong.iter().any(|wrong| {
            let shown = cubes
                .iter()
                .find(|(side, cube, _)| **side == Side::Right && cube.index == wrong.cube);
            shown.is_some_and(|(.., shown)| shown.translation + wrong.offset == place.translation)
        });
        assert!(is_there, "{place:?}");
    }
}

#[test]
fn a_viewer_that_joins_later_is_sent_a_state_and_knows_that_it_agrees() {
    let mut game = udp::server(Security::Insecure, 1);
    udp::step(&mut game, &mut [], 400);
    let mut viewer = udp::viewer_at(udp::address(&game), Security::Insecure, "simulated");
    udp::step(&mut game, &mut [&mut viewer], 300);
    let seen = viewer.app.world().get::<LaneSimulation>(viewer.lane);
    let seen = seen.unwrap().clone();
    let mut lanes = game.app.world_mut().query::<&LaneSimulation>();
    let sent = lanes.single(game.app.world()).unwrap();
    assert!(seen.agreed_ticks().unwrap() > 60, "{seen:?}");
    let later = sent
        .agreed_ticks()
        .unwrap()
        .abs_diff(seen.agreed_ticks().unwrap());
    assert!(later < 10, "{later} ticks");
    assert_eq!(seen.mean_steps().round(), 1.0);
    assert_eq!((seen.corrected_cubes, sent.disagreements), (0, 0));
    println!(
        "{} kilobits arrived of {} sent",
        seen.state_kilobits, sent.state_kilobits
    );
    // The sender may send a piece again before its ack has come.
    assert!(seen.state_kilobits > 1.0);
    assert!(sent.state_kilobits >= 0.99 * seen.state_kilobits);
}
