//! A transport over UDP, encrypted and authenticated: packets of renet, behind the guard and within the budget of a
//! [`Pipe`](crate::Pipe), in datagrams of renet's netcode layer (`renetcode`, [netcode 1.02]).
//!
//! A client needs a [`ConnectToken`], which a [`Key`] makes that the server has, too. A game keeps the key on its servers, and
//! hands out tokens to those who may play. Without a key, [`Key::LOOPBACK`] connects programs on one machine.
//!
//! A server answers nobody without a token, admits no more handshakes than it has time for, a few at a time of each machine,
//! and logs a few lines of a flood: see [`UdpHost`].
//!
//! [netcode 1.02]: https://github.com/mas-bandwidth/netcode/blob/main/STANDARD.md

mod client;
mod key;
mod server;

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use client::{UdpClient, UdpConnection};
pub use key::{Key, KeyError};
pub use renetcode::ConnectToken;
pub use server::{ClientAddress, ClientId, TokenData, UdpHost, UdpServer};

use crate::traffic::header_bytes;

/// Distinguishes datagrams from those of others that use netcode.
const PROTOCOL_ID: u64 = u64::from_be_bytes(*b"cubewire");

/// The most that IP, UDP and netcode put around a packet to an address.
const fn overhead_bytes(address: IpAddr) -> usize {
    header_bytes(address) + 25
}

/// Datagrams that are read in a frame, at most: more than all clients send in that time, yet few enough that a flood does not
/// stall the game.
const MAX_DATAGRAMS: usize = 4096;

/// netcode's clock, by which tokens expire.
#[allow(clippy::disallowed_methods, reason = "a browser has no UDP")]
fn since_1970() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}
