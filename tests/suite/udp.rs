//! Viewers over UDP, on this machine: server and viewers in one process, each with a manual clock of
//! its own, and real sockets between them.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime};

use cubewire::headless::HeadlessGame;
use cubewire::headless::serve;
use cubewire::headless::view::HeadlessViewer;
use cubewire::replication::{
    Digest, HEADER_BYTES, Key, LaneMeter, LaneSettings, RemoteViewer, SEND_INTERVALS, Sample,
    Security, ServeError, ServerSettings, Traffic, UdpServer, UdpViewer, ViewError, ViewerSettings,
    ViewerStatus,
};
use cubewire_codec::{CubeState, Sequence, Snapshot, ladder};
use cubewire_link::Conditions;
use cubewire_protocol::{BaselineChoice, PROTOCOL_VERSION, Request, Welcome};
use octets::OctetsMut;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use renetcode::{
    ClientAuthentication, ConnectToken, NetcodeClient, NetcodeServer, ServerAuthentication,
    ServerConfig, ServerResult,
};

use crate::common::script;

const LOOPBACK: &str = "127.0.0.1:0";

/// Seconds that viewers wait before they give up.
const TIMEOUT_SECONDS: usize = 5;

fn server(security: Security, max_viewers: usize) -> HeadlessGame {
    let settings = ServerSettings {
        bind: LOOPBACK.parse().unwrap(),
        public: Vec::new(),
        security,
        max_viewers,
    };
    let server = UdpServer::new(&settings).unwrap();
    let mut game = serve::game(Some(script("katamari")), server).unwrap();
    game.app.init_resource::<Digest>();
    game
}

fn address(game: &HeadlessGame) -> SocketAddr {
    udp(game).address()
}

fn udp(game: &HeadlessGame) -> &UdpServer {
    game.app.world().resource::<UdpServer>()
}

fn viewer_at(server: SocketAddr, security: Security, rung: &str) -> HeadlessViewer {
    let settings = ViewerSettings {
        server,
        security,
        timeout: Duration::from_secs(TIMEOUT_SECONDS as u64),
    };
    let lane = LaneSettings {
        stages: ladder::rung(rung).unwrap().stages,
        link: Conditions::PERFECT,
        ..LaneSettings::default()
    };
    let mut viewer = HeadlessViewer::new(UdpViewer::new(settings).unwrap(), lane);
    viewer.app.init_resource::<Digest>();
    viewer
}

fn step(game: &mut HeadlessGame, viewers: &mut [&mut HeadlessViewer], ticks: usize) {
    for _ in 0..ticks {
        game.step();
        for viewer in &mut *viewers {
            viewer.app.update();
        }
    }
}

fn lanes(game: &mut HeadlessGame) -> Vec<(RemoteViewer, LaneSettings, Vec<Sample>)> {
    let world = game.app.world_mut();
    let mut query = world.query::<(&RemoteViewer, &LaneSettings, &LaneMeter)>();
    query
        .iter(world)
        .map(|(viewer, settings, meter)| {
            let samples = meter.samples().iter().cloned().collect();
            (*viewer, settings.clone(), samples)
        })
        .collect()
}

/// Lines of the viewer's digest that the server's has, too; panics over one that it has not.
fn agreeing(game: &HeadlessGame, viewer: &HeadlessViewer) -> usize {
    let sent = game.app.world().resource::<Digest>().csv();
    let sent: HashSet<&str> = sent.lines().collect();
    let decoded = viewer.app.world().resource::<Digest>().csv();
    for line in decoded.lines() {
        assert!(sent.contains(line), "{line} was not sent");
    }
    decoded.lines().count() - 1
}

fn lost(viewer: &HeadlessViewer) -> String {
    match viewer.status() {
        ViewerStatus::Lost(why) => why,
        status => panic!("the viewer is {status:?}"),
    }
}

