//! Connects a server and its viewers over UDP.
//!
//! Each viewer has the server's key and makes its own connect token. A game would keep the key on its servers and hand out
//! tokens.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use cubewire_bevy::udp::{
    ClientAddress, ClientId, Key, UdpClient, UdpConnection, UdpHost, UdpServer,
};
use cubewire_bevy::{CubewireSystems, LinkConditions, MessageBuffer};
use cubewire_protocol::Contract;
use serde::{Serialize, Serializer};

use crate::replication::transport::{End, TransportSystems};
use crate::replication::{
    ConnectionStatus, Joining, LaneMeter, LinkSettings, Reconnect, RemoteViewer, SenderSettings,
    ServePlugin, ServerLink, Serving, account_of_viewer, contract,
};

/// Maximum number of viewers. A viewer takes about 8 MB, and at most 20 MB, mainly for the last 256 snapshots, which are
/// kept as baselines, and for incomplete messages.
pub const MAX_VIEWERS: usize = 64;

/// Admits viewers. Needs [`ReplicationPlugin`](crate::replication::ReplicationPlugin).
///
/// The socket is read and written in every frame, so that viewers stay connected while the game is paused.
pub struct UdpServerPlugin(pub UdpServer);

impl Plugin for UdpServerPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((self.0.clone(), ServePlugin))
            .init_resource::<ViewerBudgets>()
            .insert_resource(Serving { address: self.0.address().to_string(), ..default() })
            .add_systems(
                PreUpdate,
                introduce.before(CubewireSystems::Deliver).after(CubewireSystems::Receive),
            )
            .add_systems(Update, report.after(TransportSystems::Flush(End::Server)))
            .configure_sets(Last, CubewireSystems::HangUp.after(exit_on_all_closed));
    }
}

/// Budgets of the connected viewers. Kept when the server ends.
#[derive(Resource, Debug, Default)]
pub struct ViewerBudgets(pub Vec<ViewerBudget>);

/// A viewer's budget on the wire, in kilobits per second. `None` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ViewerBudget {
    /// Connection number. Serialized as text, because JSON numbers are exact only up to 53 bits.
    #[serde(serialize_with = "text")]
    pub viewer: u64,
    pub asked_kbps: Option<u32>,
    /// The granted budget: the requested one, or less if the network does not transfer it.
    pub given_kbps: Option<u32>,
}

fn text<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}

type IsNew = (With<MessageBuffer>, Without<RemoteViewer>);

fn introduce(new: Query<(Entity, &ClientId, &ClientAddress), IsNew>, mut commands: Commands) {
    for (viewer, id, address) in &new {
        let (id, address) = (id.0, address.0.to_string());
        commands.entity(viewer).try_insert(RemoteViewer { id, address, ..default() });
    }
}

/// Reports the socket's traffic and the viewers' budgets. Logs when a viewer's granted budget becomes lower than the requested one,
/// or is equal to it again.
fn report(
    mut host: ResMut<UdpHost>,
    mut budgets: ResMut<ViewerBudgets>,
    mut serving: ResMut<Serving>,
    lanes: Query<(&RemoteViewer, &SenderSettings)>,
) {
    let before = std::mem::take(&mut budgets.0);
    for (peer, asked) in &lanes {
        let granted = peer.granted.unwrap_or(*asked);
        let (viewer, asked_kbps, given_kbps) = (peer.id, asked.budget, granted.budget);
        let now = ViewerBudget { viewer, asked_kbps, given_kbps };
        let before = before.iter().find(|before| before.viewer == viewer);
        if let Some(line) = now.news(&peer.address, before) {
            host.log(&line);
        }
        budgets.0.push(now);
    }
    serving.set_if_neq(Serving { address: host.address().to_string(), traffic: host.traffic() });
}

impl ViewerBudget {
    fn news(&self, address: &str, before: Option<&Self>) -> Option<String> {
        let is_less = |budget: &Self| budget.given_kbps != budget.asked_kbps;
        let was_less = before.is_some_and(is_less);
        match self.given_kbps.filter(|_| is_less(self)) {
            Some(kbps) if !was_less => Some(match self.asked_kbps {
                Some(asked) => {
                    format!("viewer {address} gets {kbps} kbps instead of {asked}: {LATE_ACKS}")
                }
                None => format!("viewer {address} gets {kbps} kbps: {LATE_ACKS}"),
            }),
            None if was_less => {
                Some(format!("viewer {address} gets its requested bandwidth again"))
            }
            _ => None,
        }
    }
}

