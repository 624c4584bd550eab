//! The socket, with counts of its traffic.
//!
//! A socket for both families has IPv4 addresses as IPv6 ones (`::ffff:192.0.2.1`). Above it, every address is canonical, so that
//! it is the same however the server listens.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use log::warn;

use crate::traffic::{SocketTraffic, header_bytes};

#[derive(Debug)]
pub(super) struct Socket {
    udp: Arc<UdpSocket>,
    is_ipv6: bool,
    pub(super) traffic: SocketTraffic,
}

impl Socket {
    /// A socket that is bound to this address.
    pub(super) fn new(udp: Arc<UdpSocket>, address: SocketAddr) -> Self {
        Self {
            udp,
            is_ipv6: address.is_ipv6(),
            traffic: SocketTraffic::default(),
        }
    }

    /// Counts bytes that belong to no connection, headers included.
    pub(super) const fn unassigned(&mut self, bytes: usize) {
        self.traffic.unassigned_bytes += bytes as u64;
    }

    /// Receives a datagram: its bytes, and from whom.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, mut from) = self.udp.recv_from(buffer)?;
        if from.ip().to_canonical().is_ipv4() {
            from = SocketAddr::new(from.ip().to_canonical(), from.port());
        }
        self.traffic.received += 1;
        self.traffic.received_bytes += (length + header_bytes(from.ip())) as u64;
        Ok((length, from))
    }

    /// Sends a datagram, and returns its bytes including headers. If the operating system does not accept
    /// it, the datagram is lost and the result is 0.
    pub(super) fn send(&mut self, bytes: &[u8], to: SocketAddr) -> usize {
        let address = match to.ip() {
            IpAddr::V4(ip) if self.is_ipv6 => (ip.to_ipv6_mapped(), to.port()).into(),
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
