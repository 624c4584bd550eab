//! Requests: the settings that a receiver wants its sender to use.

use cubewire_codec::{BaselineId, DecodeError, Header, Sequence, Stages};

use crate::budget::BUDGETS_KBPS;
use crate::fallback::FallbackReason;
use crate::sender::BaselineChoice;
use crate::welcome::PROTOCOL_VERSION;

/// The settings that a receiver asks for. Each request holds all of them, so only the newest counts.
/// The message may be lost: repeat it until its [`RequestAck`] arrives.
///
/// ```text
/// version 16 | ticks 8 | baseline 8 | fallback 8 | budget 16 | header of a packet relative to nothing, 40 to 72
/// ```
///
/// Big endian. `ticks` is the interval between snapshots; `baseline` is 0 for the newest, 1 for the
/// one that makes the smallest packet; `fallback` is 0 for none, and 1, 2 for the reasons of
/// [`FallbackReason`]; `budget` is in kilobits a second, or 0 for none. The header, as the codec writes it, holds the request's number
/// and the stages; their unusual parameters make it longer than 40 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// One more than that of the previous request.
    pub number: Sequence,
    /// Stages of the codec. A request can name stages that the scene does not have: a sender serves only stages that
    /// [`Plan::check_complete`](cubewire_codec::Plan::check_complete) admits.
    pub stages: Stages,
    /// Ticks from one snapshot to the next, at least 1.
    pub send_interval_ticks: u8,
    /// How the sender chooses baselines.
    pub baseline: BaselineChoice,
    /// Why it does not ask for arithmetic coding, though its user has chosen that.
    pub fallback: Option<FallbackReason>,
    /// Most kilobits a second on the wire, in [`BUDGETS_KBPS`].
    pub budget_kbps: Option<u32>,
}

/// Why a message is not a valid request.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// The protocol versions differ.
    #[error("the peer speaks protocol version {theirs}, this program version {PROTOCOL_VERSION}")]
    Version {
        /// Version of the receiver.
        theirs: u16,
    },
    /// The message is too short or too long.
    #[error("{0} bytes are too few or too many for a request")]
    Length(usize),
    /// The interval is zero.
    #[error("the request has a send interval of 0 ticks")]
    NoTicks,
    /// The baseline choice is unknown.
    #[error("baseline choice {0} in the request is outside 0..=1")]
    Baseline(u8),
    /// The reason for a fallback is unknown.
    #[error("reason {0} for a fallback in the request is outside 0..=2")]
    Fallback(u8),
    /// The budget is out of range.
    #[error("the request has a budget of {0} kbps, which is outside 16..=1024")]
    Budget(u16),
    /// The header names a baseline, so it holds no stages.
    #[error("the header in the request names a baseline")]
    Reference,
    /// The bits after the stages, up to a whole byte, are not zero.
    #[error("the padding in the request is not zero")]
    Padding,
    /// The stages are unknown or illegal.
    #[error("invalid stages in the request: {0}")]
    Stages(#[from] DecodeError),
}

impl Request {
    /// Encodes the message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let header = Header {
            sequence: self.number,
            baseline: BaselineId::Initial {
                stages: self.stages,
            },
        };
        let mut bytes = Vec::with_capacity(MAX_REQUEST_BYTES);
        bytes.extend(PROTOCOL_VERSION.to_be_bytes());
        bytes.push(self.send_interval_ticks);
        bytes.push(code(&CHOICES, &self.baseline));
        bytes.push(code(&FALLBACKS, &self.fallback));
        bytes.extend(kbps_code(self.budget_kbps).to_be_bytes());
        bytes.extend(header.encode());
        bytes
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// [`RequestError`] if it is invalid or of another protocol version. The version is checked first.
    pub fn decode(bytes: &[u8]) -> Result<Self, RequestError> {
        let length = RequestError::Length(bytes.len());
        let (version, rest) = bytes.split_first_chunk().ok_or(length)?;
        let theirs = u16::from_be_bytes(*version);
        if theirs != PROTOCOL_VERSION {
            return Err(RequestError::Version { theirs });
        }
        if bytes.len() < MIN_REQUEST_BYTES {
            return Err(length);
        }
        let &[
            send_interval_ticks,
            baseline,
            fallback,
            high,
            low,
            ref header @ ..,
        ] = rest
        else {
            return Err(length);
        };
        if send_interval_ticks == 0 {
            return Err(RequestError::NoTicks);
        }
        let baseline = of_code(&CHOICES, baseline).ok_or(RequestError::Baseline(baseline))?;
        let fallback = of_code(&FALLBACKS, fallback).ok_or(RequestError::Fallback(fallback))?;
        let kbps = u16::from_be_bytes([high, low]);
        let budget_kbps = kbps_of(kbps);
        if budget_kbps.is_some_and(|kbps| !BUDGETS_KBPS.contains(&kbps)) {
            return Err(RequestError::Budget(kbps));
        }
        let decoded = Header::decode(header)?;
        let encoded = decoded.encode();
        if encoded.len() != header.len() {
            return Err(length);
        }
        let BaselineId::Initial { stages } = decoded.baseline else {
            return Err(RequestError::Reference);
        };
        if encoded != header {
            return Err(RequestError::Padding);
        }
        Ok(Self {
            number: decoded.sequence,
            stages,
            send_interval_ticks,
            baseline,
            fallback,
            budget_kbps,
        })
    }
}

