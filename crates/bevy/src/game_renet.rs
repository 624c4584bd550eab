//! A transport over the connections of a game that has [`bevy_renet`]: mailboxes are filled from its own `RenetServer` and
//! `RenetClient`, over netcode or Steam, on two channels of renet. The game keeps its connections and its other messages.
//!
//! ```
//! use bevy_app::{App, TaskPoolPlugin};
//! use bevy_renet::netcode::NetcodeServerPlugin;
//! use bevy_renet::{RenetServer, RenetServerPlugin, renet::ConnectionConfig};
//! use bevy_time::TimePlugin;
//! use cubewire_bevy::game_renet::{BevyRenet, NoChannelLeft};
//! use cubewire_bevy::{CubewirePlugin, ServerPlugin};
//!
//! fn server() -> Result<App, NoChannelLeft> {
//!     // The game's own channels come first.
//!     let mut config = ConnectionConfig::default();
//!     let transport = BevyRenet::add_channels(&mut config)?;
//!     let mut app = App::new();
//!     app.add_plugins((TaskPoolPlugin::default(), TimePlugin))
//!         .add_plugins((RenetServerPlugin, NetcodeServerPlugin))
//!         .add_plugins((CubewirePlugin::new("arena"), ServerPlugin, transport))
//!         .insert_resource(RenetServer::new(config));
//!     Ok(app)
//! }
//! # server().unwrap();
//! ```
//!
//! At a server, each client that renet has connected is an entity with [`Client`] and [`RenetClientId`]; despawning it
//! disconnects the client. At a client there is an entity with [`Server`] while `RenetClient` is connected. If the game removes
//! or replaces a resource, its connections end in the next frame, and those of the next one begin. The exception is a connected
//! `RenetClient` that is replaced by one that is connected at once, as `new_local_client` returns it: remove it for a frame.
//!
//! # What does not hold
//!
//! The game's transport sends the packets, so some points of the [contract](crate::mailbox) hold only in part:
//!
//! - renet repeats a reliable message after 300 ms until it is acked, and cannot be held back. Messages are given to renet within
//!   [`reliable_allowance`](Mailbox::reliable_allowance), each as a whole: the last one of a flush can exceed it.
//! - [`traffic`](Mailbox::traffic) is estimated from what renet is given and has received. Retransmissions, the packet of acks
//!   that renet sends in each frame, and messages of the game are not counted. Datagrams count with headers of IPv4, UDP and
//!   netcode.
//! - So a [`ByteBudget`](crate::ByteBudget) is best effort.
//! - [`spread_ticks`](Mailbox::spread_ticks) is ignored: all fragments of a datagram are sent in one frame.
//! - No guard checks packets before netcode and renet read them. `SECURITY.md` lists what a peer can do to these.
//!
//! renet warns of each datagram that needs more than 20 fragments. The log filter `renet::channel::unreliable=error` hides that.
//!
//! [`bevy_renet`]: https://docs.rs/bevy_renet

mod ends;

use std::collections::BTreeMap;
use std::time::Duration;

