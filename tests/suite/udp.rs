//! Viewers over UDP on this machine. Server and viewers run in one process, each with its own manual clock, and use
//! real sockets.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::HeadlessGame;
use cubewire::recording::ScriptPlayback;
use cubewire::replication::{
    Accounting, Admitted, ConnectionStatus, Digest, HEADER_BYTES, LaneMeter, LaneSettings,
    LinkSettings, Reconnect, RemoteViewer, SEND_INTERVALS, Sample, SenderSettings,
};
use cubewire::simulation::HeldKeys;
use cubewire::transport::udp::{
    UdpServerPlugin, UdpViewer, ViewerBudget, ViewerBudgets, ViewerSettings,
};
use cubewire_bevy::SocketTraffic;
use cubewire_bevy::udp::{Key, UdpHost, UdpServer};
use cubewire_codec::ladder;

use crate::common::{eventually, lane, pause, script};

const LOOPBACK: &str = "127.0.0.1:0";

/// Seconds without traffic after which viewers give up.
pub(crate) const TIMEOUT_SECONDS: usize = 5;

/// Returns an address that no other process gets after the server has ended: below the system's range for assigned
/// ports and, on Linux, at a random address in 127.0.0.0/8.
fn own_address() -> SocketAddr {
    let [a, b, c] = rand::random::<[u8; 3]>().map(|byte| byte % 254 + 1);
    let ip = if cfg!(target_os = "linux") { [127, a, b, c] } else { [127, 0, 0, 1] };
    (ip, rand::random_range(10_000..30_000)).into()
}

/// Starts a server at an address that stays free after its end.
pub(crate) fn server_at_own_address() -> HeadlessGame {
    let server = || UdpServer::listen(own_address(), Key::LOOPBACK).ok();
    play(eventually("a free address", server))
}

pub(crate) fn server(max_viewers: usize) -> HeadlessGame {
    play(listen(max_viewers))
}

pub(crate) fn listen(max_viewers: usize) -> UdpServer {
    UdpServer::listen(LOOPBACK, Key::LOOPBACK).unwrap().max_clients(max_viewers)
}

pub(crate) fn dial(server: SocketAddr) -> UdpViewer {
    let timeout = Duration::from_secs(TIMEOUT_SECONDS as u64);
    UdpViewer::new(ViewerSettings { server: vec![server], key: Key::LOOPBACK, timeout }).unwrap()
}

fn play(server: UdpServer) -> HeadlessGame {
    let plugin = UdpServerPlugin(server);
    let mut game = HeadlessGame::with_plugins(Some(script("katamari")), plugin);
    game.app.init_resource::<Digest>();
    game
}

/// Returns a non-blocking socket.
pub(crate) fn socket() -> UdpSocket {
    let socket = UdpSocket::bind(LOOPBACK).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

pub(crate) fn address(game: &HeadlessGame) -> SocketAddr {
    udp(game).address()
}

pub(crate) fn udp(game: &HeadlessGame) -> &UdpHost {
    game.app.world().resource::<UdpHost>()
}

pub(crate) fn admitted(game: &HeadlessGame) -> u64 {
    game.app.world().resource::<Admitted>().0
}

pub(crate) fn viewer_budgets(game: &HeadlessGame) -> &[ViewerBudget] {
    &game.app.world().resource::<ViewerBudgets>().0
}

pub(crate) fn viewer_at(server: SocketAddr, rung: &str) -> HeadlessViewer {
    viewer_with(dial(server), rung)
}

pub(crate) fn viewer_with(connection: UdpViewer, rung: &str) -> HeadlessViewer {
    let lane = LaneSettings { link: LinkSettings::PERFECT, ..lane(rung) };
    let mut viewer = HeadlessViewer::with_plugins(connection, lane, ());
    viewer.app.init_resource::<Digest>();
    viewer
}

/// Starts a viewer of a server without access control.
pub(crate) fn viewer(game: &HeadlessGame, rung: &str) -> HeadlessViewer {
    viewer_at(address(game), rung)
}

/// Waits until all datagrams are delivered. Linux delivers them within the sending call or later, when a processor is
/// free.
pub(crate) fn deliver() {
    let is_done = || {
        let Ok(processors) = fs::read_to_string("/proc/net/softnet_stat") else { return Some(()) };
        // The twelfth column is the length of the backlog, hexadecimal.
        let mut waiting = processors.lines().filter_map(|line| line.split(' ').nth(11));
        let is_none = |count: &str| count.bytes().all(|digit| digit == b'0');
        waiting.all(is_none).then_some(())
    };
    eventually("datagrams on their way", is_done);
}

/// Steps server and viewers. A datagram that is sent in one tick arrives in the next.
pub(crate) fn step(game: &mut HeadlessGame, viewers: &mut [&mut HeadlessViewer], ticks: usize) {
    for _ in 0..ticks {
        deliver();
        game.step();
        deliver();
        for viewer in &mut *viewers {
            viewer.app.update();
        }
    }
}

/// Steps a viewer while its server does not run.
pub(crate) fn wait_alone(viewer: &mut HeadlessViewer, seconds: usize) {
    (0..60 * seconds).for_each(|_| viewer.app.update());
}

pub(crate) fn sender(viewer: &mut HeadlessViewer) -> Mut<'_, SenderSettings> {
    viewer.app.world_mut().get_mut(viewer.lane).unwrap()
}

