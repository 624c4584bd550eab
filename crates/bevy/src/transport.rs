//! Contract between a transport and replication. Implement it to write a custom transport.
//!
//! A connection is an entity with a [`MessageBuffer`], plus [`Client`] at a server or [`Server`] at a client. The transport
//!
//! 1. spawns the entity once bytes can flow in both directions. When the other end has ended the connection, it moves the
//!    data that has arrived into `incoming`, and sets [`ended`](MessageBuffer::ended). The entity is despawned after the data was
//!    processed;
//! 2. moves received data into [`incoming`](MessageBuffer::incoming) in [`CubewireSystems::Receive`]: each datagram whole, in
//!    order of arrival; each message exactly once and in the order sent;
//! 3. sends the data in [`outgoing`](MessageBuffer::outgoing) in [`CubewireSystems::Flush`], in both of its schedules. It
//!    sends each datagram once, and splits long ones into fragments. It resends messages until they arrive, within
//!    [`reliable_allowance`](MessageBuffer::reliable_allowance) bytes on the wire per flush;
//! 4. counts all bytes on the wire in [`traffic`](MessageBuffer::traffic), including headers and retransmissions, and sets
//!    [`backlog_bytes`](MessageBuffer::backlog_bytes) and [`round_trip`](MessageBuffer::round_trip). Replication uses these to
//!    limit the contents of the message buffer;
//! 5. keeps a handle of its connection in a component of the entity, and registers the component with [`add_handle`]. If the
//!    game despawns the entity, or replication does because the peer violates the protocol, another entity gets the handle and
//!    the message buffer until the other end has received the last messages, for at most a second. The transport treats both
//!    entities alike, and ends the connection when no entity has the handle.
//!
//! A connection stays active while its entity has [`Disabled`], because the entity can also be a body. A clone of the
//! entity is not a connection.
//!
//! Replication inserts [`Connected`] once both ends have agreed on the protocol. Replication validates all received
//! bytes, so the transport does not have to.

#[cfg(any(feature = "memory", feature = "udp"))]
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bevy_app::{App, AppExit, FixedPostUpdate, Last, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
#[cfg(any(feature = "memory", feature = "udp"))]
use bevy_ecs::system::ScheduleSystem;
use bevy_ecs::world::DeferredWorld;
use bevy_time::{Fixed, Real, Time};

use cubewire_protocol::renet_guard::MAX_PACKET_BYTES;
pub use cubewire_protocol::renet_guard::{CHANNEL_BYTES, SLICE_BYTES};
use cubewire_protocol::{ClientConnection, ServerConnection, TransportState};
use serde::Serialize;

use crate::body::{Disconnected, HasEnded, disconnect_later};
use crate::clock::ConnectionClock;
use crate::traffic::Traffic;
use crate::wire::encode;

/// System sets of every app with a [`ConnectionPlugin`], in the order of execution.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CubewireSystems {
    /// `PreUpdate`: the transport fills the message buffers.
    Receive,
    /// `PreUpdate`, after `Receive`: inputs, messages and snapshots are read from the message buffers.
    Deliver,
    /// `PreUpdate`, after `Deliver`: remote bodies are spawned, moved and despawned.
    Play,
    /// `FixedUpdate`: bodies are moved by [`PredictTick`](crate::PredictTick), if there are predicted inputs.
    Predict,
    /// `FixedPostUpdate`: a server quantizes its bodies. Systems in this schedule that move bodies must run before.
    Capture,
    /// `FixedPostUpdate`, after `Capture`: the message buffers are filled. Also in `PostUpdate`, if the last flush was at
    /// least one tick ago in real time. Acks, messages and inputs, but no snapshots, are then sent while the game is
    /// paused, in slow motion, or has a longer timestep than its protocol.
    Send,
    /// After `Send`, in both schedules: the transport empties the message buffers. Also in `PostUpdate` if the app
    /// [exits](AppExit).
    Flush,
    /// `Last`: ends the connections if the app exits. Systems in this schedule that send [`AppExit`] should run before.
    HangUp,
}

/// Server: the connection to a client.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(MessageBuffer, ConnectionClock)]
pub struct Client;

/// Client: the connection to the server.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(MessageBuffer, ConnectionClock)]
pub struct Server;

/// Either end: both ends of this connection have agreed on the protocol.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub struct Connected;

