//! A transport over UDP, encrypted and authenticated: the netcode layer of renet (`renetcode`, [netcode 1.02]) with this
//! project's own channels above it. renet's own would have to be guarded against what panics or takes any memory there, and
//! what they send again is outside of a byte budget.
//!
//! A client needs a [`ConnectToken`], which a [`Key`] makes that the server has, too. A game keeps the key on its servers, and
//! hands out tokens to those who may play.
//!
//! [netcode 1.02]: https://github.com/mas-bandwidth/netcode/blob/main/STANDARD.md

mod client;
mod server;

use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cubewire_protocol::netcode::TOKEN_SECONDS;
use renetcode::{NETCODE_KEY_BYTES, NETCODE_MAX_PACKET_BYTES};

pub use client::{RenetClient, RenetConnection};
pub use renetcode::ConnectToken;
pub use server::{ClientId, RenetServer};

/// Distinguishes datagrams from those of others that use netcode.
const PROTOCOL_ID: u64 = u64::from_be_bytes(*b"cubewire");

/// The most that IPv4, UDP and netcode put around a datagram.
const OVERHEAD_BYTES: usize = 28 + 25;

/// Datagrams that are read in a frame, at most.
const MAX_DATAGRAMS: usize = 4096;

/// After so long a silence a connection has ended.
const TIMEOUT_SECONDS: i32 = 10;

/// The secret that tokens are made with. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; NETCODE_KEY_BYTES]);

impl Key {
    /// A key that was made before.
    #[must_use]
    pub const fn new(bytes: [u8; NETCODE_KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// A new key, from the operating system's random numbers.
    #[must_use]
    pub fn random() -> Self {
        Self(renetcode::generate_random_bytes())
    }

    /// A token for one client, which nobody else has the number of, to connect with to a server within a minute.
    ///
    /// # Errors
    /// If the operating system has no random numbers.
    pub fn token(&self, server: SocketAddr, client: u64) -> io::Result<ConnectToken> {
        let token = ConnectToken::generate(
            since_1970(),
            PROTOCOL_ID,
            TOKEN_SECONDS,
            client,
            TIMEOUT_SECONDS,
            vec![server],
            None,
            &self.0,
        );
        token.map_err(|error| io::Error::other(error.to_string()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// netcode's clock, by which tokens expire.
fn since_1970() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Reads the datagrams that have arrived, and from whom.
fn read(
    socket: &UdpSocket,
    buffer: &mut [u8; NETCODE_MAX_PACKET_BYTES],
) -> Option<(usize, SocketAddr)> {
    loop {
        match socket.recv_from(buffer) {
            Ok(read) => return Some(read),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            // That a datagram of ours has found nobody.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            Err(_) => return None,
        }
    }
}
