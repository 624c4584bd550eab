//! The client's socket and connection.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bevy_app::{App, Plugin};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_time::{Real, Time};
use cubewire_link::{Conditions, Link, LinkStats};
use cubewire_protocol::netcode::{TOKEN_SECONDS, is_from_server};
use renetcode::{
    ClientAuthentication, ConnectToken, DisconnectReason, NETCODE_MAX_PACKET_BYTES, NetcodeClient,
};

use super::{MAX_DATAGRAMS, either, overhead_bytes, since_1970};
use crate::body::disconnect_later;
use crate::renet_connection::{FROM_SERVER_BYTES, RenetConnection};
use crate::traffic::{Traffic, header_bytes};
use crate::transport::{self, LinkConditions, MessageBuffer, OrDisabled, Server};

/// Connects to a server when the app starts, or, without a token, when a [`UdpConnection`] is spawned.
/// [`Disconnected`](crate::Disconnected) reports a failure.
#[derive(Debug, Default)]
pub struct UdpClient(Option<ConnectToken>);

impl UdpClient {
    /// Connects to the token's server.
    pub const fn connect(token: ConnectToken) -> Self {
        Self(Some(token))
    }
}

impl Plugin for UdpClient {
    /// # Panics
    /// If the operating system provides no socket.
    fn build(&self, app: &mut App) {
        transport::add_systems::<Handle, _, _>(app, receive, flush);
        app.add_observer(follow);
        if let Some(token) = &self.0 {
            let connection = UdpConnection::new(token.clone()).expect("there is a free port");
            app.world_mut().spawn(connection);
        }
    }
}

/// A connection to a server. Spawn one to reconnect. The entity becomes a [`Server`] when the server answers, and is
/// despawned when the connection ends. [`LinkConditions`] on the entity simulate another network.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore, on_add = share)]
pub struct UdpConnection(Handle);

/// On the entity of a [`UdpConnection`], and alone on its successor.
#[derive(Component, Clone, Debug)]
#[component(clone_behavior = Ignore)]
struct Handle(Arc<Mutex<ClientEnd>>);

fn share(mut world: DeferredWorld<'_>, context: HookContext) {
    let connection = world.get::<UdpConnection>(context.entity);
    let handle = connection.expect("it was added").0.clone();
    world.commands().entity(context.entity).try_insert(handle);
}

struct ClientEnd {
    /// The server's addresses that this machine has a route to.
    servers: Vec<SocketAddr>,
    server: usize,
    /// Silence after which the connection ends; `None` if the token sets no timeout.
    timeout: Option<Duration>,
    socket: UdpSocket,
    netcode: NetcodeClient,
    token: ConnectToken,
    /// Source of further tokens.
    tokens: Option<Tokens>,
    /// Number of handshakes that were restarted.
    retries: u32,
    /// Number of consecutive addresses that refused, up to the previous one.
    refusals: usize,
    /// Duration of the current handshake.
    trying: Duration,
    /// Duration of all handshakes together.
    connecting: Duration,
    /// Time since the server's machine last reported that no process listens at the address. Reset by any received
    /// datagram.
    since_refusal: Option<Duration>,
    /// Whether any datagram has arrived in this handshake. If so, its token must not be reused for another address,
    /// because packets of both handshakes would be encrypted with the same nonces.
    is_answered: bool,
    /// Whether the server has sent a packet since the handshake.
    is_heard: bool,
    renet: RenetConnection,
    /// Simulated links on top of the real network: from the server, and to it.
    links: [Link<Vec<u8>>; 2],
    /// Since the first handshake, before which there is no message buffer.
    traffic: Traffic,
}

type Tokens = Box<dyn FnMut() -> io::Result<ConnectToken> + Send + Sync>;

/// Not derived, because it would print keys.
impl fmt::Debug for ClientEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientEnd").field("server", &self.server()).finish_non_exhaustive()
    }
}

impl UdpConnection {
    /// Connects to the token's server. Tries the token's addresses in order. Moves to the next one at once if an
    /// address refuses datagrams, or after its share of the token's timeout if it does not answer.
    ///
    /// # Errors
    /// If the operating system provides no socket, or this machine has no route to any of the token's addresses.
    pub fn new(token: ConnectToken) -> io::Result<Self> {
        ClientEnd::new(token, None).map(Self::of)
    }