/// Queues between a transport and replication, and the state of the connection: see the [contract](self).
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub struct MessageBuffer {
    /// Received and not yet processed.
    pub incoming: MessageQueue,
    /// Queued for sending.
    pub outgoing: MessageQueue,
    /// Limit of the bytes on the wire for reliable messages in the next flush; `None` for no limit.
    pub reliable_allowance: Option<usize>,
    /// Bytes of headers that the transport adds to each datagram.
    pub overhead_bytes: usize,
    /// Number of ticks over which the fragments of the next datagrams are spread, so that they do not overflow the
    /// queue of a narrow link. With 0 or 1, all are sent at once.
    pub spread_ticks: u32,
    /// Bytes of reliable messages that the transport holds until they have arrived. Above [`MAX_BACKLOG_BYTES`] the connection
    /// ends.
    pub backlog_bytes: usize,
    /// Bytes on the wire of a reliable packet that must be sent whole and that no allowance has covered for a while; 0 if
    /// there is no such packet. [`SendBudget`](cubewire_protocol::SendBudget) saves up for it.
    pub stalled_bytes: usize,
    /// Traffic since the connection began.
    pub traffic: Traffic,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub round_trip: Option<Duration>,
    /// Why the other end or the transport has ended the connection; `None` while it is open.
    pub ended: Option<String>,
    /// Message that is sent after all others if this end ends the connection.
    pub last_message: Option<Vec<u8>>,
}

/// Network conditions that the transports `memory` and `udp` simulate in both directions of a connection, on its entity at the
/// client. Over UDP they add to the real network. Insert it again to change them.
#[cfg(any(feature = "memory", feature = "udp"))]
#[derive(Component, Clone, Debug, Default, PartialEq)]
#[component(immutable, clone_behavior = Ignore)]
pub struct LinkConditions(pub cubewire_link::Conditions);

/// Limit of the reliable messages that wait for the other end of a connection, in bytes: 64 MiB.
pub const MAX_BACKLOG_BYTES: usize = 64 << 20;

/// Why a connection with a larger backlog ends.
#[cfg(any(feature = "memory", feature = "udp", feature = "bevy_renet"))]
pub(crate) const TOO_MANY_WAITING: &str =
    "more than 64 MiB of reliable messages wait for the other end";

/// Successor of a connection's entity that was despawned: see [`add_handle`].
#[derive(Component, Clone, Copy, Debug)]
#[component(clone_behavior = Ignore)]
#[require(HasEnded)]
pub(crate) struct Farewell {
    /// The despawned entity. Messages of this tick can still name it.
    pub(crate) of: Entity,
    /// Whether the entity was the [connected](Connected) end of a server or of a client.
    is_server_end: bool,
    is_client_end: bool,
    /// [`Real`] time when the connection ends; `None` before the first flush.
    until: Option<Duration>,
}

impl Farewell {
    /// Returns whether messages to the client `to` (`None`: to all) are sent, because they were written before the despawn.
    #[cfg(feature = "server")]
    pub(crate) fn sends_to(&self, to: Option<Entity>) -> bool {
        self.is_server_end && self.until.is_none() && to.is_none_or(|to| to == self.of)
    }

    /// Returns whether messages to the server are sent, because they were written before the despawn.
    #[cfg(feature = "client")]
    pub(crate) const fn sends_to_server(&self) -> bool {
        self.is_client_end && self.until.is_none()
    }
}

/// Maximum duration of a farewell.
const FAREWELL_TIME: Duration = Duration::from_secs(1);

/// Datagrams and reliable messages in one direction.
#[derive(Clone, Debug, Default)]
pub struct MessageQueue {
    /// Unreliable: each can arrive late, more than once or never. An empty one is not sent.
    pub datagrams: Vec<Vec<u8>>,
    /// Reliable: each arrives once and in order. The limit is
    /// [`MAX_RELIABLE_BYTES`](cubewire_protocol::renet_guard::MAX_RELIABLE_BYTES); a longer one is dropped with a
    /// warning.
    pub messages: Vec<Vec<u8>>,
}

impl MessageQueue {
    /// Drops empty datagrams, and datagrams and messages that are too long. The first overlong one is logged.
    #[cfg(any(feature = "memory", feature = "udp", feature = "bevy_renet"))]
    pub(crate) fn drop_unsendable(&mut self, dropped: &crate::wire::LoggedOnce) {
        use cubewire_protocol::renet_guard::{MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES};

        let fits = |kind: &str, bytes: usize, limit: usize| {
            let fits = crate::wire::fits(bytes, limit);
            let fits = fits.inspect_err(|error| dropped.warn(format_args!("{kind} {error}")));
            fits.is_ok()
        };
        self.datagrams.retain(|datagram| {
            !datagram.is_empty() && fits("datagram", datagram.len(), MAX_UNRELIABLE_BYTES)
        });
        self.messages.retain(|message| fits("reliable message", message.len(), MAX_RELIABLE_BYTES));
    }
}

