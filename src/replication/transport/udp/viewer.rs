//! Connects to a server, asks for snapshots and hands them to the one lane that there is.

use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{Limits, Sequence};
use cubewire_link::{Conditions, Link};
use cubewire_protocol::{
    Grant, PROTOCOL_VERSION, Request, SnapshotReceiver, Welcome, WelcomeError,
};
use cubewire_scene::{CUBES, TICKS_PER_SECOND};
use renet::RenetClient;
use renetcode::{
    ClientAuthentication, ConnectToken, DisconnectReason, NETCODE_MAX_PACKET_BYTES, NetcodeClient,
};

use super::super::guard::Guard;
use super::super::{Purpose, REQUESTS, ReceiverMail, SNAPSHOTS, TICK, WELCOME, config};
use super::datagram::is_fit_for_viewer;
use super::{PROTOCOL_ID, Security, TOKEN_SECONDS, since_1970, token_data};
use crate::replication::reception::{Accountant, Receiving};
use crate::replication::{HEADER_BYTES, LaneMeter, LaneSettings, Replica, Sample};

/// Where to connect to.
#[derive(Clone, Debug)]
pub struct ViewerSettings {
    /// The server.
    pub server: SocketAddr,
    /// How it admits us.
    pub security: Security,
    /// Silence after which the connection is given up: whole seconds, from one to
    /// [`LONGEST_TIMEOUT`](Self::LONGEST_TIMEOUT).
    pub timeout: Duration,
}

impl ViewerSettings {
    /// After that, the server gives up in any case.
    pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(30);
}

/// Why there is no connection (any more).
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// A connection without a key would be open to others.
    #[error("{0} is on another machine: that needs a key")]
    InsecureInPublic(SocketAddr),
    /// The operating system gives no socket.
    #[error("cannot send to {server}: {source}")]
    Socket {
        /// The server.
        server: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// No connect token can be made.
    #[error("cannot make a connect token for {server}: {reason}")]
    Token {
        /// The server.
        server: SocketAddr,
        /// Why.
        reason: String,
    },
    /// The server's machine says that nobody listens.
    #[error("nothing listens at {0}")]
    NothingListens(SocketAddr),
    /// The server never answered.
    #[error(
        "no answer from {server} for {seconds} s: it is not there, UDP does not get through, it was \
         started with another key, it is dialled at another address than its --public, or the two \
         clocks are an hour apart"
    )]
    NoAnswer {
        /// The server.
        server: SocketAddr,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The server has no room.
    #[error("the server at {0} is full")]
    Full(SocketAddr),
    /// The server fell silent.
    #[error("lost the server at {server}: nothing came from it for {seconds} s")]
    Lost {
        /// The server.
        server: SocketAddr,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The server said goodbye.
    #[error("the server at {0} has ended the connection")]
    Ended(SocketAddr),
    /// The server speaks another version, or what it sent is no welcome.
    #[error(transparent)]
    Welcome(#[from] WelcomeError),
    /// The server plays something else.
    #[error(
        "the server at {server} shows {cubes} cubes at {ticks_per_second} ticks a second, and this \
         program {CUBES} at {TICKS_PER_SECOND}"
    )]
    OtherGame {
        /// The server.
        server: SocketAddr,
        /// Its cubes.
        cubes: usize,
        /// Its ticks a second.
        ticks_per_second: u16,
    },
    /// What came is none of ours.
    #[error("what came from {server} is not what Cubewire sends: {reason}")]
    Hostile {
        /// The server.
        server: SocketAddr,
        /// What was wrong with it.
        reason: String,
    },
}

/// The viewer's end of the connection.
#[derive(Resource, Debug)]
pub struct UdpViewer {
    settings: ViewerSettings,
    session: Result<Box<Session>, ViewError>,
}

/// How the connection fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewerStatus {
    /// No welcome yet.
    Connecting,
    /// Snapshots come.
    Connected,
    /// There is no connection, for this reason.
    Lost(String),
}

struct Session {
    socket: UdpSocket,
    netcode: NetcodeClient,
    renet: RenetClient,
    guard: Guard,
    /// What the panel's network adds to the real one.
    down: Link<Vec<u8>>,
    up: Link<Vec<u8>>,
    is_welcomed: bool,
    asked: Option<Asked>,
    /// Whether the server's machine said that nobody listens.
    is_unreachable: bool,
    /// Packets that the meter does not have yet.
    traffic: Sample,
    since_flush: Duration,
}

