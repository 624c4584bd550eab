//! The transports, which transfer messages between the two halves of a lane.
//!
//! [`MemoryTransportPlugin`] connects lanes with both halves in this process, over a simulated link.
//! `UdpServerPlugin` and `UdpViewerPlugin` connect processes, but not in a browser, over the transport of [`cubewire_bevy`]:
//! a viewer's connection at the server is also its lane. All of them implement the interface of
//! [`replication::transport`](crate::replication::transport).
//!
//! In both cases a [`Pipe`](cubewire_bevy::Pipe) turns messages into packets of renet and back. Snapshots and their acks are
//! unreliable messages. Between processes, there are also reliable ones: the welcome, requests, and their acks.

mod memory;
#[cfg(not(target_family = "wasm"))]
pub mod udp;

pub use memory::MemoryTransportPlugin;
#[cfg(not(target_family = "wasm"))]
pub use udp::{UdpServerPlugin, UdpViewerPlugin};
