//! Encrypted and authenticated transport over UDP. Packets of renet, checked and budgeted by a [`RenetConnection`](crate::RenetConnection),
//! are sent in datagrams of renet's netcode layer (`renetcode`, [netcode 1.02]).
//!
//! A client needs a [`ConnectToken`], made with the server's [`Key`]. A game keeps the key on its servers and hands out
//! tokens to authorized players. Without a key, [`Key::LOOPBACK`] connects programs on one machine.
//!
//! A server answers only clients with a token. It limits handshakes in total and per machine, and limits its log lines:
//! see [`UdpHost`].
//!
//! [netcode 1.02]: https://github.com/mas-bandwidth/netcode/blob/main/STANDARD.md

mod client;
mod key;
mod server;

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use client::{UdpClient, UdpConnection};
pub use key::{Key, KeyError};
pub use renetcode::ConnectToken;
pub use server::{ClientAddress, ClientId, TokenData, UdpHost, UdpServer};

use crate::traffic::header_bytes;

/// Distinguishes the datagrams from other netcode applications.
const PROTOCOL_ID: u64 = u64::from_be_bytes(*b"cubewire");

/// Returns the largest number of bytes that IP, UDP and netcode add to a packet.
const fn overhead_bytes(address: IpAddr) -> usize {
    header_bytes(address) + 25
}

/// Returns the addresses of a host and port, such as `example.org:7000` or `[::1]:7000`. A link-local IPv6 address has a zone,
/// which is the name or number of an interface: `[fe80::1%eth0]:7000`. The standard library accepts only numbers there. A
/// token that is sent as bytes has no zone, so a client needs a token that was made in its own process.
///
/// # Errors
/// If the text is not a host and port, or the name has no address.
pub fn resolve(address: &str) -> io::Result<Vec<SocketAddr>> {
    let zoned = address.strip_prefix('[').and_then(|address| address.rsplit_once("]:"));
    let zoned = zoned.filter(|(host, _)| host.contains('%'));
    match zoned.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?))) {
        Some(zoned) => zoned.to_socket_addrs().map(Vec::from_iter),
        None => address.to_socket_addrs().map(Vec::from_iter),
    }
}

fn either(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// Limit of the datagrams read per frame: above the traffic of all clients in that time, but low enough that a flood
/// does not stall the game.
const MAX_DATAGRAMS: usize = 4096;

/// Returns netcode's clock, which decides whether a token has expired.
#[allow(clippy::disallowed_methods, reason = "a browser has no UDP")]
fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
