//! The state that the first packets are relative to.

use crate::baseline::Baseline;
use crate::body::Body;
use crate::ladder;
use crate::ledger::{BitKind, BitLedger};
use crate::limits::{Limits, TooManyCubes};
use crate::precision::Precision;
use crate::sequence::Sequence;
use crate::sink::Sink;
use crate::snapshot::QuantizeError;
use crate::source::{DecodeError, Source};
use crate::stages::Stages;
use crate::state::{CubeState, Snapshot};

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

/// Precisions in which the initial state is kept at once: those of the ladder, and some more.
const MAX_KEPT: usize = 8;

/// The initial state in floats, and as a baseline in the precisions that were asked for.
///
/// Both sides quantize it for themselves, and must get the same integers. They do: f64 has one
/// result for each addition, multiplication, division, root and rounding that this takes.
#[derive(Clone, Debug)]
pub(crate) struct InitialState {
    snapshot: Snapshot,
    baselines: Vec<Baseline>,
    /// The place in `baselines` that is next to be used again.
    oldest: usize,
}

impl InitialState {
    pub(crate) fn new(snapshot: Snapshot, limits: Limits) -> Result<Self, InitialStateError> {
        limits.check(snapshot.cubes.len())?;
        let first = quantized(&snapshot, BLOCK_STAGES.precision())?;
        Ok(Self {
            snapshot,
            baselines: vec![first],
            oldest: 0,
        })
    }

    pub(crate) fn cubes(&self) -> usize {
        self.snapshot.cubes.len()
    }

    /// The initial state in this precision. Nothing is known to have moved.
    pub(crate) fn at(&mut self, precision: Precision) -> &Baseline {
        let kept = self.baselines.iter();
        let place = kept
            .enumerate()
            .find(|(_, baseline)| baseline.serves(precision))
            .map(|(place, _)| place);
        let place = place.unwrap_or_else(|| {
            let baseline = quantized(&self.snapshot, precision)
                .expect("what the constructor could quantize has integers in any precision");
            if self.baselines.len() < MAX_KEPT {
                self.baselines.push(baseline);
                self.baselines.len() - 1
            } else {
                self.oldest = (self.oldest + 1) % MAX_KEPT;
                self.baselines[self.oldest] = baseline;
                self.oldest
            }
        });
        &self.baselines[place]
    }
}

fn quantized(snapshot: &Snapshot, precision: Precision) -> Result<Baseline, QuantizeError> {
    let mut baseline = Baseline::default();
    baseline.snapshot.quantize(snapshot, precision)?;
    baseline.finalize(Sequence::default(), BLOCK_STAGES, None, None);
    Ok(baseline)
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
    Limits::default().check(snapshot.cubes.len())?;
    let initial = quantized(snapshot, BLOCK_STAGES.precision())?;
    bytes.clear();
    let mut ledger = BitLedger::new();
    let mut sink = Sink::writer(bytes, &mut ledger);
    sink.put(BitKind::Header, COUNT_BITS, snapshot.cubes.len() as u32);
    let body = Body::new(BLOCK_STAGES, Sequence::default(), &initial);
    for cube in 0..snapshot.cubes.len() {
        body.put(&mut sink, &initial.snapshot, cube);
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
    // Where the bytes end too early, one cube more than they hold is enough to say in which field.
    let room = cubes.min((source.bits_left() / BLOCK_CUBE_BITS) as usize + 1);
    let mut snapshot = Snapshot {
        cubes: vec![CubeState::default(); room],
    };
    let blank = quantized(&snapshot, BLOCK_STAGES.precision())
        .expect("cubes at the origin can be quantized");
    let body = Body::new(BLOCK_STAGES, Sequence::default(), &blank);
    let mut decoded = blank.snapshot.clone();
    for cube in 0..room {
        body.take(&mut source, &mut decoded, cube)?;
    }
    source.finish()?;
    decoded.dequantize(&mut snapshot);
    Ok(snapshot)
}

/// Bits of one cube in the block.
const BLOCK_CUBE_BITS: u64 = 1 + 96 + 128 + 96;