/// Confirms that the sender has received a request, and reports the sender's current tick:
///
/// ```text
/// number 16 | tick 64 | ticks 8 | baseline 8 | budget 16
/// ```
///
/// Big endian, `ticks`, `baseline` and `budget` as in the [`Request`]: what the sender uses of it, which is less than
/// was asked for while it has no time for more, or no more gets through. The sender repeats it at intervals, so that the
/// receiver's clock follows the sender's over a pause: see [`SnapshotReceiver::sync_tick`](crate::SnapshotReceiver::sync_tick).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestAck {
    /// Number of the request.
    pub number: Sequence,
    /// The sender's tick.
    pub tick: u64,
    /// Ticks from one snapshot to the next, at least as many as requested.
    pub send_interval_ticks: u8,
    /// How the sender chooses baselines.
    pub baseline: BaselineChoice,
    /// Most kilobits a second on the wire, up to 65 535: what was asked for, or less if no more gets through.
    pub budget_kbps: Option<u32>,
}

/// Why a message is not a valid request ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestAckError {
    /// The message is too short or too long.
    #[error("a request ack has {REQUEST_ACK_BYTES} bytes, not {0}")]
    Length(usize),
    /// The baseline choice is unknown.
    #[error("baseline choice {0} in the request ack is outside 0..=1")]
    Baseline(u8),
}

impl RequestAck {
    /// Encodes the message.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let mut bytes = self.number.0.to_be_bytes().to_vec();
        bytes.extend(self.tick.to_be_bytes());
        bytes.extend([self.send_interval_ticks, code(&CHOICES, &self.baseline)]);
        bytes.extend(kbps_code(self.budget_kbps).to_be_bytes());
        bytes
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// [`RequestAckError`] if it is invalid.
    pub fn decode(bytes: &[u8]) -> Result<Self, RequestAckError> {
        let length = RequestAckError::Length(bytes.len());
        let bytes: &[u8; REQUEST_ACK_BYTES] = bytes.try_into().map_err(|_| length)?;
        let &[
            a,
            b,
            ref tick @ ..,
            send_interval_ticks,
            baseline,
            high,
            low,
        ] = bytes;
        Ok(Self {
            number: Sequence(u16::from_be_bytes([a, b])),
            tick: u64::from_be_bytes(*tick),
            send_interval_ticks,
            baseline: of_code(&CHOICES, baseline).ok_or(RequestAckError::Baseline(baseline))?,
            budget_kbps: kbps_of(u16::from_be_bytes([high, low])),
        })
    }
}

/// In the order of the codes of `baseline`.
const CHOICES: [BaselineChoice; 2] = [BaselineChoice::Newest, BaselineChoice::Smallest];

/// In the order of the codes of `fallback`.
const FALLBACKS: [Option<FallbackReason>; 3] = [
    None,
    Some(FallbackReason::Model),
    Some(FallbackReason::Arithmetic),
];

fn code<T: PartialEq>(all: &[T], value: &T) -> u8 {
    let index = all.iter().position(|of| of == value);
    index.expect("all have codes") as u8
}

fn of_code<T: Copy>(all: &[T], code: u8) -> Option<T> {
    all.get(usize::from(code)).copied()
}

fn kbps_code(budget: Option<u32>) -> u16 {
    budget.map_or(0, |kbps| kbps.try_into().unwrap_or(u16::MAX))
}

fn kbps_of(code: u16) -> Option<u32> {
    (code > 0).then_some(code.into())
}

