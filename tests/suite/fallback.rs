//! Ends that do not decode each other's arithmetic coding use a rung without it, and say so.

use std::sync::Arc;
use std::time::Duration;

use bevy::prelude::*;
use cubewire::game::headless::LaneGame;
use cubewire::replication::{CodingModel, LaneMeter, Replica, SenderSettings};
use cubewire::transport::udp::Security;
use cubewire_codec::entropy::{Fingerprint, TrainedModel};
use cubewire_codec::ladder::{self, ARITHMETIC, PREDICTED, PREDICTED_POSITION};
use cubewire_codec::{Limits, Stages};
use cubewire_link::Preset;
use cubewire_protocol::{FallbackReason, SnapshotReceiver, Welcome};

use crate::common::{lane, script};
use crate::udp::{address, agreeing, lanes, server, step, viewer_at};

/// The built-in model with one weight changed: of whether cube 0 changes, on the rung `arithmetic`.
fn other_model() -> Arc<TrainedModel> {
    let shipped = TrainedModel::shipped();
    let mut bytes = shipped.to_bytes();
    bytes[9 + 8 * shipped.trained_on().len() + 1] ^= 0x60;
    Arc::new(TrainedModel::from_bytes(&bytes).unwrap())
}

/// The stages of the newest packet.
fn sent(meter: &LaneMeter) -> Stages {
    let mut samples = meter.samples().iter().rev();
    let sample = samples.find(|sample| !sample.snapshots.is_empty());
    sample.unwrap().snapshots[0].stages
}

#[test]
fn over_udp_a_viewer_with_another_model_never_asks_for_what_needs_it() {
    let mut game = server(Security::Insecure, 8);
    let at = address(&game);
    let mut same = viewer_at(at, Security::Insecure, "predicted");
    let mut other = viewer_at(at, Security::Insecure, "predicted");
    other.app.insert_resource(CodingModel::new(other_model()));
    step(&mut game, &mut [&mut same, &mut other], 300);
    for (viewer, rung, reason) in [
        (&same, PREDICTED, None),
        (&other, PREDICTED_POSITION, Some(FallbackReason::Model)),
    ] {
        assert!(agreeing(&game, viewer) > 280);
        assert_eq!(viewer.meter().refused, 0);
        assert_eq!(viewer.meter().fallback, reason);
        let client = viewer.connection().id;
        let mut served = lanes(&mut game).into_iter();
        let (peer, settings, _) = served.find(|lane| Some(lane.0.id) == client).unwrap();
        assert_eq!((settings.stages, peer.fallback), (rung.stages, reason));
    }
    // What needs no model is sent as it was asked for.
    let mut asked = other.app.world_mut().entity_mut(other.lane);
    asked.get_mut::<SenderSettings>().unwrap().stages = ladder::DELTA.stages;
    step(&mut game, &mut [&mut same, &mut other], 60);
    assert_eq!(sent(other.meter()), ladder::DELTA.stages);
    assert!(
        lanes(&mut game)
            .iter()
            .all(|lane| lane.0.fallback.is_none())
    );
}

#[test]
fn over_udp_packets_that_do_not_decode_end_arithmetic_coding_for_a_while() {
    let mut game = server(Security::Insecure, 8);
    let other = CodingModel::new(other_model());
    // The server says that it has what the viewer has.
    game.app
        .world_mut()
        .resource_mut::<CodingModel>()
        .fingerprint = other.fingerprint;
    let mut viewer = viewer_at(address(&game), Security::Insecure, "arithmetic");
    viewer.app.insert_resource(other);
    let mut changes = Vec::new();
    let mut last = None;
    for tick in 0..60 * 45_u64 {
        step(&mut game, &mut [&mut viewer], 1);
        let peer = lanes(&mut game).pop();
        let now = peer.map(|(peer, settings, _)| (settings.stages, peer.fallback));
        if now != last {
            changes.push((tick, now));
            last = now;
        }
    }
    let stages: Vec<_> = changes.iter().filter_map(|(_, now)| *now).collect();
    let arithmetic = (ARITHMETIC.stages, None);
    let instead = (PREDICTED_POSITION.stages, Some(FallbackReason::Failures));
    assert_eq!(
        stages,
        [
            arithmetic, instead, arithmetic, instead, arithmetic, instead
        ]
    );
    let ticks: Vec<u64> = changes.iter().map(|(tick, _)| *tick).collect();
    let waits: Vec<_> = ticks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // A second or two each time, and 10 and 20 s between.
    let [tries, pauses] = [[0, 2], [1, 3]].map(|places| places.map(|place| waits[place]));
    assert!(tries.iter().all(|&ticks| ticks < 120), "{ticks:?}");
    assert!(
        pauses[0].abs_diff(600) < 20 && pauses[1].abs_diff(1_200) < 20,
        "{ticks:?}"
    );
    assert!(agreeing(&game, &viewer) > 60 * 35);
    assert_eq!(viewer.meter().fallback, Some(FallbackReason::Failures));
}

/// A lane in one process, whose receiving half has another model, and was told otherwise.
fn game_with_other_receiver(rung: &str) -> LaneGame {
    let mut game = LaneGame::new(Some(script("katamari")), lane(rung)).unwrap();
    let welcome = Welcome {
        ticks_per_second: 60,
        tick: game.cubes().tick(),
        fingerprint: Fingerprint::of(&other_model()),
        initial: game.cubes().current().clone(),
    };
    let delay = Duration::from_millis(100);
    let now = game.app.world().resource::<Time<Fixed>>().elapsed();
    let receiver = SnapshotReceiver::new(welcome, Limits::default(), delay, now).unwrap();
    let replica = Replica::new(receiver.with_model(other_model()));
    let lane = game.lane;
    game.app.world_mut().entity_mut(lane).insert(replica);
    game
}

#[test]
fn in_memory_the_same_happens() {
    let mut game = game_with_other_receiver("arithmetic");
    let mut fell_back = Vec::new();
    for tick in 0..60 * 20 {
        game.step();
        let meter = game.meter();
        let instead = meter.fallback == Some(FallbackReason::Failures);
        if fell_back.last().is_none_or(|(_, last)| *last != instead) {
            fell_back.push((tick, instead));
        }
    }
    let ticks: Vec<_> = fell_back.iter().map(|(tick, _)| *tick).collect();
    assert_eq!(ticks.len(), 4, "{ticks:?}");
    assert!((60..100).contains(&ticks[1]), "{ticks:?}");
    assert_eq!(sent(game.meter()), PREDICTED_POSITION.stages);
    assert!(game.meter().received > 60 * 15);
    // What it is asked for stays.
    let asked = game.app.world().get::<SenderSettings>(game.lane).unwrap();
    assert_eq!(asked.stages, ARITHMETIC.stages);
}

#[test]
fn bad_networks_are_no_reason_in_memory() {
    for network in ["hostile", "satellite"] {
        let mut settings = lane("predicted");
        if let Some(preset) = Preset::by_name(network) {
            settings.link.conditions = preset.conditions.clone();
        }
        let mut game = LaneGame::new(Some(script("katamari")), settings).unwrap();
        for _ in 0..60 * 20 {
            game.step();
            assert_eq!(game.meter().fallback, None, "{network}");
        }
    }
}
