//! Traffic counters. Bytes are on the wire: they include all headers, with IP and UDP for each packet.

use std::net::IpAddr;

use serde::Serialize;

pub use cubewire_protocol::record::HEADER_BYTES;

/// Returns the bytes of IP and UDP headers of a packet to or from an address: 28 for IPv4, including IPv4-mapped IPv6
/// addresses, and 48 for IPv6.
pub const fn header_bytes(address: IpAddr) -> usize {
    match address.to_canonical() {
        IpAddr::V4(_) => HEADER_BYTES,
        IpAddr::V6(_) => HEADER_BYTES + 20,
    }
}

/// Traffic of a connection since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Sent to the other end.
    pub sent: DirectionTraffic,
    /// Received from the other end.
    pub received: DirectionTraffic,
}

/// Traffic in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionTraffic {
    /// Number of packets with a [datagram](crate::transport::MessageQueue::datagrams) or a fragment of one.
    pub packets: u64,
    /// Bytes of these packets.
    pub packet_bytes: u64,
    /// Bytes of other packets: handshakes, keep-alives, reliable messages and their acks.
    pub control_bytes: u64,
}

/// Traffic of a server's socket since it was bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SocketTraffic {
    /// Number of packets sent.
    pub sent: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Number of packets received.
    pub received: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes in both directions outside of connections: handshakes, disconnects, unknown senders.
    pub unassigned_bytes: u64,
    /// Number of packets from unknown senders, which were ignored.
    pub ignored: u64,
    /// Number of packets that the operating system refused to send.
    pub unsent: u64,
}

impl Traffic {
    /// Returns the traffic since an earlier state. Counters that are lower than before count as 0.
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            sent: self.sent.since(&earlier.sent),
            received: self.received.since(&earlier.received),
        }
    }
}

impl DirectionTraffic {
    const fn since(&self, earlier: &Self) -> Self {
        Self {
            packets: self.packets.saturating_sub(earlier.packets),
            packet_bytes: self.packet_bytes.saturating_sub(earlier.packet_bytes),
            control_bytes: self.control_bytes.saturating_sub(earlier.control_bytes),
        }
    }

    /// Returns the total bytes.
    pub const fn bytes(&self) -> u64 {
        self.packet_bytes + self.control_bytes
    }

    /// Counts a packet of renet with this number of bytes on the wire.
    pub fn count(&mut self, packet: &[u8], bytes: usize) {
        match PacketKind::of(packet) {
            PacketKind::Unreliable => {
                self.packets += 1;
                self.packet_bytes += bytes as u64;
            }
            _ => self.control_bytes += bytes as u64,
        }
    }
}

/// Kind of a renet packet, from its first byte.
#[derive(PartialEq, Eq)]
pub(crate) enum PacketKind {
    Reliable,
    Unreliable,
    Ack,
}

impl PacketKind {
    pub(crate) const fn of(packet: &[u8]) -> Self {
        match packet.first() {
            Some(0 | 2) => Self::Reliable,
            Some(1 | 3) => Self::Unreliable,
            _ => Self::Ack,
        }
    }
}
