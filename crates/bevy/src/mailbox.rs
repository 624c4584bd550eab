//! What a transport and replication know of each other: the contract for transports of one's own.
//!
//! A connection is an entity with a [`Mailbox`]: at a server with [`Client`], at a client with [`Server`]. The transport
//!
//! 1. spawns it once bytes can go both ways, and despawns it when the connection has ended;
//! 2. puts what has arrived into [`incoming`](Mailbox::incoming) in [`CubewireSystems::Receive`]: datagrams as they come, each
//!    whole; messages each once and in order;
//! 3. sends what is in [`outgoing`](Mailbox::outgoing) in [`CubewireSystems::Flush`], which runs after every tick: datagrams
//!    once, of any length, as fragments if need be; messages until they have arrived, for at most
//!    [`reliable_allowance`](Mailbox::reliable_allowance) bytes on the wire in each flush;
//! 4. adds to [`wire_bytes`](Mailbox::wire_bytes) all that it puts on the wire, headers and what is sent again included, and
//!    sets [`backlog_bytes`](Mailbox::backlog_bytes);
//! 5. ends the connection if somebody else despawns the entity. Replication does so if the peer breaks the rules.
//!
//! Replication inserts [`Connected`] once both ends have found that they speak the same protocol. Nothing is assumed of the
//! bytes that arrive.

use bevy_app::{App, AppExit, FixedPostUpdate, Last, PreUpdate};
use bevy_ecs::prelude::*;

/// What runs when, in every app with a [`CubewirePlugin`](crate::CubewirePlugin).
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
    /// `FixedPostUpdate`, after that: what is to be sent is put into mailboxes.
    Send,
    /// `FixedPostUpdate`, after that: the transport sends it.
    Flush,
}

/// At a server: the connection to a client.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Mailbox)]
pub struct Client;

/// At a client: the connection to the server.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(Mailbox)]
pub struct Server;

/// A connection, at either end, on which both ends have agreed on the protocol.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Connected;

/// What goes over a connection: see the [contract](self).
#[derive(Component, Clone, Debug, Default)]
pub struct Mailbox {
    /// What has arrived and is not processed yet.
    pub incoming: Mail,
    /// What is to be sent.
    pub outgoing: Mail,
    /// The most bytes on the wire that reliable messages may take in the next flush; `None` for any number.
    pub reliable_allowance: Option<usize>,
    /// Bytes that a datagram takes on the wire in addition to its own.
    pub overhead_bytes: usize,
    /// Bytes of reliable messages that the transport holds until they have arrived.
    pub backlog_bytes: usize,
    /// All bytes that were put on the wire.
    pub wire_bytes: u64,
}

/// Two kinds of mail.
#[derive(Clone, Debug, Default)]
pub struct Mail {
    /// Each arrives once, late, more than once or never.
    pub datagrams: Vec<Vec<u8>>,
    /// Each arrives once and in order: at most [`MAX_RELIABLE_BYTES`](cubewire_protocol::MAX_RELIABLE_BYTES).
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
}

/// Orders the sets, and ends connections with the app.
pub(crate) fn configure(app: &mut App) {
    use CubewireSystems::{Capture, Deliver, Flush, Play, Receive, Send};
    app.configure_sets(PreUpdate, (Receive, Deliver, Play).chain())
        .configure_sets(FixedPostUpdate, (Capture, Send, Flush).chain())
        .add_message::<AppExit>()
        .add_systems(Last, hang_up.run_if(on_message::<AppExit>));
}

/// So that the other ends learn at once, and not after a silence.
fn hang_up(connections: Query<Entity, With<Mailbox>>, mut commands: Commands) {
    for connection in &connections {
        commands.entity(connection).try_despawn();
    }
}

/// A run condition: whether this client is [`Connected`].
pub fn connected(server: Query<(), (With<Server>, With<Connected>)>) -> bool {
    !server.is_empty()
}
