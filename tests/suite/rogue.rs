//! Clients that send invalid messages, with the key.

use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::ConnectionStatus;
use cubewire_bevy::udp::Key;
use cubewire_codec::{Sequence, Stages, ladder};
use cubewire_hostile::client::{Client, SETTINGS, Target};
use cubewire_hostile::socket::{LOCALHOST, Socket, Tally};
use cubewire_protocol::{Ack, Feedback, PROTOCOL_VERSION, Settings};

use crate::udp::{address, agreeing, deliver, server, status, step, udp, viewer};

/// Connects a client that is driven by hand, and says hello with this protocol version.
pub(crate) fn connect_with(
    game: &mut HeadlessGame,
    others: &mut [&mut HeadlessViewer],
    version: u16,
) -> Client {
    let target = Target { server: address(game), key: Key::LOOPBACK };
    let socket = Socket::bind(LOCALHOST, &Tally::default());
    let mut rogue = Client::new(socket, target, target.token(rand::random(), 5));
    rogue.version = version;
    let before = udp(game).connected();
    let is_connected = (0..20).any(|_| {
        deliver();
        rogue.step(usize::MAX);
        step(game, others, 1);
        udp(game).connected() == before + 1
    });
    assert!(is_connected);
    // Receives the answer and says hello.
    rogue.step(usize::MAX);
    rogue
}

pub(crate) fn connect(game: &mut HeadlessGame, bystander: &mut HeadlessViewer) -> Client {
    connect_with(game, &mut [bystander], PROTOCOL_VERSION)
}

/// Acks the snapshot of a tick, and the 32 before it.
pub(crate) fn ack(rogue: &mut Client, tick: u64) {
    let ack = Ack { newest: Sequence(tick as u16), earlier: u32::MAX };
    rogue.unreliable(Feedback::Ack(ack).encode());
}

/// Runs an attack on a server. Its viewer must not be affected.
pub(crate) fn attacked(attack: impl FnOnce(&mut HeadlessGame, &mut HeadlessViewer)) {
    let mut game = server(8);
    let mut bystander = viewer(&game, "changed-flags");
    step(&mut game, &mut [&mut bystander], 60);
    attack(&mut game, &mut bystander);
    step(&mut game, &mut [&mut bystander], 10);
    assert_eq!(status(&bystander), ConnectionStatus::Connected);
    assert_eq!(bystander.meter().refused + bystander.meter().totals().stalls, 0);
    let agreeing = agreeing(&game, &bystander) as u64;
    assert_eq!(agreeing, bystander.meter().received);
}

pub(crate) const DELTA: Settings = with(ladder::DELTA.stages);

pub(crate) const fn with(stages: Stages) -> Settings {
    Settings { stages, ..SETTINGS }
}
