//! Reports on a client's inputs, in front of packets.
//!
//! ```text
//! sequence xor 8000h:16, used:16, queued:8, length:8, own, the packet after its sequence
//! ```
//!
//! A packet begins with its sequence number, which is near the expected one. A first number that is half the range away from it
//! marks a report.

/// Largest [`InputReport::own`], bytes.
pub const MAX_OWN_BYTES: usize = 64;

/// Bytes of a report besides [`InputReport::own`].
const FIXED_BYTES: usize = 4;

/// Marks a report.
const MARK: u8 = 0x80;

/// What the server says about a client's [tick inputs](super::ClientConnection::push_tick_input), together with a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputReport {
    /// Tick of the packet.
    pub tick: u64,
    /// Number of the last input that the server has used up to this tick. 0 before the first one.
    pub used: u64,
    /// Number of inputs that waited before the server used one, at most 30. 0 if it had none and repeated the last one.
    pub queued: u8,
    /// The app's data for this client: [`Extras::own`](super::Extras).
    pub own: Vec<u8>,
}

/// A report as it is sent, without the tick. The number of the last used input is modulo 2¹⁶.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report<'a> {
    pub(super) used: u16,
    pub(super) queued: u8,
    pub(super) own: &'a [u8],
}

impl<'a> Report<'a> {
    /// Number of bytes by which the report lengthens a packet.
    pub(super) const fn len(&self) -> usize {
        FIXED_BYTES + self.own.len()
    }

    /// Returns a packet with the report.
    pub(super) fn before(&self, packet: &[u8]) -> Vec<u8> {
        let (sequence, rest) = packet.split_at(2);
        let [high, low] = self.used.to_be_bytes();
        let header =
            [sequence[0] ^ MARK, sequence[1], high, low, self.queued, self.own.len() as u8];
        [&header, self.own, rest].concat()
    }

    /// Splits a datagram that begins with a report. Returns the report and the packet, or `None` if it is malformed.
    pub(super) fn split(datagram: &'a [u8]) -> Option<(Self, Vec<u8>)> {
        let (&[first, second, high, low, queued, length], rest) = datagram.split_first_chunk()?;
        let length = usize::from(length);
        if length > MAX_OWN_BYTES {
            return None;
        }
        let (own, rest) = rest.split_at_checked(length)?;
        let used = u16::from_be_bytes([high, low]);
        Some((Self { used, queued, own }, [&[first ^ MARK, second], rest].concat()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_are_as_in_the_document() {
        let report = Report { used: 0x0102, queued: 3, own: &[9] };
        assert_eq!(report.before(&[0x12, 0x34, 0x56]), [0x92, 0x34, 1, 2, 3, 1, 9, 0x56]);
    }

    proptest! {
        #[test]
        fn a_report_is_read_as_written(
            packet in vec(any::<u8>(), 2..40),
            used in any::<u16>(),
            queued in any::<u8>(),
            own in vec(any::<u8>(), 0..=MAX_OWN_BYTES),
        ) {
            let report = Report { used, queued, own: &own };
            let bytes = report.before(&packet);
            prop_assert_eq!(bytes.len(), packet.len() + report.len());
            prop_assert_eq!(bytes[0] ^ packet[0], MARK);
            prop_assert_eq!(Report::split(&bytes), Some((report, packet)));
            for end in 0..6 + own.len() {
                prop_assert_eq!(Report::split(&bytes[..end]), None);
            }
        }
    }
}
