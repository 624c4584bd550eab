//! The socket, and what goes through it.

use std::net::{SocketAddr, UdpSocket};

use bevy::prelude::*;

use crate::replication::HEADER_BYTES;

/// What went through the socket since the start, with 28 bytes of IP and UDP headers each, as of IPv4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// Datagrams that were sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Datagrams that came.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Of the bytes both ways, those of no viewer's lane: handshakes, strangers, goodbyes.
    pub unassigned_bytes: u64,
    /// Datagrams from strangers that were ignored.
    pub ignored: u64,
    /// Datagrams that the operating system did not take.
    pub unsent: u64,
}

#[derive(Debug)]
pub(super) struct Socket {
    pub(super) udp: UdpSocket,
    pub(super) traffic: Traffic,
}

impl Socket {
    pub(super) const fn unassigned(&mut self, bytes: usize) {
        self.traffic.unassigned_bytes += bytes as u64;
    }

    /// Sends, unless the operating system has no room: as good as lost on the way.
    pub(super) fn send(&mut self, bytes: &[u8], to: SocketAddr) -> usize {
        match self.udp.send_to(bytes, to) {
            Ok(_) => {
                self.traffic.sent += 1;
                self.traffic.sent_bytes += (bytes.len() + HEADER_BYTES) as u64;
                bytes.len() + HEADER_BYTES
            }
            Err(error) => {
                self.traffic.unsent += 1;
                if self.traffic.unsent == 1 {
                    warn!("cannot send to {to}, and perhaps again: {error}");
                }
                0
            }
        }
    }
}
