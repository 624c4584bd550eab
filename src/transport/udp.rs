//! netcode over UDP: a [server](UdpServer) that admits viewers, and a [viewer](UdpViewer).
//!
//! netcode encrypts and authenticates every datagram, and admits clients that present a connect token
//! made with the server's private key. Here every viewer has the key and makes its own token; a game
//! would keep the key on its servers and hand out tokens.

mod pacer;
mod server;
mod viewer;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use renetcode::{NETCODE_KEY_BYTES, NETCODE_USER_DATA_BYTES};

pub use server::{ServeError, ServerSettings, UdpServer, UdpServerPlugin, ViewerBudget};
pub use viewer::{UdpViewer, UdpViewerPlugin, ViewError, ViewerSettings};

/// Distinguishes our datagrams from those of other programs that use netcode. It does not contain the
/// version of the protocol: netcode drops what does not match silently, and a version that does not
/// match should be reported.
const PROTOCOL_ID: u64 = u64::from_be_bytes(*b"cubewire");

/// The secret that connect tokens are made with. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; NETCODE_KEY_BYTES]);

/// What netcode takes where there is no security.
const INSECURE: [u8; NETCODE_KEY_BYTES] = [0; NETCODE_KEY_BYTES];

/// Which clients are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Those that have the key.
    Key(Key),
    /// All on this machine: loopback addresses only.
    Insecure,
}

/// A text that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is something else.
    #[error("a key is 64 hexadecimal digits, as `cubewire key` prints them")]
    Form,
    /// It is that of [`Security::Insecure`], which everybody knows.
    #[error("a key of zeros is no secret: `cubewire key` makes one")]
    Zeros,
}

impl Key {
    /// A new key, from the operating system's random numbers.
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
            return Err(KeyError::Form);
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| (digit as char).to_digit(16).ok_or(KeyError::Form);
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        match key {
            INSECURE => Err(KeyError::Zeros),
            _ => Ok(Self(key)),
        }
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
            Self::Insecure => INSECURE,
        }
    }
}

/// The user data of a connect token: the version of the protocol that its maker has.
fn token_data(version: u16) -> [u8; NETCODE_USER_DATA_BYTES] {
    let mut data = [0; NETCODE_USER_DATA_BYTES];
    data[..2].copy_from_slice(&version.to_be_bytes());
    data
}

fn token_version(data: &[u8; NETCODE_USER_DATA_BYTES]) -> u16 {
    u16::from_be_bytes([data[0], data[1]])
}

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
    fn other_texts_are_not_keys() {
        let digits = "0".repeat(64);
        for text in [
            "",
            "secret",
            &digits[1..],
            &format!("{digits}0"),
            &digits.replace("00", "é"),
        ] {
            assert_eq!(text.parse::<Key>(), Err(KeyError::Form), "{text}");
        }
        assert_eq!(digits.parse::<Key>(), Err(KeyError::Zeros));
    }
}
