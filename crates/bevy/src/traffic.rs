//! What goes over the wire. Bytes include all headers, with those of IP and UDP for each packet.

use std::net::IpAddr;

use serde::Serialize;

pub use cubewire_protocol::record::HEADER_BYTES;

/// Bytes of the headers of IP and UDP of a packet to or from an address: 28 over IPv4, also if its address is mapped to IPv6,
/// and 48 over IPv6.
#[must_use]
pub const fn header_bytes(address: IpAddr) -> usize {
    match address.to_canonical() {
        IpAddr::V4(_) => HEADER_BYTES,
        IpAddr::V6(_) => HEADER_BYTES + 20,
    }
}

/// Traffic of a connection since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// To the other end.
    pub sent: Way,
    /// From the other end.
    pub received: Way,
}

/// Traffic in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Packets that carry a [datagram](crate::mailbox::Mail::datagrams) or a fragment of one.
    pub packets: u64,
    /// Their bytes.
    pub packet_bytes: u64,
    /// Bytes of all others: what establishes and keeps the connection, reliable messages, and acks of these.
    pub control_bytes: u64,
}

/// Traffic of a server's socket since it was bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SocketTraffic {
    /// Packets that were sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that were received.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Bytes in both directions that belong to no connection: handshakes, disconnects, unknown senders.
    pub unassigned_bytes: u64,
    /// Packets from unknown senders, which were ignored.
    pub ignored: u64,
    /// Packets that the operating system did not accept.
    pub unsent: u64,
}

impl Traffic {
    /// Adds the other's.
    #[cfg(feature = "udp")]
    pub(crate) const fn add(&mut self, other: &Self) {
        const fn add(to: &mut Way, other: &Way) {
            to.packets += other.packets;
            to.packet_bytes += other.packet_bytes;
            to.control_bytes += other.control_bytes;
        }
        add(&mut self.sent, &other.sent);
        add(&mut self.received, &other.received);
    }

    /// The traffic since an earlier time.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        const fn difference(now: &Way, earlier: &Way) -> Way {
            Way {
                packets: now.packets - earlier.packets,
                packet_bytes: now.packet_bytes - earlier.packet_bytes,
                control_bytes: now.control_bytes - earlier.control_bytes,
            }
        }
        Self {
            sent: difference(&self.sent, &earlier.sent),
            received: difference(&self.received, &earlier.received),
        }
    }
}

impl Way {
    /// All bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.packet_bytes + self.control_bytes
    }

    /// Counts a packet of renet that takes this many bytes on the wire.
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

/// Kind of a packet of renet, which is its first byte.
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
