//! A server's key, and the tokens made with it.

use std::array;
use std::fmt::{self, Display};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

use cubewire_protocol::netcode::TOKEN_SECONDS;
use renetcode::{ConnectToken, NETCODE_KEY_BYTES, NETCODE_USER_DATA_BYTES};

use super::{PROTOCOL_ID, since_1970};

/// The secret that tokens are made with. `Debug` does not print it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(pub(super) [u8; NETCODE_KEY_BYTES]);

/// Error of a text that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not 64 hexadecimal digits.
    #[error("a key is 64 hexadecimal digits")]
    Form,
    /// Equal to [`Key::LOOPBACK`], which is public.
    #[error("a key of zeros is not secret")]
    Zeros,
}

/// netcode's limit of addresses in a token.
const MAX_ADDRESSES: usize = 32;

/// Default timeout: a connection ends after this silence.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Key {
    /// The public key. With it, servers listen and clients connect only at loopback addresses. Every program on the
    /// machine can connect.
    pub const LOOPBACK: Self = Self([0; NETCODE_KEY_BYTES]);

    /// Creates a key from bytes that were generated before.
    pub const fn new(bytes: [u8; NETCODE_KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Generates a key from the operating system's random numbers.
    pub fn random() -> Self {
        Self(renetcode::generate_random_bytes())
    }

    /// Returns the key as 64 hexadecimal digits, which [`FromStr`] parses.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns a token for one client. `client` must be unique among the server's clients. The client must connect
    /// within a minute. The connection ends after ten seconds of silence.
    ///
    /// If the server's name has several addresses, such as `"localhost:7000"`, the token contains up to 32 of them, and
    /// the client [tries](super::UdpConnection::new) one after another.
    ///
    /// # Errors
    /// If the server's name has no address, if the operating system provides no random numbers, or if the key is
    /// [`LOOPBACK`](Self::LOOPBACK) and the server is on another machine.
    pub fn token(&self, server: impl ToSocketAddrs, client: u64) -> io::Result<ConnectToken> {
        self.token_with(server, client, TIMEOUT, [0; NETCODE_USER_DATA_BYTES])
    }

    /// Returns a [`token`](Self::token) with another timeout, in whole seconds and at least 1, and with user data that
    /// the server finds in [`TokenData`](super::TokenData), such as the player's name.
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

    /// Fails if the key is [`LOOPBACK`](Self::LOOPBACK) and the address is not a loopback address.
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
        let digits: Option<Vec<_>> = text.trim().chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() == 2 * NETCODE_KEY_BYTES);
        let digits = digits.ok_or(KeyError::Form)?;
        match Self(array::from_fn(|byte| (digits[2 * byte] << 4 | digits[2 * byte + 1]) as u8)) {
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
        assert_eq!(key.0[..11], [1, 35, 69, 103, 137, 171, 205, 239, 171, 205, 239]);
        assert_eq!(key.0[31], 255);
    }

    #[test]
    fn other_texts_are_not_keys() {
        let digits = "0".repeat(64);
        for text in ["", "secret", &digits[1..], &format!("{digits}0"), &digits.replace("00", "é")]
        {
            assert_eq!(text.parse::<Key>(), Err(KeyError::Form), "{text}");
        }
        assert_eq!(digits.parse::<Key>(), Err(KeyError::Zeros));
    }

    #[test]
    fn without_a_secret_there_are_tokens_for_this_machine_alone() {
        let token = |server| Key::LOOPBACK.token(server, 1);
        assert!(token("127.0.0.1:7000").is_ok() && token("[::1]:7000").is_ok());
        let error = token("192.0.2.1:7000").unwrap_err().to_string();
        assert_eq!(error, "192.0.2.1:7000 is on another machine, which needs a key");
        let [here, elsewhere] = [[127, 0, 0, 1], [192, 0, 2, 1]].map(|host| (host, 7000).into());
        let token = |servers: &[SocketAddr]| Key::LOOPBACK.token(servers, 1);
        assert!(token(&[here; 40]).is_ok() && token(&[here, elsewhere]).is_err());
        assert!(token(&[]).is_err());
    }
}
