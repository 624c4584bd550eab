//! Validates datagrams of netcode before they reach renetcode 2.0, which does not check some of their bytes.
//!
//! The lower half of the first byte is the kind of the datagram. The upper half is the length of the sequence number
//! that follows. renetcode panics if that length is above 8, or if the datagram is too short for the signature after
//! it. It adds to the sequence number, which may overflow. All of this happens before the signature is checked, so
//! anyone can trigger it. Also, the maker of a token chooses its expiry time.

use std::ops::Range;
use std::time::Duration;

/// Lifetime of a connect token, seconds. The clocks of both machines may differ by as much.
pub const TOKEN_SECONDS: u64 = 60;

/// Identifies a connect token: its signature.
pub type Token = [u8; SIGNATURE_BYTES];

/// Whether a server may pass the datagram to netcode. `now` is the time since 1970. Tokens may be valid for twice
/// [`TOKEN_SECONDS`] from then.
#[must_use]
pub fn is_from_client(datagram: &[u8], now: Duration) -> bool {
    match is_request(datagram) {
        true => {
            let latest = now + Duration::from_secs(2 * TOKEN_SECONDS);
            token(datagram).is_some_and(|(_, expires)| expires <= latest)
        }
        false => is_well_formed(datagram),
    }
}

/// Whether a client may pass the datagram to netcode. Clients never receive connection requests.
#[must_use]
pub fn is_from_server(datagram: &[u8]) -> bool {
    !is_request(datagram) && is_well_formed(datagram)
}

/// Whether the datagram looks like a connection request, the only kind that is not encrypted.
pub fn is_request(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|prefix| prefix & 0x0F == 0)
}

/// Returns the token of a connection request, and its expiry time since 1970. Neither is authenticated.
pub fn token(request: &[u8]) -> Option<(Token, Duration)> {
    if request.len() != REQUEST_BYTES {
        return None;
    }
    let (_, token) = request.split_last_chunk()?;
    let expires = request.get(EXPIRY)?.try_into().ok()?;
    Some((*token, Duration::from_secs(u64::from_le_bytes(expires))))
}

/// Returns the sequence number of an encrypted datagram if the datagram is complete. The number is not authenticated.
pub fn sequence(datagram: &[u8]) -> Option<u64> {
    let (prefix, rest) = datagram.split_first()?;
    let length = usize::from(prefix >> 4);
    let mut sequence = [0; 8];
    if length > sequence.len() || rest.len() < length + SIGNATURE_BYTES {
        return None;
    }
    sequence[..length].copy_from_slice(&rest[..length]);
    Some(u64::from_le_bytes(sequence))
}

/// Whether an encrypted datagram is complete and its sequence number cannot overflow.
fn is_well_formed(datagram: &[u8]) -> bool {
    sequence(datagram).is_some_and(|sequence| sequence < LAST_SEQUENCE)
}

/// The bytes of a connection request that hold the expiry time of its token.
const EXPIRY: Range<usize> = 22..30;

/// Kind, version, protocol, expiry time, nonce, and the token's private part with its signature.
const REQUEST_BYTES: usize = 1 + 13 + 8 + 8 + 24 + 1024;

const SIGNATURE_BYTES: usize = 16;

/// Sequence numbers must be below this, far from where netcode's replay window of 256 overflows.
const LAST_SEQUENCE: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn accepted(datagram: &[u8]) -> (bool, bool) {
        (is_from_client(datagram, NOW), is_from_server(datagram))
    }

    #[test]
    fn datagrams_that_make_netcode_panic_are_rejected() {
        // Without room for the signature after the sequence number; with a length above 8; with the last sequence
        // number.
        let (mut short, mut long, mut last) = ([0; 18], [0; 100], [0xFF; 100]);
        (short[0], long[0], last[0]) = (0x25, 0x95, 0x85);
        for datagram in [&short[..], &long, &last, &[]] {
            assert_eq!(accepted(datagram), (false, false));
        }
        let mut ordinary = [0; 19];
        ordinary[0] = 0x25;
        assert_eq!(accepted(&ordinary), (true, true));
    }

    #[test]
    fn only_servers_accept_requests_and_only_those_that_expire_soon() {
        let mut request = [0; REQUEST_BYTES];
        let mut expiring = |seconds: u64| {
            request[EXPIRY].copy_from_slice(&seconds.to_le_bytes());
            accepted(&request)
        };
        let now = NOW.as_secs();
        assert_eq!(expiring(now + TOKEN_SECONDS), (true, false));
        assert_eq!(expiring(now + 3 * TOKEN_SECONDS), (false, false));
        assert_eq!(expiring(u64::MAX), (false, false));
        assert_eq!(accepted(&request[..25]), (false, false));
        assert_eq!(accepted(&[0; REQUEST_BYTES + 1]), (false, false));
    }
}
