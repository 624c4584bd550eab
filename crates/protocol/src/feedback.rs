//! Messages from the receiver to the sender.

use cubewire_codec::Sequence;

/// A message from the receiver to the sender, big endian:
///
/// ```text
/// ack               0 | newest 16 | earlier 32
/// missing baseline  1 | baseline 16
/// desync            2 | packet 16
/// ```
///
/// The first byte is the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The snapshots that the receiver has decoded and stored.
    Ack(Ack),
    /// A packet was refused because the receiver does not have its baseline.
    MissingBaseline(Sequence),
    /// A packet was refused because the receiver's simulation differs, or because it does not simulate.
    Desync(Sequence),
}

/// The newest snapshot that was decoded, and a bit for each of the 32 ticks before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Sequence number of the newest snapshot.
    pub newest: Sequence,
    /// Bit `i`, counted from the lowest, is set if the snapshot `newest − 1 − i` is stored as well.
    pub earlier: u32,
}

/// Reason why a message is not valid feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedbackError {
    /// The kind is unknown, or the length does not fit the kind.
    #[error("feedback of {bytes} bytes with kind {kind:?} is malformed")]
    Malformed {
        /// The first byte, `None` if the message is empty.
        kind: Option<u8>,
        /// Length of the message.
        bytes: usize,
    },
    /// The message acks a snapshot that was never sent: see
    /// [`SnapshotSender::on_message`](crate::SnapshotSender::on_message).
    #[error("snapshot {0} was acked but never sent")]
    NeverSent(Sequence),
}

impl Feedback {
    /// Encodes the message.
    pub fn encode(self) -> Vec<u8> {
        let (kind, Sequence(number), earlier) = match self {
            Self::Ack(Ack { newest, earlier }) => (ACK, newest, Some(earlier.to_be_bytes())),
            Self::MissingBaseline(baseline) => (MISSING, baseline, None),
            Self::Desync(packet) => (DESYNC, packet, None),
        };
        let mut bytes = Vec::with_capacity(ACK_BYTES);
        bytes.push(kind);
        bytes.extend(number.to_be_bytes());
        bytes.extend(earlier.into_iter().flatten());
        bytes
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// [`FeedbackError`] if the kind is unknown or the length is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, FeedbackError> {
        match Self::split(bytes) {
            Some((feedback, [])) => Ok(feedback),
            _ => Err(FeedbackError::Malformed { kind: bytes.first().copied(), bytes: bytes.len() }),
        }
    }

    /// Decodes the message at the start of a datagram. Returns it with the rest.
    pub(crate) fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let number = |high, low| Sequence(u16::from_be_bytes([high, low]));
        match *bytes {
            [ACK, a, b, c, d, e, f, ref rest @ ..] => {
                let earlier = u32::from_be_bytes([c, d, e, f]);
                Some((Self::Ack(Ack { newest: number(a, b), earlier }), rest))
            }
            [MISSING, a, b, ref rest @ ..] => Some((Self::MissingBaseline(number(a, b)), rest)),
            [DESYNC, a, b, ref rest @ ..] => Some((Self::Desync(number(a, b)), rest)),
            _ => None,
        }
    }
}

impl Ack {
    /// Whether this acks the snapshot with a sequence number.
    pub fn covers(&self, number: Sequence) -> bool {
        match self.newest.ticks_since(number) {
            0 => true,
            age @ 1..=32 => self.earlier >> (age - 1) & 1 == 1,
            _ => false,
        }
    }
}

const ACK: u8 = 0;
const ACK_BYTES: usize = 7;
const MISSING: u8 = 1;
const DESYNC: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_else_is_rejected() {
        for bytes in [&[][..], &[3, 0], &[0, 1, 2], &[1, 2, 3, 4], &[0; 8]] {
            let (kind, bytes, decoded) =
                (bytes.first().copied(), bytes.len(), Feedback::decode(bytes));
            assert_eq!(decoded, Err(FeedbackError::Malformed { kind, bytes }));
        }
    }
}
