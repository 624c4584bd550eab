//! Admits viewers: each is a lane, whose other half is in another process.

mod connections;
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

use super::spread::Spread;
use super::{PROTOCOL_ID, Security, since_1970};
use crate::replication::Sample;
use crate::replication::transport::config;
use crate::replication::transport::guard::Guard;

pub use settings::{ServeError, ServerSettings};
use socket::Socket;
pub use socket::Traffic;
pub(in crate::replication) use systems::{close, flush, receive};

/// The server's end of every viewer's connection.
#[derive(Resource)]
pub struct UdpServer {
    socket: Socket,
    address: SocketAddr,
    netcode: NetcodeServer,
    renet: RenetServer,
    guests: BTreeMap<ClientId, Guest>,
    /// Viewers that came since the start.
    admitted: u64,
    /// Strangers that the log has told of.
    reported: HashSet<SocketAddr>,
    since_flush: Duration,
}

/// netcode's own would show the key.
impl fmt::Debug for UdpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpServer")
            .field("address", &self.address)
            .field("guests", &self.guests)
            .finish_non_exhaustive()
    }
}

/// A lane whose receiver is in another process.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct RemoteViewer {
    /// netcode's number of it.
    pub client: ClientId,
    /// Where it is.
    pub address: SocketAddr,
    /// There and back, by renet's own acks.
    pub round_trip: Duration,
    /// Part of the packets that got lost, 0 to 1, by renet's own acks.
    pub loss: f64,
}

/// One who is connected.
#[derive(Debug)]
struct Guest {
    address: SocketAddr,
    guard: Guard,
    /// The state in its welcome.
    initial: Snapshot,
    /// Its lane, once it has said what it wants, and the number of what it said last.
    lane: Option<(Entity, Sequence)>,
    connected_for: Duration,
    /// Since it was last told what it is granted, and the tick.
    since_word: Duration,
    /// It speaks another version.
    is_refused: bool,
    /// Packets of snapshots.
    spread: Spread,
    /// Packets that its lane's meter does not have yet.
    traffic: Sample,
}

impl UdpServer {
    /// Listens.
    ///
    /// # Errors
    /// [`ServeError`] if it cannot, or must not.
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
                traffic: Traffic::default(),
            },
            address,
            netcode,
            renet: RenetServer::new(config()),
            guests: BTreeMap::new(),
            admitted: 0,
            reported: HashSet::new(),
            since_flush: Duration::ZERO,
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What went through the socket.
    #[must_use]
    pub const fn traffic(&self) -> Traffic {
        self.socket.traffic
    }

    /// Viewers that came since the start.
    #[must_use]
    pub const fn admitted(&self) -> u64 {
        self.admitted
    }

    /// Viewers that are connected, those included that have not said yet what they want.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.guests.len()
    }
}