use bevy_app::{App, FixedPostUpdate, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_renet::renet::{ChannelConfig, ClientId, ConnectionConfig, SendType, ServerEvent};
use bevy_renet::{RenetReceive, RenetSend, RenetServerEvent};
use cubewire_protocol::renet_guard::{MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES};

use self::ends::{Ends, NO_CONNECTION, Peer};
use crate::body::disconnect;
use crate::mailbox::{self, Client, CubewireSystems, Mailbox, Server};
use crate::traffic::HEADER_BYTES;
use crate::wire::LoggedOnce;

/// Fills mailboxes from the game's `RenetServer`, `RenetClient` or both: see the [module](self). The game adds the plugins of
/// `bevy_renet`.
#[derive(Clone, Copy, Debug)]
pub struct BevyRenet {
    unreliable: u8,
    reliable: u8,
}

/// The channels of the game leave no ids for two more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no ids for two channels after the game's channel {highest}: the last id is 255")]
pub struct NoChannelLeft {
    /// The highest id of the game's channels.
    pub highest: u8,
}

/// At a server: renet's id of a client, on the entity of its connection.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[component(immutable, clone_behavior = Ignore)]
pub struct RenetClientId(pub ClientId);

impl BevyRenet {
    /// Adds two channels to the configuration of a game's connections, in both directions: an unreliable one, and a reliable
    /// and ordered one. Their ids are the two after the highest id in either list, so the game's channels keep theirs, and
    /// come first when renet fills packets. Call this after the game has added its own channels, once for a configuration,
    /// with the same channels at both ends: renet disconnects a peer that sends on an unknown channel. Each channel may
    /// hold 16 MiB.
    ///
    /// Raises `available_bytes_per_tick` to two datagrams of the greatest length, 614 400 bytes. renet drops an unreliable
    /// message without a warning if it is longer than the rest of this number in a frame. A game that sets a smaller number
    /// afterwards loses large snapshots.
    ///
    /// # Errors
    /// [`NoChannelLeft`] if the highest id is above 253.
    pub fn add_channels(config: &mut ConnectionConfig) -> Result<Self, NoChannelLeft> {
        let server = config.server_channels_config.iter();
        let ids = server.chain(&config.client_channels_config);
        let highest = ids.map(|channel| channel.channel_id).max();
        let reliable = highest.map_or(Ok(1), |highest| {
            highest.checked_add(2).ok_or(NoChannelLeft { highest })
        })?;
        let resend_time = Duration::from_millis(300);
        let transport = Self {
            unreliable: reliable - 1,
            reliable,
        };
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
    /// Not here, but renet panics later if the game inserts a `RenetServer` or `RenetClient` without the two channels.
    fn build(&self, app: &mut App) {
        mailbox::add(app);
        app.insert_resource(Connections {
            channels: *self,
            entities: BTreeMap::new(),
            dropped: LoggedOnce::default(),
        })
        .add_observer(end_client)
        .add_observer(hang_up)
        .add_systems(
            PreUpdate,
            (follow, receive)
                .chain()
                .in_set(CubewireSystems::Receive)
                .after(RenetReceive),
        )
        .add_systems(FixedPostUpdate, flush.in_set(CubewireSystems::Flush))
        .add_systems(
            PostUpdate,
            flush.in_set(CubewireSystems::Flush).before(RenetSend),
        );
    }
}

/// The connections that have an entity.
#[derive(Resource, Debug)]
struct Connections {
    channels: BevyRenet,
    entities: BTreeMap<Peer, Entity>,
    /// That something was too long to be sent.
    dropped: LoggedOnce,
}

impl Connections {
    /// Ends a connection that renet has ended. Without an entry, [`hang_up`] does not disconnect the peer, which may be
    /// connected again.
    fn end(&mut self, peer: Peer, why: String, commands: &mut Commands<'_, '_>) {
        if let Some(entity) = self.entities.remove(&peer) {
            commands.queue(move |world: &mut World| disconnect(world, entity, why));
        }
    }

    /// Sends all datagrams, and as many reliable messages as may be under way. The others stay in the mailbox.
    fn flush(&self, peer: Peer, mailbox: &mut Mailbox, ends: &mut Ends<'_>) {
        let fits = |kind: &str, bytes: usize, most: usize| {
            if bytes > most {
                let line = format_args!("{kind} too long: {bytes} bytes, limit {most}");
                self.dropped.warn(line);
            }
            bytes <= most
        };
        let sent = &mut mailbox.traffic.sent;
        for datagram in mailbox.outgoing.datagrams.drain(..) {
            if !datagram.is_empty() && fits("datagram", datagram.len(), MAX_UNRELIABLE_BYTES) {
                let (packets, bytes) = wire(datagram.len());
                sent.packets += packets;
                sent.packet_bytes += bytes;
                ends.send(peer, self.channels.unreliable, datagram);
            }
        }
        let messages = &mut mailbox.outgoing.messages;
        messages.retain(|message| fits("reliable message", message.len(), MAX_RELIABLE_BYTES));
        let mut unacked = ends.unacked_bytes(peer, self.channels.reliable);
        let mut spent = 0;
        let allowance = mailbox
            .reliable_allowance
            .map_or(u64::MAX, |most| most as u64);
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
        mailbox.backlog_bytes = unacked;
    }
}

/// Ends the connection to a client that has left, or has connected again in the same frame.
fn end_client(
    event: On<RenetServerEvent>,
    mut connections: ResMut<Connections>,
    mut commands: Commands,
) {
    let (id, why) = match event.0 {
        ServerEvent::ClientConnected { client_id } => (client_id, NO_CONNECTION.to_owned()),
        ServerEvent::ClientDisconnected { client_id, reason } => (client_id, reason.to_string()),
    };
    connections.end(Some(id), why, &mut commands);
}

/// Disconnects a peer whose entity somebody else has despawned.
fn hang_up(removed: On<Remove, Mailbox>, mut connections: ResMut<Connections>, mut ends: Ends) {
    let mut entities = connections.entities.iter();
    if let Some((&peer, _)) = entities.find(|(_, entity)| **entity == removed.entity) {
        connections.entities.remove(&peer);
        ends.disconnect(peer);
    }
}

/// Begins and ends connections as renet has.
fn follow(mut connections: ResMut<Connections>, ends: Ends, mut commands: Commands) {
    let connected = ends.connected();
    let entities = connections.entities.keys().copied();
    let gone: Vec<_> = entities.filter(|peer| !connected.contains(peer)).collect();
    for peer in gone {
        connections.end(peer, ends.why_disconnected(peer), &mut commands);
    }
    for peer in connected {
        connections.entities.entry(peer).or_insert_with(|| {
            let mailbox = Mailbox::new(OVERHEAD_BYTES);
            match peer {
                Some(id) => commands.spawn((Client, RenetClientId(id), mailbox)).id(),
                None => commands.spawn((Server, mailbox)).id(),
            }
        });
    }
}

/// Fills the mailboxes.
fn receive(
    connections: Res<Connections>,
    mut ends: Ends,
    mut mailboxes: Query<&mut Mailbox, Allow<Disabled>>,
) {
    let channels = connections.channels;
    for (&peer, &entity) in &connections.entities {
        let Ok(mut mailbox) = mailboxes.get_mut(entity) else {
            continue;
        };
        let Mailbox {
            incoming, traffic, ..
        } = &mut *mailbox;
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
        mailbox.round_trip = ends.round_trip(peer);
    }
}

/// Gives renet what is in the mailboxes.
fn flush(
    connections: Res<Connections>,
    mut ends: Ends,
    mut mailboxes: Query<&mut Mailbox, Allow<Disabled>>,
    mut commands: Commands,
) {
    let connected = ends.connected();
    for (peer, &entity) in &connections.entities {
        if let Ok(mut mailbox) = mailboxes.get_mut(entity)
            && connected.contains(peer)
        {
            connections.flush(*peer, &mut mailbox, &mut ends);
            let waiting = mailbox.outgoing.messages.iter().map(Vec::len);
            if mailbox.backlog_bytes + waiting.sum::<usize>() > MAX_BACKLOG_BYTES {
                let why = "too much waits for the other end to acknowledge it";
                commands.queue(move |world: &mut World| disconnect(world, entity, why));
            }
        }
    }
}

/// Estimates the packets that renet makes of a message, and their bytes with all headers.
const fn wire(bytes: usize) -> (u64, u64) {
    let fragments = bytes.div_ceil(FRAGMENT_BYTES);
    let packets = if fragments == 0 { 1 } else { fragments };
    let headers = packets * (OVERHEAD_BYTES + RENET_BYTES);
    (packets as u64, (bytes + headers) as u64)
}

/// Most bytes of a message in one packet of renet, which cuts longer ones.
const FRAGMENT_BYTES: usize = 1200;

/// Bytes of renet's headers in a packet, about as many as in one of a long session.
const RENET_BYTES: usize = 13;

/// Bytes of headers around a packet of renet: IPv4, UDP, and netcode's at most.
const OVERHEAD_BYTES: usize = HEADER_BYTES + 25;

/// Memory of each channel at each end. At more, renet drops unreliable messages, and ends a connection with reliable ones.
const CHANNEL_MEMORY_BYTES: usize = 16 << 20;

/// Most bytes of reliable messages that renet holds until they are acked: it would send and repeat all that it has at once, and
/// the other end would hold all that arrives before a lost one.
const MAX_UNACKED_BYTES: usize = 256 << 10;

/// What waits for a peer, at most: one that acks nothing for so long is given up.
const MAX_BACKLOG_BYTES: usize = 8 << 20;
