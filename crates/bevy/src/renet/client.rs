//! The client's socket.

use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bevy_app::{App, FixedPostUpdate, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use cubewire_link::{Conditions, Link, LinkStats};
use cubewire_protocol::netcode::is_from_server;
use renetcode::{
    ClientAuthentication, ConnectToken, DisconnectReason, NETCODE_MAX_PACKET_BYTES, NetcodeClient,
};

use super::{MAX_DATAGRAMS, OVERHEAD_BYTES, since_1970};
use crate::body::disconnect;
use crate::mailbox::{self, CubewireSystems, Mailbox, Server};
use crate::pipe::Pipe;
use crate::traffic::{HEADER_BYTES, Traffic};

/// Connects to a server when the app starts, or without a token when a [`RenetConnection`] is spawned. If that fails,
/// [`Disconnected`](crate::Disconnected) says why.
#[derive(Debug, Default)]
pub struct RenetClient(Option<ConnectToken>);

impl RenetClient {
    /// Connects to the server for which a token was made.
    #[must_use]
    pub const fn connect(token: ConnectToken) -> Self {
        Self(Some(token))
    }
}

impl Plugin for RenetClient {
    /// # Panics
    /// If the operating system gives no socket.
    fn build(&self, app: &mut App) {
        mailbox::add(app);
        app.add_systems(
            PreUpdate,
            (receive, deliver).chain().in_set(CubewireSystems::Receive),
        )
        .add_systems(FixedPostUpdate, flush.in_set(CubewireSystems::Flush))
        .add_systems(PostUpdate, flush.in_set(CubewireSystems::Flush));
        if let Some(token) = &self.0 {
            let connection = RenetConnection::new(token.clone()).expect("there is a free port");
            app.world_mut().spawn(connection);
        }
    }
}

/// A connection to a server: spawn one to connect again. Its entity becomes a [`Server`] once the server answers, and is
/// despawned when the connection has ended.
#[derive(Component)]
pub struct RenetConnection {
    server: SocketAddr,
    /// Silence after which it has ended; none if its token allows any.
    timeout: Option<Duration>,
    socket: UdpSocket,
    netcode: NetcodeClient,
    /// Where to get another token, and how often it was needed.
    tokens: Option<Tokens>,
    retries: u32,
    /// How long the handshake has taken, with that of other tokens.
    connecting: Duration,
    /// Time since the server's machine last reported that no process listens at the address, if nothing has arrived since.
    since_refusal: Option<Duration>,
    /// Whether the server has sent a packet since the handshake.
    is_heard: bool,
    pipe: Pipe,
    /// Simulated links in addition to the real network: from the server, and to it.
    links: [Link<Vec<u8>>; 2],
    /// Traffic that the mailbox has not counted yet.
    traffic: Traffic,
}

type Tokens = Box<dyn FnMut() -> io::Result<ConnectToken> + Send + Sync>;

/// The derived implementation would show keys.
impl fmt::Debug for RenetConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenetConnection")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

impl RenetConnection {
    /// Connects to the server for which a token was made.
    ///
    /// # Errors
    /// If the operating system gives no socket, or the token is for no address.
    pub fn new(token: ConnectToken) -> io::Result<Self> {
        let server = token.server_addresses.iter().flatten().next().copied();
        let server = server.ok_or(io::ErrorKind::AddrNotAvailable)?;
        let seconds = u64::try_from(token.timeout_seconds).ok();
        let any = match server {
            SocketAddr::V4(_) => "0.0.0.0:0",
            SocketAddr::V6(_) => "[::]:0",
        };
        let socket = UdpSocket::bind(any)?;
        // A connected socket discards datagrams from other addresses.
        socket.connect(server)?;
        socket.set_nonblocking(true)?;
        let netcode = netcode(token)?;
        let seed = netcode.client_id();
        let link = |direction| Link::new(Conditions::PERFECT, seed.wrapping_add(direction));
        Ok(Self {
            server,
            timeout: seconds.map(Duration::from_secs),
            socket,
            netcode,
            tokens: None,
            retries: 0,
            connecting: Duration::ZERO,
            since_refusal: None,
            is_heard: false,
            pipe: Pipe::default(),
            links: [link(0), link(1)],
            traffic: Traffic::default(),
        })
    }

    /// As [`new`](Self::new), with tokens from a source, such as [`Key::token`](super::Key::token) where the client has the
    /// key. As each token is good for one handshake, and a server that is flooded with others may give that up, another is
    /// taken after a second without a connection, and then after ever longer times. All have to be for one server.
    ///
    /// # Errors
    /// See [`new`](Self::new), and those of the source.
    pub fn with_tokens(
        mut tokens: impl FnMut() -> io::Result<ConnectToken> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let mut connection = Self::new(tokens()?)?;
        connection.tokens = Some(Box::new(tokens));
        Ok(connection)
    }

    /// The client's number in its token, which is the [`ClientId`](super::ClientId) at the server.
    #[must_use]
    pub fn client_id(&self) -> u64 {
        self.netcode.client_id()
    }

    /// Simulates a network in addition to the real one, in both directions: perfect without this.
    pub fn set_conditions(&mut self, conditions: &Conditions) {
        for link in &mut self.links {
            if link.conditions() != conditions {
                link.set_conditions(conditions.clone());
            }
        }
    }

    /// What the simulated link from the server has done.
    #[must_use]
    pub fn link_stats(&self) -> LinkStats {
        self.links[0].stats()
    }

    /// In a sentence, that the server has not answered, since when, and what may be the cause.
    #[must_use]
    pub fn no_answer(&self) -> String {
        let server = self.server;
        let seconds = self.connecting.as_secs_f64().round().max(1.0);
        format!(
            "no answer from {server} for {seconds} s: it is not running, UDP is blocked on the way, it has another key, this \
             is not one of its public addresses, or the two clocks are a minute apart"
        )
    }

    /// Processes the datagrams that have arrived, and keeps the connection alive. Fails once it has ended.
    fn receive(&mut self, now: Duration, delta: Duration) -> Result<(), String> {
        self.retry(delta).map_err(|error| {
            let server = self.server;
            format!("there is no other token for {server}: {error}")
        })?;
        if let Some(since) = &mut self.since_refusal {
            *since += delta;
        }
        self.read(now);
        while let Some(packet) = self.links[0].receive(now) {
            let taken = self.pipe.receive(now, &packet);
            taken
                .map_err(|hostile| format!("{} sent an invalid packet: {hostile}", self.server))?;
        }
        if let Some((datagram, _)) = self.netcode.update(delta)
            && self.socket.send(datagram).is_ok()
        {
            let bytes = datagram.len() + HEADER_BYTES;
            self.traffic.sent.control_bytes += bytes as u64;
        }
        self.end().map_or(Ok(()), Err)
    }

    /// Reads the datagrams that have arrived.
    fn read(&mut self, now: Duration) {
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    self.since_refusal = None;
                    let bytes = length + HEADER_BYTES;
                    let datagram = &mut buffer[..length];
                    let packet = match is_from_server(datagram) {
                        true => self.netcode.process_packet(datagram),
                        false => None,
                    };
                    let received = &mut self.traffic.received;
                    match packet {
                        Some(packet) => {
                            self.is_heard = true;
                            received.count(packet, bytes);
                            self.links[0].send(now, bytes, packet.to_vec());
                        }
                        None => received.control_bytes += bytes as u64,
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    self.since_refusal = Some(Duration::ZERO);
                }
                Err(_) => {}
            }
        }
    }

    /// Begins the handshake again from time to time, with another token.
    fn retry(&mut self, delta: Duration) -> io::Result<()> {
        if !self.netcode.is_connecting() {
            return Ok(());
        }
        self.connecting += delta;
        let due = RETRY_INTERVAL * ((self.retries + 1) * (self.retries + 2) / 2);
        if let Some(tokens) = &mut self.tokens
            && self.connecting >= due
        {
            self.retries += 1;
            self.netcode = netcode(tokens()?)?;
        }
        Ok(())
    }

    /// Why the connection has ended, or was not established in time.
    fn end(&self) -> Option<String> {
        use DisconnectReason as Reason;
        let server = self.server;
        let is_late = self
            .timeout
            .is_some_and(|timeout| self.connecting > timeout);
        let reason = match self.netcode.disconnect_reason() {
            None if is_late && self.netcode.is_connecting() => Reason::ConnectionRequestTimedOut,
            reason => reason?,
        };
        let seconds = self.timeout.unwrap_or_default().as_secs();
        Some(match reason {
            _ if self.since_refusal.is_some_and(|since| since <= RECENT) => {
                format!("nothing listens at {server}")
            }
            // Refused for a while, and then not any more.
            Reason::ConnectionTimedOut if self.since_refusal.is_some() => format!(
                "the server at {server} was restarted, and does not know this client: connect again"
            ),
            Reason::ConnectionTimedOut => {
                format!("lost the server at {server}: nothing was received from it for {seconds} s")
            }
            Reason::ConnectionRequestTimedOut
            | Reason::ConnectionResponseTimedOut
            | Reason::ConnectTokenExpired => self.no_answer(),
            Reason::ConnectionDenied => format!("the server at {server} is full"),
            Reason::DisconnectedByServer if !self.is_heard => format!(
                "the server at {server} has ended the connection at once: it has a client of that number, perhaps this one \
                 before it ended without a goodbye, until that has been silent for a second"
            ),
            Reason::DisconnectedByClient | Reason::DisconnectedByServer => {
                format!("the server at {server} has ended the connection")
            }
        })
    }
}

