//! Decodes packets to snapshots.

use std::cell::Cell;
use std::sync::Arc;

use crate::baseline::Baseline;
use crate::body::Body;
use crate::entropy::{
    self, Basis, Coder, DecodedInputs, Inputs, KeptState, NonCanonical, TrainedModel, Undecodable,
    Variant,
};
use crate::flags::flagged;
use crate::header::{Header, Reference};
use crate::initial::{InitialState, InitialStateError};
use crate::ledger::BitKind;
use crate::limits::Limits;
use crate::selection;
use crate::sequence::Sequence;
use crate::simulation::{Simulated, Simulation};
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
    /// Of the packet that was decoded last.
    inputs: Option<Inputs>,
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
            inputs: None,
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
        self.decode_simulated(bytes, held, &mut (), out)
    }

    /// The same for a receiver that simulates the scene: packets of
    /// [`SIMULATED`](crate::ladder::SIMULATED) are decoded with what `simulation` predicts.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); [`DecodeError::Simulation`] if `simulation` has not the world that the packet names,
    /// or if what it predicts is not what the sender has.
    pub fn decode_simulated<'h>(
        &mut self,
        bytes: &[u8],
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
        simulation: &mut dyn Simulation,
        out: &mut Baseline,
    ) -> Result<Header, DecodeError> {
        self.inputs = None;
        self.coder.forget_attachment();
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
        let simulated = match Variant::of(stages.delta) {
            Some(variant) => {
                let taken = self.take_bins(
                    source,
                    (stages, variant),
                    header.sequence,
                    named,
                    (held, simulation),
                    &mut out.state,
                );
                if taken.is_err() {
                    self.coder.forget_attachment();
                }
                taken?
            }
            None => {
                self.take_cubes(&mut source, header.sequence, stages, named)?;
                source.finish()?;
                self.coder.recycle(out.state.take());
                None
            }
        };

        std::mem::swap(&mut out.snapshot, &mut self.decoded);
        let sent = Some(&self.sent[..]);
        out.finalize(header.sequence, stages, named, sent, &mut self.spares);
        self.inputs = simulated;
        out.simulated = simulated.and_then(|inputs| {
            let last = *inputs.bytes().last()?;
            Some((inputs.origin, last))
        });
        Ok(header)
    }

    /// What the packet that was decoded last says of a simulation, without a prediction. Nothing after one that was
    /// refused.
    #[must_use]
    pub fn simulated(&self) -> Simulated<'_> {
        let inputs = self.inputs.as_ref();
        Simulated {
            origin: inputs.map(|inputs| inputs.origin),
            inputs: inputs.map_or(&[], Inputs::bytes),
            prediction: None,
            attachment: self.coder.attachment(),
        }
    }

    /// Gives from where the snapshot was simulated, with the inputs since.
    fn take_bins<'h>(
        &mut self,
        mut source: Source<'_>,
        (stages, variant): (Stages, Variant),
        sequence: Sequence,
        named: Option<&Baseline>,
        (held, simulation): (
            impl Fn(Sequence) -> Option<&'h Baseline>,
            &mut dyn Simulation,
        ),
        kept: &mut Option<Box<KeptState>>,
    ) -> Result<Option<Inputs>, DecodeError> {
        let check = source.take(BitKind::Check, entropy::CHECK_BITS)?;
        let head = source.skip_padding()?;
        let precision = stages.precision();
        let reference = named.unwrap_or_else(|| self.initial.at(precision));
        let basis = Basis::new((stages, variant), sequence, named, reference);
        let decoded = self.spares.unshared(&mut self.decoded);
        let cubes = reference.snapshot.len();
        let is_simulated = Cell::new(false);
        let simulate = |inputs: &Inputs| {
            is_simulated.set(true);
            let simulation = simulation;
            let prediction = simulation.predict(sequence, inputs.origin, named, inputs.bytes())?;
            let fits = prediction.precision() == precision && prediction.len() == cubes;
            fits.then_some(prediction)
        };
        let bins = self.coder.decode(
            basis,
            |sequence| held(sequence).map(Baseline::held),
            simulate,
            &source.bytes()[head..],
            (decoded, &mut self.sent),
        );
        let failed = |error| match is_simulated.get() {
            true => DecodeError::Simulation(sequence),
            false => error,
        };
        let inputs = bins.map_err(|error| match error {
            Undecodable::UnknownReference(_) => undecodable(error, head),
            error => failed(undecodable(error, head)),
        })?;
        let computed = self.coder.check(&basis, decoded, &self.sent, sequence);
        let long_check = inputs.and_then(|inputs| inputs.long_check);
        if computed != check || long_check.is_some_and(|long| long != self.coder.long_check()) {
            return Err(failed(DecodeError::Check(sequence)));
        }
        self.coder.keep(&basis, &mut self.spares, kept);
        Ok(inputs.map(|DecodedInputs { inputs, .. }| inputs))
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
        Undecodable::NotSimulated => {
            return DecodeError::NonCanonical {
                at_bit: head as u64 * 8,
            };
        }
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
            cube,
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
    use crate::ladder;
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
