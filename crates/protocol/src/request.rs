//! What a receiver wants to be sent.

use cubewire_codec::{DecodeError, Header, Reference, Sequence, Stages};

use crate::{BaselineChoice, PROTOCOL_VERSION};

/// A receiver's wish, the whole of it each time, so that only the newest counts. Repeat it until
/// its [`Grant`] comes; nothing else makes it arrive.
///
/// ```text
/// version 16 | ticks 8 | baseline 8 | header of a packet relative to nothing, 40
/// ```
///
/// Big endian. `ticks` are those from one snapshot to the next; `baseline` is 0 for the newest, 1
/// for the one that makes the smallest packet. The header, as the codec writes it, holds the
/// request's number and the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// One more than the last one's.
    pub number: Sequence,
    /// What the codec is to do.
    pub stages: Stages,
    /// Ticks from one snapshot to the next, 1 or more.
    pub send_interval_ticks: u8,
    /// What packets are to be relative to.
    pub baseline: BaselineChoice,
}

/// Why bytes are no request.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// The two sides cannot talk.
    #[error(
        "it speaks version {theirs} of the protocol, and this program version {PROTOCOL_VERSION}"
    )]
    Version {
        /// The receiver's.
        theirs: u16,
    },
    /// Too short or too long.
    #[error("a request has {REQUEST_BYTES} bytes, not {0}")]
    Length(usize),
    /// Snapshots without end.
    #[error("a request for a snapshot every 0 ticks")]
    NoTicks,
    /// There is no such choice.
    #[error("a request for baselines of kind {0}; there are 0 and 1")]
    Baseline(u8),
    /// The stages are not there.
    #[error("a request with the header of a packet that is relative to another")]
    Reference,
    /// The stages are unknown or illegal.
    #[error("the stages of a request: {0}")]
    Stages(#[from] DecodeError),
}

impl Request {
    /// The message to send.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let header = Header {
            sequence: self.number,
            reference: Reference::Initial {
                stages: self.stages,
            },
        };
        let mut bytes = Vec::with_capacity(REQUEST_BYTES);
        bytes.extend(PROTOCOL_VERSION.to_be_bytes());
        bytes.push(self.send_interval_ticks);
        bytes.push(match self.baseline {
            BaselineChoice::Newest => NEWEST,
            BaselineChoice::Smallest => SMALLEST,
        });
        bytes.extend(header.encode());
        bytes
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`RequestError`] if it is none, or one of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, RequestError> {
        let length = RequestError::Length(bytes.len());
        let (version, rest) = bytes.split_first_chunk().ok_or(length)?;
        let theirs = u16::from_be_bytes(*version);
        if theirs != PROTOCOL_VERSION {
            return Err(RequestError::Version { theirs });
        }
        if bytes.len() != REQUEST_BYTES {
            return Err(length);
        }
        let &[send_interval_ticks, baseline, ref header @ ..] = rest else {
            return Err(length);
        };
        if send_interval_ticks == 0 {
            return Err(RequestError::NoTicks);
        }
        let baseline = match baseline {
            NEWEST => BaselineChoice::Newest,
            SMALLEST => BaselineChoice::Smallest,
            other => return Err(RequestError::Baseline(other)),
        };
        let header = Header::decode(header)?;
        let Reference::Initial { stages } = header.reference else {
            return Err(RequestError::Reference);
        };
        Ok(Self {
            number: header.sequence,
            stages,
            send_interval_ticks,
            baseline,
        })
    }
}

/// The sender's word that it does what a request asks for, and the tick at which it says so:
///
/// ```text
/// number 16 | tick 64
/// ```
///
/// Big endian. Said again now and then, it tells the receiver where the sender's clock stands after a
/// pause: see [`SnapshotReceiver::hear_of_tick`](crate::SnapshotReceiver::hear_of_tick).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The request's.
    pub number: Sequence,
    /// The sender's tick.
    pub tick: u64,
}

/// Why bytes are no grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a grant has {GRANT_BYTES} bytes, not {0}")]
pub struct GrantError(usize);

impl Grant {
    /// The message to send.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let mut bytes = self.number.0.to_be_bytes().to_vec();
        bytes.extend(self.tick.to_be_bytes());
        bytes
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`GrantError`] if it is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, GrantError> {
        let &[a, b, ref tick @ ..] = bytes else {
            return Err(GrantError(bytes.len()));
        };
        let tick = tick.try_into().map_err(|_| GrantError(bytes.len()))?;
        Ok(Self {
            number: Sequence(u16::from_be_bytes([a, b])),
            tick: u64::from_be_bytes(tick),
        })
    }
}

const REQUEST_BYTES: usize = 9;
const GRANT_BYTES: usize = 10;
// Codes of `baseline`.
const NEWEST: u8 = 0;
const SMALLEST: u8 = 1;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;

    fn request() -> Request {
        Request {
            number: Sequence(0x1234),
            stages: ladder::UNCOMPRESSED.stages,
            send_interval_ticks: 6,
            baseline: BaselineChoice::Smallest,
        }
    }

    #[test]
    fn a_request_is_what_the_layout_says_and_comes_back() {
        let bytes = request().encode();
        assert_eq!(bytes, [0, 1, 6, 1, 0x12, 0x34, 0x80, 0, 0]);
        assert_eq!(Request::decode(&bytes), Ok(request()));
        for stages in Stages::every_legal(&[2, 9, 15]) {
            let request = Request {
                stages,
                ..request()
            };
            assert_eq!(Request::decode(&request.encode()), Ok(request));
        }
    }

    #[test]
    fn another_version_is_told_first() {
        let mut bytes = request().encode();
        bytes[1] = 9;
        let error = RequestError::Version { theirs: 9 };
        assert_eq!(Request::decode(&bytes), Err(error));
        assert_eq!(Request::decode(&bytes[..2]), Err(error));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = request().encode();
        for length in 0..bytes.len() {
            let error = RequestError::Length(length);
            assert_eq!(Request::decode(&bytes[..length]), Err(error));
        }
        let with = |place: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[place] = byte;
            Request::decode(&bytes)
        };
        assert_eq!(with(2, 0), Err(RequestError::NoTicks));
        assert_eq!(with(3, 2), Err(RequestError::Baseline(2)));
        assert!(with(6, 0).is_err());
        assert!(matches!(with(8, 0xFF), Err(RequestError::Stages(_))));
    }

    #[test]
    fn a_grant_comes_back() {
        let grant = Grant {
            number: Sequence(0xFF01),
            tick: 258,
        };
        let bytes = grant.encode();
        assert_eq!(bytes, [0xFF, 1, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(Grant::decode(&bytes), Ok(grant));
        for length in 0..bytes.len() {
            let error = Grant::decode(&bytes[..length]);
            assert_eq!(error, Err(GrantError(length)));
        }
    }
}
