//! Packets to snapshots.

use crate::InitialStateError;
use crate::baseline::Baseline;
use crate::body::Body;
use crate::header::{Header, Reference};
use crate::initial::InitialState;
use crate::limits::Limits;
use crate::marks::marked;
use crate::selection;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::source::{DecodeError, Source};
use crate::stages::Stages;
use crate::state::Snapshot;

/// Turns packets back into quantized snapshots.
///
/// It remembers nothing from one packet to the next: what a packet is relative to, the caller
/// keeps. Allocates nothing once it and `out` have been through a packet of each precision.
#[derive(Clone, Debug)]
pub struct Decoder {
    initial: InitialState,
    decoded: QuantizedSnapshot,
    sent: Vec<bool>,
}

impl Decoder {
    /// `initial` is the sender's initial state, bit for bit: with another, packets decode to wrong
    /// cubes without an error.
    ///
    /// # Errors
    /// [`InitialStateError`] if it has more cubes than the limits allow, or a cube that cannot be
    /// quantized.
    pub fn new(initial: Snapshot, limits: Limits) -> Result<Self, InitialStateError> {
        Ok(Self {
            initial: InitialState::new(initial, limits)?,
            decoded: Baseline::default().snapshot,
            sent: Vec::new(),
        })
    }

    /// Decodes a packet into `out`. `held` looks up what was decoded from an earlier packet by its
    /// sequence; a snapshot of another sequence or number of cubes counts as not held.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong with the bytes and where. Nothing is changed then, `out`
    /// included.
    pub fn decode<'h>(
        &mut self,
        bytes: &[u8],
        held: impl FnOnce(Sequence) -> Option<&'h Baseline>,
        out: &mut Baseline,
    ) -> Result<Header, DecodeError> {
        let mut source = Source::new(bytes);
        let header = Header::take(&mut source)?;
        let (named, stages) = match header.reference {
            Reference::Initial { stages } => (None, stages),
            Reference::Baseline { sequence, stages } => {
                let baseline = held(sequence)
                    .filter(|baseline| baseline.sequence() == sequence)
                    .filter(|baseline| baseline.snapshot.len() == self.initial.cubes())
                    .ok_or(DecodeError::UnknownBaseline(sequence))?;
                let stages = stages.unwrap_or_else(|| baseline.stages());
                if !stages.uses_baseline() {
                    return Err(DecodeError::NeedlessBaseline(sequence));
                }
                if !baseline.serves(stages.precision()) {
                    return Err(DecodeError::BaselinePrecision(sequence));
                }
                (Some(baseline), stages)
            }
        };
        self.take_cubes(&mut source, header.sequence, stages, named)?;
        source.finish()?;

        std::mem::swap(&mut out.snapshot, &mut self.decoded);
        out.settle(header.sequence, stages, named, Some(&self.sent));
        Ok(header)
    }

    fn take_cubes(
        &mut self,
        source: &mut Source<'_>,
        sequence: Sequence,
        stages: Stages,
        named: Option<&Baseline>,
    ) -> Result<(), DecodeError> {
        let baseline = named.unwrap_or_else(|| self.initial.at(stages.precision()));
        let body = Body::new(stages, sequence, baseline);
        self.decoded.copy_from(&baseline.snapshot);
        selection::take(source, stages.delta, &baseline.motion.moved, &mut self.sent)?;
        for cube in marked(&self.sent) {
            body.take(source, &mut self.decoded, cube)?;
        }
        Ok(())
    }
}
