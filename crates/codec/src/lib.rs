//! Encodes snapshots of many bodies as bits and decodes them, one stage of compression at a time.
//!
//! The stages are those of Glenn Fiedler's *Snapshot Compression* (gafferongames.com, 2015), "the article" in
//! this documentation, and some more. Each can be switched separately, from one packet to the next. The
//! [`ladder`] is a sequence of named combinations, each adding a stage to the one before; every legal
//! combination has a [text form](stages::text). `WIRE.md`, in the folder of this crate, specifies the
//! bits.
//!
//! This crate depends on no engine, and uses no sockets, threads, clocks or files. The caller supplies
//! sequence numbers and tracks which packets a receiver has acknowledged.
//!
//! # Example
//!
//! ```
//! use cubewire_codec::{
//!     Baseline, BodyState, Decoder, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence,
//!     Snapshot, ladder,
//! };
//!
//! // Both sides know the initial state.
//! let initial = Snapshot { bodies: vec![BodyState::default(); 901] };
//! let mut encoder = Encoder::new(Plan::cubes(), initial.clone(), Limits::default())?;
//! let mut decoder = Decoder::new(Plan::cubes(), initial.clone(), Limits::default())?;
//! let stages = ladder::CHANGED_FLAGS.stages;
//!
//! // One body rises by a metre.
//! let mut now = initial;
//! now.bodies[7].position.z += 1.0;
//! let mut quantized = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
//! quantized.quantize(&now, stages.precision())?;
//! let mut packet = Packet::default();
//! let mut baseline = Baseline::default();
//! encoder.encode(Sequence(1), stages, &quantized, None, &mut packet, Some(&mut baseline))?;
//! assert_eq!(packet.ledger.total(), packet.bytes.len() as f64 * 8.0);
//!
//! // The receiver looks up baselines among the snapshots it has decoded: none yet.
//! let mut received = Baseline::default();
//! decoder.decode(&packet.bytes, |_| None, &mut received)?;
//! assert_eq!(received.snapshot(), &quantized);
//!
//! // The sender keeps the same baseline, to encode against once it is acknowledged.
//! assert_eq!(baseline, received);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Packets have no maximum size: uncompressed, 901 bodies take 36 KB. Fragmentation and acknowledgement are
//! left to the transport.
//!
//! # Invariants
//!
//! - **Lossless.** The decoded integers equal the quantization of the input.
//! - **Robust to loss.** A packet depends on the baselines that it names, and on nothing else; one of a
//!   [simulated scene](simulation) also on the world that it names.
//! - **Accounted for.** The total of a packet's [`BitLedger`] is its size in bits.
//! - **Bounded.** Decoding any bytes gives a snapshot or an error. It does not panic, and allocates for no
//!   more bodies than [`Limits`] allow.

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
mod relation;
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
pub use header::{BaselineId, Header};
pub use initial::{InitialStateError, decode_initial, encode_initial};
pub use ledger::{BitItem, BitKind, BitLedger, Form};
pub use limits::{Limits, MAX_BODIES, TooManyBodies};
pub use plan::Plan;
pub use precision::{Precision, StepsPerMetreError, VelocityPrecision};
pub use selection::{PREDICTED_INDEX_BITS, index_bits, index_count_bits};
pub use sequence::Sequence;
pub use simulation::{Inputs, Origin, Simulated};
pub use snapshot::{Life, QuantizeError, QuantizedBody, QuantizedSnapshot, SnapshotPool};
pub use stages::{Coverage, IllegalStages, StageOptions, Stages};
pub use state::{BodyState, Snapshot};
