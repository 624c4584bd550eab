//! The key of a server, and the tokens that are made with it.

use std::fmt::{self, Display};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

use cubewire_protocol::netcode::TOKEN_SECONDS;
use renetcode::{ConnectToken, NETCODE_KEY_BYTES, NETCODE_USER_DATA_BYTES};

use super::{PROTOCOL_ID, since_1970};

/// The secret that tokens are made with. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(pub(super) [u8; NETCODE_KEY_BYTES]);

/// A text that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is something else.
    #[error("a key is 64 hexadecimal digits")]
    Form,
    /// It is [`Key::LOOPBACK`], which everybody knows.
    #[error("a key of zeros is no secret")]
    Zeros,
}

/// Most addresses in a token of netcode.
const MAX_ADDRESSES: usize = 32;

/// After so long a silence a connection has ended.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Key {
    /// No secret: with it a server listens, and a client connects, on loopback addresses alone. All programs of the machine
    /// can connect.
    pub const LOOPBACK: Self = Self([0; NETCODE_KEY_BYTES]);

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

    /// As [`FromStr`] reads it.
    #[must_use]
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A token for one client, which nobody else has the number of, to connect with to a server within a minute. The
    /// connection ends after a silence of ten seconds.
    ///
    /// If the server has several addresses, as `"localhost:7000"` may, then up to 32 of them are in the token: the client
    /// [tries](super::UdpConnection::new) one after another.
    ///
    /// # Errors
    /// If the server's name has no address, the operating system has no random numbers, or the key is
    /// [`LOOPBACK`](Self::LOOPBACK) and the server is on another machine.
    pub fn token(&self, server: impl ToSocketAddrs, client: u64) -> io::Result<ConnectToken> {
        self.token_with(server, client, TIMEOUT, [0; NETCODE_USER_DATA_BYTES])
    }

    /// As [`token`](Self::token), with another timeout, in whole seconds from 1, and with bytes that the server finds in
    /// [`TokenData`](super::TokenData), such as the player's name.
    ///
    /// # Errors
    /// See [`token`](Self::token).
    pub fn token_with(
        &self,
        server: impl ToSocketAddrs,
        client: u64,
        timeout: Duration,
        data: [u8; NETCODE_USER_DATA_BYTES],
    ) -> io::Result<ConnectToken> {
        let addresses: Vec<_> = server.to_socket_addrs()?.take(MAX_ADDRESSES).collect();
        if addresses.is_empty() {
            let reason = "the server's name has no address";
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, reason));
        }
        for &server in &addresses {
            self.check(server, format_args!("{server} is on another machine"))?;
        }
        let token = ConnectToken::generate(
            since_1970(),
            PROTOCOL_ID,
            TOKEN_SECONDS,
            client,
            timeout.as_secs().clamp(1, i32::MAX as u64) as i32,
            addresses,
            Some(&data),
            &self.0,
        );
        token.map_err(|error| io::Error::other(error.to_string()))
    }

    /// Fails if a server's address is not for this key.
    pub(super) fn check(&self, server: SocketAddr, what: impl Display) -> io::Result<()> {
        match *self == Self::LOOPBACK && !server.ip().to_canonical().is_loopback() {
            true => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{what}, which needs a key"),
            )),
            false => Ok(()),
        }
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
        match Self(key) {
            Self::LOOPBACK => Err(KeyError::Zeros),
            key => Ok(key),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
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

    #[test]
    fn without_a_secret_there_are_tokens_for_this_machine_alone() {
        let token = |server| Key::LOOPBACK.token(server, 1);
        assert!(token("127.0.0.1:7000").is_ok() && token("[::1]:7000").is_ok());
        let error = token("192.0.2.1:7000").unwrap_err().to_string();
        let expected = "192.0.2.1:7000 is on another machine, which needs a key";
        assert_eq!(error, expected);
        let [here, elsewhere] = [[127, 0, 0, 1], [192, 0, 2, 1]].map(|host| (host, 7000).into());
        let token = |servers: &[SocketAddr]| Key::LOOPBACK.token(servers, 1);
        assert!(token(&[here; 40]).is_ok() && token(&[here, elsewhere]).is_err());
        assert!(token(&[]).is_err());
    }
}
