//! The socket, with counts of its traffic.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use log::warn;

use crate::traffic::{HEADER_BYTES, SocketTraffic};

#[derive(Debug)]
pub(super) struct Socket {
    pub(super) udp: Arc<UdpSocket>,
    pub(super) traffic: SocketTraffic,
}

impl Socket {
    /// Counts bytes that belong to no connection, headers included.
    pub(super) const fn unassigned(&mut self, bytes: usize) {
        self.traffic.unassigned_bytes += bytes as u64;
    }

    /// Sends a datagram, and returns its bytes including headers. If the operating system does not accept
    /// it, the datagram is lost and the result is 0.
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
                    warn!("cannot send to {to}; further failures are not logged: {error}");
                }
                0
            }
        }
    }
}
