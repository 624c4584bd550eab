//! A viewer with another fingerprint than its server gets a rung without arithmetic coding. Both ends show this.

use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::HeadlessGame;
use cubewire_codec::Stages;
use cubewire_codec::ladder::{self, PREDICTED_POSITION};
use cubewire_protocol::FallbackReason;

use crate::udp::{address, agreeing, dial, lanes, sender, server, step, viewer_with};

/// Returns the stages that the server sends to a viewer, and the reason if it did not request them.
fn served(game: &mut HeadlessGame, viewer: &HeadlessViewer) -> (Stages, Option<FallbackReason>) {
    let client = viewer.connection().id;
    let mut lanes = lanes(game).into_iter();
    let (peer, settings, _) = lanes.find(|lane| Some(lane.0.id) == client).unwrap();
    (settings.stages, peer.fallback)
}

#[test]
fn a_viewer_with_another_fingerprint_is_never_sent_arithmetic_coding() {
    let mut game = server(8);
    let mut connection = dial(address(&game));
    connection.contract.fingerprint.arithmetic ^= 1;
    let mut viewer = viewer_with(connection, "predicted");
    step(&mut game, &mut [&mut viewer], 120);
    let reason = Some(FallbackReason::Arithmetic);
    assert_eq!(viewer.meter().fallback, reason);
    assert_eq!(served(&mut game, &viewer), (PREDICTED_POSITION.stages, reason));
    assert_eq!(viewer.connection().granted.unwrap().stages, PREDICTED_POSITION.stages);
    assert!(agreeing(&game, &viewer) > 60);

    // A rung without a model is sent as requested.
    sender(&mut viewer).stages = ladder::DELTA.stages;
    step(&mut game, &mut [&mut viewer], 60);
    assert_eq!(served(&mut game, &viewer), (ladder::DELTA.stages, None));
    assert_eq!(viewer.connection().granted, None);
}
