//! The messages of a session, encoded with postcard after the byte [`SESSION`].

use std::borrow::Cow;

use cubewire_codec::{BaselineId, Fingerprint, Header, Plan, Sequence, Stages};
use serde::{Deserialize, Serialize};

use crate::budget::BUDGETS_KBPS;
use crate::sender::BaselineChoice;

/// First byte of each message of a session. A message that begins with another byte belongs to the app.
pub const SESSION: u8 = 0xFF;

/// A message from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMessage<'a> {
    /// The first message.
    #[serde(borrow)]
    Hello(Hello<'a>),
    /// A request for settings.
    Request(Request),
    /// Ends the connection and gives the reason.
    Left(&'a str),
}

/// Version, fingerprint and scene of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello<'a> {
    /// [`PROTOCOL_VERSION`](super::PROTOCOL_VERSION) of the client.
    pub version: u16,
    /// Fingerprint of the client.
    pub fingerprint: Fingerprint,
    /// Schema of the client, as [`Schema::encode`](cubewire_codec::schema::Schema::encode) writes it.
    pub schema: &'a [u8],
    /// Names that the client's app has registered, one per line.
    pub registered: &'a str,
}

/// A message from a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerMessage<'a> {
    /// Accepts the client.
    Welcome {
        /// The server's tick, at most 2⁴⁸. The client resolves sequence numbers to the nearest tick.
        tick: u64,
        /// Fingerprint of the server.
        fingerprint: Fingerprint,
        /// Number of [seats](cubewire_codec::schema::Schema::seats) of the scene, which replaces the client's.
        seats: u8,
        /// The snapshot that the first packets are relative to, as
        /// [`encode_initial`](cubewire_codec::encode_initial) writes it.
        #[serde(borrow)]
        initial: Cow<'a, [u8]>,
    },
    /// Refuses the client, or ends the connection later, and gives the reason.
    Refused(&'a str),
    /// The settings in use, with the number of the request. They are lower than requested if the network delivers
    /// less or the server has no time for more.
    Granted(Request),
    /// The server's tick after a pause.
    Tick(u64),
    /// The request with this number is not granted. The settings stay as they are.
    Declined {
        /// Number of the request.
        number: u16,
        /// Why it is not granted.
        reason: &'a str,
    },
}

/// Settings, with the number of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The number of the previous request plus 1, modulo 2¹⁶.
    pub number: u16,
    /// The requested or granted settings.
    pub settings: Settings,
}

/// Determines how a server sends snapshots to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Stages of the codec. A message may contain stages that the scene does not support: a server only grants stages
    /// that [`Plan::check_complete`](cubewire_codec::Plan::check_complete) accepts.
    #[serde(with = "stages")]
    pub stages: Stages,
    /// Number of ticks between two snapshots, at least 1.
    pub send_interval_ticks: u8,
    /// The server's choice of baselines.
    pub baseline: BaselineChoice,
    /// Maximum bandwidth on the wire, kilobits a second. In a request, a value of [`BUDGETS_KBPS`].
    pub budget_kbps: Option<u32>,
}

impl Settings {
    /// Checks that a server of this scene can use the settings.
    ///
    /// # Errors
    /// The first reason why it cannot.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        if self.send_interval_ticks == 0 {
            return Err("the send interval is 0 ticks".to_owned());
        }
        if let Some(kbps) = self.budget_kbps
            && !BUDGETS_KBPS.contains(&kbps)
        {
            return Err(format!("a budget of {kbps} kbps is outside {BUDGETS_KBPS:?}"));
        }
        let stages = plan.check_complete(self.stages);
        stages.map_err(|reason| reason.to_string())
    }
}

impl<'a> ClientMessage<'a> {
    /// Encodes the message.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a message. Returns `None` if the bytes are malformed or longer than the message.
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        decode(bytes)
    }
}

impl<'a> ServerMessage<'a> {
    /// Encodes the message.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a message. Returns `None` if the bytes are malformed or longer than the message.
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        decode(bytes)
    }
}

/// Returns a reason on one line of at most 1000 characters, to be sent to the other end or logged.
pub fn one_line(reason: &str) -> String {
    let reason = reason.chars().take(MAX_REASON_CHARS);
    reason.map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// Maximum number of characters in a reason; longer ones are cut off.
const MAX_REASON_CHARS: usize = 1000;

fn encode(message: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(message, vec![SESSION]).expect("every sequence has a length")
}

fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes.strip_prefix(&[SESSION])?).ok()?;
    rest.is_empty().then_some(value)
}

/// Encodes stages as the header of packet 0 without a named baseline.
mod stages {
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    use super::{BaselineId, Deserialize, Header, Sequence, Stages};

    pub(super) fn serialize<S: Serializer>(stages: &Stages, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&header(*stages))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Stages, D::Error> {
        let bytes = <&[u8]>::deserialize(from)?;
        match Header::decode(bytes).map_err(D::Error::custom)?.baseline {
            BaselineId::Initial { stages } if header(stages) == bytes => Ok(stages),
            _ => Err(D::Error::custom("not the header of a packet 0")),
        }
    }

    fn header(stages: Stages) -> Vec<u8> {
        let header = Header { sequence: Sequence(0), baseline: BaselineId::Initial { stages } };
        header.encode()
    }
}