/// Sets the simulated network between a viewer and its server.
pub(crate) fn set_link(viewer: &mut HeadlessViewer, link: &str) {
    let mut lane = viewer.app.world_mut().entity_mut(viewer.lane);
    lane.get_mut::<LinkSettings>().unwrap().conditions = link.parse().unwrap();
}

pub(crate) fn lanes(game: &mut HeadlessGame) -> Vec<(RemoteViewer, SenderSettings, Vec<Sample>)> {
    let world = game.app.world_mut();
    let mut query = world.query::<(&RemoteViewer, &SenderSettings, &LaneMeter)>();
    let lanes = query.iter(world).map(|(peer, settings, meter)| {
        (peer.clone(), *settings, meter.samples().iter().cloned().collect())
    });
    lanes.collect()
}

/// Returns the number of lines of the viewer's digest that are also in the server's. Panics on any other line.
pub(crate) fn agreeing(game: &HeadlessGame, viewer: &HeadlessViewer) -> usize {
    let sent = game.app.world().resource::<Digest>().csv();
    let sent: HashSet<&str> = sent.lines().collect();
    let decoded = viewer.app.world().resource::<Digest>().csv();
    for line in decoded.lines() {
        assert!(sent.contains(line), "{line} was not sent");
    }
    decoded.lines().count() - 1
}

pub(crate) fn status(viewer: &HeadlessViewer) -> ConnectionStatus {
    viewer.connection().status
}

pub(crate) fn lost(viewer: &HeadlessViewer) -> String {
    match status(viewer) {
        ConnectionStatus::Lost(why) => why,
        status => panic!("the viewer is {status:?}"),
    }
}

#[test]
fn viewers_have_stages_of_their_own_and_decode_what_was_sent() {
    let mut game = server(8);
    let rungs = ["uncompressed", "at-rest", "changed-flags", "affine", "predicted", "simulated"];
    let mut viewers = rungs.map(|rung| viewer(&game, rung));
    step(&mut game, &mut viewers.each_mut(), 300);
    let mut served = lanes(&mut game);
    assert_eq!(served.len(), rungs.len());
    for (viewer, rung) in viewers.iter().zip(rungs) {
        assert_eq!(status(viewer), ConnectionStatus::Connected);
        assert!(agreeing(&game, viewer) > 280, "{rung}");
        assert_eq!(viewer.meter().refused, 0);
        let client = viewer.connection().id;
        let index = served.iter().position(|lane| Some(lane.0.id) == client);
        let (_, settings, samples) = served.remove(index.unwrap());
        assert_eq!(settings.stages, ladder::rung(rung).unwrap().stages);
        // The viewer's decoder must count the same bits as the sender's encoder.
        let newest = samples.last().unwrap();
        let seen = viewer.meter().samples().back().unwrap();
        assert_eq!(seen.traffic.wire_bytes, newest.traffic.wire_bytes);
        let [seen, newest] = [seen, newest].map(|sample| &sample.snapshots[0]);
        assert_eq!(seen.ledger, newest.ledger, "{rung}");
        assert!(seen.ledger.total() > 0.0, "{rung}");
        assert_eq!(seen.payload_bytes, newest.payload_bytes);
        if seen.reference_age_ticks().is_some() {
            assert_eq!(seen.changed_bodies, newest.changed_bodies);
        }
    }
}

