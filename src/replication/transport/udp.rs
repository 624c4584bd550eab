//! renet over netcode over UDP: a [server](UdpServer) that admits viewers, and a [viewer](UdpViewer).
//!
//! netcode encrypts and signs every datagram, and admits those who show a connect token that was
//! made with the server's private key. Here whoever has the key makes a token for himself; a game
//! would keep the key on its servers and hand out tokens.

mod datagram;
mod server;
mod spread;
mod viewer;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use renetcode::{NETCODE_KEY_BYTES, NETCODE_USER_DATA_BYTES};

pub use server::{RemoteViewer, ServeError, ServerSettings, Traffic, UdpServer};
pub(in crate::replication) use server::{
    close as close_server, flush as flush_server, receive as receive_server,
};
pub use viewer::{UdpViewer, ViewError, ViewerSettings, ViewerStatus};
pub(in crate::replication) use viewer::{
    close as close_viewer, flush as flush_viewer, receive as receive_viewer,
};

/// Tells our datagrams from those of other programs that use netcode. The version of the protocol is
/// not in it: netcode is silent where it does not match, and we want to say so.
const PROTOCOL_ID: u64 = u64::from_be_bytes(*b"cubewire");

/// The secret that connect tokens are made with. It is not shown by `Debug`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; NETCODE_KEY_BYTES]);

/// Who is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Those who have the key.
    Key(Key),
    /// Everybody on this machine: on loopback addresses only.
    Insecure,
}

/// A text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 64 hexadecimal digits, as `cubewire key` prints them")]
pub struct KeyError;

impl Key {
    /// A new one, from the operating system's random numbers.
    #[must_use]
    pub fn random() -> Self {
        Self(renetcode::generate_random_bytes())
    }

    /// As [`FromStr`] reads it.
    #[must_use]
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let digits = text.trim().as_bytes();
        let mut key = [0; NETCODE_KEY_BYTES];
        if digits.len() != 2 * key.len() {
            return Err(KeyError);
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| (digit as char).to_digit(16).ok_or(KeyError);
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Ok(Self(key))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Security {
    /// What tokens are made with; without security, all zeros, as in netcode.
    const fn private_key(&self) -> [u8; NETCODE_KEY_BYTES] {
        match self {
            Self::Key(key) => key.0,
            Self::Insecure => [0; NETCODE_KEY_BYTES],
        }
    }
}

/// What a connect token holds beside addresses and keys: the version that its maker speaks.
fn token_data(version: u16) -> [u8; NETCODE_USER_DATA_BYTES] {
    let mut data = [0; NETCODE_USER_DATA_BYTES];
    data[..2].copy_from_slice(&version.to_be_bytes());
    data
}

fn token_version(data: &[u8; NETCODE_USER_DATA_BYTES]) -> u16 {
    u16::from_be_bytes([data[0], data[1]])
}

/// How long a connect token is good for: to connect with, not to stay. Clocks may differ by as much.
const TOKEN_SECONDS: u64 = 3600;

/// netcode's clock, by which tokens expire.
fn since_1970() -> Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_from_its_digits_and_is_not_shown() {
        let key = Key::random();
        assert_eq!(format!("{}\n", key.to_hex()).parse(), Ok(key));
        assert_eq!(format!("{key:?}"), "Key(…)");
        let digits = "0123456789abcdefABCDEF0000000000000000000000000000000000000000ff";
        let key: Key = digits.parse().unwrap();
        assert_eq!(
            key.0[..11],
            [1, 35, 69, 103, 137, 171, 205, 239, 171, 205, 239]
        );
        assert_eq!(key.0[31], 255);
    }

    #[test]
    fn anything_else_is_no_key() {
        let digits = "0".repeat(64);
        for text in [
            "",
            "secret",
            &digits[1..],
            &format!("{digits}0"),
            &digits.replace("00", "é"),
        ] {
            assert_eq!(text.parse::<Key>(), Err(KeyError), "{text}");
        }
    }
}
