//! The server's socket, which counts its traffic.
//!
//! A dual-stack socket reports IPv4 addresses as IPv6 (`::ffff:192.0.2.1`). This type converts them, so that an address
//! is the same however the server listens.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use log::warn;

use crate::traffic::{SocketTraffic, header_bytes};

#[derive(Debug)]
pub(super) struct Socket {
    pub(super) udp: Arc<UdpSocket>,
    /// The address that it is bound to.
    pub(super) address: SocketAddr,
    pub(super) traffic: SocketTraffic,
}

impl Socket {
    /// Counts bytes outside of connections, headers included.
    pub(super) const fn unassigned(&mut self, bytes: usize) {
        self.traffic.unassigned_bytes += bytes as u64;
    }

    /// Receives a datagram. Returns its length and its sender.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, mut from) = self.udp.recv_from(buffer)?;
        if from.ip().to_canonical().is_ipv4() {
            from = SocketAddr::new(from.ip().to_canonical(), from.port());
        }
        self.traffic.received += 1;
        self.traffic.received_bytes += (length + header_bytes(from.ip())) as u64;
        Ok((length, from))
    }

    /// Sends a datagram. Returns its bytes including headers, or 0 if the operating system did not accept it and the
    /// datagram is lost.
    pub(super) fn send(&mut self, bytes: &[u8], to: SocketAddr) -> usize {
        let address = match to.ip() {
            IpAddr::V4(ip) if self.address.is_ipv6() => (ip.to_ipv6_mapped(), to.port()).into(),
            _ => to,
        };
        match self.udp.send_to(bytes, address) {
            Ok(_) => {
                let bytes = bytes.len() + header_bytes(to.ip());
                self.traffic.sent += 1;
                self.traffic.sent_bytes += bytes as u64;
                bytes
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
