//! The peer over a real network, independent of the transport. Transports write these types; panels and
//! reports read them.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::SocketTraffic;
use cubewire_protocol::{FallbackReason, Welcome};

use super::settings::SenderSettings;

/// On a lane whose receiver is in another process: that process.
#[derive(Component, Clone, Debug, PartialEq)]
pub struct Peer {
    /// The transport's number of this connection.
    pub id: u64,
    /// Its address, as text.
    pub address: String,
    /// Mean round-trip time of the last few dozen snapshots and their acks. 0 before the first ack.
    pub round_trip: Duration,
    /// Fraction of the last few hundred snapshots that were lost, 0 to 1. The acks tell.
    pub loss_fraction: f64,
    /// Why it is sent no arithmetic coding, though it asks for that.
    pub fallback: Option<FallbackReason>,
}

/// Exists where viewers from other processes are admitted.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct Serving {
    /// The address that they connect to.
    pub address: String,
    /// Traffic of the socket.
    pub traffic: SocketTraffic,
}

/// Exists where a server in another process is viewed: the state of the connection.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct ServerConnection {
    /// The server's address.
    pub server: String,
    /// The state of the connection.
    pub status: ConnectionStatus,
    /// Round-trip time, measured by the transport; none without a connection.
    pub round_trip: Option<Duration>,
    /// The server's number of this viewer; none without a connection.
    pub id: Option<u64>,
    /// What the server sends, if it has no time for what was asked for: see [`EncodeBudget`](super::EncodeBudget).
    pub granted: Option<SenderSettings>,
}

/// The state of a viewer's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// The welcome has not arrived yet.
    Connecting,
    /// Snapshots are arriving.
    Connected,
    /// There is no connection, for this reason.
    Lost(String),
}

/// Requests a new connection, if the connection is lost. The last displayed state stays until the new welcome.
#[derive(Event, Clone, Copy, Debug, Default)]
pub struct Reconnect;

/// On a viewer's lane: the server has sent the initial state.
#[derive(EntityEvent, Clone, Debug)]
pub struct Welcomed {
    /// The lane.
    pub entity: Entity,
    /// The initial state, and the tick that the server was at.
    pub welcome: Welcome,
    /// Why the server sends no arithmetic coding, if the two ends do not decode each other's.
    pub fallback: Option<FallbackReason>,
}
