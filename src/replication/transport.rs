//! The interface between lanes and transports.
//!
//! A transport is a plugin. It moves messages, opaque bytes that may get lost, between the mailboxes of a
//! lane's two ends:
//!
//! ```text
//! SenderMail.outgoing ── snapshots ──► ReceiverMail.deliver
//! SenderMail.deliver  ◄──── acks ───── ReceiverMail.outgoing
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

use std::collections::VecDeque;

use bevy::prelude::*;

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

/// Messages longer than this take more than one packet.
pub(crate) const SLICE_BYTES: usize = 1200;

/// Messages between one end of a lane and its transport.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    pub(crate) outgoing: Vec<Vec<u8>>,
    incoming: VecDeque<Vec<u8>>,
}

impl Mailbox {
    /// Adds a message that has arrived. If the lane does not take messages, the oldest are dropped.
    pub(crate) fn deliver(&mut self, message: Vec<u8>) {
        if self.incoming.len() == MAX_INCOMING {
            self.incoming.pop_front();
        }
        self.incoming.push_back(message);
    }

    /// Takes the oldest message.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        self.incoming.pop_front()
    }
}

/// Messages that wait to be processed, at most: several seconds of them.
const MAX_INCOMING: usize = 1024;

/// The sender's mailbox.
#[derive(Component, Debug, Default, Deref, DerefMut)]
pub(crate) struct SenderMail(Mailbox);

/// The receiver's mailbox.
#[derive(Component, Debug, Default, Deref, DerefMut)]
pub(crate) struct ReceiverMail(Mailbox);