#[test]
fn a_viewer_tells_rest_from_motion_on_rungs_with_and_without_a_baseline() {
    let mut game = server(8);
    let mut viewers = ["uncompressed", "no-velocity", "predicted"].map(|rung| viewer(&game, rung));
    let is_at_rest = |viewer: &HeadlessViewer| {
        let second = viewer.meter().second(None);
        second.is_some_and(|second| second.is_at_rest())
    };
    step(&mut game, &mut viewers.each_mut(), 180);
    assert!(viewers.iter().all(|viewer| viewer.meter().received > 120 && !is_at_rest(viewer)));
    let world = game.app.world_mut();
    world.remove_resource::<ScriptPlayback>();
    world.insert_resource(HeldKeys::default());
    for _ in 0..20 {
        step(&mut game, &mut viewers.each_mut(), 60);
        if viewers.iter().all(is_at_rest) {
            return;
        }
    }
    panic!("at rest: {:?}", viewers.each_ref().map(is_at_rest));
}

#[test]
fn a_viewer_changes_its_own_stages_and_rate_and_nobody_elses() {
    let mut game = server(8);
    let mut first = viewer(&game, "delta");
    let mut second = viewer(&game, "delta");
    step(&mut game, &mut [&mut first, &mut second], 60);
    for (index, rung) in ladder::all().enumerate() {
        let interval = SEND_INTERVALS[index % SEND_INTERVALS.len()];
        sender(&mut first).stages = rung.stages;
        sender(&mut first).send_interval_ticks = interval;
        step(&mut game, &mut [&mut first, &mut second], 30);
        let served = lanes(&mut game);
        for wanted in [(rung.stages, interval), (ladder::DELTA.stages, 1)] {
            let mut served = served.iter().map(|(_, it, _)| (it.stages, it.send_interval_ticks));
            assert!(served.any(|it| it == wanted), "{wanted:?}");
        }
    }
    assert!(agreeing(&game, &first) > 200);
    assert!(agreeing(&game, &second) > 400);
}

#[test]
fn the_meters_count_the_bytes_that_the_socket_sends() {
    let mut game = server(8);
    let mut relay = Relay::new(address(&game));
    let mut viewer = viewer_at(relay.address(), "position");
    for _ in 0..300 {
        relay.step(&mut game, &mut viewer);
    }
    assert_eq!(status(&viewer), ConnectionStatus::Connected);
    // The viewer stops, and its last datagrams arrive.
    let traffic = eventually("the same counts", || {
        step(&mut game, &mut [], 1);
        relay.forward();
        let traffic = udp(&game).traffic();
        let unassigned_bytes = traffic.unassigned_bytes;
        let seen = SocketTraffic { unassigned_bytes, ..relay.seen };
        (traffic == seen).then_some(traffic)
    });
    let unassigned_bytes = traffic.unassigned_bytes;

    let served = lanes(&mut game);
    let sum = |bytes: fn(&Sample) -> usize| served[0].2.iter().map(bytes).sum::<usize>() as u64;
    let (wire, acks) = (sum(|s| s.traffic.wire_bytes), sum(|s| s.traffic.ack_bytes));
    let others = sum(|s| s.traffic.control_bytes);
    let all = traffic.sent_bytes + traffic.received_bytes;
    assert_eq!(wire + acks + others + unassigned_bytes, all);
    // IP, UDP and netcode add about 50 bytes to each packet.
    let article = sum(|s| s.bytes(Accounting::PayloadAndUdp));
    let packets = sum(|s| s.traffic.packets);
    assert!(wire > article + 20 * packets && wire < article + 60 * packets);
}

/// Forwards datagrams between a server and one viewer and counts them.
pub(crate) struct Relay {
    server: SocketAddr,
    pub(crate) viewer: Option<SocketAddr>,
    /// The viewer connects to this socket.
    pub(crate) front: UdpSocket,
    /// The relay sends to the server from this socket.
    back: UdpSocket,
    seen: SocketTraffic,
}

