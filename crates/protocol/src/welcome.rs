//! The welcome: the first message to a new receiver.

use std::sync::Arc;

use cubewire_codec::schema::{Schema, SchemaError};
use cubewire_codec::{
    DecodeError, Fingerprint, InitialStateError, Limits, Plan, Snapshot, decode_initial,
    encode_initial,
};

/// Version of the wire formats of this crate, of the codec, and of the transport that carries them.
pub const PROTOCOL_VERSION: u16 = 18;

/// What a receiver needs before it can decode the first packet, at whatever tick it joins. Sent
/// reliably:
///
/// ```text
/// version 16 | tick 64 | model 64 | arithmetic 64 | length 16 | schema | initial state, as the codec writes it
/// ```
///
/// Big endian.
#[derive(Clone, Debug, PartialEq)]
pub struct Welcome {
    /// The sender's scene.
    pub plan: Arc<Plan>,
    /// The sender's tick when this was written, at most 2⁴⁸. Sequence numbers are resolved to the
    /// nearest tick.
    pub tick: u64,
    /// Fingerprint of the sender's trained model and arithmetic. A receiver with another one asks for a rung without
    /// arithmetic coding: see [`SnapshotReceiver::fallback`](crate::SnapshotReceiver::fallback).
    pub fingerprint: Fingerprint,
    /// The snapshot that the first packets are relative to.
    pub initial: Snapshot,
}

/// Why a message is not a valid welcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WelcomeError {
    /// The message is too short.
    #[error("the welcome has {0} bytes; its first fields alone take {HEAD}")]
    Truncated(usize),
    /// The protocol versions differ.
    #[error("the server speaks protocol version {theirs}, this program version {PROTOCOL_VERSION}")]
    Version {
        /// Version of the sender.
        theirs: u16,
    },
    /// The schema is not one.
    #[error("invalid schema in the welcome: {0}")]
    Schema(#[from] SchemaError),
    /// The tick is out of range.
    #[error("tick {0} in the welcome is above {MAX_TICK}")]
    Tick(u64),
    /// The initial state is damaged.
    #[error("invalid initial state in the welcome: {0}")]
    Initial(#[from] DecodeError),
}

impl Welcome {
    /// Encodes the message.
    ///
    /// # Errors
    /// [`InitialStateError`] as [`encode_initial`].
    pub fn encode(&self) -> Result<Vec<u8>, InitialStateError> {
        let mut initial = Vec::new();
        encode_initial(&self.initial, &mut initial)?;
        let mut bytes = Vec::with_capacity(HEAD + initial.len());
        bytes.extend(PROTOCOL_VERSION.to_be_bytes());
        bytes.extend(self.tick.to_be_bytes());
        let Fingerprint { model, arithmetic } = self.fingerprint;
        bytes.extend(model.to_be_bytes());
        bytes.extend(arithmetic.to_be_bytes());
        let schema = self.plan.schema().encode();
        bytes.extend((schema.len() as u16).to_be_bytes());
        bytes.extend(schema);
        bytes.extend(initial);
        Ok(bytes)
    }

    /// Tick rate of the sender, at least 1.
    #[must_use]
    pub fn ticks_per_second(&self) -> u16 {
        self.plan.schema().ticks_per_second
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// [`WelcomeError`] if it is invalid or of another protocol version. The version is checked first.
    pub fn decode(bytes: &[u8], limits: Limits) -> Result<Self, WelcomeError> {
        let truncated = WelcomeError::Truncated(bytes.len());
        let (version, rest) = bytes.split_first_chunk().ok_or(truncated.clone())?;
        let theirs = u16::from_be_bytes(*version);
        if theirs != PROTOCOL_VERSION {
            return Err(WelcomeError::Version { theirs });
        }
        let (tick, rest) = rest.split_first_chunk().ok_or(truncated.clone())?;
        let (model, rest) = rest.split_first_chunk().ok_or(truncated.clone())?;
        let (arithmetic, rest) = rest.split_first_chunk().ok_or(truncated.clone())?;
        let (length, rest) = rest.split_first_chunk().ok_or(truncated.clone())?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (schema, rest) = rest.split_at_checked(length).ok_or(truncated)?;
        let schema = Schema::decode(schema)?;
        let tick = u64::from_be_bytes(*tick);
        if tick > MAX_TICK {
            return Err(WelcomeError::Tick(tick));
        }
        Ok(Self {
            plan: Plan::new(schema)?,
            tick,
            fingerprint: Fingerprint {
                model: u64::from_be_bytes(*model),
                arithmetic: u64::from_be_bytes(*arithmetic),
            },
            initial: decode_initial(rest, limits)?,
        })
    }
}

/// More than a hundred thousand years at 60 Hz, and far from where arithmetic on ticks overflows.
pub(crate) const MAX_TICK: u64 = 1 << 48;

/// Bytes before the schema and its length.
const HEAD: usize = 26;

#[cfg(test)]
mod tests {
    use cubewire_codec::BodyState;

    use super::*;

    fn welcome() -> Welcome {
        Welcome {
            plan: Plan::cubes(),
            tick: 0x1_0000_0002,
            fingerprint: Fingerprint {
                model: 0x0102_0304_0506_0708,
                arithmetic: 9,
            },
            initial: Snapshot {
                bodies: vec![BodyState::default(); 2],
            },
        }
    }

    #[test]
    fn welcomes_match_the_layout_and_round_trip() {
        let bytes = welcome().encode().unwrap();
        assert_eq!(bytes[..2], PROTOCOL_VERSION.to_be_bytes());
        assert_eq!(bytes[2..10], [0, 0, 0, 1, 0, 0, 0, 2]);
        let fingerprint = [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 9];
        assert_eq!(bytes[10..HEAD], fingerprint);
        let schema = Plan::cubes().schema().encode();
        assert_eq!(bytes[HEAD + 2..][..schema.len()], schema);
        let limits = Limits::default();
        assert_eq!(Welcome::decode(&bytes, limits), Ok(welcome()));
    }

    #[test]
    fn another_version_is_reported_first() {
        let mut bytes = welcome().encode().unwrap();
        let theirs = PROTOCOL_VERSION + 1;
        bytes[..2].copy_from_slice(&theirs.to_be_bytes());
        let error = Welcome::decode(&bytes[..2], Limits::default()).unwrap_err();
        assert_eq!(error, WelcomeError::Version { theirs });
    }

    #[test]
    fn damaged_bytes_of_any_length_are_rejected() {
        let bytes = welcome().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(Welcome::decode(&bytes[..length], Limits::default()).is_err());
        }
        let small = Limits { max_bodies: 1 };
        assert!(Welcome::decode(&bytes, small).is_err());
        let mut far = bytes.clone();
        far[2] = 0xFF;
        let error = Welcome::decode(&far, Limits::default()).unwrap_err();
        assert_eq!(error, WelcomeError::Tick(0xFF00_0001_0000_0002));
        let mut other = bytes;
        other[HEAD + 3] = b'?';
        let error = Welcome::decode(&other, Limits::default()).unwrap_err();
        assert!(matches!(error, WelcomeError::Schema(_)), "{error}");
    }
}
