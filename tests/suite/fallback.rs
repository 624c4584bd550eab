//! A viewer that does not compute what its server does uses a rung without arithmetic coding, and says so.

use bevy::prelude::*;
use cubewire::replication::{SenderSettings, Welcomed};
use cubewire_bevy::udp::Key;
use cubewire_codec::ladder::{self, PREDICTED, PREDICTED_POSITION};
use cubewire_protocol::{FallbackReason, Welcome};

use crate::udp::{agreeing, lanes, server, step, viewer};

/// What the server has said.
#[derive(Resource)]
struct Said(Welcome);

#[test]
fn a_viewer_with_another_fingerprint_never_asks_for_arithmetic_coding() {
    let mut game = server(Key::LOOPBACK, 8);
    let mut viewer = viewer(&game, "predicted");
    viewer
        .app
        .add_observer(|welcomed: On<Welcomed>, mut commands: Commands| {
            commands.insert_resource(Said(welcomed.welcome.clone()));
        });
    step(&mut game, &mut [&mut viewer], 60);
    let client = viewer.connection().id;
    let mut served = lanes(&mut game).into_iter();
    let (peer, settings, _) = served.find(|lane| Some(lane.0.id) == client).unwrap();
    assert_eq!((settings.stages, peer.fallback), (PREDICTED.stages, None));

    let mut welcome = viewer.app.world().resource::<Said>().0.clone();
    welcome.fingerprint.arithmetic ^= 1;
    let entity = viewer.lane;
    viewer.app.world_mut().trigger(Welcomed { entity, welcome });
    step(&mut game, &mut [&mut viewer], 120);
    let reason = Some(FallbackReason::Arithmetic);
    assert_eq!(viewer.meter().fallback, reason);
    let (peer, settings, _) = lanes(&mut game).pop().unwrap();
    let instead = PREDICTED_POSITION.stages;
    assert_eq!((settings.stages, peer.fallback), (instead, reason));
    assert!(agreeing(&game, &viewer) > 60);

    // What needs no model is sent as it was asked for.
    let mut asked = viewer.app.world_mut().entity_mut(viewer.lane);
    asked.get_mut::<SenderSettings>().unwrap().stages = ladder::DELTA.stages;
    step(&mut game, &mut [&mut viewer], 60);
    let (peer, settings, _) = lanes(&mut game).pop().unwrap();
    assert_eq!(
        (settings.stages, peer.fallback),
        (ladder::DELTA.stages, None)
    );
}
