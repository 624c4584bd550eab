//! The server's socket and its clients.

mod connections;
mod handshakes;
mod reports;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use bevy_app::{App, Last, Plugin};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use log::warn;
use renetcode::NETCODE_USER_DATA_BYTES;

use self::connections::Connection;
use self::handshakes::Handshakes;
use self::reports::Reports;
use super::{Key, either};
use crate::body::{Disconnected, disconnect_later};
use crate::traffic::{SocketTraffic, header_bytes};
use crate::transport::{self, CubewireSystems, Farewell, MessageBuffer, OrDisabled};

/// Listens for clients with tokens made with the server's key.
#[derive(Clone, Debug)]
pub struct UdpServer {
    socket: Arc<UdpSocket>,
    listens_at: SocketAddr,
    key: Key,
    public: Vec<SocketAddr>,
    max_clients: usize,
}

impl UdpServer {
    /// Listens at an address for up to 64 clients. Port 0 picks a free port; 0.0.0.0 listens at all of the machine's
    /// IPv4 addresses. For a link-local IPv6 address with the name of an interface, see [`resolve`](super::resolve).
    ///
    /// # Errors
    /// Names the address if it is not an address of this machine, is in use, or is reachable from other machines while
    /// the key is [`Key::LOOPBACK`].
    pub fn listen(address: impl ToSocketAddrs, key: Key) -> io::Result<Self> {
        let addresses: Vec<_> = address.to_socket_addrs()?.collect();
        Self::bind(&addresses, key).map_err(|error| {
            let addresses = either(&addresses);
            io::Error::new(error.kind(), format!("cannot listen at {addresses}: {error}"))
        })
    }

    fn bind(addresses: &[SocketAddr], key: Key) -> io::Result<Self> {
        let socket = UdpSocket::bind(addresses)?;
        socket.set_nonblocking(true)?;
        let listens_at = socket.local_addr()?;
        key.check(listens_at, "it can be reached from other machines")?;
        let mut own = listens_at;
        let mut public = Vec::new();
        if own.ip().is_unspecified() {
            own.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
            if listens_at.is_ipv6() {
                public.push((Ipv6Addr::LOCALHOST, own.port()).into());
            }
        }
        public.insert(0, own);
        Ok(Self { socket: Arc::new(socket), listens_at, key, public, max_clients: 64 })
    }

    /// Adds an address under which clients reach the server, as in their tokens.
    #[must_use]
    pub fn public(mut self, address: SocketAddr) -> Self {
        self.public.push(address);
        self
    }

    /// Sets the maximum number of clients, `1..=1024`. Each takes 150 kB in addition to replication's memory.
    #[must_use]
    pub fn max_clients(mut self, clients: usize) -> Self {
        self.max_clients = clients.clamp(1, 1024);
        self
    }

    /// Returns the address for clients on this machine.
    pub fn address(&self) -> SocketAddr {
        self.public[0]
    }
}

impl Plugin for UdpServer {
    fn build(&self, app: &mut App) {
        transport::add_systems::<Handle, _, _>(app, (receive, deliver).chain(), flush);
        app.insert_resource(UdpHost {
            socket: Socket {
                udp: Arc::clone(&self.socket),
                address: self.listens_at,
                traffic: SocketTraffic::default(),
            },
            handshakes: Handshakes::new(self.key, self.public.clone()),
            clients: BTreeMap::new(),
            admitted: 0,
            ended: BTreeMap::new(),
            max_clients: self.max_clients,
            reports: Reports::default(),
            now: Duration::ZERO,
        })
        .add_observer(note_why)
        .add_systems(Last, forget_ended.after(CubewireSystems::HangUp));
    }
}

