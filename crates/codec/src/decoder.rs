//! Decodes packets to snapshots.

use std::sync::Arc;

use crate::baseline::Baseline;
use crate::body::Body;
use crate::entropy::{
    self, Basis, Coder, KeptState, NonCanonical, TrainedModel, Undecodable, Variant,
};
use crate::flags::flagged;
use crate::header::{Header, Reference};
use crate::initial::{InitialState, InitialStateError};
use crate::ladder;
use crate::ledger::BitKind;
use crate::limits::Limits;
use crate::selection;
use crate::sequence::Sequence;
use crate::snapshot::{QuantizedSnapshot, Spares};
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
    decoded: Arc<QuantizedSnapshot>,
    sent: Vec<bool>,
    coder: Coder,
    spares: Spares,
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
            spares: Spares::default(),
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
        match Variant::of(stages.delta) {
            Some(variant) => self.take_bins(
                source,
                variant,
                header.sequence,
                named,
                held,
                &mut out.state,
            )?,
            None => {
                self.take_cubes(&mut source, header.sequence, stages, named)?;
                source.finish()?;
                self.coder.recycle(out.state.take());
            }
        }

        std::mem::swap(&mut out.snapshot, &mut self.decoded);
        let sent = Some(&self.sent[..]);
        out.finalize(header.sequence, stages, named, sent, &mut self.spares);
        Ok(header)
    }

    fn take_bins<'h>(
        &mut self,
        mut source: Source<'_>,
        variant: Variant,
        sequence: Sequence,
        named: Option<&Baseline>,
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
        kept: &mut Option<Box<KeptState>>,
    ) -> Result<(), DecodeError> {
        let check = source.take(BitKind::Check, entropy::CHECK_BITS)?;
        let head = source.skip_padding()?;
        let precision = ladder::ARITHMETIC.stages.precision();
        let reference = named.unwrap_or_else(|| self.initial.at(precision));
        let basis = Basis {
            variant,
            reference: reference.held(),
            ticks: named.map(|named| sequence.ticks_since(named.sequence())),
        };
        let decoded = self.spares.unshared(&mut self.decoded);
        self.coder
            .decode(
                basis,
                |sequence| held(sequence).map(Baseline::held),
                &source.bytes()[head..],
                decoded,
                &mut self.sent,
            )
            .map_err(|error| undecodable(error, head))?;
        if self.coder.check(&basis, decoded, &self.sent, sequence) != check {
            return Err(DecodeError::Check(sequence));
        }
        self.coder.keep(&basis, &self.sent, &mut self.spares, kept);
        Ok(())
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
        let decoded = self.spares.unshared(&mut self.decoded);
        decoded.copy_from(&baseline.snapshot);
        selection::take(source, stages.delta, &baseline.motion.moved, &mut self.sent)?;
        for cube in flagged(&self.sent) {
            body.take(source, decoded, cube)?;
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
        NonCanonical::Redundant | NonCanonical::PastEnd => DecodeError::NonCanonical { at_bit },
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

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::encoder::{Encoder, Packet};
    use crate::entropy::coder::MAX_OMITTED;
    use crate::state::CubeState;

    /// A world in which every cube moves, on both ends, and its packet.
    fn moving() -> (Decoder, Packet) {
        let cube = |cube: u8| CubeState {
            position: Vec3::new(f32::from(cube % 30), f32::from(cube / 30), 0.5),
            ..CubeState::default()
        };
        let mut world = Snapshot {
            cubes: (0..250).map(cube).collect(),
        };
        let limits = Limits::default();
        let decoder = Decoder::new(world.clone(), limits).unwrap();
        let mut encoder = Encoder::new(world.clone(), limits).unwrap();
        for cube in &mut world.cubes {
            cube.position += 0.25;
        }
        let stages = ladder::PREDICTED.stages;
        let mut quantized = QuantizedSnapshot::new(stages.precision());
        quantized.quantize(&world, stages.precision()).unwrap();
        let mut packet = Packet::default();
        encoder
            .encode(Sequence(1), stages, &quantized, None, &mut packet, None)
            .unwrap();
        (decoder, packet)
    }

    #[test]
    fn a_packet_that_ends_early_is_given_up_where_its_bits_end() {
        let (mut decoder, packet) = moving();
        let mut most = 0;
        for length in 6..packet.bytes.len() - 1 {
            let mut cut = packet.bytes[..length].to_vec();
            // Where zeros are read, anything but a fraction of a bit for each bin.
            for last in [cut[length - 1], 0x80, 0xFF] {
                cut[length - 1] = last;
                let mut out = Baseline::default();
                assert!(decoder.decode(&cut, |_| None, &mut out).is_err());
                let changed = flagged(&decoder.sent).count();
                // A changed cube takes more than half a byte with the shipped model.
                assert!(
                    changed <= 2 * (length + MAX_OMITTED),
                    "{changed} of {length} bytes"
                );
                most = most.max(changed);
            }
        }
        assert!(most > 100, "{most}");
    }
}
