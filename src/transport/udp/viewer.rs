//! Connects to a server, requests snapshots, and delivers them to the app's only lane.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use cubewire_bevy::transport::SLICE_BYTES;
use cubewire_bevy::udp::{Key, UdpClient, UdpConnection};
use cubewire_bevy::{CubewireSystems, Disconnected, LinkConditions, MessageBuffer, Traffic};
use cubewire_codec::Limits;
use cubewire_protocol::{ClientEvent, ClientSession, Contract, ServerMessage};
use cubewire_scene::CUBES;

use super::{contract, from_wire, to_wire};
use crate::replication::transport::{End, ReceiverBuffer, TransportSystems, bound};
use crate::replication::{
    ConnectionStatus, LaneMeter, LinkSettings, Reconnect, Replica, SenderSettings,
    ServerConnection, Welcomed,
};

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
    /// A connection that is not spawned yet.
    new: Option<UdpConnection>,
    /// The session, or the reason why it ended.
    session: Result<ClientSession, String>,
    counted: Traffic,
}

impl UdpViewer {
    /// Starts to connect. The handshake happens while the app runs.
    pub fn new(settings: ViewerSettings) -> Result<Self, ConnectError> {
        Ok(Self {
            new: Some(settings.connect()?),
            settings,
            contract: contract(),
            session: Ok(ClientSession::default()),
            counted: Traffic::default(),
        })
    }
}

/// Receives snapshots from the server. Needs the resource [`UdpViewer`] and
/// [`ViewerPlugin`](crate::replication::ViewerPlugin). The socket is read and written in every frame.
pub struct UdpViewerPlugin;

impl Plugin for UdpViewerPlugin {
    fn build(&self, app: &mut App) {
        let receive = (receive, publish)
            .chain()
            .in_set(CubewireSystems::Deliver)
            .in_set(TransportSystems::Receive(End::Client));
        app.add_plugins(UdpClient::default())
            .add_observer(reconnect)
            .add_observer(lose)
            .add_systems(PreUpdate, (dial.before(CubewireSystems::Receive), receive))
            .add_systems(FixedUpdate, post.in_set(TransportSystems::Flush(End::Client)))
            .add_systems(Update, account.in_set(TransportSystems::Flush(End::Client)))
            .configure_sets(Last, CubewireSystems::HangUp.after(exit_on_all_closed));
    }
}

fn reconnect(_: On<Reconnect>, mut viewer: ResMut<UdpViewer>) {
    if viewer.session.is_ok() {
        return;
    }
    match viewer.settings.connect() {
        Ok(connection) => {
            viewer.new = Some(connection);
            viewer.session = Ok(ClientSession::default());
            viewer.counted = Traffic::default();
        }
        Err(error) => viewer.session = Err(ConnectError(error).to_string()),
    }
}

fn lose(
    ended: On<Disconnected>,
    connections: Query<(), With<UdpConnection>>,
    mut viewer: ResMut<UdpViewer>,
) {
    if connections.contains(ended.entity) {
        viewer.session = Err(ended.reason.clone());
    }
}

/// Spawns a new connection, and applies the lane's simulated network to it.
fn dial(
    mut viewer: ResMut<UdpViewer>,
    lane: Single<Ref<LinkSettings>>,
    connections: Query<Entity, With<UdpConnection>>,
    mut commands: Commands,
) {
    let new = viewer.new.take().map(|new| commands.spawn(new).id());
    let changed = connections.iter().filter(|_| lane.is_changed());
    for connection in new.into_iter().chain(changed) {
        commands.entity(connection).try_insert(LinkConditions(lane.conditions.clone()));
    }
}

/// Maximum size of a snapshot message. An uncompressed snapshot takes 31 slices.
const MAX_SNAPSHOT_BYTES: usize = 64 * SLICE_BYTES;

type ViewedLane<'a> = (Entity, &'a SenderSettings, &'a mut ReceiverBuffer, Option<&'a mut Replica>);

type Connection<'a> = (Entity, &'a UdpConnection, &'a mut MessageBuffer);

