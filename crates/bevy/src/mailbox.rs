//! What a transport and replication know of each other: the contract for transports of one's own.
//!
//! A connection is an entity with a [`Mailbox`]: at a server with [`Client`], at a client with [`Server`]. The transport
//!
//! 1. spawns it once bytes can go both ways, and despawns it when the connection has ended;
//! 2. puts what has arrived into [`incoming`](Mailbox::incoming) in [`CubewireSystems::Receive`]: datagrams as they come, each
//!    whole; messages each once and in order;
//! 3. sends what is in [`outgoing`](Mailbox::outgoing) in [`CubewireSystems::Flush`], in both of its schedules: datagrams
//!    once, of any length, as fragments if need be; messages until they have arrived, for at most
//!    [`reliable_allowance`](Mailbox::reliable_allowance) bytes on the wire in each flush;
//! 4. counts in [`traffic`](Mailbox::traffic) all that goes over the wire, headers and what is sent again included, and sets
//!    [`backlog_bytes`](Mailbox::backlog_bytes) and [`round_trip`](Mailbox::round_trip), by which replication decides how much
//!    it puts into the mailbox;
//! 5. ends the connection if somebody else despawns the entity. Replication does so if the peer breaks the rules.
//!
//! A connection goes on while its entity has [`Disabled`], as the entity can also be a body. A clone of the entity is no
//! connection.
//!
//! Replication inserts [`Connected`] once both ends have found that they speak the same protocol. Nothing is assumed of the
//! bytes that arrive.

use std::time::Duration;

use bevy_app::{App, AppExit, FixedPostUpdate, Last, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_time::{Fixed, Real, Time};

pub use cubewire_protocol::renet_guard::{CHANNEL_BYTES, SLICE_BYTES};
use cubewire_protocol::{Allowed, Outbound, SendBudget};

use crate::traffic::Traffic;

/// What runs when, in every app with a [`MailboxPlugin`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CubewireSystems {
    /// `PreUpdate`: the transport fills mailboxes.
    Receive,
    /// `PreUpdate`, after that: inputs, messages and snapshots are taken from them.
    Deliver,
    /// `PreUpdate`, after that: remote bodies appear, move and vanish.
    Play,
    /// `FixedPostUpdate`: a server quantizes its bodies. What moves them in this schedule must come before.
    Capture,
    /// `FixedPostUpdate`, after that: mailboxes are filled. Also `PostUpdate`, if no tick has flushed for the length of a tick in
    /// real time: acks, messages and inputs, but no snapshots, are sent while the game is paused, in slow motion, or has a longer
    /// timestep than its protocol.
    Send,
    /// After `Send`, in both schedules: the transport empties the mailboxes.
    Flush,
    /// `Last`: connections end if the app exits. What asks it to exit in this schedule should come before.
    HangUp,
}

/// At a server: the connection to a client.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(Mailbox)]
pub struct Client;

/// At a client: the connection to the server.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
#[require(Mailbox)]
pub struct Server;

/// A connection, at either end, on which both ends have agreed on the protocol.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub struct Connected;

/// What goes over a connection: see the [contract](self).
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub struct Mailbox {
    /// What has arrived and is not processed yet.
    pub incoming: Mail,
    /// What is to be sent.
    pub outgoing: Mail,
    /// The most bytes on the wire that reliable messages may take in the next flush; `None` for any number.
    pub reliable_allowance: Option<usize>,
    /// Bytes that a datagram takes on the wire in addition to its own.
    pub overhead_bytes: usize,
    /// Ticks over which the fragments of the next datagrams are spread, so that they do not overflow the queue of a narrow
    /// link: 0 and 1 for none.
    pub spread_ticks: u32,
    /// Bytes of reliable messages that the transport holds until they have arrived.
    pub backlog_bytes: usize,
    /// Bytes on the wire of a packet with reliable messages that has to be sent whole and that no allowance has covered yet, 0 if
    /// there is none: [`SendBudget`] saves up for it.
    pub stalled_bytes: usize,
    /// What went over the wire since the start.
    pub traffic: Traffic,
    /// Round-trip time, smoothed, once it is known.
    pub round_trip: Option<Duration>,
}

/// Two kinds of mail.
#[derive(Clone, Debug, Default)]
pub struct Mail {
    /// Each arrives once, late, more than once or never. An empty one is not sent.
    pub datagrams: Vec<Vec<u8>>,
    /// Each arrives once and in order: at most [`MAX_RELIABLE_BYTES`](cubewire_protocol::renet_guard::MAX_RELIABLE_BYTES). One that is longer
    /// is dropped, with a warning.
    pub messages: Vec<Vec<u8>>,
}

impl Mailbox {
    /// An empty one, with datagrams that take so many bytes on the wire in addition to their own.
    #[must_use]
    pub fn new(overhead_bytes: usize) -> Self {
        Self {
            overhead_bytes,
            ..Self::default()
        }
    }

    /// Returns the snapshot that `budget` allows, and sets [`reliable_allowance`](Self::reliable_allowance). Call it after
    /// messages were put into the mailbox: see [`SendBudget::allow`]. [`ServerPlugin`](crate::ServerPlugin) calls it for its clients.
    pub fn allow(
        &mut self,
        budget: &mut SendBudget,
        tick: u64,
        now: Duration,
        asked_kbps: Option<u32>,
        can_be_partial: bool,
    ) -> Allowed {
        let outbound = Outbound {
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

/// Orders the sets, and ends connections with the app. Part of [`CubewirePlugin`](crate::CubewirePlugin) and of the
/// transports, which work without replication, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct MailboxPlugin;

impl Plugin for MailboxPlugin {
    fn build(&self, app: &mut App) {
        use CubewireSystems::{Capture, Deliver, Flush, HangUp, Play, Receive, Send};
        app.init_resource::<LastFlush>()
            .configure_sets(PreUpdate, (Receive, Deliver, Play).chain())
            .configure_sets(FixedPostUpdate, (Capture, Send, Flush).chain())
            .configure_sets(
                PostUpdate,
                (Send, Flush).chain().run_if(no_tick_has_flushed),
            )
            .add_systems(FixedPostUpdate, note_flush.after(Flush))
            .add_systems(PostUpdate, note_flush.in_set(Flush))
            .add_message::<AppExit>()
            .add_systems(Last, hang_up.in_set(HangUp).run_if(on_message::<AppExit>));
    }
}

/// Adds the plugin, once.
pub(crate) fn add(app: &mut App) {
    if !app.is_plugin_added::<MailboxPlugin>() {
        app.add_plugins(MailboxPlugin);
    }
}

/// When mailboxes were last flushed, by [`Real`] time.
#[derive(Resource, Debug, Default)]
struct LastFlush(Duration);

/// Longest time between two flushes: a tick of the protocol, if there is one. The game can change its own timestep.
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
    let interval = interval.map_or(tick, |interval| tick.min(interval.0));
    time.elapsed() >= last.0 + interval
}

type IsConnection = Or<(With<Client>, With<Server>)>;

/// So that the other ends learn at once, and not after a silence.
fn hang_up(connections: Query<Entity, (IsConnection, Allow<Disabled>)>, mut commands: Commands) {
    for connection in &connections {
        commands.entity(connection).try_despawn();
    }
}

type ConnectedServer = (With<Server>, With<Connected>, Allow<Disabled>);

/// A run condition: whether this client is [`Connected`].
pub fn connected(server: Query<(), ConnectedServer>) -> bool {
    !server.is_empty()
}
