//! A transport for games that use [`bevy_renet`]: it sends through the game's own `RenetServer` and `RenetClient`, over
//! netcode or Steam, on two additional renet channels. The game keeps its connections and its own messages.
//!
//! [`BevyRenet::add_channels`] adds the channels to the game's `ConnectionConfig` and returns the plugin. The example
//! `with_bevy_renet` has a server and a client.
//!
//! At a server, each client that renet has connected is an entity with [`Client`] and [`RenetClientId`]; despawning the
//! entity disconnects the client. At a client, there is an entity with [`Server`] while `RenetClient` is connected. If
//! the game removes or replaces either resource, its connections end in the next frame, and the new resource's
//! connections begin. One case is not detected: a connected `RenetClient` that is replaced by one that is connected
//! from the start, as `new_local_client` returns it. Remove the resource for one frame in between.
//!
//! # Limitations
//!
//! The game's transport sends the packets, so some points of the [contract](crate::transport) hold only in part:
//!
//! - renet resends a reliable message every 300 ms until it is acked, and this cannot be limited. Messages are passed
//!   to renet within [`reliable_allowance`](MessageBuffer::reliable_allowance), but always whole, so the last one of a flush
//!   can exceed the allowance.
//! - [`traffic`](MessageBuffer::traffic) is estimated from the messages that renet was given and has received. It excludes
//!   retransmissions, the ack packet that renet sends in each frame, and the game's own messages. Each datagram counts
//!   with IPv4, UDP and netcode headers.
//! - As a result, a [`ByteBudget`](crate::ByteBudget) is best effort.
//! - renet forgets a peer's last messages if it reads them together with the end of the connection.
//! - [`spread_ticks`](MessageBuffer::spread_ticks) is ignored: all fragments of a datagram are sent in one frame.
//! - No guard checks packets before netcode and renet parse them. `SECURITY.md` lists the attacks that this permits.
//!
//! renet warns of each datagram that needs more than 20 fragments. The log filter `renet::channel::unreliable=error`
//! hides these warnings.
//!
//! [`bevy_renet`]: https://docs.rs/bevy_renet

mod ends;

use std::collections::BTreeSet;
use std::time::Duration;