#[test]
fn viewers_have_stages_of_their_own_and_decode_what_was_sent() {
    let mut game = server(Security::Insecure, 8);
    let at = address(&game);
    let rungs = ["uncompressed", "at-rest", "changed-flags", "affine"];
    let mut viewers = rungs.map(|rung| viewer_at(at, Security::Insecure, rung));
    step(&mut game, &mut viewers.each_mut(), 300);
    let mut served = lanes(&mut game);
    assert_eq!(served.len(), 4);
    for (viewer, rung) in viewers.iter().zip(rungs) {
        assert_eq!(viewer.status(), ViewerStatus::Connected);
        assert!(agreeing(&game, viewer) > 280, "{rung}");
        assert_eq!(viewer.meter().refused, 0);
        let client = viewer.app.world().resource::<UdpViewer>().client();
        let place = served.iter().position(|lane| Some(lane.0.client) == client);
        let (_, settings, samples) = served.remove(place.unwrap());
        assert_eq!(settings.stages, ladder::rung(rung).unwrap().stages);
        // The viewer's account is the sender's, made again.
        let newest = samples.last().unwrap();
        let seen = viewer.meter().samples().back().unwrap();
        assert_eq!(seen.ledger.total(), newest.ledger.total(), "{rung}");
        assert_eq!(seen.payload_bytes, newest.payload_bytes);
        if seen.reference_age_ticks.is_some() {
            assert_eq!(seen.changed_cubes, newest.changed_cubes);
        }
        assert_eq!(seen.wire_bytes, newest.wire_bytes);
    }
}

#[test]
fn a_viewer_changes_its_own_stages_and_rate_and_nobody_elses() {
    let mut game = server(Security::Insecure, 8);
    let at = address(&game);
    let mut first = viewer_at(at, Security::Insecure, "delta");
    let mut second = viewer_at(at, Security::Insecure, "delta");
    step(&mut game, &mut [&mut first, &mut second], 60);
    for (place, rung) in ladder::all().enumerate() {
        let interval = SEND_INTERVALS[place % SEND_INTERVALS.len()];
        let world = first.app.world_mut();
        let mut settings = world.get_mut::<LaneSettings>(first.lane).unwrap();
        settings.stages = rung.stages;
        settings.send_interval_ticks = interval;
        step(&mut game, &mut [&mut first, &mut second], 30);
        let served = lanes(&mut game);
        assert!(served.iter().any(|(_, settings, _)| {
            settings.stages == rung.stages && settings.send_interval_ticks == interval
        }));
        assert!(served.iter().any(|(_, settings, _)| {
            settings.stages == ladder::DELTA.stages && settings.send_interval_ticks == 1
        }));
    }
    assert!(agreeing(&game, &first) > 200);
    assert!(agreeing(&game, &second) > 400);
}

#[test]
fn the_meters_count_the_bytes_that_the_socket_sends() {
    let mut game = server(Security::Insecure, 8);
    let mut relay = Relay::new(address(&game));
    let mut viewer = viewer_at(relay.address(), Security::Insecure, "position");
    for _ in 0..300 {
        game.step();
        relay.forward();
        viewer.app.update();
        relay.forward();
    }
    assert_eq!(viewer.status(), ViewerStatus::Connected);
    // What the viewer has sent since the server's last look is still on its way.
    let mut seen = relay.seen;
    seen.received -= relay.last_up.0;
    seen.received_bytes -= relay.last_up.1;
    let traffic = udp(&game).traffic();
    let unassigned_bytes = traffic.unassigned_bytes;
    assert_eq!(
        traffic,
        Traffic {
            unassigned_bytes,
            ..seen
        }
    );

    let served = lanes(&mut game);
    let sum = |bytes: fn(&Sample) -> usize| served[0].2.iter().map(bytes).sum::<usize>() as u64;
    let (wire, acks) = (sum(|s| s.wire_bytes), sum(|s| s.ack_bytes));
    let others = sum(|s| s.renet_ack_bytes + s.control_bytes);
    let all = traffic.sent_bytes + traffic.received_bytes;
    assert_eq!(wire + acks + others + unassigned_bytes, all);
    // netcode and renet put some 30 bytes to each packet.
    let article = sum(|s| s.article_bytes);
    let packets = sum(|s| s.packets);
    assert!(wire > article + 20 * packets && wire < article + 60 * packets);
}

/// Stands between a server and one viewer, and counts what goes by.
struct Relay {
    server: SocketAddr,
    viewer: Option<SocketAddr>,
    /// Viewers dial this one.
    front: UdpSocket,
    /// The server is dialled from this one.
    back: UdpSocket,
    seen: Traffic,
    /// Which datagram of the server's is lost, counted from 1.
    loses: Option<u64>,
    /// Datagrams and bytes that went up the last time.
    last_up: (u64, u64),
}

