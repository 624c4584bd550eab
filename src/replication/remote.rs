//! State of a connection over a real network, independent of the transport. Transports write these types, panels and reports
//! read them.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::SocketTraffic;
use cubewire_protocol::{FallbackReason, Welcome};

use super::settings::SenderSettings;

#[derive(Component, Clone, Debug, PartialEq)]
pub struct RemoteViewer {
    pub id: u64,
    pub address: String,
    /// Mean round-trip time of the last few dozen snapshots and their acks. 0 before the first ack.
    pub round_trip: Duration,
    /// Fraction of the last few hundred snapshots that were lost, 0 to 1, according to the acks.
    pub loss_fraction: f64,
    /// Why the viewer gets no arithmetic coding although it requested it.
    pub fallback: Option<FallbackReason>,
}

#[derive(Resource, Clone, Debug, PartialEq)]
pub struct Serving {
    pub address: String,
    pub traffic: SocketTraffic,
}

/// Present in a viewer: the state of its connection to the server.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct ServerConnection {
    pub server: String,
    pub status: ConnectionStatus,
    /// Round-trip time, measured by the transport. `None` without a connection.
    pub round_trip: Option<Duration>,
    /// The server's number for this viewer. `None` without a connection.
    pub id: Option<u64>,
    /// The settings that the server grants, once it has answered a request. See [`EncodeBudget`](super::EncodeBudget) and
    /// [`LaneBudget`](super::LaneBudget).
    pub granted: Option<SenderSettings>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionStatus {
    Connecting,
    Connected,
    Lost(String),
}

/// Requests a new connection after the last one was lost. The last displayed state stays visible until the new welcome.
#[derive(Event, Clone, Copy, Debug, Default)]
pub struct Reconnect;

/// Triggered on a viewer's lane when the server's welcome has arrived.
#[derive(EntityEvent, Clone, Debug)]
pub struct Welcomed {
    pub entity: Entity,
    pub welcome: Welcome,
    /// Why the server sends no arithmetic coding. `None` if both ends have the same model and arithmetic.
    pub fallback: Option<FallbackReason>,
}