const MIN_REQUEST_BYTES: usize = 12;
const MAX_REQUEST_BYTES: usize = 16;
const REQUEST_ACK_BYTES: usize = 14;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn request() -> Request {
        Request {
            number: Sequence(0x1234),
            stages: ladder::UNCOMPRESSED.stages,
            send_interval_ticks: 6,
            baseline: BaselineChoice::Smallest,
            fallback: Some(FallbackReason::Arithmetic),
            budget_kbps: Some(0x0102),
        }
    }

    #[test]
    fn requests_match_the_layout_and_round_trip() {
        let bytes = request().encode();
        assert_eq!(bytes[..2], PROTOCOL_VERSION.to_be_bytes());
        assert_eq!(bytes[2..7], [6, 1, 2, 1, 2]);
        assert_eq!(Request::decode(&bytes), Ok(request()));
        let budgets = [None, Some(16), Some(1024)].into_iter().cycle();
        let others = budgets.zip(FALLBACKS.into_iter().cycle());
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let readable = Stages::every_readable(|most| random.random_range(0..most));
        for (stages, (budget_kbps, fallback)) in readable.zip(others) {
            let request = Request {
                stages,
                budget_kbps,
                fallback,
                ..request()
            };
            assert_eq!(Request::decode(&request.encode()), Ok(request));
        }
    }

    #[test]
    fn unusual_parameters_make_a_request_longer() {
        let stages = "orientation=smallest-three-9+velocity=omitted+position=quantized-64\
                      +delta=relative-indices-4-4+relative-position=two-ranges-1-9\
                      +relative-orientation=two-ranges-5-9+changed-flags=separate";
        let request = Request {
            stages: stages.parse().unwrap(),
            ..request()
        };
        let mut bytes = request.encode();
        assert_eq!(bytes.len(), MAX_REQUEST_BYTES);
        assert_eq!(Request::decode(&bytes), Ok(request));
        let cut = Request::decode(&bytes[..MAX_REQUEST_BYTES - 1]);
        assert!(matches!(cut, Err(RequestError::Stages(_))));
        bytes.push(0);
        assert_eq!(Request::decode(&bytes), Err(RequestError::Length(17)));
    }

    #[test]
    fn another_version_is_reported_first() {
        let mut bytes = request().encode();
        let theirs = PROTOCOL_VERSION + 1;
        bytes[..2].copy_from_slice(&theirs.to_be_bytes());
        let error = RequestError::Version { theirs };
        assert_eq!(Request::decode(&bytes), Err(error));
        assert_eq!(Request::decode(&bytes[..2]), Err(error));
    }

    #[test]
    fn damaged_bytes_are_rejected() {
        let bytes = request().encode();
        for length in 0..bytes.len() {
            let error = RequestError::Length(length);
            assert_eq!(Request::decode(&bytes[..length]), Err(error));
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(Request::decode(&longer), Err(RequestError::Length(13)));
        let with = |index: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[index] = byte;
            Request::decode(&bytes)
        };
        assert_eq!(with(2, 0), Err(RequestError::NoTicks));
        assert_eq!(with(3, 2), Err(RequestError::Baseline(2)));
        assert_eq!(with(4, 4), Err(RequestError::Fallback(4)));
        assert_eq!(with(5, 4), Err(RequestError::Budget(0x0402)));
        assert_eq!(with(5, 0), Err(RequestError::Budget(2)));
        assert!(with(9, 0).is_err());
        assert!(matches!(with(11, 0xFF), Err(RequestError::Stages(_))));
        assert_eq!(with(11, 1), Err(RequestError::Padding));
    }

    #[test]
    fn request_acks_round_trip() {
        let ack = RequestAck {
            number: Sequence(0xFF01),
            tick: 258,
            send_interval_ticks: 7,
            baseline: BaselineChoice::Smallest,
            budget_kbps: Some(0x7D00),
        };
        let mut bytes = ack.encode();
        assert_eq!(bytes, [0xFF, 1, 0, 0, 0, 0, 0, 0, 1, 2, 7, 1, 0x7D, 0]);
        assert_eq!(RequestAck::decode(&bytes), Ok(ack));
        for length in 0..bytes.len() {
            let error = RequestAck::decode(&bytes[..length]);
            assert_eq!(error, Err(RequestAckError::Length(length)));
        }
        bytes[11] = 2;
        let error = RequestAck::decode(&bytes);
        assert_eq!(error, Err(RequestAckError::Baseline(2)));
    }
}
