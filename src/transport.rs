//! Transports: they move messages between the two halves of a lane.
//!
//! [`MemoryTransportPlugin`] connects the two halves of a local lane over a simulated link. `UdpServerPlugin` and
//! `UdpViewerPlugin` connect processes over the UDP transport of [`cubewire_bevy`], and are not available in a browser. At the
//! server, the entity of a viewer's connection is also its lane. Both implement the interface described in
//! [`replication::transport`](crate::replication::transport).
//!
//! Snapshots and acks are unreliable messages. Over UDP, the session (hello, welcome, requests and grants) uses reliable ones.

mod memory;
#[cfg(not(target_family = "wasm"))]
pub mod udp;

pub use memory::MemoryTransportPlugin;
#[cfg(not(target_family = "wasm"))]
pub use udp::{UdpServerPlugin, UdpViewerPlugin};
