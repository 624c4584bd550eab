//! Admits viewers, in addition to the local lanes. Each is a lane whose receiving half is in another process.

mod connections;
mod handshakes;
mod reports;
mod socket;
mod systems;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use cubewire_codec::{Sequence, Snapshot};
use cubewire_protocol::{FallbackReason, MessageChannel};
use renetcode::NetcodeServer;
use serde::Serialize;

use super::Security;
use super::pacer::Pacer;
use crate::replication::transport::{End, TransportSystems};
use crate::replication::{Serving, SocketTraffic, Traffic};

use handshakes::Handshakes;
use reports::Reports;
use socket::Socket;

/// Admits viewers while there is a [`UdpServer`]. Needs
/// [`ReplicationPlugin`](crate::replication::ReplicationPlugin).
///
/// The socket is served in every frame, so that viewers stay connected while the game is paused.
#[derive(Debug)]
pub struct UdpServerPlugin;

impl Plugin for UdpServerPlugin {
    fn build(&self, app: &mut App) {
        let is_serving = resource_exists::<UdpServer>;
        app.add_systems(
            PreUpdate,
            systems::receive
                .in_set(TransportSystems::Receive(End::Sender))
                .run_if(is_serving),
        )
        .add_systems(
            Update,
            (systems::flush, publish)
                .chain()
                .in_set(TransportSystems::Flush(End::Sender))
                .run_if(is_serving),
        )
        .add_systems(
            Last,
            systems::close
                .after(exit_on_all_closed)
                .run_if(is_serving)
                .run_if(on_message::<AppExit>),
        );
    }
}

fn publish(server: Res<UdpServer>, serving: Option<ResMut<Serving>>, mut commands: Commands) {
    let traffic = server.traffic();
    match serving {
        // The address stays.
        Some(mut serving) if serving.traffic != traffic => serving.traffic = traffic,
        Some(_) => {}
        None => commands.insert_resource(Serving {
            address: server.address().to_string(),
            traffic,
        }),
    }
}

/// Where a server listens, and which viewers it admits.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Address to listen at. With port 0 the operating system chooses the port.
    pub bind: SocketAddr,
    /// Addresses that viewers connect to; if empty, the bound address.
    pub public: Vec<SocketAddr>,
    /// Which viewers are admitted.
    pub security: Security,
    /// Connected viewers, at most: 1 to [`MAX_VIEWERS`](Self::MAX_VIEWERS). Other values are clamped.
    pub max_viewers: usize,
}

impl ServerSettings {
    /// A viewer takes about 8 MB, and 12 at most: the last 256 snapshots as it decodes them, for baselines.
    pub const MAX_VIEWERS: usize = 64;
}

/// Why a server cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is in use, belongs to another machine, or is not permitted.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Without a key, only loopback addresses are allowed.
    #[error("{0} can be reached from other machines, which needs a key")]
    InsecureInPublic(SocketAddr),
    /// Connect tokens name the address that they are valid for.
    #[error(
        "{0} is every address of this machine: name the one that viewers connect to with --public"
    )]
    NoPublicAddress(SocketAddr),
}

/// The server's end of every viewer's connection.
#[derive(Resource)]
pub struct UdpServer {
    socket: Socket,
    address: SocketAddr,
    handshakes: Handshakes,
    /// By the number that each chose.
    clients: BTreeMap<u64, Client>,
    /// See [`ServerSettings`].
    max_viewers: usize,
    /// Viewers that were admitted since the start.
    admitted: u64,
    reports: Reports,
    /// Time since the app's start, in this frame.
    now: Duration,
    /// When datagrams were last sent.
    flushed: Duration,
    /// Those of the viewers that were connected when it ended.
    last_budgets: Vec<ViewerBudget>,
}

/// What a viewer's snapshots may take on the wire, in kilobits a second; none without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ViewerBudget {
    /// The number of its connection.
    pub viewer: u64,
    /// What it asks for.
    pub asked_kbps: Option<u32>,
    /// That, or less if no more gets through.
    pub given_kbps: Option<u32>,
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
    channel: MessageChannel,
    /// The initial state that its welcome carries.
    initial: Snapshot,
    /// Its lane and the number of its last request; none before its first request.
    lane: Option<(Entity, Sequence)>,
    /// Why it does not ask for arithmetic coding, if it says so.
    fallback: Option<FallbackReason>,
    /// When it connected.
    since: Duration,
    /// Whether it has sent a request that was not acked.
    awaits_ack: bool,
    /// Whether it has another version of the protocol.
    is_refused: bool,
    /// Acks from it that were invalid.
    refused_acks: u64,
    /// Snapshot packets that wait for the tick in which they are due.
    pacer: Pacer,
    /// Traffic that its lane's meter has not counted yet.
    traffic: Traffic,
    /// Asked for, and given.
    kbps: [Option<u32>; 2],
}

impl Client {
    /// Notes the budget that is asked for and the one that is given. Returns what there is to say about it, if it becomes
    /// less than was asked for, or no longer is.
    fn note_budget(&mut self, asked: Option<u32>, given: Option<u32>) -> Option<String> {
        let [last_asked, last_given] = std::mem::replace(&mut self.kbps, [asked, given]);
        let was_less = last_asked != last_given;
        let address = self.address;
        match given.filter(|_| given != asked) {
            Some(kbps) if !was_less => Some(match asked {
                Some(asked) => format!(
                    "viewer {address} gets {kbps} kbps instead of {asked}: no more gets through"
                ),
                None => format!("viewer {address} gets {kbps} kbps: no more gets through"),
            }),
            None if was_less => Some(format!("viewer {address} gets what it asks for again")),
            _ => None,
        }
    }
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
            clients: BTreeMap::new(),
            max_viewers: settings.max_viewers.clamp(1, ServerSettings::MAX_VIEWERS),
            admitted: 0,
            reports: Reports::default(),
            now: Duration::ZERO,
            flushed: Duration::ZERO,
            last_budgets: Vec::new(),
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

    /// The budget of each viewer that is connected, or was when the server ended.
    pub fn budgets(&self) -> impl Iterator<Item = ViewerBudget> {
        let connected = self.clients.iter().map(|(&viewer, client)| {
            let [asked_kbps, given_kbps] = client.kbps;
            ViewerBudget {
                viewer,
                asked_kbps,
                given_kbps,
            }
        });
        connected.chain(self.last_budgets.iter().copied())
    }

    /// Connected viewers, including those that have not requested anything yet.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.clients.len()
    }
}
