//! Admits viewers. Each viewer is a lane whose receiving half is in another process.

mod connections;
mod handshakes;
mod plugin;
mod reports;
mod settings;
mod socket;
mod systems;

use std::collections::BTreeMap;
use std::fmt;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{Sequence, Snapshot};
use cubewire_protocol::FallbackReason;
use renet::{ClientId, RenetServer};
use renetcode::NetcodeServer;

use super::Security;
use super::pacer::Pacer;
use crate::replication::{SocketTraffic, Traffic};
use crate::transport::acks::Flush;
use crate::transport::config;
use crate::transport::guard::Guard;

use handshakes::Handshakes;
pub use plugin::UdpServerPlugin;
use reports::Reports;
pub use settings::{ServeError, ServerSettings};
use socket::Socket;

/// The server's end of every viewer's connection.
#[derive(Resource)]
pub struct UdpServer {
    socket: Socket,
    address: SocketAddr,
    handshakes: Handshakes,
    renet: RenetServer,
    clients: BTreeMap<ClientId, Client>,
    /// See [`ServerSettings`].
    max_viewers: usize,
    /// Viewers that were admitted since the start.
    admitted: u64,
    reports: Reports,
    since_flush: Duration,
}

/// The derived implementation would show the key.
impl fmt::Debug for UdpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpServer")
            .field("address", &self.address)
            .field("clients", &self.clients)
            .finish_non_exhaustive()
    }
}

/// A connected client.
#[derive(Debug)]
struct Client {
    address: SocketAddr,
    /// Its end of netcode: see [`handshakes`].
    netcode: Box<NetcodeServer>,
    guard: Guard,
    /// The initial state that its welcome carries.
    initial: Snapshot,
    /// Its lane and the number of its last request; none before its first request.
    lane: Option<(Entity, Sequence)>,
    /// Why it does not ask for arithmetic coding, if it says so.
    fallback: Option<FallbackReason>,
    connected_for: Duration,
    /// Time since its last request was acked.
    since_ack: Duration,
    /// Whether it has another version of the protocol.
    is_refused: bool,
    /// Acks from it that were invalid.
    refused_acks: u64,
    /// Snapshot packets that wait for the tick in which they are due.
    pacer: Pacer,
    /// Traffic that its lane's meter has not counted yet.
    traffic: Traffic,
    renet_flush: Flush,
}

impl UdpServer {
    /// Binds the socket and starts to listen.
    ///
    /// # Errors
    /// [`ServeError`] if the address cannot be bound, or if the settings are not allowed.
    pub fn new(settings: &ServerSettings) -> Result<Self, ServeError> {
        let bind = settings.bind;
        let is_insecure = settings.security == Security::Insecure;
        if is_insecure && !bind.ip().is_loopback() {
            return Err(ServeError::InsecureInPublic(bind));
        }
        let failed = |source| ServeError::Bind {
            address: bind,
            source,
        };
        let udp = UdpSocket::bind(bind).map_err(failed)?;
        udp.set_nonblocking(true).map_err(failed)?;
        let address = udp.local_addr().map_err(failed)?;
        let mut public_addresses = settings.public.clone();
        if public_addresses.is_empty() {
            if address.ip().is_unspecified() {
                return Err(ServeError::NoPublicAddress(bind));
            }
            public_addresses.push(address);
        }
        Ok(Self {
            socket: Socket {
                udp,
                traffic: SocketTraffic::default(),
            },
            address,
            handshakes: Handshakes::new(settings.security, public_addresses),
            renet: RenetServer::new(config()),
            clients: BTreeMap::new(),
            max_viewers: settings.max_viewers.clamp(1, ServerSettings::MAX_VIEWERS),
            admitted: 0,
            reports: Reports::default(),
            since_flush: Duration::ZERO,
        })
    }

    /// The address that it listens at.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Traffic of the socket since the start.
    #[must_use]
    pub const fn traffic(&self) -> SocketTraffic {
        self.socket.traffic
    }

    /// Viewers that were admitted since the start.
    #[must_use]
    pub const fn admitted(&self) -> u64 {
        self.admitted
    }

    /// Connected viewers, including those that have not requested anything yet.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.clients.len()
    }
}
