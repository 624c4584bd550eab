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
use renet::Bytes;

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
    pub(crate) outgoing: Vec<Bytes>,
    incoming: VecDeque<Bytes>,
}

impl Mailbox {
    /// Adds a message that has arrived. If the lane does not take messages, the oldest are dropped.
    pub(crate) fn deliver(&mut self, message: Bytes) {
        if self.incoming.len() == MAX_INCOMING {
            self.incoming.pop_front();
        }
        self.incoming.push_back(message);
    }

    /// Takes the oldest message.
    pub(crate) fn take(&mut self) -> Option<Bytes> {
        self.incoming.pop_front()
    }
}

/// Messages that wait to be processed, at most: several seconds of them.
const MAX_INCOMING: usize = 1024;

/// The sender's mailbox.
#[derive(Component, Debug, Default)]
pub(crate) struct SenderMail(pub(crate) Mailbox);

/// The receiver's mailbox.
#[derive(Component, Debug, Default)]
pub(crate) struct ReceiverMail(pub(crate) Mailbox);

/// The purpose of a transport's packet, by which its bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A snapshot downstream, a snapshot ack upstream, or a fragment of one.
    Snapshots,
    /// The transport's own acks.
    TransportAck,
    /// The welcome, requests and their acks, and keep-alives.
    Control,
}