/// netcode's own would show the keys.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("is_welcomed", &self.is_welcomed)
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}

/// What the server was asked for last.
#[derive(Clone, Copy, Debug)]
struct Asked {
    request: Request,
    is_granted: bool,
    /// How long ago it was last said.
    since: Duration,
}

impl UdpViewer {
    /// Begins to connect.
    ///
    /// # Errors
    /// [`ViewError`] if that cannot even begin.
    pub fn new(settings: ViewerSettings) -> Result<Self, ViewError> {
        let session = Session::new(&settings)?;
        Ok(Self {
            settings,
            session: Ok(Box::new(session)),
        })
    }

    /// The server.
    #[must_use]
    pub const fn server(&self) -> SocketAddr {
        self.settings.server
    }

    /// How the connection fares.
    #[must_use]
    pub fn status(&self) -> ViewerStatus {
        match &self.session {
            Ok(session) if session.is_welcomed => ViewerStatus::Connected,
            Ok(_) => ViewerStatus::Connecting,
            Err(error) => ViewerStatus::Lost(error.to_string()),
        }
    }

    /// netcode's number of this viewer; none without a connection.
    #[must_use]
    pub fn client(&self) -> Option<u64> {
        let session = self.session.as_ref().ok()?;
        Some(session.netcode.client_id())
    }

    /// There and back, by renet's own acks; none without a connection.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        let session = self.session.as_ref().ok()?;
        Some(Duration::from_secs_f64(session.renet.rtt().max(0.0)))
    }

    /// Begins anew, if the connection is lost. What is shown stays until the new welcome.
    pub fn reconnect(&mut self) {
        if self.session.is_err() {
            self.session = Session::new(&self.settings).map(Box::new);
        }
    }
}

impl Session {
    fn new(settings: &ViewerSettings) -> Result<Self, ViewError> {
        let server = settings.server;
        if settings.security == Security::Insecure && !server.ip().is_loopback() {
            return Err(ViewError::InsecureInPublic(server));
        }
        let any = match server {
            SocketAddr::V4(_) => "0.0.0.0:0",
            SocketAddr::V6(_) => "[::]:0",
        };
        let socket = UdpSocket::bind(any).and_then(|socket| {
            // From others, nothing is let in.
            socket.connect(server)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        let socket = socket.map_err(|source| ViewError::Socket { server, source })?;
        let now = since_1970();
        let no_token = |reason: String| ViewError::Token { server, reason };
        let connect_token = ConnectToken::generate(
            now,
            PROTOCOL_ID,
            TOKEN_SECONDS,
            rand::random(),
            settings
                .timeout
                .min(ViewerSettings::LONGEST_TIMEOUT)
                .as_secs()
                .max(1) as i32,
            vec![server],
            Some(&token_data(PROTOCOL_VERSION)),
            &settings.security.private_key(),
        )
        .map_err(|error| no_token(error.to_string()))?;
        let netcode = NetcodeClient::new(now, ClientAuthentication::Secure { connect_token })
            .map_err(|error| no_token(error.to_string()))?;
        let mut renet = RenetClient::new(config());
        renet.set_connected();
        let seed = netcode.client_id();
        let link = |direction| Link::new(Conditions::PERFECT, seed.wrapping_add(direction));
        Ok(Self {
            socket,
            netcode,
            renet,
            guard: Guard::of_the_receiver(),
            down: link(0),
            up: link(1),
            is_welcomed: false,
            asked: None,
            is_unreachable: false,
            traffic: Sample::default(),
            since_flush: Duration::ZERO,
        })
    }

    /// Takes in what has come from the server, and keeps the connection alive.
    fn receive(
        &mut self,
        now: Duration,
        delta: Duration,
        server: SocketAddr,
    ) -> Result<(), ViewError> {
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    self.is_unreachable = false;
                    let bytes = length + HEADER_BYTES;
                    if !is_fit_for_viewer(&buffer[..length]) {
                        self.traffic.control_bytes += bytes;
                        continue;
                    }
                    match self.netcode.process_packet(&mut buffer[..length]) {
                        Some(payload) => {
                            self.traffic.count_down(Purpose::of(payload), bytes);
                            self.down.send(now, bytes, payload.to_vec());
                        }
                        None => self.traffic.control_bytes += bytes,
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    self.is_unreachable = true;
                }
                Err(_) => {}
            }
        }
        self.renet.update(delta);
        while let Some(packet) = self.down.receive(now) {
            if let Err(hostile) = self.guard.admit(&packet) {
                return Err(ViewError::Hostile {
                    server,
                    reason: hostile.to_string(),
                });
            }
            self.renet.process_packet(&packet);
        }
        if let Some(reason) = self.renet.disconnect_reason() {
            return Err(ViewError::Hostile {
                server,
                reason: reason.to_string(),
            });
        }
        if let Some((datagram, _)) = self.netcode.update(delta)
            && self.socket.send(datagram).is_ok()
        {
            self.traffic.control_bytes += datagram.len() + HEADER_BYTES;
        }
        Ok(())
    }

