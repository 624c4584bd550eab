//! Contract between a transport and replication. Implement it to write a custom transport.
//!
//! A connection is an entity with a [`MessageBuffer`], plus [`Client`] at a server or [`Server`] at a client. The transport
//!
//! 1. spawns the entity once bytes can flow in both directions, and despawns it when the connection has ended;
//! 2. moves received data into [`incoming`](MessageBuffer::incoming) in [`CubewireSystems::Receive`]: each datagram whole, in
//!    order of arrival; each message exactly once and in the order sent;
//! 3. sends the data in [`outgoing`](MessageBuffer::outgoing) in [`CubewireSystems::Flush`], in both of its schedules. It
//!    sends each datagram once, and splits long ones into fragments. It resends messages until they arrive, within
//!    [`reliable_allowance`](MessageBuffer::reliable_allowance) bytes on the wire per flush;
//! 4. counts all bytes on the wire in [`traffic`](MessageBuffer::traffic), including headers and retransmissions, and sets
//!    [`backlog_bytes`](MessageBuffer::backlog_bytes) and [`round_trip`](MessageBuffer::round_trip). Replication uses these to
//!    limit the contents of the message buffer;
//! 5. ends the connection if its entity is despawned. Replication despawns it if the peer violates the protocol.
//!
//! A connection stays active while its entity has [`Disabled`], because the entity can also be a body. A clone of the
//! entity is not a connection.
//!
//! Replication inserts [`Connected`] once both ends have agreed on the protocol. Replication validates all received
//! bytes, so the transport does not have to.

use std::time::Duration;

use bevy_app::{App, AppExit, FixedPostUpdate, Last, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
#[cfg(any(feature = "memory", feature = "udp"))]
use bevy_ecs::system::ScheduleSystem;
use bevy_time::{Fixed, Real, Time};

pub use cubewire_protocol::renet_guard::{CHANNEL_BYTES, SLICE_BYTES};
use cubewire_protocol::{AllowedSnapshot, SendBudget, TransportState};
use serde::Serialize;

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
    /// `FixedPostUpdate`: a server quantizes its bodies. Systems in this schedule that move bodies must run before.
    Capture,
    /// `FixedPostUpdate`, after `Capture`: the message buffers are filled. Also in `PostUpdate`, if the last flush was at
    /// least one tick ago in real time. Acks, messages and inputs, but no snapshots, are then sent while the game is
    /// paused, in slow motion, or has a longer timestep than its protocol.
    Send,
    /// After `Send`, in both schedules: the transport empties the message buffers.
    Flush,
    /// `Last`: ends the connections if the app exits. Systems in this schedule that send [`AppExit`] should run before.
    HangUp,
}

/// Server: the connection to a client.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(MessageBuffer)]
pub struct Client;

/// Client: the connection to the server.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(MessageBuffer)]
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
    /// Bytes of reliable messages that the transport holds until they have arrived.
    pub backlog_bytes: usize,
    /// Bytes on the wire of a reliable packet that must be sent whole and that no allowance has covered yet; 0 if there
    /// is no such packet. [`SendBudget`] saves up for it.
    pub stalled_bytes: usize,
    /// Traffic since the connection began.
    pub traffic: Traffic,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub round_trip: Option<Duration>,
}

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
            if let Err(error) = fits {
                dropped.warn(format_args!("{kind} {error}"));
            }
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

    /// Returns the snapshot that `budget` allows, and sets [`reliable_allowance`](Self::reliable_allowance). Call it
    /// after messages were put into the message buffer: see [`SendBudget::allow`]. [`ServerPlugin`](crate::ServerPlugin) calls
    /// it for its clients.
    pub fn allow(
        &mut self,
        budget: &mut SendBudget,
        tick: u64,
        now: Duration,
        asked_kbps: Option<u32>,
        can_be_partial: bool,
    ) -> AllowedSnapshot {
        let outbound = TransportState {
            sent_bytes: self.traffic.sent.bytes(),
            overhead_bytes: self.overhead_bytes + CHANNEL_BYTES,
            is_reliable_waiting: self.backlog_bytes > 0 || !self.outgoing.messages.is_empty(),
            stalled_bytes: self.stalled_bytes,
        };
        let (allowed, reliable) = budget.allow(tick, now, asked_kbps, can_be_partial, &outbound);
        self.reliable_allowance = reliable;
        allowed
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
            .configure_sets(FixedPostUpdate, (Capture, Send, Flush).chain())
            .configure_sets(PostUpdate, (Send, Flush).chain().run_if(no_tick_has_flushed))
            .add_systems(FixedPostUpdate, note_flush.after(Flush))
            .add_systems(PostUpdate, note_flush.in_set(Flush))
            .add_message::<AppExit>()
            .add_systems(Last, hang_up.in_set(HangUp).run_if(on_message::<AppExit>));
    }
}

/// Adds [`ConnectionPlugin`] unless the app has it.
pub(crate) fn add(app: &mut App) {
    if !app.is_plugin_added::<ConnectionPlugin>() {
        app.add_plugins(ConnectionPlugin);
    }
}

/// Adds the systems of a transport. `flush` runs in both schedules of [`CubewireSystems::Flush`].
#[cfg(any(feature = "memory", feature = "udp"))]
pub(crate) fn add_systems<R, F>(
    app: &mut App,
    receive: impl IntoScheduleConfigs<ScheduleSystem, R>,
    flush: impl IntoScheduleConfigs<ScheduleSystem, F> + Copy,
) {
    add(app);
    app.add_systems(PreUpdate, receive.in_set(CubewireSystems::Receive))
        .add_systems(FixedPostUpdate, flush.in_set(CubewireSystems::Flush))
        .add_systems(PostUpdate, flush.in_set(CubewireSystems::Flush));
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

type IsConnection = Or<(With<Client>, With<Server>)>;

/// Despawns all connections, so that the peers learn of the exit at once and not by a timeout.
fn hang_up(connections: Query<Entity, (IsConnection, OrDisabled)>, mut commands: Commands) {
    for connection in &connections {
        commands.entity(connection).try_despawn();
    }
}

/// Run condition: whether this client is [`Connected`].
pub fn connected(server: Query<(), (With<Server>, With<Connected>, OrDisabled)>) -> bool {
    !server.is_empty()
}
