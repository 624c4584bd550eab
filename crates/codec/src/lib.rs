//! Snapshots of many cubes to bits and back, one stage of compression at a time.
//!
//! The stages are those of Glenn Fiedler's *Snapshot Compression* (gafferongames.com, 2015), and
//! some of ours. Each can be switched on its own, from one packet to the next; the [`ladder`]
//! names the combinations that build on one another, and any combination has a
//! [text](stages::text). `WIRE.md` beside this crate's manifest specifies every bit.
//!
//! This crate knows no engine, sockets, threads, clocks or files. Sequence numbers come in, and
//! what a receiver has acknowledged is for others to find out.
//!
//! # One way through it
//!
//! ```
//! use cubewire_codec::{
//!     Baseline, CubeState, Decoder, Encoder, Limits, Packet, QuantizedSnapshot, Sequence,
//!     Snapshot, ladder,
//! };
//!
//! // Both sides know the initial state.
//! let initial = Snapshot { cubes: vec![CubeState::default(); 901] };
//! let mut encoder = Encoder::new(initial.clone(), Limits::default())?;
//! let mut decoder = Decoder::new(initial.clone(), Limits::default())?;
//! let stages = ladder::CHANGED_FLAGS.stages;
//!
//! // One cube rises by a metre.
//! let mut now = initial;
//! now.cubes[7].position.z += 1.0;
//! let mut quantized = QuantizedSnapshot::new(stages.precision());
//! quantized.quantize(&now, stages.precision())?;
//! let mut packet = Packet::default();
//! let mut kept = Baseline::default();
//! encoder.encode(Sequence(1), stages, &quantized, None, &mut packet, Some(&mut kept))?;
//! assert_eq!(packet.ledger.total(), packet.bytes.len() as f64 * 8.0);
//!
//! // The receiver looks up baselines among what it has decoded before: nothing yet.
//! let mut received = Baseline::default();
//! decoder.decode(&packet.bytes, |_| None, &mut received)?;
//! assert_eq!(received.snapshot(), &quantized);
//!
//! // The sender has kept the same, to encode against once it is acknowledged.
//! assert_eq!(kept, received);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A packet is as long as it is: up to 36 KB for 901 cubes uncompressed. Cutting it into datagrams
//! is the transport's work, as are acknowledgements.
//!
//! # Invariants
//!
//! - **Lossless.** The decoded integers equal the quantization of the input.
//! - **Loss-robust.** A packet needs the baseline that it names, and nothing else.
//! - **Accounted.** The sum of a [`BitLedger`] is the packet's size in bits.
//! - **Bounded.** Decoding any bytes gives a snapshot or an error; it does not panic, and it
//!   allocates for no more cubes than [`Limits`] allow.

/// The vectors and quaternions of [`CubeState`], in the version that this crate uses.
pub use glam;

mod baseline;
mod body;
mod decoder;
mod encoder;
pub mod entropy;
mod flags;
mod header;
mod initial;
pub mod ladder;
mod ledger;
mod limits;
pub mod motion;
mod precision;
pub mod predict;
pub mod quantize;
pub mod ranges;
mod selection;
mod sequence;
mod sink;
mod snapshot;
mod source;
pub mod stages;
mod state;
pub mod training;

pub use baseline::Baseline;
pub use body::{
    GROWING_ORIENTATION_RANGES, ORIENTATION_RANGES, POSITION_RANGES, PREDICTED_POSITION_RANGES,
};
pub use decoder::Decoder;
pub use encoder::{EncodeError, Encoder, Packet, References};
pub use header::{Header, Reference};
pub use initial::{InitialStateError, decode_initial, encode_initial};
pub use ledger::{BitKind, BitLedger};
pub use limits::{Limits, MAX_CUBES, TooManyCubes};
pub use precision::{Precision, VelocityPrecision};
pub use selection::{PREDICTED_INDEX_BITS, RELATIVE_INDEX_BITS, index_bits, index_count_bits};
pub use sequence::Sequence;
pub use snapshot::{QuantizeError, QuantizedCube, QuantizedSnapshot};
pub use source::DecodeError;
pub use stages::text::StagesTextError;
pub use stages::{IllegalStages, Stages};
pub use state::{CubeState, Snapshot};
