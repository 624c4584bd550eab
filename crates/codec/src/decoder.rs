//! Packets to snapshots.

use std::sync::Arc;

use crate::InitialStateError;
use crate::baseline::Baseline;
use crate::body::Body;
use crate::entropy::{self, Against, Coder, Learned, Prior, Undecodable, Unwritten, Way};
use crate::header::{Header, Reference};
use crate::initial::InitialState;
use crate::ladder;
use crate::ledger::BitKind;
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
    coder: Coder,
}

impl Decoder {
    /// `initial` is the sender's initial state, bit for bit: with another, packets decode to wrong
    /// cubes without an error, unless they are coded arithmetically and have a check.
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

    /// Decodes arithmetic coding with another prior: the sender's.
    #[must_use]
    pub fn with_prior(mut self, prior: Arc<Prior>) -> Self {
        self.coder = Coder::new(prior);
        self
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
                if !baseline.serves(stages.precision()) {
                    return Err(DecodeError::BaselinePrecision(sequence));
                }
                (Some(baseline), stages)
            }
        };
        let learned = match Way::of(stages.delta) {
            Some(way) => {
                let learned =
                    self.take_decisions(source, bytes, way, header.sequence, named, held)?;
                Some(learned)
            }
            None => {
                self.take_cubes(&mut source, header.sequence, stages, named)?;
                source.finish()?;
                None
            }
        };

        std::mem::swap(&mut out.snapshot, &mut self.decoded);
        out.settle(header.sequence, stages, named, Some(&self.sent));
        self.coder
            .recycle(std::mem::replace(&mut out.learned, learned));
        Ok(header)
    }

    fn take_decisions<'h>(
        &mut self,
        mut source: Source<'_>,
        bytes: &[u8],
        way: Way,
        sequence: Sequence,
        named: Option<&Baseline>,
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
    ) -> Result<Box<Learned>, DecodeError> {
        let check = source.take(BitKind::Check, entropy::CHECK_BITS)?;
        let head = source.skip_padding()?;
        let precision = ladder::ARITHMETIC.stages.precision();
        let baseline = named.unwrap_or_else(|| self.initial.at(precision));
        let ticks = named.map(|named| sequence.ticks_since(named.sequence()));
        let learned = self.coder.decode(
            way,
            Against { baseline, ticks },
            held,
            &bytes[head..],
            &mut self.decoded,
            &mut self.sent,
        );
        let learned = learned.map_err(|error| match error {
            Undecodable::Unknown(sequence) => DecodeError::UnknownBaseline(sequence),
            Undecodable::Unwritten { byte, why } => {
                let at_bit = (head + byte) as u64 * 8;
                match why {
                    Unwritten::Redundant => DecodeError::Inexact { at_bit },
                    Unwritten::OutOfRange {
                        what,
                        cube,
                        value,
                        min,
                        max,
                    } => DecodeError::OutOfRange {
                        at_bit,
                        field: what,
                        cube: Some(cube),
                        value,
                        min,
                        max,
                    },
                }
            }
        })?;
        if entropy::check(&self.decoded, sequence) != check {
            return Err(DecodeError::Check(sequence));
        }
        Ok(learned)
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