/// The server's end of all connections. Connected clients are entities with [`Client`](crate::Client) and [`ClientId`].
///
/// Defends against peers without a token and against malicious peers with one:
///
/// - Datagrams that would make netcode panic are dropped, and at most 4096 are read per frame.
/// - At most 2000 handshakes per second are started, and 256 are pending, each for up to five seconds. A new one
///   displaces one of the machine with the most pending handshakes.
/// - A challenge can only be answered from the address it was sent to, and that address receives no more bytes than it
///   has sent.
/// - Each token is valid once, and no nonce is used twice.
/// - A client is disconnected if its packets are not from a [`RenetConnection`](crate::RenetConnection), or after 30 seconds of silence.
/// - In ten seconds, at most 16 lines are logged about clients and 16 about other peers; further ones are counted.
#[derive(Resource)]
pub struct UdpHost {
    socket: Socket,
    handshakes: Handshakes,
    clients: BTreeMap<SocketAddr, Connection>,
    /// Number of connections so far.
    admitted: u64,
    /// Clients that were disconnected in this frame, and the reasons.
    ended: BTreeMap<Handle, (Connection, String)>,
    max_clients: usize,
    reports: Reports,
    /// [`Real`] time of this frame.
    now: Duration,
}

/// Not derived, because it would print keys.
impl fmt::Debug for UdpHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpHost")
            .field("address", &self.socket.address)
            .field("clients", &self.clients)
            .finish_non_exhaustive()
    }
}

impl UdpHost {
    /// Returns the address that it listens at; 0.0.0.0 if it listens at all of the machine's addresses.
    pub const fn address(&self) -> SocketAddr {
        self.socket.address
    }

    /// Returns the traffic of the socket.
    pub const fn traffic(&self) -> SocketTraffic {
        self.socket.traffic
    }

    /// Returns the number of connected clients. A client that is only sent its last messages does not count.
    pub fn connected(&self) -> usize {
        self.clients.values().filter(|client| !client.is_leaving).count()
    }

    /// Logs a line about a client, within the limit of lines. Use it for events that clients can cause at will.
    pub fn log(&mut self, line: &str) {
        self.reports.client(line);
    }
}

/// The socket, which counts its traffic.
///
/// A dual-stack socket reports IPv4 addresses as IPv6 (`::ffff:192.0.2.1`). This type converts them, so that an address is
/// the same however the server listens.
#[derive(Debug)]
struct Socket {
    udp: Arc<UdpSocket>,
    address: SocketAddr,
    traffic: SocketTraffic,
}

impl Socket {
    /// Counts bytes outside of connections, headers included.
    const fn unassigned(&mut self, bytes: usize) {
        self.traffic.unassigned_bytes += bytes as u64;
    }

    /// Receives a datagram. Returns its length and its sender.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, mut from) = self.udp.recv_from(buffer)?;
        if from.ip().to_canonical().is_ipv4() {
            from = SocketAddr::new(from.ip().to_canonical(), from.port());
        }
        self.traffic.received += 1;
        self.traffic.received_bytes += (length + header_bytes(from.ip())) as u64;
        Ok((length, from))
    }

    /// Sends a datagram. Returns its bytes including headers, or 0 if the operating system did not accept it and the
    /// datagram is lost.
    fn send(&mut self, bytes: &[u8], to: SocketAddr) -> usize {
        let address = match to.ip() {
            IpAddr::V4(ip) if self.address.is_ipv6() => (ip.to_ipv6_mapped(), to.port()).into(),
            _ => to,
        };
        match self.udp.send_to(bytes, address) {
            Ok(_) => {
                let bytes = bytes.len() + header_bytes(to.ip());
                self.traffic.sent += 1;
                self.traffic.sent_bytes += bytes as u64;
                bytes
            }
            Err(error) => {
                self.traffic.unsent += 1;
                if self.traffic.unsent == 1 {
                    warn!("cannot send to {to}; further failures are not logged: {error}");
                }
                0
            }
        }
    }
}

/// Identifies the [`Connection`] of an entity. Not unique by address, because an entity remains for a while after its client has
/// connected again.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[component(clone_behavior = Ignore)]
struct Handle {
    address: SocketAddr,
    number: u64,
}

