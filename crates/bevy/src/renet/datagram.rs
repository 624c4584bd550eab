//! Validates datagrams before they reach renetcode 2.0, which does not check some of their bytes.
//!
//! The lower half of the first byte is the kind, the upper half the length of the sequence number that follows. renetcode
//! panics if that length is above 8 or if the datagram is too short for the signature behind it, and it adds to the sequence
//! number, which may overflow. All of this happens before the signature is checked, so anyone can trigger it. A token's maker
//! also chooses when it expires.

use std::time::Duration;

use super::{TOKEN_SECONDS, since_1970};

/// Whether a server may pass the datagram to netcode.
pub(super) fn is_from_client(datagram: &[u8]) -> bool {
    if !is_request(datagram) {
        return is_well_formed(datagram);
    }
    let expires = datagram.get(EXPIRY).and_then(|bytes| bytes.try_into().ok());
    let latest = since_1970() + Duration::from_secs(2 * TOKEN_SECONDS);
    datagram.len() == REQUEST_BYTES
        && expires.is_some_and(|expires| u64::from_le_bytes(expires) <= latest.as_secs())
}

/// Whether a client may pass the datagram to netcode. It never receives requests.
pub(super) fn is_from_server(datagram: &[u8]) -> bool {
    !is_request(datagram) && is_well_formed(datagram)
}

/// Whether it looks like a connection request, which is not encrypted.
fn is_request(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|prefix| prefix & 0x0F == 0)
}

/// Whether an encrypted datagram is complete and its sequence number cannot overflow.
fn is_well_formed(datagram: &[u8]) -> bool {
    let Some((prefix, rest)) = datagram.split_first() else {
        return false;
    };
    let length = usize::from(prefix >> 4);
    let mut sequence = [0; 8];
    if length > sequence.len() || rest.len() < length + SIGNATURE_BYTES {
        return false;
    }
    sequence[..length].copy_from_slice(&rest[..length]);
    u64::from_le_bytes(sequence) < LAST_SEQUENCE
}

/// The bytes of a connection request that hold the expiry time of its token.
const EXPIRY: std::ops::Range<usize> = 22..30;

/// Kind, version, protocol, expiry time, nonce, and the token's secret part with its signature.
const REQUEST_BYTES: usize = 1 + 13 + 8 + 8 + 24 + 1024;

const SIGNATURE_BYTES: usize = 16;

/// Sequence numbers must be below this, far from where netcode's replay window of 256 overflows.
const LAST_SEQUENCE: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_that_make_netcode_panic_are_rejected() {
        // No room for the signature behind the sequence number; a length above 8; the last sequence number.
        let (mut short, mut long, mut last) = ([0; 18], [0; 100], [0xFF; 100]);
        (short[0], long[0], last[0]) = (0x25, 0x95, 0x85);
        for datagram in [&short[..], &long, &last, &[]] {
            assert!(!is_from_client(datagram) && !is_from_server(datagram));
        }
        let mut ordinary = [0; 19];
        ordinary[0] = 0x25;
        assert!(is_from_client(&ordinary) && is_from_server(&ordinary));
    }

    #[test]
    fn only_servers_take_requests_and_only_those_that_expire_soon() {
        let mut request = [0; REQUEST_BYTES];
        let mut expiring = |seconds: u64| {
            request[EXPIRY].copy_from_slice(&seconds.to_le_bytes());
            (is_from_client(&request), is_from_server(&request))
        };
        let now = since_1970().as_secs();
        assert_eq!(expiring(now + TOKEN_SECONDS), (true, false));
        assert_eq!(expiring(now + 3 * TOKEN_SECONDS), (false, false));
        assert_eq!(expiring(u64::MAX), (false, false));
        assert!(!is_from_client(&request[..25]));
        assert!(!is_from_client(&[0; REQUEST_BYTES + 1]));
    }
}