impl MessageBuffer {
    /// Returns an empty message buffer with this [`overhead_bytes`](Self::overhead_bytes).
    pub fn new(overhead_bytes: usize) -> Self {
        Self { overhead_bytes, ..Self::default() }
    }

    pub(crate) fn send(&mut self, message: &impl Serialize) {
        self.outgoing.messages.push(encode(message));
    }

    /// Queues reliable messages: calls `poll`, such as [`ServerConnection::poll_message`], until it returns `None`.
    pub fn send_all(&mut self, poll: impl FnMut() -> Option<Vec<u8>>) {
        self.outgoing.messages.extend(std::iter::from_fn(poll));
    }

    /// Limits a connection by the state of the transport, and sets [`reliable_allowance`](Self::reliable_allowance): see
    /// [`ServerConnection::allow`]. Call it after messages were put into the message buffer.
    /// [`ServerPlugin`](crate::server::ServerPlugin) calls it for its clients.
    pub fn allow(&mut self, connection: &mut ServerConnection, now: Duration, tick: u64) {
        self.reliable_allowance = connection.allow(now, tick, &self.state());
    }

    /// Returns what limits of the rate must know about the transport.
    pub fn state(&self) -> TransportState {
        TransportState {
            sent_bytes: self.traffic.sent.bytes(),
            overhead_bytes: self.overhead_bytes + CHANNEL_BYTES,
            is_reliable_waiting: self.backlog_bytes > 0 || !self.outgoing.messages.is_empty(),
            stalled_bytes: self.stalled_bytes,
        }
    }
}

/// Queues the reason for the end of a connection as the last message to the other end. A plugin adds this observer if its
/// connections have a session of [`cubewire_protocol`].
pub fn tell_why(
    ended: On<Disconnected>,
    mut connections: Query<(&mut MessageBuffer, Has<Client>), OrDisabled>,
) {
    if let Ok((mut buffer, is_client)) = connections.get_mut(ended.entity) {
        let farewell =
            if is_client { ServerConnection::farewell } else { ClientConnection::farewell };
        buffer.last_message = Some(farewell(&ended.reason));
    }
}

/// Orders the [system sets](CubewireSystems), and ends connections when the app exits.
/// [`CubewirePlugin`](crate::CubewirePlugin) and the transports add it. Transports also work without replication.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectionPlugin;

impl Plugin for ConnectionPlugin {
    fn build(&self, app: &mut App) {
        use CubewireSystems::{Capture, Deliver, Flush, HangUp, Play, Receive, Send};
        app.init_resource::<LastFlush>()
            .configure_sets(PreUpdate, (Receive, Deliver, Play).chain())
            .configure_sets(
                FixedPostUpdate,
                (Capture, Send, Farewells::Write, Flush, Farewells::End).chain(),
            )
            .configure_sets(
                PostUpdate,
                (Send, Farewells::Write, Flush, Farewells::End)
                    .chain()
                    .run_if(no_tick_has_flushed.or_else(on_message::<AppExit>)),
            )
            .add_systems(PreUpdate, end_ended.after(Deliver).before(Play))
            .add_message::<AppExit>()
            .add_systems(Last, hang_up.in_set(HangUp).run_if(on_message::<AppExit>));
        let steps = || {
            let end = (note_flush, end_farewells).in_set(Farewells::End);
            (add_last_message.in_set(Farewells::Write), end)
        };
        app.add_systems(FixedPostUpdate, steps()).add_systems(PostUpdate, steps());
    }
}

/// Steps of a [`Farewell`] around [`CubewireSystems::Flush`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Farewells {
    Write,
    End,
}

/// Registers the component with a transport's handle of a connection, and adds [`ConnectionPlugin`] if the app does not have it.
/// Clones are handles of the same connection.
pub fn add_handle<H: Component + Clone>(app: &mut App) {
    add(app);
    app.add_observer(say_farewell::<H>);
}

/// Adds [`ConnectionPlugin`] unless the app has it.
pub(crate) fn add(app: &mut App) {
    if !app.is_plugin_added::<ConnectionPlugin>() {
        app.add_plugins(ConnectionPlugin);
    }
}

/// Adds the handle and the systems of a transport. `flush` runs in both schedules of [`CubewireSystems::Flush`].
#[cfg(any(feature = "memory", feature = "udp"))]
pub(crate) fn add_systems<H: Component + Clone, R, F>(
    app: &mut App,
    receive: impl IntoScheduleConfigs<ScheduleSystem, R>,
    flush: impl IntoScheduleConfigs<ScheduleSystem, F> + Copy,
) {
    add_handle::<H>(app);
    app.add_systems(PreUpdate, receive.in_set(CubewireSystems::Receive))
        .add_systems(FixedPostUpdate, flush.in_set(CubewireSystems::Flush))
        .add_systems(PostUpdate, flush.in_set(CubewireSystems::Flush));
}

