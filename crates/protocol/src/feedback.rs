//! What the receiver says back.

use cubewire_codec::Sequence;

/// A message from the receiver to the sender, big endian:
///
/// ```text
/// ack               0 | newest 16 | earlier 32
/// missing baseline  1 | baseline 16
/// ```
///
/// The first byte says which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// What the receiver has decoded and holds.
    Ack(Ack),
    /// A packet was refused because it is relative to a snapshot that the receiver does not hold.
    MissingBaseline(Sequence),
}

/// The newest snapshot that was decoded, and which of those up to 32 ticks before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The newest's number.
    pub newest: Sequence,
    /// Bit `i`, counted from the lowest: number `newest − 1 − i` is held as well.
    pub earlier: u32,
}

/// Why bytes are no feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedbackError {
    /// There are none.
    #[error("the message is empty")]
    Empty,
    /// The first byte means nothing.
    #[error("feedback of kind {0}; there are 0 and 1")]
    Kind(u8),
    /// Too short or too long.
    #[error("feedback of kind {kind} has {expected} bytes, not {got}")]
    Length {
        /// The first byte.
        kind: u8,
        /// As it should be.
        expected: usize,
        /// As it is.
        got: usize,
    },
}

impl Feedback {
    /// The message to send.
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
        }
        bytes
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`FeedbackError`] if it is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, FeedbackError> {
        let (expected, kind) = match bytes.first() {
            None => return Err(FeedbackError::Empty),
            Some(&ACK) => (ACK_BYTES, ACK),
            Some(&MISSING) => (MISSING_BYTES, MISSING),
            Some(&kind) => return Err(FeedbackError::Kind(kind)),
        };
        match *bytes {
            [ACK, a, b, c, d, e, f] => Ok(Self::Ack(Ack {
                newest: Sequence(u16::from_be_bytes([a, b])),
                earlier: u32::from_be_bytes([c, d, e, f]),
            })),
            [MISSING, a, b] => Ok(Self::MissingBaseline(Sequence(u16::from_be_bytes([a, b])))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_is_what_the_layout_says_in_both_directions() {
        let ack = Feedback::Ack(Ack {
            newest: Sequence(0x1234),
            earlier: 0x8000_0001,
        });
        let missing = Feedback::MissingBaseline(Sequence(0xFFFE));
        for (feedback, bytes) in [
            (ack, &[0, 0x12, 0x34, 0x80, 0, 0, 1][..]),
            (missing, &[1, 0xFF, 0xFE][..]),
        ] {
            assert_eq!(feedback.encode(), bytes);
            assert_eq!(Feedback::decode(bytes), Ok(feedback));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        assert_eq!(Feedback::decode(&[]), Err(FeedbackError::Empty));
        assert_eq!(Feedback::decode(&[2, 0]), Err(FeedbackError::Kind(2)));
        let error = Feedback::decode(&[0, 1, 2]).unwrap_err();
        assert_eq!(error.to_string(), "feedback of kind 0 has 7 bytes, not 3");
        assert!(Feedback::decode(&[1, 2, 3, 4]).is_err());
        assert!(Feedback::decode(&[0; 8]).is_err());
    }
}