    /// Why netcode has given up, if it has.
    fn check(&self, settings: &ViewerSettings) -> Result<(), ViewError> {
        let server = settings.server;
        let seconds = settings.timeout.as_secs();
        let Some(reason) = self.netcode.disconnect_reason() else {
            return Ok(());
        };
        Err(match reason {
            _ if self.is_unreachable => ViewError::NothingListens(server),
            DisconnectReason::ConnectionRequestTimedOut
            | DisconnectReason::ConnectionResponseTimedOut
            | DisconnectReason::ConnectTokenExpired => ViewError::NoAnswer { server, seconds },
            DisconnectReason::ConnectionTimedOut => ViewError::Lost { server, seconds },
            DisconnectReason::ConnectionDenied => ViewError::Full(server),
            DisconnectReason::DisconnectedByClient | DisconnectReason::DisconnectedByServer => {
                ViewError::Ended(server)
            }
        })
    }

    /// What the welcome says, if it has come now.
    fn welcome(&mut self, server: SocketAddr) -> Result<Option<Welcome>, ViewError> {
        let Some(message) = self.renet.receive_message(WELCOME) else {
            return Ok(None);
        };
        let welcome = Welcome::decode(&message, Limits::default())?;
        let cubes = welcome.initial.cubes.len();
        if cubes != CUBES || u32::from(welcome.ticks_per_second) != TICKS_PER_SECOND {
            return Err(ViewError::OtherGame {
                server,
                cubes,
                ticks_per_second: welcome.ticks_per_second,
            });
        }
        self.is_welcomed = true;
        Ok(Some(welcome))
    }

    /// Takes in what the server has granted, and gives the tick that it told of last.
    fn granted(&mut self) -> Option<u64> {
        let mut newest = None;
        while let Some(message) = self.renet.receive_message(REQUESTS) {
            if let (Ok(grant), Some(asked)) = (Grant::decode(&message), &mut self.asked) {
                asked.is_granted |= grant.number == asked.request.number;
                newest = Some(grant.tick);
            }
        }
        newest
    }

    /// Says what the lane's settings ask for, until the server has granted it.
    fn ask(&mut self, settings: &LaneSettings, delta: Duration) {
        let last = self.asked.map(|asked| asked.request);
        let number = last.map_or(Sequence(0), |last| last.number);
        let stages = match settings.stages.check() {
            Ok(()) => settings.stages,
            Err(_) => last.map_or(LaneSettings::default().stages, |last| last.stages),
        };
        let wanted = Request {
            number,
            stages,
            send_interval_ticks: settings.send_interval_ticks.clamp(1, 255) as u8,
            baseline: settings.baseline,
        };
        let is_due = match &mut self.asked {
            Some(asked) if asked.request == wanted => {
                asked.since += delta;
                !asked.is_granted && asked.since >= ASK_AGAIN
            }
            _ => {
                self.asked = Some(Asked {
                    request: Request {
                        number: number.next(),
                        ..wanted
                    },
                    is_granted: false,
                    since: Duration::ZERO,
                });
                true
            }
        };
        if let Some(asked) = &mut self.asked
            && is_due
        {
            asked.since = Duration::ZERO;
            self.renet.send_message(REQUESTS, asked.request.encode());
        }
    }

