//! The interface between lanes and transports.
//!
//! A transport is a plugin. It moves messages, opaque bytes that may get lost, between the mailboxes of a
//! lane's two ends, of which the sender's is a [`Mailbox`] of its own, as [`mailbox`](cubewire_bevy::mailbox) says:
//!
//! ```text
//! Mailbox.outgoing ── snapshots ──► ReceiverMail.incoming
//! Mailbox.incoming ◄──── acks ───── ReceiverMail.outgoing
//! ```
//!
//! Its systems are in [`TransportSystems`]: in [`FixedUpdate`], where the order below is configured, if
//! packets are delayed by the simulation's clock; in [`PreUpdate`] and [`Update`] if they go through a
//! socket, which is served in every frame, even while the game is paused.
//!
//! ```text
//! Receive(Sender) → ReplicationSystems::{Acks, Send} → Flush(Sender)
//! Receive(Receiver) → ReplicationSystems::Receive → Flush(Receiver) → ReplicationSystems::Observe
//! ```
//!
//! It counts the bytes that it sends in [`LaneMeter::current`](super::LaneMeter), and describes the peer with
//! [`Peer`](super::Peer), [`Serving`](super::Serving) and [`ServerConnection`](super::ServerConnection).
//! Nothing else in [`replication`](super) depends on the transport.

use bevy::prelude::*;
use cubewire_bevy::Mailbox;

/// The phases of a transport.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportSystems {
    /// Messages that have arrived are delivered to the mailboxes of this end.
    Receive(End),
    /// Outgoing messages of this end are taken from its mailboxes and sent.
    Flush(End),
}

/// An end of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Sends snapshots, receives acks.
    Sender,
    /// Receives snapshots, sends acks.
    Receiver,
}

/// Drops the oldest messages that have arrived, if the lane does not take them.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn bound(incoming: &mut Vec<Vec<u8>>) {
    let excess = incoming.len().saturating_sub(MAX_INCOMING);
    incoming.drain(..excess);
}

/// Messages that wait to be processed, at most: several seconds of them.
#[cfg(not(target_family = "wasm"))]
const MAX_INCOMING: usize = 1024;

/// The receiver's mailbox: the sender's may be on the same entity.
#[derive(Component, Debug, Default, Deref, DerefMut)]
pub(crate) struct ReceiverMail(Mailbox);
