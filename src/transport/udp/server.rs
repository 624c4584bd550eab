//! Admits viewers. Each viewer is a lane whose receiving half is in another process.

mod connections;
mod plugin;
mod settings;
mod socket;
mod systems;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{Sequence, Snapshot};
use renet::{ClientId, RenetServer};
use renetcode::{NetcodeServer, ServerAuthentication, ServerConfig};

use super::pacer::Pacer;
use super::{PROTOCOL_ID, Security, since_1970};
use crate::replication::{SocketTraffic, Traffic};
use crate::transport::acks::Flush;
use crate::transport::config;
use crate::transport::guard::Guard;

pub use plugin::UdpServerPlugin;
pub use settings::{ServeError, ServerSettings};
use socket::Socket;

/// The server's end of every viewer's connection.
#[derive(Resource)]
pub struct UdpServer {
    socket: Socket,
    address: SocketAddr,
    netcode: NetcodeServer,
    renet: RenetServer,
    clients: BTreeMap<ClientId, Client>,
    /// Viewers that were admitted since the start.
    admitted: u64,
    /// Addresses of unknown senders that were already logged.
    reported: HashSet<SocketAddr>,
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
    guard: Guard,
    /// The initial state that its welcome carries.
    initial: Snapshot,
    /// Its lane and the number of its last request; none before its first request.
    lane: Option<(Entity, Sequence)>,
    connected_for: Duration,
    /// Time since its last request was acked.
    since_ack: Duration,
    /// Whether it has another version of the protocol.
    is_refused: bool,
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
        let netcode = NetcodeServer::new(ServerConfig {
            current_time: since_1970(),
            max_clients: settings.max_viewers.clamp(1, ServerSettings::MAX_VIEWERS),
            protocol_id: PROTOCOL_ID,
            public_addresses,
            authentication: match settings.security {
                Security::Key(_) => ServerAuthentication::Secure {
                    private_key: settings.security.private_key(),
                },
                Security::Insecure => ServerAuthentication::Unsecure,
            },
        });
        Ok(Self {
            socket: Socket {
                udp,
                traffic: SocketTraffic::default(),
            },
            address,
            netcode,
            renet: RenetServer::new(config()),
            clients: BTreeMap::new(),
            admitted: 0,
            reported: HashSet::new(),
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