    fn say_goodbye(&mut self) {
        if let Ok((_, datagram)) = self.netcode.disconnect() {
            // Whether it arrives or not.
            drop(self.socket.send(datagram));
        }
    }

    fn flush(&mut self, now: Duration) {
        for packet in self.renet.get_packets_to_send() {
            self.up.send(now, packet.len() + HEADER_BYTES, packet);
        }
        while let Some(packet) = self.up.receive(now) {
            if let Ok((_, datagram)) = self.netcode.generate_payload_packet(&packet)
                && self.socket.send(datagram).is_ok()
            {
                let bytes = datagram.len() + HEADER_BYTES;
                self.traffic.count_up(Purpose::of(&packet), bytes);
            }
        }
    }
}

type Lane<'a> = (
    Entity,
    &'a LaneSettings,
    &'a mut ReceiverMail,
    &'a mut LaneMeter,
    Option<&'a mut Replica>,
);

pub(in crate::replication) fn receive(
    time: Res<Time<Real>>,
    ticks: Res<Time<Fixed>>,
    mut viewer: ResMut<UdpViewer>,
    lane: Single<Lane<'_>>,
    mut commands: Commands,
) -> Result {
    let (lane, settings, mut mail, mut meter, replica) = lane.into_inner();
    let has_replica = replica.is_some();
    let viewer = &mut *viewer;
    let server = viewer.settings.server;
    let Ok(session) = &mut viewer.session else {
        return Ok(());
    };
    for link in [&mut session.down, &mut session.up] {
        if *link.conditions() != settings.link {
            link.set_conditions(settings.link.clone());
        }
    }
    let received = session.receive(time.elapsed(), time.delta(), server);
    let received = received.and_then(|()| session.check(&viewer.settings));
    let welcome = match received.and_then(|()| session.welcome(server)) {
        Ok(welcome) => welcome,
        Err(error) => {
            session.say_goodbye();
            viewer.session = Err(error);
            return Ok(());
        }
    };
    if let Some(welcome) = welcome {
        let receiving = Receiving::new(settings.ruled_delay());
        let accountant = Accountant::new(welcome.initial.clone())?;
        let delay = settings.ruled_delay();
        let receiver = SnapshotReceiver::new(welcome, Limits::default(), delay, ticks.elapsed())?;
        commands
            .entity(lane)
            .insert((Replica(receiver), receiving, accountant));
        *meter = LaneMeter::default();
    }
    let tick = session.granted();
    if let (Some(tick), Some(mut replica)) = (tick, replica) {
        replica.0.hear_of_tick(ticks.elapsed(), tick);
    }
    // Before the welcome, nothing could be decoded.
    if session.is_welcomed {
        session.ask(settings, time.delta());
    }
    let is_ready = session.is_welcomed && has_replica;
    while let Some(message) = session.renet.receive_message(SNAPSHOTS) {
        if is_ready {
            mail.0.deliver(message);
        }
    }
    meter.link = session.down.stats();
    Ok(())
}

/// Sends what waits, once a tick.
pub(in crate::replication) fn flush(
    time: Res<Time<Real>>,
    mut viewer: ResMut<UdpViewer>,
    lane: Single<(&mut ReceiverMail, &mut LaneMeter)>,
) {
    let (mut mail, mut meter) = lane.into_inner();
    let Ok(session) = &mut viewer.session else {
        mail.0.outgoing.clear();
        return;
    };
    session.since_flush += time.delta();
    if mail.0.outgoing.is_empty() && session.since_flush < TICK {
        return;
    }
    session.since_flush = Duration::ZERO;
    for message in mail.0.outgoing.drain(..) {
        session.renet.send_message(SNAPSHOTS, message);
    }
    session.flush(time.elapsed());
    let traffic = std::mem::take(&mut session.traffic);
    meter.current().add_traffic(&traffic);
}

/// Tells the server that the program ends.
pub(in crate::replication) fn close(mut viewer: ResMut<UdpViewer>) {
    if let Ok(session) = &mut viewer.session {
        session.say_goodbye();
    }
}

/// Datagrams taken in at a time: a second of uncompressed snapshots.
const MAX_DATAGRAMS: usize = 4096;

/// Between two requests, as long as none is granted.
const ASK_AGAIN: Duration = Duration::from_millis(100);
