//! What the receiver says back.

use cubewire_codec::Sequence;

/// Names the newest snapshot that the receiver has decoded. Two bytes, big endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The snapshot's number.
    pub newest: Sequence,
}

/// Why bytes are no ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an ack has {} bytes, not {got}", Ack::BYTES)]
pub struct AckError {
    /// Bytes in the message.
    pub got: usize,
}

impl Ack {
    /// Length of an ack.
    pub const BYTES: usize = 2;

    /// The message to send.
    #[must_use]
    pub const fn encode(self) -> [u8; Self::BYTES] {
        self.newest.0.to_be_bytes()
    }

    /// Reads a message.
    ///
    /// # Errors
    /// If it has another length.
    pub fn decode(bytes: &[u8]) -> Result<Self, AckError> {
        let bytes = bytes
            .try_into()
            .map_err(|_| AckError { got: bytes.len() })?;
        Ok(Self {
            newest: Sequence(u16::from_be_bytes(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_is_its_number_big_endian() {
        let ack = Ack {
            newest: Sequence(0x1234),
        };
        assert_eq!(ack.encode(), [0x12, 0x34]);
        assert_eq!(Ack::decode(&ack.encode()), Ok(ack));
    }

    #[test]
    fn other_lengths_are_refused() {
        assert_eq!(Ack::decode(&[]), Err(AckError { got: 0 }));
        let error = Ack::decode(&[1, 2, 3]).unwrap_err();
        assert_eq!(error.to_string(), "an ack has 2 bytes, not 3");
    }
}