/// Why a viewer gets less than it requested. The server cannot tell the two causes apart.
const LATE_ACKS: &str =
    "its acks arrive late or not at all, because the network is slow or the viewer is busy";

/// The socket or the connect token cannot be created.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect: {0}")]
pub struct ConnectError(#[from] io::Error);

#[derive(Clone, Debug)]
pub struct ViewerSettings {
    /// Addresses of the server, at least one. Each is tried in turn.
    pub server: Vec<SocketAddr>,
    pub key: Key,
    /// Time without packets after which the connection is closed. Whole seconds, from 1 to [`MAX_TIMEOUT`](Self::MAX_TIMEOUT).
    pub timeout: Duration,
}

impl ViewerSettings {
    /// The server's own timeout, after which it closes the connection.
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(30);

    fn connect(&self) -> io::Result<UdpConnection> {
        let Self { server, key, timeout } = self.clone();
        let timeout = timeout.min(Self::MAX_TIMEOUT);
        let token = move || key.token_with(&*server, rand::random(), timeout, [0; 256]);
        UdpConnection::with_tokens(token)
    }
}

#[derive(Resource, Debug)]
pub struct UdpViewer {
    settings: ViewerSettings,
    /// The contract that the next hello announces.
    pub contract: Contract,
    /// Identifies this viewer when it connects again.
    number: u64,
    /// A connection that is not spawned yet.
    new: Option<UdpConnection>,
}

impl UdpViewer {
    /// Starts to connect. The handshake happens while the app runs.
    pub fn new(settings: ViewerSettings) -> Result<Self, ConnectError> {
        let new = Some(settings.connect()?);
        let contract = Contract::clone(&contract(1));
        Ok(Self { settings, contract, number: rand::random(), new })
    }
}

/// Receives snapshots from the server. Needs the resource [`UdpViewer`] and
/// [`ViewerPlugin`](crate::replication::ViewerPlugin). The socket is read and written in every frame.
pub struct UdpViewerPlugin;

impl Plugin for UdpViewerPlugin {
    fn build(&self, app: &mut App) {
        let publish =
            publish.in_set(CubewireSystems::Play).in_set(TransportSystems::Receive(End::Client));
        app.add_plugins(UdpClient::default())
            .add_observer(reconnect)
            .add_systems(PreUpdate, (dial.before(CubewireSystems::Receive), publish))
            .add_systems(
                Update,
                count_losses.in_set(TransportSystems::Flush(End::Client)).after(account_of_viewer),
            )
            .configure_sets(Last, CubewireSystems::HangUp.after(exit_on_all_closed));
    }
}

fn reconnect(_: On<Reconnect>, mut viewer: ResMut<UdpViewer>, mut server: ResMut<ServerLink>) {
    if matches!(server.status, ConnectionStatus::Lost(_)) {
        server.status = match viewer.settings.connect() {
            Ok(connection) => {
                viewer.new = Some(connection);
                ConnectionStatus::Connecting
            }
            Err(error) => ConnectionStatus::Lost(ConnectError(error).to_string()),
        };
    }
}

/// Spawns a new connection, and applies the lane's simulated network to it.
fn dial(
    mut viewer: ResMut<UdpViewer>,
    lane: Single<Ref<LinkSettings>>,
    connections: Query<Entity, With<UdpConnection>>,
    mut commands: Commands,
) {
    let new = viewer.new.take().map(|new| {
        commands.spawn((new, Joining::new(viewer.contract.clone(), viewer.number))).id()
    });
    let changed = connections.iter().filter(|_| lane.is_changed());
    for connection in new.into_iter().chain(changed) {
        commands.entity(connection).try_insert(LinkConditions(lane.conditions.clone()));
    }
}

type Connection<'a> = (&'a UdpConnection, Option<&'a MessageBuffer>);

fn publish(
    viewer: Res<UdpViewer>,
    connection: Option<Single<Connection<'_>>>,
    mut server: ResMut<ServerLink>,
) {
    let connection = connection.as_deref();
    let address =
        connection.map_or(viewer.settings.server[0], |(connection, _)| connection.server());
    let now = ServerLink {
        server: address.to_string(),
        round_trip: connection.and_then(|(_, buffer)| buffer.as_ref()?.round_trip),
        id: connection.map(|(connection, _)| connection.client_id()),
        status: server.status.clone(),
        granted: server.granted,
        player: server.player,
        knows_player: server.knows_player,
    };
    server.set_if_neq(now);
}

fn count_losses(connection: Single<&UdpConnection>, mut meter: Single<&mut LaneMeter>) {
    meter.link = connection.link_stats();
}