fn netcode(connect_token: ConnectToken) -> io::Result<NetcodeClient> {
    let netcode = NetcodeClient::new(since_1970(), ClientAuthentication::Secure { connect_token });
    netcode.map_err(|error| io::Error::other(error.to_string()))
}

/// Time after which a handshake is restarted for the first time: enough for its datagrams to be repeated several times.
/// Each one gets this much more time than the last, so that one is long enough for any network.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// A refusal is repeated for every datagram that is sent, of which there are several in this time.
const RECENT: Duration = Duration::from_secs(1);

/// Reads the sockets.
fn receive(
    time: Res<Time<Real>>,
    mut connections: Query<(Entity, &mut RenetConnection, Has<Server>)>,
    mut commands: Commands,
) {
    for (entity, mut connection, is_server) in &mut connections {
        match connection.receive(time.elapsed(), time.delta()) {
            Err(reason) => {
                commands.queue(move |world: &mut World| disconnect(world, entity, reason));
            }
            Ok(()) if connection.netcode.is_connected() && !is_server => {
                let server = (Server, Mailbox::new(OVERHEAD_BYTES));
                commands.entity(entity).try_insert(server);
            }
            Ok(()) => {}
        }
    }
}

/// Fills the mailboxes.
fn deliver(mut connections: Query<(&mut RenetConnection, &mut Mailbox)>) {
    for (mut connection, mut mailbox) in &mut connections {
        connection.pipe.deliver(&mut mailbox);
    }
}

