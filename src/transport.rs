//! The transports, which transfer messages between the two halves of a lane.
//!
//! [`MemoryTransportPlugin`] connects lanes with both halves in this process, over a simulated link.
//! `UdpServerPlugin` and `UdpViewerPlugin` connect processes, but not in a browser. All of them implement the interface of
//! [`replication::transport`](crate::replication::transport).
//!
//! In both cases renet fragments messages into packets and reassembles them. A guard validates every packet
//! before it is passed to renet. renet's own acks travel in the datagrams of other packets: see `transport/acks.rs`.

mod acks;
mod guard;
mod memory;
#[cfg(not(target_family = "wasm"))]
pub mod udp;

use std::time::Duration;

use renet::{ChannelConfig, ConnectionConfig, SendType};

use crate::replication::transport::Purpose;

pub use memory::MemoryTransportPlugin;
#[cfg(not(target_family = "wasm"))]
pub use udp::{UdpServerPlugin, UdpViewerPlugin};

/// Channel of snapshots downstream and acks upstream.
const SNAPSHOTS: u8 = 0;

/// Channel of the welcome, reliable, downstream.
const WELCOME: u8 = 1;

/// Channel of requests upstream and their acks downstream.
const REQUESTS: u8 = 2;

/// Room for the fragments of uncompressed snapshots, which renet holds for 3 s when one is lost.
const CHANNEL_BYTES: usize = 16 << 20;

/// renet drops what exceeds this in one flush: as much as a slow frame of many ticks needs.
const BYTES_PER_FLUSH: u64 = CHANNEL_BYTES as u64;

/// How long renet waits before it resends a fragment of the welcome. A viewer counts as connected with
/// netcode's first keep-alive; if that is lost, the next is sent once nothing else was sent for 250 ms,
/// and the welcome must not prevent it.
const RESEND_TIME: Duration = Duration::from_millis(300);

/// Payload of a datagram, at most: what netcode has room for.
const MAX_PAYLOAD_BYTES: usize = 1300;

fn config() -> ConnectionConfig {
    let channel = |channel_id, send_type| ChannelConfig {
        channel_id,
        max_memory_usage_bytes: CHANNEL_BYTES,
        send_type,
    };
    let welcome = SendType::ReliableOrdered {
        resend_time: RESEND_TIME,
    };
    let upstream = vec![
        channel(SNAPSHOTS, SendType::Unreliable),
        channel(REQUESTS, SendType::Unreliable),
    ];
    let mut downstream = upstream.clone();
    downstream.push(channel(WELCOME, welcome));
    ConnectionConfig {
        available_bytes_per_tick: BYTES_PER_FLUSH,
        server_channels_config: downstream,
        client_channels_config: upstream,
    }
}

/// What a packet that renet made is for, by its first bytes. A datagram may hold two: see [`acks::packets`].
fn classify(packet: &[u8]) -> Purpose {
    match guard::kind_and_channel(packet) {
        Some((guard::ACK, _)) => Purpose::TransportAck,
        Some((_, Some(SNAPSHOTS))) => Purpose::Snapshots,
        _ => Purpose::Control,
    }
}