    /// Connects with tokens from a source, such as [`Key::token`](super::Key::token) if the client has the key. A token
    /// is valid for one handshake only, which a flooded server may drop. A new token is taken after one second without
    /// a connection, and then after increasing times. With several addresses, each token is used for the next address,
    /// and after the last one for the first again. All tokens must have the same addresses.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new) and of the source.
    pub fn with_tokens(
        mut tokens: impl FnMut() -> io::Result<ConnectToken> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let token = tokens()?;
        ClientEnd::new(token, Some(Box::new(tokens))).map(Self::of)
    }

    /// Returns the address that it is connected to or currently tries.
    pub fn server(&self) -> SocketAddr {
        self.0.lock().server()
    }

    /// Returns the client id in the token, which is the [`ClientId`](super::ClientId) at the server.
    pub fn client_id(&self) -> u64 {
        self.0.lock().netcode.client_id()
    }

    /// Returns the statistics of the simulated link from the server.
    pub fn link_stats(&self) -> LinkStats {
        self.0.lock().links[0].stats()
    }

    /// Returns a sentence for people: the server has not answered, for how long, and possible causes.
    pub fn no_answer(&self) -> String {
        self.0.lock().no_answer()
    }

    fn of(end: ClientEnd) -> Self {
        Self(Handle(Arc::new(Mutex::new(end))))
    }
}

impl Handle {
    fn lock(&self) -> MutexGuard<'_, ClientEnd> {
        transport::lock(&self.0)
    }
}

impl ClientEnd {
    fn new(token: ConnectToken, tokens: Option<Tokens>) -> io::Result<Self> {
        let mut servers = token.server_addresses.iter().map_while(|address| *address).collect();
        let socket = open(&mut servers, 0)?;
        let seconds = u64::try_from(token.timeout_seconds).ok();
        let netcode = netcode(token.clone())?;
        let seed = netcode.client_id();
        let link = |direction| Link::new(Conditions::PERFECT, seed.wrapping_add(direction));
        Ok(Self {
            servers,
            server: 0,
            timeout: seconds.map(Duration::from_secs),
            socket,
            netcode,
            token,
            tokens,
            retries: 0,
            refusals: 0,
            trying: Duration::ZERO,
            connecting: Duration::ZERO,
            since_refusal: None,
            is_answered: false,
            is_heard: false,
            renet: RenetConnection::new(FROM_SERVER_BYTES),
            links: [link(0), link(1)],
            traffic: Traffic::default(),
        })
    }

    fn server(&self) -> SocketAddr {
        self.servers[self.server]
    }

    fn no_answer(&self) -> String {
        let server = either(&self.servers);
        let seconds = self.connecting.as_secs_f64().round().max(1.0);
        format!(
            "no answer from {server} for {seconds} s: it is not running, UDP is blocked on the way, it has another key, this \
             is not one of its public addresses, or the two clocks are a minute apart"
        )
    }

    /// Processes received datagrams and keeps the connection alive. Fails once the connection has ended.
    fn receive(&mut self, now: Duration, delta: Duration) -> Result<(), String> {
        if let Some(since) = &mut self.since_refusal {
            *since += delta;
        }
        self.read(now);
        self.retry(delta)?;
        while let Some(packet) = self.links[0].receive(now) {
            self.renet
                .receive(now, &packet)
                .map_err(|error| format!("{} sent an invalid packet: {error}", self.server()))?;
        }
        let header_bytes = header_bytes(self.server().ip());
        if let Some((datagram, _)) = self.netcode.update(delta)
            && send(&self.socket, datagram, &mut self.since_refusal)
        {
            self.traffic.sent.control_bytes += (datagram.len() + header_bytes) as u64;
        }
        self.end().map_or(Ok(()), Err)
    }

