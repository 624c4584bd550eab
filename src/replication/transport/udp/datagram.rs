//! Looks at datagrams before renetcode 2.0 does, which trusts some of their bytes unread.
//!
//! The first byte holds the kind in its lower half and the length of the sequence number that
//! follows in its upper half. renetcode panics if that length is above 8, or if the datagram has no
//! room for the signature behind it; and counts on from a sequence number that may be the last. All of
//! that comes before the signature is checked, so anybody could send it. It also remembers whoever
//! shows a token until that token expires, whenever its maker says.

use super::{TOKEN_SECONDS, since_1970};

/// Whether a server may let netcode see it.
pub(super) fn is_fit_for_server(datagram: &[u8]) -> bool {
    match datagram.first().map(|prefix| prefix & 0x0F) {
        Some(REQUEST) => {
            let expiry = datagram.get(EXPIRY).and_then(|bytes| bytes.try_into().ok());
            let latest = since_1970().as_secs() + 2 * TOKEN_SECONDS;
            expiry.is_some_and(|expiry| u64::from_le_bytes(expiry) <= latest)
        }
        _ => is_well_formed(datagram),
    }
}

/// Whether a viewer may: nobody asks it to connect.
pub(super) fn is_fit_for_viewer(datagram: &[u8]) -> bool {
    datagram
        .first()
        .is_some_and(|prefix| prefix & 0x0F != REQUEST)
        && is_well_formed(datagram)
}

/// Whether an encrypted datagram has all its parts.
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

/// The kind of a request to connect, the one that is not encrypted.
const REQUEST: u8 = 0;

/// Where a request says when its token expires.
const EXPIRY: std::ops::Range<usize> = 22..30;

const SIGNATURE_BYTES: usize = 16;

/// Far from where netcode's window of 256 would overflow.
const LAST_SEQUENCE: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_netcode_panic_does_not_get_through() {
        // No room for the signature behind the sequence number.
        let mut short = [0; 18];
        short[0] = 0x25;
        // Longer than a sequence number is.
        let mut long = [0; 100];
        long[0] = 0x95;
        // The last number.
        let mut last = [0xFF; 100];
        last[0] = 0x85;
        for datagram in [&short[..], &long, &last, &[]] {
            assert!(!is_fit_for_server(datagram));
            assert!(!is_fit_for_viewer(datagram));
        }
        let mut ordinary = [0; 19];
        ordinary[0] = 0x25;
        assert!(is_fit_for_server(&ordinary) && is_fit_for_viewer(&ordinary));
    }

    #[test]
    fn requests_go_to_servers_and_expire_soon() {
        let mut request = [0; 1078];
        let mut expiring = |seconds: u64| {
            request[EXPIRY].copy_from_slice(&seconds.to_le_bytes());
            (is_fit_for_server(&request), is_fit_for_viewer(&request))
        };
        let now = since_1970().as_secs();
        assert_eq!(expiring(now + TOKEN_SECONDS), (true, false));
        assert_eq!(expiring(now + 3 * TOKEN_SECONDS), (false, false));
        assert_eq!(expiring(u64::MAX), (false, false));
        assert!(!is_fit_for_server(&request[..25]));
    }
}
