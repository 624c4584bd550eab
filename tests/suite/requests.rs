//! Stages that cannot be sent, in a viewer's request or a lane's settings, end that lane and leave the others.

use bevy::prelude::*;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::{ChangeLane, ConnectionStatus, LaneMeter, LaneSettings, RemoteViewer};
use cubewire_codec::stages::{Orientation, StageOptions};
use cubewire_codec::{Coverage, Plan, Stages, ladder};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{lane, script, steps};
use crate::rogue::{ack, attacked, connect, with};
use crate::udp::{deliver, lanes, server, status, step, udp, viewer};

fn partial(stages: Stages) -> Stages {
    stages.with_coverage(Coverage::Partial).unwrap()
}

/// Returns arithmetic stages with another number of orientation bits than the scene has. They are legal in other
/// scenes.
fn of_another_scene() -> Stages {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut readable = Stages::every_readable(|most| random.random_range(0..most));
    let has_bits =
        |options: &StageOptions| options.orientation == Orientation::SmallestThree { bits: 7 };
    let found = readable.find(|stages| stages.delta.is_arithmetic() && has_bits(stages));
    found.unwrap()
}

#[test]
fn a_server_serves_what_it_admits_and_survives_every_other_request_that_can_be_read() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let readable = Stages::every_readable(|most| random.random_range(0..most));
    let plan = Plan::cubes();
    let (admitted, others): (Vec<_>, Vec<_>) =
        readable.partition(|&stages| plan.check_complete(stages).is_ok());
    let known =
        [partial(ladder::DELTA.stages), partial(ladder::PREDICTED.stages), of_another_scene()];
    let drawn = [(); 12].map(|()| *others.choose(&mut random).unwrap());
    attacked(|game, bystander| {
        let mut rogue = connect(game, bystander);
        for stages in known.into_iter().chain(drawn) {
            rogue.request(with(stages));
            rogue.step(usize::MAX);
            step(game, &mut [bystander], 3);
            // The request is declined.
            assert_eq!((udp(game).connected(), lanes(game).len()), (2, 1), "{stages:?}");
        }
        for _ in 0..200 {
            let stages = *admitted.choose(&mut random).unwrap();
            rogue.request(with(stages));
            let is_served = (0..MOST_TICKS).any(|_| {
                step(game, &mut [bystander], 1);
                deliver();
                rogue.step(usize::MAX);
                let lanes = lanes(game);
                let served = lanes.iter().find(|(_, sender, _)| sender.stages == stages);
                let samples = served.map_or(&[][..], |(.., samples)| samples);
                let mut sent = samples.iter().rev().filter(|it| !it.snapshots.is_empty());
                let Some(newest) = sent.next() else { return false };
                // Without acks the server would reduce the budget.
                ack(&mut rogue, newest.tick);
                newest.snapshots.iter().any(|it| it.stages == stages)
            });
            assert!(is_served, "{stages:?}");
        }
    });
}

/// Maximum number of ticks until a request is served. On a bad network, packets wait for two seconds.
const MOST_TICKS: usize = 300;

/// Sets a lane to stages that cannot be sent.
fn spoil(game: &mut HeadlessGame, entity: Entity) {
    let settings = LaneSettings::with_stages(partial(ladder::DELTA.stages));
    game.app.world_mut().trigger(ChangeLane { entity, settings });
}

#[test]
fn a_local_lane_that_cannot_send_ends_alone() {
    let mut game = HeadlessGame::new(Some(script("katamari")));
    let [spoilt, other] = [(); 2].map(|()| game.spawn_lane(lane("delta")).unwrap());
    let sent = |game: &HeadlessGame, lane| {
        let meter = game.app.world().get::<LaneMeter>(lane).unwrap();
        meter.newest_tick().unwrap()
    };
    steps(&mut game, 30);
    spoil(&mut game, spoilt);
    steps(&mut game, 30);
    let newest = game.cubes().tick();
    assert_eq!(sent(&game, other), newest);
    assert!(sent(&game, spoilt) < newest);
}

#[test]
fn a_viewer_whose_lane_cannot_send_is_disconnected_alone() {
    let mut game = server(8);
    let mut honest = viewer(&game, "changed-flags");
    let mut unlucky = viewer(&game, "delta");
    step(&mut game, &mut [&mut honest, &mut unlucky], 30);
    let world = game.app.world_mut();
    let mut peers = world.query::<(Entity, &RemoteViewer)>();
    let id = unlucky.connection().id.unwrap();
    let (entity, _) = peers.iter(world).find(|(_, peer)| peer.id == id).unwrap();
    spoil(&mut game, entity);
    step(&mut game, &mut [&mut honest, &mut unlucky], 30);
    assert!(matches!(status(&unlucky), ConnectionStatus::Lost(_)));
    assert_eq!(status(&honest), ConnectionStatus::Connected);
    assert_eq!(udp(&game).connected(), 1);
}
