//! The state that the first packets are relative to.

use crate::baseline::Baseline;
use crate::body::Body;
use crate::ladder;
use crate::ledger::{BitKind, BitLedger};
use crate::limits::{Limits, TooManyCubes};
use crate::sequence::Sequence;
use crate::sink::Sink;
use crate::snapshot::{Precision, QuantizeError};
use crate::source::{DecodeError, Source};
use crate::stages::Stages;
use crate::state::Snapshot;

/// Why a state cannot serve as the initial one.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum InitialStateError {
    /// It has more cubes than the limits allow.
    #[error(transparent)]
    TooManyCubes(#[from] TooManyCubes),
    /// A cube has no integers.
    #[error(transparent)]
    Quantize(#[from] QuantizeError),
}

/// The initial state in floats, and as a baseline in the precision that was last asked for.
#[derive(Clone, Debug)]
pub(crate) struct InitialState {
    snapshot: Snapshot,
    baseline: Baseline,
}

impl InitialState {
    pub(crate) fn new(snapshot: Snapshot, limits: Limits) -> Result<Self, InitialStateError> {
        limits.check(snapshot.cubes.len())?;
        let mut baseline = Baseline::new(BLOCK_STAGES);
        baseline
            .snapshot
            .quantize(&snapshot, BLOCK_STAGES.precision())?;
        baseline.settle(Sequence::default(), BLOCK_STAGES, None, None);
        Ok(Self { snapshot, baseline })
    }

    pub(crate) fn cubes(&self) -> usize {
        self.snapshot.cubes.len()
    }

    /// The initial state in this precision. Nothing is known to have moved.
    pub(crate) fn at(&mut self, precision: Precision) -> &Baseline {
        if !self.baseline.serves(precision) {
            self.baseline
                .snapshot
                .quantize(&self.snapshot, precision)
                .expect("what the constructor could quantize has integers in any precision");
        }
        &self.baseline
    }
}

/// Cubes in the block are written as on the first rung.
const BLOCK_STAGES: Stages = ladder::UNCOMPRESSED.stages;

/// Bits of the number of cubes: 0 to 65 536.
const COUNT_BITS: u32 = 17;

/// Writes an initial state as one block of data, for a receiver that does not know it. Replaces
/// the contents of `bytes`.
///
/// ```text
/// cubes 17 | cubes × (interacting 1 | position 96 | orientation 128 | velocity 96) | padding
/// ```
///
/// # Errors
/// [`InitialStateError`] as [`Encoder::new`](crate::Encoder::new).
pub fn encode_initial(snapshot: &Snapshot, bytes: &mut Vec<u8>) -> Result<(), InitialStateError> {
    let mut initial = InitialState::new(snapshot.clone(), Limits::default())?;
    let baseline = initial.at(BLOCK_STAGES.precision());
    bytes.clear();
    let mut ledger = BitLedger::new();
    let mut sink = Sink::writer(bytes, &mut ledger);
    sink.put(BitKind::Header, COUNT_BITS, snapshot.cubes.len() as u32);
    let body = Body::new(BLOCK_STAGES, Sequence::default(), baseline);
    for cube in 0..snapshot.cubes.len() {
        body.put(&mut sink, &baseline.snapshot, cube);
    }
    sink.finish();
    Ok(())
}

/// Reads a block written by [`encode_initial`], bit for bit. Allocates for no more cubes than the
/// bytes can hold.
///
/// # Errors
/// [`DecodeError`] if the bytes are no such block, or hold more cubes than the limits allow.
pub fn decode_initial(bytes: &[u8], limits: Limits) -> Result<Snapshot, DecodeError> {
    let mut source = Source::new(bytes);
    let cubes = source.take(BitKind::Header, COUNT_BITS)? as usize;
    limits.check(cubes)?;
    let needed = cubes as u64 * BLOCK_CUBE_BITS;
    if needed > source.bits_left() {
        return Err(DecodeError::Truncated {
            at_bit: bytes.len() as u64 * 8,
            field: BitKind::Position,
            cube: Some((source.bits_left() / BLOCK_CUBE_BITS) as usize),
        });
    }
    let mut snapshot = Snapshot {
        cubes: vec![Default::default(); cubes],
    };
    let mut initial = InitialState::new(snapshot.clone(), limits)
        .expect("cubes at the origin can be quantized and were counted above");
    let baseline = initial.at(BLOCK_STAGES.precision());
    let body = Body::new(BLOCK_STAGES, Sequence::default(), baseline);
    let mut decoded = baseline.snapshot.clone();
    for cube in 0..cubes {
        body.take(&mut source, &mut decoded, cube)?;
    }
    source.finish()?;
    decoded.dequantize(&mut snapshot);
    Ok(snapshot)
}

/// Bits of one cube in the block.
const BLOCK_CUBE_BITS: u64 = 1 + 96 + 128 + 96;