/// Sends the hello, processes the server's messages, requests the lane's sender settings, and delivers snapshots.
fn receive(
    frames: Res<Time<Virtual>>,
    mut viewer: ResMut<UdpViewer>,
    connection: Option<Single<Connection<'_>>>,
    lane: Single<ViewedLane<'_>>,
    mut commands: Commands,
) {
    let UdpViewer { session: outcome, contract, .. } = &mut *viewer;
    let (Ok(session), Some(connection)) = (&mut *outcome, connection) else {
        return;
    };
    let (entity, connection, mut buffer) = connection.into_inner();
    let hello = session.hello(contract);
    let hello = hello.map(|hello| hello.encode());
    buffer.outgoing.messages.extend(hello);
    let server = connection.server();
    let (lane, sender, mut receiver_buffer, mut replica) = lane.into_inner();
    let was_welcomed = session.is_welcomed();
    for message in buffer.incoming.messages.drain(..) {
        match hear(session, contract, server, &message) {
            Ok(ClientEvent::Welcome(welcome)) => commands.trigger(Welcomed {
                entity: lane,
                welcome: *welcome,
                fallback: session.fallback(),
            }),
            Ok(ClientEvent::Tick(tick)) => {
                if let Some(replica) = &mut replica {
                    replica.0.sync_tick(frames.elapsed(), tick);
                }
            }
            Ok(ClientEvent::Answer) => {}
            Err(error) => {
                *outcome = Err(error);
                commands.entity(entity).try_despawn();
                return;
            }
        }
    }
    // Snapshots need the replica, which exists one frame after the welcome.
    if was_welcomed
        && replica.is_some()
        && let Some(request) = session.request(to_wire(sender))
    {
        buffer.outgoing.messages.push(request.encode());
    }
    let is_ready = session.is_welcomed() && replica.is_some();
    let snapshots = buffer.incoming.datagrams.drain(..);
    let snapshots = snapshots.filter(|message| is_ready && message.len() <= MAX_SNAPSHOT_BYTES);
    receiver_buffer.incoming.datagrams.extend(snapshots);
    bound(&mut receiver_buffer.incoming.datagrams);
}

fn hear(
    session: &mut ClientSession,
    contract: &Contract,
    server: SocketAddr,
    message: &[u8],
) -> Result<ClientEvent, String> {
    let message = ServerMessage::decode(message);
    let message = message.ok_or_else(|| format!("{server} sent a malformed message"))?;
    let heard = session.on_message(contract, message, Limits::default());
    let heard = heard
        .map_err(|reason| format!("the session with the server at {server} ended: {reason}"))?;
    if let ClientEvent::Welcome(welcome) = &heard
        && welcome.initial.bodies.len() != CUBES
    {
        let cubes = welcome.initial.bodies.len();
        return Err(format!(
            "the server at {server} has {cubes} cubes, but this program has {CUBES}"
        ));
    }
    Ok(heard)
}

type Status<'a> = (&'a UdpConnection, Option<&'a MessageBuffer>);

fn publish(
    viewer: Res<UdpViewer>,
    connection: Option<Single<Status<'_>>>,
    published: Option<ResMut<ServerConnection>>,
    mut commands: Commands,
) {
    let session = viewer.session.as_ref();
    let connection = connection.as_deref().filter(|_| session.is_ok());
    let first = || viewer.settings.server[0];
    let server = connection.map_or_else(first, |(connection, _)| connection.server());
    let now = ServerConnection {
        server: server.to_string(),
        status: match session {
            Ok(session) if session.is_welcomed() => ConnectionStatus::Connected,
            Ok(_) => ConnectionStatus::Connecting,
            Err(why) => ConnectionStatus::Lost(why.clone()),
        },
        round_trip: connection.and_then(|(_, buffer)| buffer.as_ref()?.round_trip),
        id: connection.map(|(connection, _)| connection.client_id()),
        granted: session.ok().and_then(ClientSession::granted).map(from_wire),
    };
    match published {
        Some(mut published) => {
            published.set_if_neq(now);
        }
        None => commands.insert_resource(now),
    }
}

fn post(
    mut lane: Single<&mut ReceiverBuffer>,
    buffer: Option<Single<&mut MessageBuffer, With<UdpConnection>>>,
) {
    let acks = lane.outgoing.datagrams.drain(..);
    if let Some(mut buffer) = buffer {
        buffer.outgoing.datagrams.extend(acks);
    }
}

fn account(
    mut viewer: ResMut<UdpViewer>,
    mut meter: Single<&mut LaneMeter>,
    connection: Option<Single<(&UdpConnection, &MessageBuffer)>>,
) {
    let Some((connection, buffer)) = connection.as_deref() else {
        return;
    };
    let traffic = buffer.traffic.since(&viewer.counted);
    viewer.counted = buffer.traffic;
    meter.count_traffic(&traffic.received, &traffic.sent);
    meter.link = connection.link_stats();
}
