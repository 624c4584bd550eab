//! Decodes packets to snapshots.

use std::sync::Arc;

use crate::baseline::Baseline;
use crate::body::Body;
use crate::entropy::{
    self, AdaptiveState, Basis, Coder, NonCanonical, TrainedModel, Undecodable, Variant,
};
use crate::flags::flagged;
use crate::header::{Header, Reference};
use crate::initial::{InitialState, InitialStateError};
use crate::ladder;
use crate::ledger::BitKind;
use crate::limits::Limits;
use crate::selection;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::source::{DecodeError, Source};
use crate::stages::Stages;
use crate::state::Snapshot;

/// Decodes packets to quantized snapshots.
///
/// It keeps no state between packets: the caller keeps the baselines. Decoding does not allocate once the
/// decoder and `out` have been used for a packet of each precision.
#[derive(Clone, Debug)]
pub struct Decoder {
    initial: InitialState,
    decoded: QuantizedSnapshot,
    sent: Vec<bool>,
    coder: Coder,
}

impl Decoder {
    /// `initial` must be the sender's initial state, bit for bit. With another one, packets decode to wrong
    /// cubes without an error, unless they are arithmetically coded, which have a check.
    ///
    /// # Errors
    /// [`InitialStateError`] if it has more cubes than the limits allow, or a cube that cannot be
    /// quantized.
    pub fn new(initial: Snapshot, limits: Limits) -> Result<Self, InitialStateError> {
        Ok(Self {
            initial: InitialState::new(initial, limits)?,
            decoded: Baseline::default().snapshot,
            sent: Vec::new(),
            coder: Coder::default(),
        })
    }

    /// Uses another trained model for arithmetic coding. It must be the sender's.
    #[must_use]
    pub fn with_model(mut self, model: Arc<TrainedModel>) -> Self {
        self.coder = Coder::new(model);
        self
    }

    /// Decodes a packet into `out`. `held` looks up decoded baselines by sequence; one of another sequence or
    /// number of cubes counts as not held.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong with the bytes and where. `out` is then unchanged.
    pub fn decode<'h>(
        &mut self,
        bytes: &[u8],
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
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
                if !baseline.has_precision(stages.precision()) {
                    return Err(DecodeError::BaselinePrecision(sequence));
                }
                (Some(baseline), stages)
            }
        };
        let state = match Variant::of(stages.delta) {
            Some(variant) => {
                Some(self.take_bins(source, bytes, variant, header.sequence, named, held)?)
            }
            None => {
                self.take_cubes(&mut source, header.sequence, stages, named)?;
                source.finish()?;
                None
            }
        };

        std::mem::swap(&mut out.snapshot, &mut self.decoded);
        out.finalize(header.sequence, stages, named, Some(&self.sent));
        let spare = std::mem::replace(&mut out.state, state);
        self.coder.recycle(spare);
        Ok(header)
    }

    fn take_bins<'h>(
        &mut self,
        mut source: Source<'_>,
        bytes: &[u8],
        variant: Variant,
        sequence: Sequence,
        named: Option<&Baseline>,
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
    ) -> Result<Box<AdaptiveState>, DecodeError> {
        let check = source.take(BitKind::Check, entropy::CHECK_BITS)?;
        let head = source.skip_padding()?;
        let precision = ladder::ARITHMETIC.stages.precision();
        let reference = named.unwrap_or_else(|| self.initial.at(precision));
        let basis = Basis {
            variant,
            reference: reference.held(),
            ticks: named.map(|named| sequence.ticks_since(named.sequence())),
        };
        let state = self
            .coder
            .decode(
                basis,
                |sequence| held(sequence).map(Baseline::held),
                &bytes[head..],
                &mut self.decoded,
                &mut self.sent,
            )
            .map_err(|error| undecodable(error, head))?;
        if entropy::check(&self.decoded, sequence) != check {
            return Err(DecodeError::Check(sequence));
        }
        Ok(state)
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
        for cube in flagged(&self.sent) {
            body.take(source, &mut self.decoded, cube)?;
        }
        Ok(())
    }
}

/// `head` is the number of bytes before the bins.
fn undecodable(error: Undecodable, head: usize) -> DecodeError {
    let (byte, why) = match error {
        Undecodable::UnknownReference(sequence) => return DecodeError::UnknownBaseline(sequence),
        Undecodable::NonCanonical { byte, why } => (byte, why),
    };
    let at_bit = (head + byte) as u64 * 8;
    match why {
        NonCanonical::Redundant => DecodeError::NonCanonical { at_bit },
        NonCanonical::OutOfRange {
            field,
            cube,
            value,
            min,
            max,
        } => DecodeError::OutOfRange {
            at_bit,
            field,
            cube: Some(cube),
            value,
            min,
            max,
        },
    }
}