use bevy_app::{App, FixedPostUpdate, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_renet::renet::{ChannelConfig, ClientId, ConnectionConfig, SendType, ServerEvent};
use bevy_renet::{RenetReceive, RenetSend, RenetServerEvent};
use cubewire_protocol::renet_guard::MAX_UNRELIABLE_BYTES;

use self::ends::{Ends, NO_CONNECTION, RenetPeer};
use crate::body::disconnect_later;
use crate::traffic::HEADER_BYTES;
use crate::transport::{
    self, Client, CubewireSystems, MAX_BACKLOG_BYTES, MessageBuffer, OrDisabled, Server,
    TOO_MANY_WAITING,
};
use crate::wire::LoggedOnce;

/// Transport over the game's `RenetServer`, `RenetClient` or both: see the [module](self). The game adds the plugins of
/// `bevy_renet`.
#[derive(Clone, Copy, Debug)]
pub struct BevyRenet {
    unreliable: u8,
    reliable: u8,
}

/// The game's channels leave no two free channel ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no two free channel ids after the game's channel {highest}: the last id is 255")]
pub struct NoChannelLeft {
    /// Highest channel id of the game.
    pub highest: u8,
}

/// Server: renet's client id, on the connection's entity.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[component(immutable, clone_behavior = Ignore)]
pub struct RenetClientId(pub ClientId);

impl BevyRenet {
    /// Adds an unreliable channel and a reliable ordered channel to a game's connection configuration, in both
    /// directions. Their ids are the two after the highest id in either list, so the game's channels keep their ids and
    /// come first when renet fills packets. Call this once per configuration, after the game has added its own
    /// channels, with the same channels at both ends: renet disconnects a peer that sends on an unknown channel. Each
    /// channel may hold 16 MiB.
    ///
    /// Raises `available_bytes_per_tick` to twice the longest datagram, 614 400 bytes. If an unreliable message exceeds
    /// the bytes left for a frame, renet drops it without a warning. A game that lowers the limit afterwards loses
    /// large snapshots.
    ///
    /// # Errors
    /// [`NoChannelLeft`] if the highest id is above 253.
    pub fn add_channels(config: &mut ConnectionConfig) -> Result<Self, NoChannelLeft> {
        let ids = config.server_channels_config.iter().chain(&config.client_channels_config);
        let highest = ids.map(|channel| channel.channel_id).max();
        let reliable = highest
            .map_or(Ok(1), |highest| highest.checked_add(2).ok_or(NoChannelLeft { highest }))?;
        let resend_time = Duration::from_millis(300);
        let transport = Self { unreliable: reliable - 1, reliable };
        let channels = [
            (transport.unreliable, SendType::Unreliable),
            (reliable, SendType::ReliableOrdered { resend_time }),
        ];
        let channels = channels.map(|(channel_id, send_type)| ChannelConfig {
            channel_id,
            max_memory_usage_bytes: CHANNEL_MEMORY_BYTES,
            send_type,
        });
        config.server_channels_config.extend(channels.clone());
        config.client_channels_config.extend(channels);
        let available = &mut config.available_bytes_per_tick;
        *available = (*available).max(2 * MAX_UNRELIABLE_BYTES as u64);
        Ok(transport)
    }
}

impl Plugin for BevyRenet {
    /// # Panics
    /// Never here, but renet panics later if the game inserts a `RenetServer` or `RenetClient` without the two
    /// channels.
    fn build(&self, app: &mut App) {
        transport::add_handle::<Handle>(app);
        app.insert_resource(Connections {
            channels: *self,
            known: BTreeSet::new(),
            dropped: LoggedOnce::default(),
        })
        .add_observer(end_client)
        .add_systems(
            PreUpdate,
            (follow, receive).chain().in_set(CubewireSystems::Receive).after(RenetReceive),
        )
        .add_systems(FixedPostUpdate, flush.in_set(CubewireSystems::Flush))
        .add_systems(PostUpdate, flush.in_set(CubewireSystems::Flush).before(RenetSend));
    }
}

#[derive(Resource, Debug)]
struct Connections {
    channels: BevyRenet,
    /// The peers that were connected in the last frame.
    known: BTreeSet<RenetPeer>,
    dropped: LoggedOnce,
}

#[derive(Component, Clone, Copy, Debug)]
#[component(clone_behavior = Ignore)]
struct Handle(RenetPeer);

/// Message buffers, except of connections that have ended: the peer may have connected again.
#[derive(SystemParam)]
struct Buffers<'w, 's>(
    Query<'w, 's, (Entity, &'static Handle, &'static mut MessageBuffer), OrDisabled>,
);

impl Buffers<'_, '_> {
    fn open(&mut self) -> impl Iterator<Item = (Entity, RenetPeer, Mut<'_, MessageBuffer>)> {
        let all = self.0.iter_mut().map(|(entity, handle, buffer)| (entity, handle.0, buffer));
        all.filter(|(.., buffer)| buffer.ended.is_none())
    }
}

impl Connections {
    /// Sends all datagrams, and as many reliable messages as the allowance and [`MAX_UNACKED_BYTES`] permit. The other
    /// messages stay in the message buffer.
    fn flush(&self, peer: RenetPeer, buffer: &mut MessageBuffer, ends: &mut Ends<'_>) {
        buffer.outgoing.drop_unsendable(&self.dropped);
        let sent = &mut buffer.traffic.sent;
        for datagram in buffer.outgoing.datagrams.drain(..) {
            let (packets, bytes) = wire(datagram.len());
            sent.packets += packets;
            sent.packet_bytes += bytes;
            ends.send(peer, self.channels.unreliable, datagram);
        }
        let messages = &mut buffer.outgoing.messages;
        let mut unacked = ends.unacked_bytes(peer, self.channels.reliable);
        let mut spent = 0;
        let allowance = buffer.reliable_allowance.map_or(u64::MAX, |most| most as u64);
        let is_sent = |message: &&Vec<u8>| {
            let may_send = spent < allowance && unacked + message.len() <= MAX_UNACKED_BYTES;
            if may_send {
                spent += wire(message.len()).1;
                unacked += message.len();
            }
            may_send
        };
        let count = messages.iter().take_while(is_sent).count();
        for message in messages.drain(..count) {
            ends.send(peer, self.channels.reliable, message);
        }
        sent.control_bytes += spent;
        let waiting = buffer.outgoing.messages.iter().map(Vec::len);
        buffer.backlog_bytes = unacked + waiting.sum::<usize>();
    }
}

/// Ends the connection of a client that has disconnected. A new connection with the same id ends the previous one, in
/// case the client has left and returned in one frame.
fn end_client(
    event: On<RenetServerEvent>,
    mut connections: ResMut<Connections>,
    mut buffers: Buffers,
) {
    let (id, why) = match event.0 {
        ServerEvent::ClientConnected { client_id } => (client_id, NO_CONNECTION.to_owned()),
        ServerEvent::ClientDisconnected { client_id, reason } => (client_id, reason.to_string()),
    };
    connections.known.remove(&Some(id));
    for (.., mut buffer) in buffers.open().filter(|(_, peer, _)| *peer == Some(id)) {
        buffer.ended = Some(why.clone());
    }
}

/// Disconnects peers without an entity, ends the connections that renet has closed, and spawns entities for new ones.
fn follow(
    mut connections: ResMut<Connections>,
    mut ends: Ends,
    mut buffers: Buffers,
    mut commands: Commands,
) {
    let open: BTreeSet<_> = buffers.open().map(|(_, peer, _)| peer).collect();
    connections.known.difference(&open).for_each(|&peer| ends.disconnect(peer));
    let connected = ends.connected();
    for (_, peer, mut buffer) in buffers.open() {
        if !connected.contains(&peer) {
            buffer.ended = Some(ends.why_disconnected(peer));
        }
    }
    for &peer in connected.difference(&open) {
        let connection = (Handle(peer), MessageBuffer::new(OVERHEAD_BYTES));
        match peer {
            Some(id) => commands.spawn((Client, RenetClientId(id), connection)),
            None => commands.spawn((Server, connection)),
        };
    }
    connections.known = connected;
}

fn receive(connections: Res<Connections>, mut ends: Ends, mut buffers: Buffers) {
    let channels = connections.channels;
    for (_, peer, mut buffer) in buffers.open() {
        let MessageBuffer { incoming, traffic, .. } = &mut *buffer;
        let received = &mut traffic.received;
        while let Some(message) = ends.receive(peer, channels.reliable) {
            received.control_bytes += wire(message.len()).1;
            incoming.messages.push(message.into());
        }
        while let Some(datagram) = ends.receive(peer, channels.unreliable) {
            let (packets, bytes) = wire(datagram.len());
            received.packets += packets;
            received.packet_bytes += bytes;
            incoming.datagrams.push(datagram.into());
        }
        buffer.round_trip = ends.round_trip(peer);
    }
}

/// Passes the message buffers' messages to renet. Ends a connection if its backlog exceeds [`MAX_BACKLOG_BYTES`].
fn flush(
    connections: Res<Connections>,
    mut ends: Ends,
    mut buffers: Buffers,
    mut commands: Commands,
) {
    let connected = ends.connected();
    for (entity, peer, mut buffer) in buffers.open().filter(|(_, peer, _)| connected.contains(peer))
    {
        connections.flush(peer, &mut buffer, &mut ends);
        if buffer.backlog_bytes > MAX_BACKLOG_BYTES {
            buffer.outgoing.messages.clear();
            disconnect_later(&mut commands, entity, TOO_MANY_WAITING);
        }
    }
}

/// Estimates the number of packets that renet sends for a message, and their bytes including all headers.
const fn wire(bytes: usize) -> (u64, u64) {
    let fragments = bytes.div_ceil(FRAGMENT_BYTES);
    let packets = if fragments == 0 { 1 } else { fragments };
    let headers = packets * (OVERHEAD_BYTES + RENET_BYTES);
    (packets as u64, (bytes + headers) as u64)
}

/// renet splits messages longer than this, in bytes, into several packets.
const FRAGMENT_BYTES: usize = 1200;

/// Bytes of renet's headers per packet, about the size late in a long session.
const RENET_BYTES: usize = 13;

/// Bytes of IPv4, UDP and netcode headers per packet; netcode's at their largest.
const OVERHEAD_BYTES: usize = HEADER_BYTES + 25;

/// Memory of each channel at each end. Above it, renet drops unreliable messages, and disconnects if messages are
/// reliable.
const CHANNEL_MEMORY_BYTES: usize = 16 << 20;

/// Limit of the reliable bytes that renet holds unacked. renet sends and resends all of them at once, and the receiver
/// buffers everything that arrives after a lost message.
const MAX_UNACKED_BYTES: usize = 256 << 10;
