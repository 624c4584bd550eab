#![doc = include_str!("../README.md")]

/// The vectors and quaternions of [`BodyState`], in the version that this crate uses.
pub use glam;

mod baseline;
mod bits;
mod body;
mod decode_error;
mod decoder;
mod encoder;
pub mod entropy;
mod fingerprint;
mod flags;
mod hash;
mod header;
mod initial;
pub mod ladder;
mod ledger;
mod limits;
mod memory;
pub mod merge;
pub mod motion;
mod plan;
mod precision;
pub mod predict;
pub mod quantize;
pub mod ranges;
pub mod schema;
mod selection;
mod sequence;
pub mod simulation;
mod snapshot;
pub mod stages;
mod state;
pub mod training;

pub use cubewire_text::TextError;

pub use baseline::Baseline;
pub use body::{GROWING_ORIENTATION_RANGES, PREDICTED_POSITION_RANGES};
pub use decode_error::DecodeError;
pub use decoder::{BegunPacket, Decoder};
pub use encoder::{Baselines, CurrentSnapshot, EncodeError, Encoder, Packet};
pub use fingerprint::Fingerprint;
pub use flags::flagged;
pub use header::{BaselineId, Header};
pub use initial::{InitialStateError, decode_initial, encode_initial};
pub use ledger::{BitItem, BitKind, BitLedger, Form};
pub use limits::{Limits, MAX_BODIES, TooManyBodies};
pub use plan::Plan;
pub use precision::Precision;
pub use selection::PREDICTED_INDEX_BITS;
pub use sequence::Sequence;
pub use simulation::{Inputs, Origin, Simulated};
pub use snapshot::{Life, QuantizeError, QuantizedBody, QuantizedSnapshot, SnapshotPool};
pub use stages::{Coverage, IllegalStages, StageOptions, Stages};
pub use state::{BodyState, Snapshot};
