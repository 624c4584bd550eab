//! What the two ends say to each other besides snapshots: postcard of these types.
//!
//! Downstream, each datagram is a packet of the codec. Upstream, each is an [`Upstream`].

mod reader;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use cubewire_codec::Life;
use cubewire_protocol::renet_guard::MAX_RELIABLE_BYTES;
use cubewire_protocol::{ClientMessage, Interpolation, ServerMessage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::reader::{ReadError, read};

/// Most bytes of a message of a server, and of a component of [`replicate`](crate::CubewireAppExt::replicate), in postcard: 16
/// of a [reliable message](MAX_RELIABLE_BYTES) are for what is around it.
pub const MAX_TO_CLIENT_BYTES: usize = MAX_RELIABLE_BYTES - 16;

/// Most bytes of an input or a message of a client, in postcard. It is 4 kB less than a server can send, so that a server
/// can relay what it receives in a type of its own, with the sender's name.
pub const MAX_TO_SERVER_BYTES: usize = 60 * 1024;

/// A reliable message of a client.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ToServerMail<'a> {
    #[serde(borrow)]
    Session(ClientMessage<'a>),
    Message {
        channel: u8,
        bytes: &'a [u8],
    },
}

/// A reliable message of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ToClientMail<'a> {
    #[serde(borrow)]
    Session(ServerMessage<'a>),
    /// Cold data of a body that has just become visible, or what of it has changed.
    Cold {
        body: BodyId,
        part: Part,
        /// By component: its bytes, or nothing if it was removed.
        #[serde(borrow)]
        components: Vec<(u8, Option<&'a [u8]>)>,
    },
    /// A body is not visible any more from a tick on.
    Gone {
        body: BodyId,
        tick: u64,
        is_hidden: bool,
    },
    Message {
        channel: u8,
        bytes: &'a [u8],
    },
    /// How bodies move between snapshots from now on. At first it is linear.
    Interpolation(Interpolation),
}

/// What a message with cold data is, of the messages of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    /// Components that have changed, or some of those between [`Begin`](Self::Begin) and [`End`](Self::End).
    Change,
    /// All components.
    All,
    /// The first components, of more than one message has room for.
    Begin,
    /// The last of these.
    End,
}

/// A body among all that ever were: of one slot, at most 256 apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct BodyId {
    pub(crate) slot: u16,
    pub(crate) generation: u8,
}

impl BodyId {
    pub(crate) const fn new(slot: usize, life: Life) -> Self {
        Self {
            slot: slot as u16,
            generation: life.generation,
        }
    }
}

/// A datagram of a client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Upstream<'a> {
    /// As the protocol crate writes it.
    #[serde(borrow)]
    pub(crate) feedback: Vec<&'a [u8]>,
    #[serde(borrow)]
    pub(crate) inputs: Vec<RecentInputs<'a>>,
}

/// The last inputs on a channel, ascending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecentInputs<'a> {
    pub(crate) channel: u8,
    /// Number of the last.
    pub(crate) newest: u64,
    #[serde(borrow)]
    pub(crate) inputs: Vec<&'a [u8]>,
}

/// Inputs in a datagram: what seven lost in a row leave out, the eighth still has.
pub(crate) const RECENT_INPUTS: usize = 8;

/// The bytes of a value.
///
/// # Panics
/// If the value's own `Serialize` fails.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value)
        .unwrap_or_else(|error| panic!("`{}` cannot be sent: {error}", short_name::<T>()))
}

/// The bytes of a value, or the reason why it is not sent.
pub(crate) type Encoded = Result<Vec<u8>, Unsendable>;

/// Why a value is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsendable {
    TooLong { bytes: usize, limit: usize },
    Unreadable(ReadError),
}

/// Completes a sentence that begins with "message" or "component".
impl fmt::Display for Unsendable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, limit } => write!(f, "too long: {bytes} bytes, limit {limit}"),
            Self::Unreadable(error) => write!(f, "unreadable: {error}"),
        }
    }
}

/// Whether a number of bytes is within a limit.
pub(crate) const fn fits(bytes: usize, limit: usize) -> Result<(), Unsendable> {
    match bytes <= limit {
        true => Ok(()),
        false => Err(Unsendable::TooLong { bytes, limit }),
    }
}

/// The bytes of a value that the other end takes: it is not too long, and within the limits of the [reader]. Whether its type
/// can be read at all is up to the type.
///
/// # Panics
/// As [`encode`].
pub(crate) fn sendable<T: Serialize + DeserializeOwned>(value: &T, limit: usize) -> Encoded {
    let bytes = encode(value);
    fits(bytes.len(), limit)?;
    match read::<T>(&bytes) {
        Err(error @ (ReadError::TooDeep | ReadError::TooManyElements)) => {
            Err(Unsendable::Unreadable(error))
        }
        Ok(_) | Err(ReadError::Malformed) => Ok(bytes),
    }
}

/// A value of these bytes and no more.
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    read(bytes).ok()
}

/// Something that is logged once.
#[derive(Debug, Default)]
pub(crate) struct LoggedOnce(AtomicBool);

