//! State of a connection over a real network, independent of the transport. Transports write these types, panels and reports
//! read them.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::SocketTraffic;
use cubewire_protocol::FallbackReason;

use super::settings::SenderSettings;

/// A viewer in another process. A transport inserts it on the entity of the connection.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct RemoteViewer {
    pub id: u64,
    pub address: String,
    /// Mean round-trip time of the last few dozen snapshots and their acks. 0 before the first ack.
    pub round_trip: Duration,
    /// Fraction of the last few hundred snapshots that were lost, 0 to 1, according to the acks.
    pub loss_fraction: f64,
    /// Why the viewer gets no arithmetic coding although it requested it.
    pub fallback: Option<FallbackReason>,
    /// The settings in use. `None` before the first request.
    pub granted: Option<SenderSettings>,
}

#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct Serving {
    pub address: String,
    pub traffic: SocketTraffic,
}

/// Present in a viewer: the state of its connection to the server.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct ServerLink {
    pub server: String,
    pub status: ConnectionStatus,
    /// Round-trip time, measured by the transport. `None` without a connection.
    pub round_trip: Option<Duration>,
    /// The server's number for this viewer. `None` without a connection.
    pub id: Option<u64>,
    /// The player that the viewer is, counted from 0. `None` if it watches, or has no seat.
    pub player: Option<usize>,
    /// Whether the server has told the player.
    pub knows_player: bool,
    /// The settings that the server grants, if they differ from the requested ones.
    pub granted: Option<SenderSettings>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConnectionStatus {
    #[default]
    Connecting,
    Connected,
    Lost(String),
}

/// Requests a new connection after the last one was lost. The last displayed state stays visible until the new welcome.
#[derive(Event, Clone, Copy, Debug, Default)]
pub struct Reconnect;