impl Handle {
    fn of<'a>(
        &self,
        clients: &'a mut BTreeMap<SocketAddr, Connection>,
    ) -> Option<&'a mut Connection> {
        clients.get_mut(&self.address).filter(|client| client.number == self.number)
    }
}

/// Server: the client id in the client's [token](Key::token), on the connection's entity.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[component(immutable, clone_behavior = Ignore)]
pub struct ClientId(pub u64);

/// Server: a client's address, on the connection's entity. IPv4 addresses are never in their IPv6-mapped form.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[component(immutable, clone_behavior = Ignore)]
pub struct ClientAddress(pub SocketAddr);

/// Server: the user data in a client's [token](Key::token_with), on the connection's entity.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
#[component(immutable, clone_behavior = Ignore)]
pub struct TokenData(pub Box<[u8; NETCODE_USER_DATA_BYTES]>);

fn receive(time: Res<Time<Real>>, mut host: ResMut<UdpHost>, mut commands: Commands) {
    let (host, delta) = (&mut *host, time.delta());
    host.now = time.elapsed();
    host.handshakes.update(delta);
    host.reports.update(delta, host.handshakes.abandoned);
    host.read(&mut commands);
    host.keep_alive(delta);
}

fn deliver(
    mut host: ResMut<UdpHost>,
    mut connections: Query<(&Handle, &mut MessageBuffer, Has<Farewell>), OrDisabled>,
) {
    let host = &mut *host;
    for (handle, mut buffer, is_leaving) in &mut connections {
        if let Some(client) = handle.of(&mut host.clients) {
            client.has_spoken |= client.renet.deliver(&mut buffer);
            client.is_leaving = is_leaving;
        } else if let Some((mut client, reason)) = host.ended.remove(handle) {
            client.renet.deliver(&mut buffer);
            buffer.ended = Some(reason);
        }
    }
    host.ended.clear();
}

fn flush(
    mut host: ResMut<UdpHost>,
    mut connections: Query<(Entity, &Handle, &mut MessageBuffer), OrDisabled>,
    mut commands: Commands,
) {
    let host = &mut *host;
    for (entity, handle, mut buffer) in &mut connections {
        let Some(client) = handle.of(&mut host.clients) else {
            continue;
        };
        let packets = client.renet.flush(host.now, &mut buffer).unwrap_or_else(|reason| {
            disconnect_later(&mut commands, entity, reason);
            Vec::new()
        });
        for packet in packets {
            let datagram = client.netcode.generate_payload_packet(client.id, &packet);
            if let Ok((_, datagram)) = datagram {
                let bytes = host.socket.send(datagram, handle.address);
                client.traffic.sent.count(&packet, bytes);
            }
        }
        buffer.traffic = client.traffic;
    }
}

/// Stores a connection's disconnect reason, for the log.
fn note_why(
    ended: On<Disconnected>,
    mut host: ResMut<UdpHost>,
    connections: Query<&Handle, OrDisabled>,
) {
    if let Ok(handle) = connections.get(ended.entity)
        && let Some(client) = handle.of(&mut host.clients)
    {
        client.ended = Some(ended.reason.clone());
    }
}

/// Disconnects the clients without an entity.
fn forget_ended(mut host: ResMut<UdpHost>, connections: Query<&Handle, OrDisabled>) {
    let open: HashSet<_> = connections.iter().map(|handle| handle.number).collect();
    let ended = host.clients.iter().filter(|(_, client)| !open.contains(&client.number));
    for address in ended.map(|(&address, _)| address).collect::<Vec<_>>() {
        host.forget(address, "this end has ended the connection");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `handshakes` tests that tokens of these addresses are accepted.
    #[test]
    fn public_addresses_are_the_servers_own_and_the_added_ones() {
        let server = UdpServer::listen("127.0.0.1:0", Key::LOOPBACK).unwrap();
        let (own, other) = (server.address(), ([192, 0, 2, 1], 7000).into());
        assert_eq!(server.public(other).public, [own, other]);
    }
}
