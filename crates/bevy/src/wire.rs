//! Reliable messages of the app between server and client, encoded with postcard. The session has its own.
//!
//! The session's messages begin with a byte ([`SESSION`](cubewire_protocol::SESSION)) that is no variant of these enums.

mod reader;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use cubewire_codec::Life;
use cubewire_protocol::Interpolation;
use cubewire_protocol::renet_guard::MAX_RELIABLE_BYTES;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::reader::{ReadError, read};

/// Limit of a server's message, and of a component of [`replicate`](crate::CubewireAppExt::replicate), in bytes of postcard.
/// It leaves 16 bytes of a [reliable message](MAX_RELIABLE_BYTES) for headers.
pub const MAX_TO_CLIENT_BYTES: usize = MAX_RELIABLE_BYTES - 16;

/// Limit of a client's input or message, in bytes of postcard. It is 4 kB below [`MAX_TO_CLIENT_BYTES`], so that a server can
/// relay a client's message inside a larger one, with the sender's name for example.
pub const MAX_TO_SERVER_BYTES: usize = 60 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ReliableToServer<'a> {
    Message { channel: u8, bytes: &'a [u8] },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ReliableToClient<'a> {
    /// Reliable components of a visible body: all of them, or the changed ones.
    Components {
        body: BodyId,
        part: Part,
        /// Index and encoding of each component. `None` if the component was removed.
        #[serde(borrow)]
        components: Vec<(u8, Option<&'a [u8]>)>,
    },
    /// A body is no longer visible, from this tick on.
    Gone {
        body: BodyId,
        tick: u64,
        is_hidden: bool,
    },
    Message {
        channel: u8,
        bytes: &'a [u8],
    },
    /// How the client interpolates from now on. Linear before the first such message.
    Interpolation(Interpolation),
}

/// Position of a message among the messages with a body's reliable components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    /// Changed components, or a middle part between [`Begin`](Self::Begin) and [`End`](Self::End).
    Change,
    All,
    /// The first part of all components, if they exceed one message.
    Begin,
    /// The last part of all components.
    End,
}

/// Identifies a body over time. Unique among 256 consecutive bodies of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct BodyId {
    pub(crate) slot: u16,
    pub(crate) generation: u8,
}

impl BodyId {
    pub(crate) const fn new(slot: usize, life: Life) -> Self {
        Self { slot: slot as u16, generation: life.generation }
    }

    /// Returns the number that identifies the body in a reference.
    pub(crate) const fn number(self) -> u32 {
        (self.slot as u32) << 8 | self.generation as u32
    }

    /// Returns the body of a reference with this number.
    #[cfg(feature = "client")]
    pub(crate) const fn from_number(number: u32) -> Self {
        Self { slot: (number >> 8) as u16, generation: number as u8 }
    }
}

/// Returns the encoding of a message of this module.
pub(crate) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    postcard::to_allocvec(message).expect("bytes, numbers and sequences can be serialized")
}

/// The encoding of a value, or the reason why the value cannot be sent.
pub(crate) type Encoded = Result<Vec<u8>, Unsendable>;

/// Why a value cannot be sent. Completes a sentence that begins with "message" or "component".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsendable {
    /// The type's `Serialize` has failed for this value.
    #[error("cannot be serialized: {0}")]
    Unserializable(postcard::Error),
    #[error("too long: {bytes} bytes, limit {limit}")]
    TooLong { bytes: usize, limit: usize },
    /// The other end would refuse the value.
    #[error("unreadable for the other end: {0}")]
    Unreadable(#[from] ReadError),
}

pub(crate) const fn fits(bytes: usize, limit: usize) -> Result<(), Unsendable> {
    if bytes <= limit { Ok(()) } else { Err(Unsendable::TooLong { bytes, limit }) }
}

/// Returns the encoding of a game's value, if it has at most `limit` bytes and can be decoded again.
pub(crate) fn sendable<T: Serialize + DeserializeOwned>(value: &T, limit: usize) -> Encoded {
    let bytes = postcard::to_allocvec(value).map_err(Unsendable::Unserializable)?;
    fits(bytes.len(), limit)?;
    read::<T>(&bytes)?;
    Ok(bytes)
}

/// Decodes a value, which must use all bytes.
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    read(bytes).ok()
}

#[derive(Debug, Default)]
pub(crate) struct LoggedOnce(AtomicBool);

impl LoggedOnce {
    pub(crate) fn warn(&self, line: impl fmt::Display) {
        if self.is_first() {
            log::warn!("{line}; others like it are not logged");
        }
    }

    /// Returns whether this is the first call. For warnings that are logged by the caller's module.
    pub(crate) fn is_first(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }
}

/// Returns a type's name without its module path. A generic type keeps the full path.
pub(crate) fn short_name<T>() -> &'static str {
    let full = std::any::type_name::<T>();
    if full.contains('<') { full } else { full.rsplit("::").next().unwrap_or(full) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("../tests/golden.txt");

    const BODY: BodyId = BodyId { slot: 300, generation: 7 };

    /// Returns the text of the golden file that `WIRE.md` names: every kind of message. Checks that each one decodes again.
    fn golden() -> String {
        let mut text = "Messages and packets: see crates/codec/WIRE.md.\n\n".to_owned();
        let mut line = |of: &str, bytes: &[u8]| {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            text += &format!("{of}: {hex}\n");
        };
        let (channel, bytes) = (1, &[1, 2, 3][..]);
        let message = ReliableToServer::Message { channel, bytes };
        assert_eq!(decode(&encode(&message)), Some(message));
        line("client, reliable", &encode(&message));
        for message in [
            ReliableToClient::Components {
                body: BODY,
                part: Part::All,
                components: vec![(0, Some(bytes)), (2, None)],
            },
            ReliableToClient::Components { body: BODY, part: Part::End, components: Vec::new() },
            ReliableToClient::Gone { body: BODY, tick: 70_000, is_hidden: true },
            ReliableToClient::Message { channel, bytes },
            ReliableToClient::Interpolation(Interpolation::None),
        ] {
            let bytes = encode(&message);
            assert_eq!(decode(&bytes), Some(message));
            line("server, reliable", &bytes);
        }
        for packet in crate::renet_connection::tests::golden() {
            line("packet", &packet);
        }
        text
    }

    #[test]
    fn messages_equal_the_golden_file() {
        assert_eq!(golden(), GOLDEN);
    }

    #[test]
    #[ignore = "writes what the other compares with"]
    fn write_the_golden_messages() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");
        std::fs::write(path, golden()).unwrap();
    }
}