/// Ignores poisoning: a panic elsewhere leaves the data of a connection valid.
#[cfg(any(feature = "memory", feature = "udp"))]
pub(crate) fn lock<T>(data: &Mutex<T>) -> MutexGuard<'_, T> {
    data.lock().unwrap_or_else(PoisonError::into_inner)
}

/// [`Real`] time of the last flush.
#[derive(Resource, Debug, Default)]
struct LastFlush(Duration);

/// Longest time between two flushes: a tick of the protocol. The game's own timestep can be longer.
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct FlushInterval(pub(crate) Duration);

fn note_flush(time: Res<Time<Real>>, mut last: ResMut<LastFlush>) {
    last.0 = time.elapsed();
}

fn no_tick_has_flushed(
    time: Res<Time<Real>>,
    ticks: Res<Time<Fixed>>,
    last: Res<LastFlush>,
    interval: Option<Res<FlushInterval>>,
) -> bool {
    let tick = ticks.timestep();
    time.elapsed() >= last.0 + interval.map_or(tick, |interval| tick.min(interval.0))
}

/// Query filter that includes entities with [`Disabled`].
pub(crate) type OrDisabled = Allow<Disabled>;

type IsConnection = Or<(With<Client>, With<Server>, With<Farewell>)>;

/// Moves an open connection of a despawned entity to a successor, unless the entity is a successor itself.
fn say_farewell<H: Component + Clone>(
    removed: On<Remove, MessageBuffer>,
    mut world: DeferredWorld,
) {
    let entity = world.entity(removed.entity);
    let Some(handle) = entity.get::<H>().filter(|_| !entity.contains::<Farewell>()).cloned() else {
        return;
    };
    let is_connected = entity.contains::<Connected>();
    let farewell = Farewell {
        of: removed.entity,
        is_server_end: is_connected && entity.contains::<Client>(),
        is_client_end: is_connected && entity.contains::<Server>(),
        until: None,
    };
    if let Some(mut buffer) = world.get_mut::<MessageBuffer>(removed.entity)
        && buffer.ended.is_none()
    {
        let mut contents = std::mem::take(&mut *buffer);
        // One packet per flush: the budget ends with the entity.
        contents.reliable_allowance = contents.reliable_allowance.and(Some(MAX_PACKET_BYTES));
        contents.outgoing.datagrams.clear();
        world.commands().spawn((farewell, contents, handle));
    }
}

/// Despawns connections that have ended, after their last messages were processed.
fn end_ended(buffers: Query<(Entity, &MessageBuffer), OrDisabled>, mut commands: Commands) {
    for (entity, buffer) in &buffers {
        if let Some(reason) = buffer.ended.clone() {
            disconnect_later(&mut commands, entity, reason);
        }
    }
}

fn add_last_message(mut farewells: Query<&mut MessageBuffer, With<Farewell>>) {
    for mut buffer in &mut farewells {
        let last = buffer.last_message.take();
        buffer.outgoing.messages.extend(last);
    }
}

/// Ends the connections of despawned entities once all messages have arrived or the time is over.
fn end_farewells(
    time: Res<Time<Real>>,
    mut farewells: Query<(Entity, &mut Farewell, &mut MessageBuffer)>,
    mut commands: Commands,
) {
    for (entity, mut farewell, mut buffer) in &mut farewells {
        buffer.incoming = MessageQueue::default();
        let until = *farewell.until.get_or_insert(time.elapsed() + FAREWELL_TIME);
        let is_waiting = buffer.last_message.is_some() || !buffer.outgoing.messages.is_empty();
        let has_arrived = !is_waiting && buffer.backlog_bytes == 0;
        if has_arrived || time.elapsed() >= until {
            commands.entity(entity).try_despawn();
        }
    }
}

/// Ends all connections at once, so that the peers learn of the exit at once and not by a timeout.
fn hang_up(
    mut connections: Query<(Entity, &mut MessageBuffer), (IsConnection, OrDisabled)>,
    mut commands: Commands,
) {
    for (connection, mut buffer) in &mut connections {
        buffer.ended = Some("this app has ended".to_owned());
        commands.entity(connection).try_despawn();
    }
}

/// Run condition: whether this client is [`Connected`].
pub fn connected(server: Query<(), (With<Server>, With<Connected>, OrDisabled)>) -> bool {
    !server.is_empty()
}
