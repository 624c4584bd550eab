//! Messages between server and client other than snapshots, encoded with postcard.
//!
//! A datagram from the server is a packet of the codec. A datagram from a client is an [`Upstream`].

mod reader;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use cubewire_codec::Life;
use cubewire_protocol::renet_guard::MAX_RELIABLE_BYTES;
use cubewire_protocol::{ClientMessage, Interpolation, ServerMessage};
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
    #[serde(borrow)]
    Session(ClientMessage<'a>),
    Message {
        channel: u8,
        bytes: &'a [u8],
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ReliableToClient<'a> {
    #[serde(borrow)]
    Session(ServerMessage<'a>),
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
}

/// A datagram from a client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Upstream<'a> {
    /// Encoded by the protocol crate's `Feedback`.
    #[serde(borrow)]
    pub(crate) feedback: Vec<&'a [u8]>,
    #[serde(borrow)]
    pub(crate) inputs: Vec<RecentInputs<'a>>,
}

/// The most recent inputs on a channel, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecentInputs<'a> {
    pub(crate) channel: u8,
    /// Number of the last input.
    pub(crate) newest: u64,
    #[serde(borrow)]
    pub(crate) inputs: Vec<&'a [u8]>,
}

/// Number of inputs per datagram. An input is lost only if eight datagrams in a row are lost.
pub(crate) const RECENT_INPUTS: usize = 8;

/// Returns a value's encoding.
///
/// # Panics
/// If the value's `Serialize` fails.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value)
        .unwrap_or_else(|error| panic!("`{}` cannot be sent: {error}", short_name::<T>()))
}

/// The encoding of a value, or the reason why the value cannot be sent.
pub(crate) type Encoded = Result<Vec<u8>, Unsendable>;

/// Why a value cannot be sent. Completes a sentence that begins with "message" or "component".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsendable {
    #[error("too long: {bytes} bytes, limit {limit}")]
    TooLong { bytes: usize, limit: usize },
    #[error("unreadable: {0}")]
    Unreadable(#[from] ReadError),
}

pub(crate) const fn fits(bytes: usize, limit: usize) -> Result<(), Unsendable> {
    if bytes <= limit { Ok(()) } else { Err(Unsendable::TooLong { bytes, limit }) }
}

/// Returns a value's encoding, if it has at most `limit` bytes and is within the limits of the [reader]. A type that can never be
/// decoded passes: the receiver reports it.
///
/// # Panics
/// If the value's `Serialize` fails.
pub(crate) fn sendable<T: Serialize + DeserializeOwned>(value: &T, limit: usize) -> Encoded {
    let bytes = encode(value);
    fits(bytes.len(), limit)?;
    match read::<T>(&bytes) {
        Err(error @ (ReadError::TooDeep | ReadError::TooManyElements)) => Err(error.into()),
        Ok(_) | Err(ReadError::Malformed) => Ok(bytes),
    }
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

/// Returns the inputs with a number above `seen`, oldest first.
pub(crate) fn new_inputs<'a>(
    recent: &RecentInputs<'a>,
    seen: u64,
) -> impl Iterator<Item = &'a [u8]> {
    let new = recent.newest.saturating_sub(seen).min(recent.inputs.len().min(RECENT_INPUTS) as u64);
    let skipped = recent.inputs.len() - new as usize;
    recent.inputs.clone().into_iter().skip(skipped)
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;
    use cubewire_protocol::{BaselineChoice, Request, Settings};

    use super::*;

    /// Correct datagrams are tested with `add_input`, over a link that loses and duplicates them.
    #[test]
    fn a_datagram_has_few_new_inputs_whatever_it_says() {
        let hostile = RecentInputs { channel: 0, newest: u64::MAX, inputs: vec![&[7]; 100] };
        assert_eq!(new_inputs(&hostile, 3).count(), RECENT_INPUTS);
        assert_eq!(new_inputs(&hostile, u64::MAX).count(), 0);
    }

    const GOLDEN: &str = include_str!("../tests/golden.txt");

    const BODY: BodyId = BodyId { slot: 300, generation: 7 };

    /// Returns the text of the golden file that `WIRE.md` names: every kind of message. Checks that each one decodes again.
    fn golden() -> String {
        let mut text = "Messages and packets: see crates/codec/WIRE.md.\n\n".to_owned();
        let mut line = |of: &str, bytes: &[u8]| {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            text += &format!("{of}: {hex}\n");
        };
        let request = ReliableToServer::Session(ClientMessage::Request(Request {
            number: 7,
            settings: Settings {
                stages: ladder::PREDICTED.stages,
                send_interval_ticks: 2,
                baseline: BaselineChoice::Newest,
                budget_kbps: Some(200),
            },
        }));
        let (channel, bytes) = (1, &[1, 2, 3][..]);
        for message in [request, ReliableToServer::Message { channel, bytes }] {
            let bytes = encode(&message);
            assert_eq!(decode(&bytes), Some(message));
            line("client, reliable", &bytes);
        }
        for message in [
            ReliableToClient::Session(ServerMessage::Refused("full")),
            ReliableToClient::Components {
                body: BODY,
                part: Part::All,
                components: vec![(0, Some(bytes)), (2, None)],
            },
            ReliableToClient::Components { body: BODY, part: Part::End, components: Vec::new() },
            ReliableToClient::Gone { body: BODY, tick: 70_000, is_hidden: true },
            ReliableToClient::Message { channel, bytes },
            ReliableToClient::Session(ServerMessage::Tick(u64::MAX)),
            ReliableToClient::Interpolation(Interpolation::None),
        ] {
            let bytes = encode(&message);
            assert_eq!(decode(&bytes), Some(message));
            line("server, reliable", &bytes);
        }
        let upstream = Upstream {
            feedback: vec![bytes],
            inputs: vec![RecentInputs { channel, newest: 200, inputs: vec![bytes, &[]] }],
        };
        let bytes = encode(&upstream);
        assert_eq!(decode(&bytes), Some(upstream));
        line("client, unreliable", &bytes);
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