impl LoggedOnce {
    pub(crate) fn warn(&self, line: impl fmt::Display) {
        if !self.0.swap(true, Ordering::Relaxed) {
            log::warn!("{line}; others like it are not logged");
        }
    }
}

/// The name of a type without those of modules, also inside of angle brackets.
pub(crate) fn short_name<T>() -> &'static str {
    let full = std::any::type_name::<T>();
    match full.contains('<') {
        true => full,
        false => full.rsplit("::").next().unwrap_or(full),
    }
}

/// Inputs that have not been seen before, ascending, with the number of the last.
pub(crate) fn new_inputs<'a>(
    recent: &RecentInputs<'a>,
    seen: u64,
) -> impl Iterator<Item = &'a [u8]> {
    let count = recent.inputs.len().min(RECENT_INPUTS) as u64;
    let new = recent.newest.saturating_sub(seen).min(count);
    let skipped = recent.inputs.len() - new as usize;
    recent.inputs.clone().into_iter().skip(skipped)
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;
    use cubewire_protocol::{BaselineChoice, Request, Settings};

    use super::*;

    #[test]
    fn inputs_count_once_however_often_they_arrive() {
        let inputs: Vec<Vec<u8>> = (0..20).map(|input| vec![input]).collect();
        let mut received = Vec::new();
        let mut seen = 0;
        // Of datagrams 1 to 20 arrive some, some twice and some late.
        for newest in [1_u64, 1, 3, 2, 9, 8, 17, 20, 19] {
            let first = newest.saturating_sub(RECENT_INPUTS as u64) as usize;
            let recent = RecentInputs {
                channel: 0,
                newest,
                inputs: inputs[first..newest as usize]
                    .iter()
                    .map(|input| &input[..])
                    .collect(),
            };
            received.extend(new_inputs(&recent, seen).map(|input| input[0]));
            seen = seen.max(newest);
        }
        assert_eq!(received, (0..20).collect::<Vec<u8>>());
        let hostile = RecentInputs {
            channel: 0,
            newest: u64::MAX,
            inputs: vec![&[7]; 100],
        };
        assert_eq!(new_inputs(&hostile, 3).count(), RECENT_INPUTS);
        assert_eq!(new_inputs(&hostile, u64::MAX).count(), 0);
    }

    const GOLDEN: &str = include_str!("../tests/golden.txt");

    const BODY: BodyId = BodyId {
        slot: 300,
        generation: 7,
    };

    /// Every kind of mail, as in the file of golden mail that `WIRE.md` names, and as it is after it was read.
    fn golden() -> String {
        let mut text = "Mail and packets: see crates/codec/WIRE.md.\n\n".to_owned();
        let mut line = |of: &str, bytes: &[u8]| {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            text += &format!("{of}: {hex}\n");
        };
        let request = ToServerMail::Session(ClientMessage::Request(Request {
            number: 7,
            settings: Settings {
                stages: ladder::PREDICTED.stages,
                send_interval_ticks: 2,
                baseline: BaselineChoice::Newest,
                budget_kbps: Some(200),
            },
        }));
        let (channel, bytes) = (1, &[1, 2, 3][..]);
        for mail in [request, ToServerMail::Message { channel, bytes }] {
            let bytes = encode(&mail);
            assert_eq!(decode(&bytes), Some(mail));
            line("client, reliable", &bytes);
        }
        for mail in [
            ToClientMail::Session(ServerMessage::Refused("full")),
            ToClientMail::Cold {
                body: BODY,
                part: Part::All,
                components: vec![(0, Some(bytes)), (2, None)],
            },
            ToClientMail::Cold {
                body: BODY,
                part: Part::End,
                components: Vec::new(),
            },
            ToClientMail::Gone {
                body: BODY,
                tick: 70_000,
                is_hidden: true,
            },
            ToClientMail::Message { channel, bytes },
            ToClientMail::Session(ServerMessage::Tick(u64::MAX)),
            ToClientMail::Interpolation(Interpolation::None),
        ] {
            let bytes = encode(&mail);
            assert_eq!(decode(&bytes), Some(mail));
            line("server, reliable", &bytes);
        }
        let upstream = Upstream {
            feedback: vec![bytes],
            inputs: vec![RecentInputs {
                channel,
                newest: 200,
                inputs: vec![bytes, &[]],
            }],
        };
        let bytes = encode(&upstream);
        assert_eq!(decode(&bytes), Some(upstream));
        line("client, unreliable", &bytes);
        for packet in crate::pipe::tests::golden() {
            line("packet", &packet);
        }
        text
    }

    #[test]
    fn mail_is_that_of_the_file() {
        assert_eq!(golden(), GOLDEN);
    }

    #[test]
    #[ignore = "writes what the other compares with"]
    fn write_the_golden_mail() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");
        std::fs::write(path, golden()).unwrap();
    }

    #[test]
    fn what_follows_a_value_makes_it_none() {
        let upstream = Upstream {
            feedback: vec![&[1, 2]],
            inputs: Vec::new(),
        };
        let bytes = encode(&upstream);
        assert_eq!(decode(&bytes), Some(upstream));
        assert_eq!(decode::<Upstream<'_>>(&[&bytes[..], &[0]].concat()), None);
    }
}
