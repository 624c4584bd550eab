//! The interface between lanes and transports.
//!
//! A transport is a plugin. It moves messages between the two ends of a lane. Messages are opaque bytes and may get lost. The
//! sender uses a [`MessageBuffer`] as described in [`transport`](cubewire_bevy::transport), the receiver a `ReceiverBuffer`:
//!
//! ```text
//! MessageBuffer.outgoing ── snapshots ──► ReceiverBuffer.incoming
//! MessageBuffer.incoming ◄──── acks ───── ReceiverBuffer.outgoing
//! ```
//!
//! Transport systems are in [`TransportSystems`]. If packets are delayed by simulation time, they run in [`FixedUpdate`] in the
//! order below. With a socket they run in [`PreUpdate`] and [`Update`], in every frame, even while the game is paused.
//!
//! ```text
//! Receive(Server) → ReplicationSystems::{Acks, Send} → Flush(Server)
//! Receive(Client) → ReplicationSystems::Receive → Flush(Client) → ReplicationSystems::Observe
//! ```
//!
//! A transport counts the bytes that it sends in [`LaneMeter::current`](super::LaneMeter). It describes the connection in
//! [`RemoteViewer`](super::RemoteViewer), [`Serving`](super::Serving) and [`ServerLink`](super::ServerLink). Otherwise
//! [`replication`](super) does not depend on the transport.

use bevy::prelude::*;
use cubewire_bevy::MessageBuffer;

/// An end of a lane. The server sends snapshots, the client receives them.
pub use cubewire_bevy::memory::End;

#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportSystems {
    Receive(End),
    Flush(End),
}

/// Drops the oldest received messages beyond [`MAX_INCOMING`], in case the lane does not take them.
pub(crate) fn bound(incoming: &mut Vec<Vec<u8>>) {
    let excess = incoming.len().saturating_sub(MAX_INCOMING);
    incoming.drain(..excess);
}

/// Maximum number of received messages in a queue: several seconds of traffic.
const MAX_INCOMING: usize = 1024;

/// The receiver's message buffer. A separate component, because a local lane has both message buffers on one entity.
#[derive(Component, Debug, Default, Deref, DerefMut)]
pub(crate) struct ReceiverBuffer(MessageBuffer);