/// Sends what is in the mailboxes.
fn flush(
    time: Res<Time<Real>>,
    mut connections: Query<(Entity, &mut RenetConnection, &mut Mailbox)>,
    mut commands: Commands,
) {
    let now = time.elapsed();
    for (server, mut connection, mut mailbox) in &mut connections {
        let connection = &mut *connection;
        let link = &mut connection.links[1];
        let packets = connection.pipe.flush(now, &mut mailbox);
        let packets = packets.unwrap_or_else(|reason| {
            commands.queue(move |world: &mut World| disconnect(world, server, reason));
            Vec::new()
        });
        for packet in packets {
            link.send(now, packet.len() + HEADER_BYTES, packet);
        }
        while let Some(packet) = link.receive(now) {
            if let Ok((_, datagram)) = connection.netcode.generate_payload_packet(&packet)
                && connection.socket.send(datagram).is_ok()
            {
                let bytes = datagram.len() + HEADER_BYTES;
                connection.traffic.sent.count(&packet, bytes);
            }
        }
        mailbox
            .traffic
            .add(&std::mem::take(&mut connection.traffic));
    }
}

/// Tells the server, whoever has despawned the entity or dropped the app.
impl Drop for RenetConnection {
    fn drop(&mut self) {
        if let Ok((_, datagram)) = self.netcode.disconnect() {
            // If it is lost, the server notices the silence.
            let _ = self.socket.send(datagram);
        }
    }
}