    fn read(&mut self, now: Duration) {
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    self.since_refusal = None;
                    let bytes = length + header_bytes(self.server().ip());
                    let datagram = &mut buffer[..length];
                    let is_from_server = is_from_server(datagram);
                    self.is_answered |= is_from_server;
                    let received = &mut self.traffic.received;
                    if is_from_server && let Some(packet) = self.netcode.process_packet(datagram) {
                        self.is_heard = true;
                        received.count(packet, bytes);
                        self.links[0].send(now, bytes, packet.to_vec());
                    } else {
                        received.control_bytes += bytes as u64;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if is_refusal(&error) => self.since_refusal = Some(Duration::ZERO),
                Err(_) => {}
            }
        }
    }

    /// Restarts the handshake, at the next address and with the next token, if the address refuses datagrams or does
    /// not answer in time. Fails if every address refuses, or if the last one refuses and there is no other token.
    fn retry(&mut self, delta: Duration) -> Result<(), String> {
        if !self.netcode.is_connecting() {
            return Ok(());
        }
        self.connecting += delta;
        self.trying += delta;
        let is_refused = self.since_refusal.is_some();
        if !is_refused && self.trying < self.patience() {
            return Ok(());
        }
        self.refusals = if is_refused { self.refusals + 1 } else { 0 };
        if self.refusals >= self.servers.len() {
            return Err(format!("nothing listens at {}", either(&self.servers)));
        }
        let has_another = self.retries as usize + 1 < self.servers.len();
        if self.tokens.is_none() && (self.is_answered || !has_another) {
            return if is_refused { Err(self.no_answer()) } else { Ok(()) };
        }
        self.dial().map_err(|error| format!("cannot connect to {} again: {error}", self.server()))
    }

    /// Returns how long a handshake may take before it is restarted.
    fn patience(&self) -> Duration {
        let servers = self.servers.len() as u32;
        let share = self.timeout.unwrap_or(TOKEN_TIME) / servers;
        match self.tokens {
            Some(_) => (RETRY_INTERVAL * (self.retries / servers + 1)).min(share),
            None => share,
        }
    }

    /// Starts a handshake with the next address, which is the same one if there is only one.
    fn dial(&mut self) -> io::Result<()> {
        if self.servers.len() > 1 {
            let next = (self.server + 1) % self.servers.len();
            self.socket = open(&mut self.servers, next)?;
            self.server = next % self.servers.len();
        }
        if let Some(tokens) = &mut self.tokens {
            self.token = tokens()?;
        }
        self.netcode = netcode(self.token.clone())?;
        self.retries += 1;
        log::debug!("handshake restarted with {}", self.server());
        self.trying = Duration::ZERO;
        self.since_refusal = None;
        self.is_answered = false;
        Ok(())
    }

    /// Sends the contents of the message buffer.
    fn flush(&mut self, now: Duration, buffer: &mut MessageBuffer) -> Result<(), &'static str> {
        let header_bytes = header_bytes(self.server().ip());
        let packets = self.renet.flush(now, buffer)?;
        let link = &mut self.links[1];
        for packet in packets {
            link.send(now, packet.len() + header_bytes, packet);
        }
        while let Some(packet) = link.receive(now) {
            if let Ok((_, datagram)) = self.netcode.generate_payload_packet(&packet)
                && send(&self.socket, datagram, &mut self.since_refusal)
            {
                self.traffic.sent.count(&packet, datagram.len() + header_bytes);
            }
        }
        buffer.traffic = self.traffic;
        Ok(())
    }

    /// Returns why the connection has ended or was not established in time.
    fn end(&self) -> Option<String> {
        use DisconnectReason as Reason;
        let server = self.server();
        let is_late = self.timeout.is_some_and(|timeout| self.connecting > timeout);
        let reason = match self.netcode.disconnect_reason() {
            None if is_late && self.netcode.is_connecting() => Reason::ConnectionRequestTimedOut,
            reason => reason?,
        };
        let seconds = self.timeout.unwrap_or_default().as_secs();
        Some(match reason {
            _ if self.since_refusal.is_some_and(|since| since <= RECENT) => {
                format!("nothing listens at {server}")
            }
            // The address refused for a while and then stopped refusing.
            Reason::ConnectionTimedOut if self.since_refusal.is_some() => format!(
                "the server at {server} was restarted, and does not know this client: connect again"
            ),
            Reason::ConnectionTimedOut => {
                format!("lost the connection to the server at {server}: no packets for {seconds} s")
            }
            Reason::ConnectionRequestTimedOut
            | Reason::ConnectionResponseTimedOut
            | Reason::ConnectTokenExpired => self.no_answer(),
            Reason::ConnectionDenied => format!("the server at {server} is full"),
            Reason::DisconnectedByServer if !self.is_heard => format!(
                "the server at {server} has ended the connection at once: a client with this number is connected, \
                 or was connected less than a second ago"
            ),
            Reason::DisconnectedByClient | Reason::DisconnectedByServer => {
                format!("the server at {server} has ended the connection")
            }
        })
    }
}