impl Relay {
    fn new(server: SocketAddr) -> Self {
        let socket = || {
            let socket = UdpSocket::bind(LOOPBACK).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        Self {
            server,
            viewer: None,
            front: socket(),
            back: socket(),
            seen: Traffic::default(),
            loses: None,
            last_up: (0, 0),
        }
    }

    fn address(&self) -> SocketAddr {
        self.front.local_addr().unwrap()
    }

    fn forward(&mut self) {
        let mut buffer = [0; 2000];
        self.last_up = (0, 0);
        while let Some((length, viewer)) = receive(&self.front, &mut buffer) {
            self.viewer = Some(viewer);
            self.back.send_to(&buffer[..length], self.server).unwrap();
            self.last_up.0 += 1;
            self.last_up.1 += (length + HEADER_BYTES) as u64;
        }
        self.seen.received += self.last_up.0;
        self.seen.received_bytes += self.last_up.1;
        while let Some((length, _)) = receive(&self.back, &mut buffer) {
            self.seen.sent += 1;
            if self.loses != Some(self.seen.sent) {
                let viewer = self.viewer.unwrap();
                self.front.send_to(&buffer[..length], viewer).unwrap();
            }
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
fn any_datagram_of_the_handshake_may_be_lost() {
    for loses in 1..=6 {
        let mut game = server(Security::Insecure, 8);
        let mut relay = Relay::new(address(&game));
        relay.loses = Some(loses);
        let mut viewer = viewer_at(relay.address(), Security::Insecure, "delta");
        for _ in 0..60 * (TIMEOUT_SECONDS - 2) {
            game.step();
            relay.forward();
            viewer.app.update();
            relay.forward();
        }
        assert_eq!(viewer.status(), ViewerStatus::Connected, "{loses}");
        assert!(viewer.meter().received > 60, "{loses}");
    }
}

#[test]
fn with_a_key_only_who_has_it_gets_in() {
    let key = Key::random();
    let mut game = server(Security::Key(key), 8);
    let at = address(&game);
    let mut friend = viewer_at(at, Security::Key(key), "delta");
    let mut stranger = viewer_at(at, Security::Key(Key::random()), "delta");
    let mut without = viewer_at(at, Security::Insecure, "delta");
    let ticks = 60 * (TIMEOUT_SECONDS + 1);
    step(
        &mut game,
        &mut [&mut friend, &mut stranger, &mut without],
        ticks,
    );
    assert_eq!(friend.status(), ViewerStatus::Connected);
    assert!(agreeing(&game, &friend) > ticks - 20);
    for viewer in [&stranger, &without] {
        let why = lost(viewer);
        assert!(
            why.starts_with(&format!("no answer from {at} for 5 s: ")),
            "{why}"
        );
        assert!(why.contains("another key"), "{why}");
    }
    assert_eq!(udp(&game).connected(), 1);
    assert!(udp(&game).traffic().ignored > 10);
}

#[test]
fn a_full_server_says_so() {
    let mut game = server(Security::Insecure, 1);
    let at = address(&game);
    let mut first = viewer_at(at, Security::Insecure, "delta");
    step(&mut game, &mut [&mut first], 20);
    let mut second = viewer_at(at, Security::Insecure, "delta");
    step(&mut game, &mut [&mut first, &mut second], 60);
    assert_eq!(lost(&second), format!("the server at {at} is full"));
    assert_eq!(first.status(), ViewerStatus::Connected);
}

#[test]
fn a_viewer_that_loses_its_server_says_so_and_connects_again() {
    let mut game = server(Security::Insecure, 8);
    let at = address(&game);
    let mut viewer = viewer_at(at, Security::Insecure, "delta");
    step(&mut game, &mut [&mut viewer], 100);
    assert_eq!(viewer.status(), ViewerStatus::Connected);
    // The server hangs.
    for _ in 0..60 * (TIMEOUT_SECONDS + 1) {
        viewer.app.update();
    }
    let silence = format!("lost the server at {at}: nothing came from it for 5 s");
    assert_eq!(lost(&viewer), silence);
    assert!(viewer.meter().hitches > 0);

    let reconnect = |viewer: &mut HeadlessViewer| {
        let world = viewer.app.world_mut();
        world.resource_mut::<UdpViewer>().reconnect();
    };
    reconnect(&mut viewer);
    step(&mut game, &mut [&mut viewer], 60 * (TIMEOUT_SECONDS + 1));
    assert_eq!(viewer.status(), ViewerStatus::Connected);
    assert_eq!(
        udp(&game).connected(),
        1,
        "the viewer that hung up is forgotten"
    );
    assert!(viewer.meter().received > 340);
    agreeing(&game, &viewer);

    // The server ends.
    game.app
        .world_mut()
        .write_message(bevy::app::AppExit::Success);
    step(&mut game, &mut [&mut viewer], 2);
    assert_eq!(
        lost(&viewer),
        format!("the server at {at} has ended the connection")
    );
    drop(game);
    reconnect(&mut viewer);
    for _ in 0..60 * (TIMEOUT_SECONDS + 1) {
        viewer.app.update();
    }
    assert_eq!(lost(&viewer), format!("nothing listens at {at}"));
}

#[test]
fn a_viewer_that_dies_holds_nobody_up_and_is_forgotten() {
    let mut game = server(Security::Insecure, 8);
    let at = address(&game);
    let mut dies = viewer_at(at, Security::Insecure, "uncompressed");
    let mut lives = viewer_at(at, Security::Insecure, "delta");
    step(&mut game, &mut [&mut dies, &mut lives], 60);
    assert_eq!(lanes(&mut game).len(), 2);
    // Not a word: its socket stays open, so that nothing comes back either.
    step(&mut game, &mut [&mut lives], 60 * (TIMEOUT_SECONDS + 1));
    assert_eq!(lanes(&mut game).len(), 1);
    assert_eq!(lives.meter().hitches, 0);
    let received = lives.meter().received;
    assert!(received as usize > 60 * (TIMEOUT_SECONDS + 1), "{received}");
}

#[test]
fn a_pause_keeps_viewers_and_lets_new_ones_in() {
    let mut game = server(Security::Insecure, 8);
    let at = address(&game);
    let mut first = viewer_at(at, Security::Insecure, "delta");
    step(&mut game, &mut [&mut first], 60);
    let pause = |game: &mut HeadlessGame, paused: bool| {
        let world = game.app.world_mut();
        let mut clock = world.resource_mut::<bevy::time::Time<bevy::time::Virtual>>();
        if paused {
            clock.pause();
        } else {
            clock.unpause();
        }
    };
    pause(&mut game, true);
    let mut second = viewer_at(at, Security::Insecure, "delta");
    // Longer than half the range of sequence numbers.
    step(&mut game, &mut [&mut first, &mut second], 60 * 600);
    assert_eq!(first.status(), ViewerStatus::Connected);
    assert_eq!(second.status(), ViewerStatus::Connected);
    let received = first.meter().received;
    pause(&mut game, false);
    step(&mut game, &mut [&mut first, &mut second], 60);
    assert!(first.meter().received > received + 50);
    assert!(second.meter().received > 50);
    for viewer in [&first, &second] {
        assert_eq!(viewer.meter().out_of_window, 0);
        agreeing(&game, viewer);
    }
}

#[test]
fn where_it_may_not_listen_or_dial_it_says_so() {
    let settings = |bind: &str, security| ServerSettings {
        bind: bind.parse().unwrap(),
        public: Vec::new(),
        security,
        max_viewers: 4,
    };
    let key = Security::Key(Key::random());
    let error = UdpServer::new(&settings("0.0.0.0:0", Security::Insecure)).unwrap_err();
    assert!(matches!(error, ServeError::InsecureInPublic(_)), "{error}");
    let error = UdpServer::new(&settings("0.0.0.0:0", key)).unwrap_err();
    assert!(matches!(error, ServeError::NoPublicAddress(_)), "{error}");
    let first = UdpServer::new(&settings(LOOPBACK, key)).unwrap();
    let error = UdpServer::new(&settings(&first.address().to_string(), key)).unwrap_err();
    assert!(matches!(error, ServeError::Bind { .. }), "{error}");
    let abroad = ViewerSettings {
        server: "192.0.2.1:7000".parse().unwrap(),
        security: Security::Insecure,
        timeout: Duration::from_secs(1),
    };
    let error = UdpViewer::new(abroad).unwrap_err();
    assert!(matches!(error, ViewError::InsecureInPublic(_)), "{error}");
}

/// One who has the key, or needs none, but says what he likes.
struct Rogue {
    socket: UdpSocket,
    netcode: NetcodeClient,
    sequence: u8,
}

impl Rogue {
    fn new(server: SocketAddr, version: u16) -> Self {
        let socket = UdpSocket::bind(LOOPBACK).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket.connect(server).unwrap();
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        let protocol = u64::from_be_bytes(*b"cubewire");
        let mut data = [0; 256];
        data[..2].copy_from_slice(&version.to_be_bytes());
        let connect_token = ConnectToken::generate(
            now,
            protocol,
            60,
            rand::random(),
            5,
            vec![server],
            Some(&data),
            &[0; 32],
        )
        .unwrap();
        let authentication = ClientAuthentication::Secure { connect_token };
        Self {
            socket,
            netcode: NetcodeClient::new(now, authentication).unwrap(),
            sequence: 0,
        }
    }

    /// Ends its tick, as a viewer's app would.
    fn step(&mut self) {
        let mut buffer = [0; 1400];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            self.netcode.process_packet(&mut buffer[..length]);
        }
        let tick = Duration::from_secs(1) / 60;
        if let Some((datagram, _)) = self.netcode.update(tick) {
            drop(self.socket.send(datagram));
        }
    }

    fn connect(game: &mut HeadlessGame, others: &mut [&mut HeadlessViewer], version: u16) -> Self {
        let mut rogue = Self::new(address(game), version);
        let before = udp(game).connected();
        for _ in 0..20 {
            rogue.step();
            step(game, others, 1);
        }
        assert_eq!(udp(game).connected(), before + 1);
        rogue
    }

    fn say(&mut self, payload: &[u8]) {
        if let Ok((_, datagram)) = self.netcode.generate_payload_packet(payload) {
            self.socket.send(datagram).unwrap();
        }
    }

    /// A small unreliable message, as renet packs it.
    fn message(&mut self, channel: u8, message: &[u8]) {
        self.sequence += 1;
        let mut packet = vec![1, self.sequence, channel, 0, 1, message.len() as u8];
        packet.extend(message);
        self.say(&packet);
    }
}

fn request() -> Request {
    Request {
        number: Sequence(1),
        stages: ladder::DELTA.stages,
        send_interval_ticks: 1,
        baseline: BaselineChoice::Newest,
    }
}

#[test]
fn who_sends_garbage_is_sent_away_and_nothing_else_changes() {
    let mut game = server(Security::Insecure, 8);
    let mut bystander = viewer_at(address(&game), Security::Insecure, "changed-flags");
    step(&mut game, &mut [&mut bystander], 60);
    let mut wild = request().encode();
    wild[2] = 7;
    let many = [&[1, 1, 2, 0xFF, 0][..], &[0; 1200]].concat();
    let garbage: [(&str, u8, &[u8]); 7] = [
        ("thousands of empty messages", 255, &many),
        ("a packet of no kind", 255, &[9, 1, 0, 0]),
        ("an empty packet", 255, &[]),
        (
            "a slice past the end, which makes renet panic",
            255,
            &[3, 1, 0, 1, 9, 3, 1, 7],
        ),
        ("a reliable message", 255, &[0, 1, 1, 0, 1, 5, 0]),
        ("a request for no such rate", 2, &wild),
        ("a request that is none", 2, &[0, 1, 2]),
    ];
    for (what, channel, bytes) in garbage {
        let mut rogue = Rogue::connect(&mut game, &mut [&mut bystander], PROTOCOL_VERSION);
        if channel == 255 {
            rogue.say(bytes);
        } else {
            rogue.message(channel, bytes);
        }
        step(&mut game, &mut [&mut bystander], 3);
        assert_eq!(udp(&game).connected(), 1, "{what}");
    }
    // What never gets to renet: netcode's own header.
    let raw: [&[u8]; 4] = [
        &[0x95; 40],
        &[0x25; 18],
        &[0xF5; 18],
        &[
            0x85, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0,
        ],
    ];
    let rogue = Rogue::connect(&mut game, &mut [&mut bystander], PROTOCOL_VERSION);
    for datagram in raw {
        rogue.socket.send(datagram).unwrap();
    }
    let mut random = ChaCha8Rng::seed_from_u64(rand::random());
    for _ in 0..2_000 {
        let mut datagram = [0; 40];
        let length = random.random_range(0..=datagram.len());
        random.fill_bytes(&mut datagram[..length]);
        rogue.socket.send(&datagram[..length]).unwrap();
        if random.random_bool(0.1) {
            step(&mut game, &mut [&mut bystander], 1);
        }
    }
    drop(rogue);
    step(&mut game, &mut [&mut bystander], 60 * (TIMEOUT_SECONDS + 1));
    assert_eq!(udp(&game).connected(), 1);

    // Acks that are none are counted, on a lane that goes on.
    let mut rogue = Rogue::connect(&mut game, &mut [&mut bystander], PROTOCOL_VERSION);
    rogue.message(2, &request().encode());
    step(&mut game, &mut [&mut bystander], 2);
    rogue.message(0, &[77, 1, 2]);
    rogue.message(0, &[0; 7]);
    step(&mut game, &mut [&mut bystander], 3);
    assert_eq!(lanes(&mut game).len(), 2);

    let seed = rand::random();
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let stranger = UdpSocket::bind(LOOPBACK).unwrap();
    let mut datagram = [0; 1400];
    for sent in 0..2_000 {
        let length = random.random_range(0..datagram.len());
        random.fill_bytes(&mut datagram[..length]);
        // A connection request, so that it is looked at closely, every second time.
        datagram[0] &= if random.random_bool(0.5) { 0 } else { 255 };
        stranger
            .send_to(&datagram[..length], address(&game))
            .unwrap();
        // Before the socket's buffer is full.
        if sent % 20 == 0 {
            step(&mut game, &mut [&mut bystander], 1);
        }
    }
    step(&mut game, &mut [&mut bystander], 10);
    assert!(udp(&game).traffic().ignored >= 2_000);
    assert_eq!(bystander.status(), ViewerStatus::Connected);
    assert_eq!(bystander.meter().refused + bystander.meter().hitches, 0);
    assert_eq!(
        agreeing(&game, &bystander) as u64,
        bystander.meter().received
    );
}

#[test]
fn another_version_gets_the_welcome_that_says_so_and_no_snapshots() {
    let mut game = server(Security::Insecure, 8);
    let mut rogue = Rogue::connect(&mut game, &mut [], PROTOCOL_VERSION + 1);
    for _ in 0..60 {
        rogue.message(2, &request().encode());
        rogue.step();
        game.step();
    }
    assert_eq!(lanes(&mut game).len(), 0);
    assert_eq!(udp(&game).connected(), 1, "it may read the welcome");
    for _ in 0..60 * 31 {
        rogue.step();
        game.step();
    }
    assert_eq!(udp(&game).connected(), 0, "and is sent away if it stays");
    assert_eq!(udp(&game).admitted(), 0);
}

#[test]
fn two_requests_in_one_frame_end_with_the_second() {
    let mut game = server(Security::Insecure, 8);
    let mut rogue = Rogue::connect(&mut game, &mut [], PROTOCOL_VERSION);
    let first = request();
    let second = Request {
        number: Sequence(2),
        stages: ladder::POSITION.stages,
        ..first
    };
    for _ in 0..3 {
        rogue.message(2, &first.encode());
        rogue.message(2, &second.encode());
        game.step();
    }
    assert_eq!(lanes(&mut game)[0].1.stages, ladder::POSITION.stages);
}

/// A server that lets everybody in and says what it likes.
struct RogueServer {
    socket: UdpSocket,
    netcode: NetcodeServer,
    client: Option<u64>,
    viewer: Option<SocketAddr>,
}

impl RogueServer {
    fn new() -> Self {
        let socket = UdpSocket::bind(LOOPBACK).unwrap();
        socket.set_nonblocking(true).unwrap();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let netcode = NetcodeServer::new(ServerConfig {
            current_time: now.unwrap(),
            max_clients: 1,
            protocol_id: u64::from_be_bytes(*b"cubewire"),
            public_addresses: vec![socket.local_addr().unwrap()],
            authentication: ServerAuthentication::Unsecure,
        });
        Self {
            socket,
            netcode,
            client: None,
            viewer: None,
        }
    }

    /// A viewer that has connected to it.
    fn meet(&mut self) -> HeadlessViewer {
        let at = self.socket.local_addr().unwrap();
        let mut viewer = viewer_at(at, Security::Insecure, "delta");
        for _ in 0..20 {
            viewer.app.update();
            self.step();
        }
        viewer.app.update();
        assert_eq!(viewer.status(), ViewerStatus::Connecting);
        assert!(self.client.is_some());
        viewer
    }

    fn step(&mut self) {
        let mut buffer = [0; 1400];
        self.netcode.update(Duration::from_secs(1) / 60);
        while let Some((length, from)) = receive(&self.socket, &mut buffer) {
            self.viewer = Some(from);
            match self.netcode.process_packet(from, &mut buffer[..length]) {
                ServerResult::PacketToSend { addr, payload } => {
                    self.socket.send_to(payload, addr).unwrap();
                }
                ServerResult::ClientConnected {
                    client_id,
                    addr,
                    payload,
                    ..
                } => {
                    self.socket.send_to(payload, addr).unwrap();
                    self.client = Some(client_id);
                }
                _ => {}
            }
        }
    }

    fn say(&mut self, payload: &[u8]) {
        let client = self.client.unwrap();
        let (to, datagram) = self
            .netcode
            .generate_payload_packet(client, payload)
            .unwrap();
        self.socket.send_to(datagram, to).unwrap();
    }

    /// Sends a welcome as renet would: in slices, reliably.
    fn welcome(&mut self, message: &[u8]) {
        let slices = message.chunks(1200);
        let count = slices.len();
        for (place, slice) in slices.enumerate() {
            let mut packet = [0; 1300];
            let mut bytes = OctetsMut::with_slice(&mut packet);
            bytes.put_u8(2).unwrap();
            bytes.put_varint(place as u64).unwrap();
            bytes.put_u8(1).unwrap();
            for value in [0, place, count, slice.len()] {
                bytes.put_varint(value as u64).unwrap();
            }
            bytes.put_bytes(slice).unwrap();
            let length = bytes.off();
            self.say(&packet[..length]);
        }
    }
}

fn welcome(cubes: usize, ticks_per_second: u16) -> Vec<u8> {
    let welcome = Welcome {
        ticks_per_second,
        tick: 5,
        initial: Snapshot {
            cubes: vec![CubeState::default(); cubes],
        },
    };
    welcome.encode().unwrap()
}

#[test]
fn a_viewer_says_what_is_wrong_with_its_server() {
    let mut version = welcome(901, 60);
    version[1] += 1;
    let mut damaged = welcome(901, 60);
    damaged.truncate(20_000);
    for (welcome, why) in [
        (version, "the server speaks version"),
        (damaged, "the initial state in the welcome"),
        (welcome(900, 60), "shows 900 cubes at 60 ticks a second"),
        (welcome(901, 50), "shows 901 cubes at 50 ticks a second"),
    ] {
        let mut server = RogueServer::new();
        let mut viewer = server.meet();
        server.welcome(&welcome);
        viewer.app.update();
        assert!(lost(&viewer).contains(why), "{}", lost(&viewer));
    }
    let hostile: [&[u8]; 5] = [
        &[9, 1, 0, 0],
        &[],
        &[3, 1, 0, 1, 9, 3, 1, 7],
        &[2, 1, 1, 9, 0, 3, 1, 7],
        &[0, 1, 1, 0, 1, 5, 0],
    ];
    for payload in hostile {
        let mut server = RogueServer::new();
        let mut viewer = server.meet();
        server.say(payload);
        viewer.app.update();
        let why = lost(&viewer);
        assert!(why.contains("is not what Cubewire sends"), "{why}");
    }
    // Datagrams that are none are passed over, whatever they look like.
    let mut server = RogueServer::new();
    let mut viewer = server.meet();
    let seed = rand::random();
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..2_000 {
        let mut datagram = [0; 40];
        let length = random.random_range(0..=datagram.len());
        random.fill_bytes(&mut datagram[..length]);
        server
            .socket
            .send_to(&datagram[..length], server.viewer.unwrap())
            .unwrap();
        if random.random_bool(0.1) {
            viewer.app.update();
        }
    }
    assert!(!matches!(viewer.status(), ViewerStatus::Lost(why) if why.contains("Cubewire")));
}