impl Relay {
    pub(crate) fn new(server: SocketAddr) -> Self {
        Self {
            server,
            viewer: None,
            front: socket(),
            back: socket(),
            seen: SocketTraffic::default(),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.front.local_addr().unwrap()
    }

    /// Plays a tick.
    pub(crate) fn step(&mut self, game: &mut HeadlessGame, viewer: &mut HeadlessViewer) {
        step(game, &mut [], 1);
        self.forward();
        deliver();
        viewer.app.update();
        self.forward();
    }

    fn forward(&mut self) {
        let mut buffer = [0; 2000];
        deliver();
        while let Some((length, viewer)) = receive(&self.front, &mut buffer) {
            self.viewer = Some(viewer);
            self.back.send_to(&buffer[..length], self.server).unwrap();
            self.seen.received += 1;
            self.seen.received_bytes += (length + HEADER_BYTES) as u64;
        }
        while let Some((length, _)) = receive(&self.back, &mut buffer) {
            self.seen.sent += 1;
            self.front.send_to(&buffer[..length], self.viewer.unwrap()).unwrap();
            self.seen.sent_bytes += (length + HEADER_BYTES) as u64;
        }
    }
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
    match socket.recv_from(buffer) {
        Ok(received) => Some(received),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            None
        }
    }
}

#[test]
fn a_viewer_that_loses_its_server_says_so_and_connects_again() {
    let mut game = server_at_own_address();
    let at = address(&game);
    let mut viewer = viewer(&game, "delta");
    step(&mut game, &mut [&mut viewer], 100);
    assert_eq!(status(&viewer), ConnectionStatus::Connected);
    // The server hangs.
    wait_alone(&mut viewer, TIMEOUT_SECONDS + 1);
    let silence = format!("lost the connection to the server at {at}: no packets for 5 s");
    assert_eq!(lost(&viewer), silence);
    assert!(viewer.meter().totals().stalls > 0);

    let reconnect = |viewer: &mut HeadlessViewer| {
        viewer.app.world_mut().trigger(Reconnect);
    };
    reconnect(&mut viewer);
    step(&mut game, &mut [&mut viewer], 60 * (TIMEOUT_SECONDS + 1));
    assert_eq!(status(&viewer), ConnectionStatus::Connected);
    assert_eq!(udp(&game).connected(), 1, "the viewer that hung up is forgotten");
    assert!(viewer.meter().received > 340);
    agreeing(&game, &viewer);

    // The server exits.
    game.app.world_mut().write_message(AppExit::Success);
    step(&mut game, &mut [&mut viewer], 2);
    assert_eq!(lost(&viewer), format!("the server at {at} has ended the connection"));
    drop(game);
    reconnect(&mut viewer);
    wait_alone(&mut viewer, TIMEOUT_SECONDS + 1);
    assert_eq!(lost(&viewer), format!("nothing listens at {at}"));
}

#[test]
fn a_viewer_that_dies_holds_nobody_up_and_is_forgotten() {
    let mut game = server(8);
    let mut dies = viewer(&game, "uncompressed");
    let mut lives = viewer(&game, "delta");
    step(&mut game, &mut [&mut dies, &mut lives], 60);
    assert_eq!(lanes(&mut game).len(), 2);
    // The viewer is silent. Its socket stays open, so the server gets no ICMP error.
    step(&mut game, &mut [&mut lives], 60 * (TIMEOUT_SECONDS + 1));
    assert_eq!(lanes(&mut game).len(), 1);
    assert_eq!(lives.meter().totals().stalls, 0);
    let received = lives.meter().received;
    assert!(received as usize > 60 * (TIMEOUT_SECONDS + 1), "{received}");
}

#[test]
fn a_pause_keeps_viewers_and_lets_new_ones_in() {
    let mut game = server(8);
    let mut first = viewer(&game, "delta");
    step(&mut game, &mut [&mut first], 60);
    pause(&mut game.app, true);
    let mut second = viewer(&game, "delta");
    // Longer than half the range of sequence numbers, at two frames a second.
    const TICKS_PER_FRAME: u32 = 30;
    for app in [&mut game.app, &mut first.app, &mut second.app] {
        app.insert_resource(TimeUpdateStrategy::FixedTimesteps(TICKS_PER_FRAME));
    }
    let frames = 60 * 600 / TICKS_PER_FRAME as usize;
    step(&mut game, &mut [&mut first, &mut second], frames);
    for app in [&mut game.app, &mut first.app, &mut second.app] {
        app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    }
    assert_eq!(status(&first), ConnectionStatus::Connected);
    assert_eq!(status(&second), ConnectionStatus::Connected);
    let received = first.meter().received;
    pause(&mut game.app, false);
    step(&mut game, &mut [&mut first, &mut second], 60);
    assert!(first.meter().received > received + 50);
    assert!(second.meter().received > 50);
    for viewer in [&first, &second] {
        assert_eq!(viewer.meter().out_of_window, 0);
        agreeing(&game, viewer);
    }
}
