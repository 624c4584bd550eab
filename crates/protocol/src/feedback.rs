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
    /// Snapshots that the receiver has decoded and holds.
    Ack(Ack),
    /// A packet was rejected because the receiver does not hold its baseline.
    MissingBaseline(Sequence),
    /// A packet was rejected because the receiver simulates something else, or nothing.
    Desync(Sequence),
}

/// The newest snapshot that was decoded, and a bit for each of the 32 ticks before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Sequence number of the newest snapshot.
    pub newest: Sequence,
    /// Bit `i`, counted from the lowest: `newest − 1 − i` is held as well.
    pub earlier: u32,
}

/// Why a message is not valid feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedbackError {
    /// The message is empty.
    #[error("the message is empty")]
    Empty,
    /// The kind is unknown.
    #[error("feedback kind {0} is outside 0..=2")]
    Kind(u8),
    /// The message is too short or too long.
    #[error("feedback of kind {kind} has {expected} bytes, not {got}")]
    Length {
        /// The first byte.
        kind: u8,
        /// Bytes of a message of that kind.
        expected: usize,
        /// Bytes of this one.
        got: usize,
    },
    /// It acks a snapshot that was never sent: see [`SnapshotSender::on_message`](crate::SnapshotSender::on_message).
    #[error("snapshot {0} was acked and never sent")]
    NeverSent(Sequence),
}

impl Feedback {
    /// Encodes the message.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ACK_BYTES);
        match self {
            Self::Ack(ack) => {
                bytes.push(ACK);
                bytes.extend(ack.newest.0.to_be_bytes());
                bytes.extend(ack.earlier.to_be_bytes());
            }
            Self::MissingBaseline(baseline) => {
                bytes.push(MISSING);
                bytes.extend(baseline.0.to_be_bytes());
            }
            Self::Desync(packet) => {
                bytes.push(DESYNC);
                bytes.extend(packet.0.to_be_bytes());
            }
        }
        bytes
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// [`FeedbackError`] if the kind is unknown or the length is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, FeedbackError> {
        let (expected, kind) = match bytes.first() {
            None => return Err(FeedbackError::Empty),
            Some(&ACK) => (ACK_BYTES, ACK),
            Some(&MISSING) => (MISSING_BYTES, MISSING),
            Some(&DESYNC) => (DESYNC_BYTES, DESYNC),
            Some(&kind) => return Err(FeedbackError::Kind(kind)),
        };
        match *bytes {
            [ACK, a, b, c, d, e, f] => Ok(Self::Ack(Ack {
                newest: Sequence(u16::from_be_bytes([a, b])),
                earlier: u32::from_be_bytes([c, d, e, f]),
            })),
            [MISSING, a, b] => Ok(Self::MissingBaseline(Sequence(u16::from_be_bytes([a, b])))),
            [DESYNC, a, b] => Ok(Self::Desync(Sequence(u16::from_be_bytes([a, b])))),
            _ => Err(FeedbackError::Length {
                kind,
                expected,
                got: bytes.len(),
            }),
        }
    }
}

const ACK: u8 = 0;
const ACK_BYTES: usize = 7;
const MISSING: u8 = 1;
const MISSING_BYTES: usize = 3;
const DESYNC: u8 = 2;
const DESYNC_BYTES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_matches_the_layout_in_both_directions() {
        let ack = Feedback::Ack(Ack {
            newest: Sequence(0x1234),
            earlier: 0x8000_0001,
        });
        let missing = Feedback::MissingBaseline(Sequence(0xFFFE));
        for (feedback, bytes) in [
            (ack, &[0, 0x12, 0x34, 0x80, 0, 0, 1][..]),
            (missing, &[1, 0xFF, 0xFE][..]),
            (Feedback::Desync(Sequence(0x102)), &[2, 1, 2][..]),
        ] {
            assert_eq!(feedback.encode(), bytes);
            assert_eq!(Feedback::decode(bytes), Ok(feedback));
        }
    }

    #[test]
    fn anything_else_is_rejected() {
        assert_eq!(Feedback::decode(&[]), Err(FeedbackError::Empty));
        assert_eq!(Feedback::decode(&[3, 0]), Err(FeedbackError::Kind(3)));
        let error = Feedback::decode(&[0, 1, 2]).unwrap_err();
        assert_eq!(error.to_string(), "feedback of kind 0 has 7 bytes, not 3");
        assert!(Feedback::decode(&[1, 2, 3, 4]).is_err());
        assert!(Feedback::decode(&[0; 8]).is_err());
    }
}