/// Returns a socket that is connected to the address at `index`. Addresses without a route are removed; then the
/// following address is used, wrapping to the first.
fn open(servers: &mut Vec<SocketAddr>, index: usize) -> io::Result<UdpSocket> {
    let mut failed = io::ErrorKind::AddrNotAvailable.into();
    while !servers.is_empty() {
        let index = index % servers.len();
        let any: SocketAddr = match servers[index] {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        // A connected socket discards datagrams from other addresses, and reports ICMP refusals.
        let socket = UdpSocket::bind(any).and_then(|socket| {
            socket.connect(servers[index])?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        match socket {
            Ok(socket) => return Ok(socket),
            Err(error) => failed = error,
        }
        servers.remove(index);
    }
    Err(failed)
}

/// Sends a datagram. Returns false if the operating system did not accept it.
fn send(socket: &UdpSocket, datagram: &[u8], since_refusal: &mut Option<Duration>) -> bool {
    let sent = socket.send(datagram);
    if sent.as_ref().is_err_and(is_refusal) {
        *since_refusal = Some(Duration::ZERO);
    }
    sent.is_ok()
}

/// Returns whether the error says that no process listens at the address. A socket reports the error of an earlier
/// datagram in a later call; Windows reports it as `ConnectionReset`.
fn is_refusal(error: &io::Error) -> bool {
    [io::ErrorKind::ConnectionRefused, io::ErrorKind::ConnectionReset].contains(&error.kind())
}

fn netcode(connect_token: ConnectToken) -> io::Result<NetcodeClient> {
    let netcode = NetcodeClient::new(since_1970(), ClientAuthentication::Secure { connect_token });
    netcode.map_err(|error| io::Error::other(error.to_string()))
}

/// Duration of the first handshake before it is restarted: enough to resend its datagrams several times. Each further
/// one may take this much longer, so that one is long enough for any network.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// How long a token without a timeout is tried.
const TOKEN_TIME: Duration = Duration::from_secs(TOKEN_SECONDS);

/// Maximum age of a current refusal. Each sent datagram causes a new refusal, and several are sent in this time.
const RECENT: Duration = Duration::from_secs(1);

fn receive(
    time: Res<Time<Real>>,
    mut connections: Query<(Entity, &Handle, Option<&mut MessageBuffer>), OrDisabled>,
    mut commands: Commands,
) {
    for (entity, handle, buffer) in &mut connections {
        let mut end = handle.lock();
        match (end.receive(time.elapsed(), time.delta()), buffer) {
            (received, Some(mut buffer)) => {
                buffer.ended = received.err().or(buffer.ended.take());
                end.renet.deliver(&mut buffer);
            }
            (Err(reason), None) => disconnect_later(&mut commands, entity, reason),
            (Ok(()), None) if end.netcode.is_connected() => {
                let mut buffer = MessageBuffer::new(overhead_bytes(end.server().ip()));
                end.renet.deliver(&mut buffer);
                commands.entity(entity).try_insert((Server, buffer));
            }
            (Ok(()), None) => {}
        }
    }
}

fn flush(
    time: Res<Time<Real>>,
    mut connections: Query<(Entity, &Handle, &mut MessageBuffer), OrDisabled>,
    mut commands: Commands,
) {
    for (entity, handle, mut buffer) in &mut connections {
        if let Err(reason) = handle.lock().flush(time.elapsed(), &mut buffer) {
            disconnect_later(&mut commands, entity, reason);
        }
    }
}

fn follow(
    inserted: On<Insert, LinkConditions>,
    connections: Query<(&LinkConditions, &UdpConnection), OrDisabled>,
) {
    if let Ok((LinkConditions(conditions), connection)) = connections.get(inserted.entity) {
        let links = &mut connection.0.lock().links;
        links.iter_mut().for_each(|link| link.set_conditions(conditions.clone()));
    }
}

/// Tells the server, also if the game despawns the entity or drops the app.
impl Drop for ClientEnd {
    fn drop(&mut self) {
        if let Ok((_, datagram)) = self.netcode.disconnect() {
            // If this datagram is lost, the server disconnects after its timeout.
            let _ = self.socket.send(datagram);
        }
    }
}
