//! The initial state, the reference of packets that name no baseline.

use std::sync::Arc;

use crate::baseline::Baseline;
use crate::bits::{BitStream, Direction};
use crate::body::code_bodies;
use crate::decode_error::DecodeError;
use crate::ladder;
use crate::ledger::BitKind;
use crate::limits::{Limits, TooManyBodies};
use crate::plan::Plan;
use crate::precision::Precision;
use crate::sequence::Sequence;
use crate::snapshot::{QuantizeError, QuantizedSnapshot, Spares};
use crate::stages::Stages;
use crate::state::{BodyState, Snapshot};

/// Error of an initial state.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum InitialStateError {
    /// It has more bodies than the limits allow.
    #[error(transparent)]
    TooManyBodies(#[from] TooManyBodies),
    /// A body cannot be quantized.
    #[error(transparent)]
    Quantize(#[from] QuantizeError),
}

/// Maximum number of precisions in which the initial state is cached, enough for the ladder.
const MAX_KEPT: usize = 8;

/// The initial state in floats, and cached as a baseline in several precisions.
///
/// Each side quantizes it. Both get the same integers, because IEEE 754 defines exact results for the additions,
/// multiplications, divisions, square roots and roundings that are used.
#[derive(Clone, Debug)]
pub(crate) struct InitialState {
    pub(crate) plan: Arc<Plan>,
    snapshot: Snapshot,
    /// One for each precision that was used, at most [`MAX_KEPT`].
    baselines: Vec<Baseline>,
}

impl InitialState {
    pub(crate) fn new(
        plan: Arc<Plan>,
        snapshot: Snapshot,
        limits: Limits,
    ) -> Result<Self, InitialStateError> {
        limits.check(plan.max_slots().unwrap_or(snapshot.bodies.len()))?;
        let first = quantized(&plan, &snapshot, BLOCK_STAGES.precision())?;
        Ok(Self { plan, snapshot, baselines: vec![first] })
    }

    /// Number of bodies, or of slots if bodies come and go.
    pub(crate) fn bodies(&self) -> usize {
        self.plan.max_slots().unwrap_or(self.snapshot.bodies.len())
    }

    /// Returns the initial state in a precision, with unknown motion.
    pub(crate) fn at(&mut self, precision: Precision) -> &Baseline {
        let mut baselines = self.baselines.iter();
        let index = baselines.position(|baseline| baseline.snapshot.precision() == precision);
        let index = index.unwrap_or_else(|| {
            let baseline = quantized(&self.plan, &self.snapshot, precision)
                .expect("the constructor has quantized it, and whether that works does not depend on the precision");
            if self.baselines.len() == MAX_KEPT {
                self.baselines.clear();
            }
            self.baselines.push(baseline);
            self.baselines.len() - 1
        });
        &self.baselines[index]
    }
}

fn quantized(
    plan: &Arc<Plan>,
    snapshot: &Snapshot,
    precision: Precision,
) -> Result<Baseline, QuantizeError> {
    let mut baseline = Baseline::default();
    let mut quantized = QuantizedSnapshot::new(Arc::clone(plan), precision);
    quantized.quantize(snapshot, precision)?;
    baseline.snapshot = Arc::new(quantized);
    let spares = &mut Spares::default();
    let empty = Baseline::default();
    baseline.finalize(Sequence::default(), BLOCK_STAGES, &empty, None, None, spares);
    Ok(baseline)
}

/// The block of [`encode_initial`] has the layout of the first rung of the ladder.
const BLOCK_STAGES: Stages = ladder::UNCOMPRESSED.stages;

/// Bits of the number of bodies, 0 to 65 536.
const COUNT_BITS: u32 = 17;

/// Writes the initial state of a scene of fixed bodies as one block, for a receiver that does not know it. Replaces the
/// contents of `bytes`. Section 10 of `WIRE.md` has its layout.
///
/// # Errors
/// [`InitialStateError`] if there are more than [`MAX_BODIES`](crate::MAX_BODIES) bodies, or if a body cannot be
/// quantized.
pub fn encode_initial(snapshot: &Snapshot, bytes: &mut Vec<u8>) -> Result<(), InitialStateError> {
    Limits::default().check(snapshot.bodies.len())?;
    let initial = quantized(&Plan::cubes(), snapshot, BLOCK_STAGES.precision())?;
    bytes.clear();
    let mut stream = BitStream::writer(bytes, None);
    let bodies = snapshot.bodies.len();
    let Ok(_) = stream.field(BitKind::Header).number(COUNT_BITS, bodies as u32);
    let Ok(()) = code_block(&mut stream, &initial, None);
    stream.finish();
    Ok(())
}

/// Reads a block written by [`encode_initial`]. The floats are equal bit for bit. Memory is allocated only for bodies
/// that the bytes can hold.
///
/// # Errors
/// [`DecodeError`] if the bytes are not such a block, or contain more bodies than the limits allow.
pub fn decode_initial(bytes: &[u8], limits: Limits) -> Result<Snapshot, DecodeError> {
    let mut stream = BitStream::reader(bytes, 0, None);
    let bodies = stream.field(BitKind::Header).number(COUNT_BITS, 0)? as usize;
    limits.check(bodies)?;
    // One body more than the bytes can hold, so that the error names the field at which they end.
    let room = bodies.min((stream.bits_left() / BLOCK_BODY_BITS) as usize + 1);
    let mut snapshot = Snapshot { bodies: vec![BodyState::default(); room] };
    let blank = quantized(&Plan::cubes(), &snapshot, BLOCK_STAGES.precision())
        .expect("bodies at the origin can be quantized");
    let mut decoded = (*blank.snapshot).clone();
    code_block(&mut stream, &blank, Some(&mut decoded))?;
    stream.finish()?;
    decoded.dequantize(&mut snapshot);
    Ok(snapshot)
}

/// Codes all bodies of an initial state. A reader gets them in `decoded`.
fn code_block<D: Direction>(
    stream: &mut BitStream<'_, D>,
    initial: &Baseline,
    decoded: Option<&mut QuantizedSnapshot>,
) -> Result<(), D::Error> {
    let numbered = (Sequence::default(), BLOCK_STAGES);
    let sent = &mut vec![true; initial.snapshot.len()];
    let indices = &mut Vec::new();
    code_bodies(stream, numbered, initial, &initial.snapshot, decoded, sent, indices)
}

const BLOCK_BODY_BITS: u64 = 1 + 96 + 128 + 96;
