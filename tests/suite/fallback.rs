//! A viewer with another fingerprint than its server gets a rung without arithmetic coding. Both ends show this.

use cubewire::replication::SenderSettings;
use cubewire_bevy::udp::Key;
use cubewire_codec::ladder::{self, PREDICTED, PREDICTED_POSITION};
use cubewire_protocol::FallbackReason;

use crate::udp::{address, agreeing, dial, lanes, server, step, viewer, viewer_with};

#[test]
fn a_viewer_with_another_fingerprint_is_never_sent_arithmetic_coding() {
    let mut game = server(Key::LOOPBACK, 8);
    let mut same = viewer(&game, "predicted");
    step(&mut game, &mut [&mut same], 60);
    let client = same.connection().id;
    let mut served = lanes(&mut game).into_iter();
    let (peer, settings, _) = served.find(|lane| Some(lane.0.id) == client).unwrap();
    assert_eq!((settings.stages, peer.fallback), (PREDICTED.stages, None));
    assert_eq!(same.meter().fallback, None);
    drop(same);

    let mut connection = dial(address(&game), Key::LOOPBACK);
    connection.contract.fingerprint.arithmetic ^= 1;
    let mut viewer = viewer_with(connection, "predicted");
    step(&mut game, &mut [&mut viewer], 120);
    let reason = Some(FallbackReason::Arithmetic);
    assert_eq!(viewer.meter().fallback, reason);
    let client = viewer.connection().id;
    let mut served = lanes(&mut game).into_iter();
    let (peer, settings, _) = served.find(|lane| Some(lane.0.id) == client).unwrap();
    let instead = PREDICTED_POSITION.stages;
    assert_eq!((settings.stages, peer.fallback), (instead, reason));
    let granted = viewer.connection().granted.unwrap();
    assert_eq!(granted.stages, instead);
    assert!(agreeing(&game, &viewer) > 60);

    // A rung without a model is sent as requested.
    let mut asked = viewer.app.world_mut().entity_mut(viewer.lane);
    asked.get_mut::<SenderSettings>().unwrap().stages = ladder::DELTA.stages;
    step(&mut game, &mut [&mut viewer], 60);
    let mut served = lanes(&mut game).into_iter();
    let (peer, settings, _) = served.find(|lane| Some(lane.0.id) == client).unwrap();
    assert_eq!((settings.stages, peer.fallback), (ladder::DELTA.stages, None));
    assert_eq!(viewer.connection().granted, None);
}
