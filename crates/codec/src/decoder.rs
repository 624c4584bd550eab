//! Decoding of packets to snapshots.

mod begun;

use std::sync::Arc;

pub use self::begun::BegunPacket;
use self::begun::{EncodedBodies, begin_bins};

use crate::baseline::Baseline;
use crate::bits::BitStream;
use crate::body::code_bodies;
use crate::decode_error::DecodeError;
use crate::encoder::Packet;
use crate::entropy::{Bins, BitCostObserver, Coder, SnapshotHash, TrainedModel};
use crate::flags::count;
use crate::header::{BaselineId, Header};
use crate::initial::{InitialState, InitialStateError};
use crate::ledger::BitLedger;
use crate::limits::Limits;
use crate::merge::{Merged, Merges, Relation};
use crate::plan::Plan;
use crate::sequence::Sequence;
use crate::snapshot::{QuantizedSnapshot, Spares};
use crate::state::Snapshot;

/// Decodes packets to quantized snapshots.
///
/// A packet decodes independently of earlier packets: the caller stores the baselines. Decoding does not allocate once
/// the decoder and `out` have been used for a packet of each precision.
#[derive(Clone, Debug)]
pub struct Decoder {
    initial: InitialState,
    /// Scratch memory for the snapshot. Swapped with the snapshot of `out` if the packet is valid.
    decoded: Arc<QuantizedSnapshot>,
    /// Whether the packet contains each body. If the caller simulated them, whether each differs from the reference.
    sent: Vec<bool>,
    /// Scratch memory for the indices of the sent bodies.
    indices: Vec<u16>,
    /// State chunk of the packet that was begun last.
    state_chunk: Vec<u8>,
    ledger: Option<BitLedger>,
    /// Counts of the last packet for [`packet`](Self::packet), updated only with a ledger.
    changed_bodies: usize,
    sent_bodies: usize,
    coder: Coder,
    spares: Spares,
    /// Scratch memory: the named baseline with the bodies of merged packets.
    merged: Merged,
}

impl Decoder {
    /// Creates a decoder. `plan` must equal the sender's, and `initial` must equal the sender's initial state bit for
    /// bit. Otherwise packets decode to wrong bodies. Only arithmetically coded packets, which contain a check, give
    /// an error.
    ///
    /// # Errors
    /// [`InitialStateError`] if it has more bodies than the limits allow, or a body that cannot be
    /// quantized.
    pub fn new(
        plan: Arc<Plan>,
        initial: Snapshot,
        limits: Limits,
    ) -> Result<Self, InitialStateError> {
        Ok(Self {
            initial: InitialState::new(plan, initial, limits)?,
            decoded: Arc::default(),
            sent: Vec::new(),
            indices: Vec::new(),
            state_chunk: Vec::new(),
            ledger: None,
            changed_bodies: 0,
            sent_bodies: 0,
            coder: Coder::default(),
            spares: Spares::default(),
            merged: Merged::default(),
        })
    }

    /// The plan of the scene.
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.initial.plan
    }

    /// Sets the ledger that counts the bits of the following packets. `None`, the default, saves time.
    pub fn set_ledger(&mut self, ledger: Option<BitLedger>) {
        self.ledger = ledger;
    }

    /// Bits of the last decoded packet, equal to those that its encoder counted. Empty after an error. `None` without
    /// a ledger.
    pub const fn ledger(&self) -> Option<&BitLedger> {
        self.ledger.as_ref()
    }

    /// The last decoded packet with its counts. `bytes` must be its bytes. Changed bodies are counted against its
    /// baseline, or against the initial state without a baseline. `None` without a ledger.
    pub fn packet(&self, bytes: Vec<u8>) -> Option<Packet> {
        Some(Packet {
            bytes,
            ledger: self.ledger.clone()?,
            changed_bodies: self.changed_bodies,
            sent_bodies: self.sent_bodies,
        })
    }

    /// Uses another trained model for arithmetic coding. It must be equal to the sender's.
    #[must_use]
    pub fn with_model(mut self, model: Arc<TrainedModel>) -> Self {
        self.coder = Coder::new(model);
        self
    }

    /// Decodes a packet into `out`, and returns its header. `held` looks up decoded baselines by sequence. A baseline
    /// that has another sequence or another number of bodies counts as not held.
    ///
    /// # Errors
    /// [`DecodeError`] names the fault of the bytes and its position. [`DecodeError::Desync`] if the packet must be
    /// simulated, which needs [`begin`](Self::begin) and [`finish`](Self::finish). `out` is unchanged after an error.
    pub fn decode<'h>(
        &mut self,
        bytes: &[u8],
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
        out: &mut Baseline,
    ) -> Result<Header, DecodeError> {
        let begun = self.begin(bytes, &held)?;
        self.finish(begun, &held, None, out)
    }

    /// Decodes a packet up to its bodies: the header and the data of a [simulation](crate::simulation). If the packet
    /// has [inputs](BegunPacket::inputs), the caller simulates the snapshot before it calls [`finish`](Self::finish).
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn begin<'p, 'h: 'p>(
        &mut self,
        bytes: &'p [u8],
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
    ) -> Result<BegunPacket<'p>, DecodeError> {
        self.clear();
        self.decode_head(bytes, held).inspect_err(|_| self.clear())
    }

    fn decode_head<'p, 'h: 'p>(
        &mut self,
        bytes: &'p [u8],
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
    ) -> Result<BegunPacket<'p>, DecodeError> {
        let mut stream = BitStream::reader(bytes, 0, self.ledger.as_mut());
        let header = Header::ANY.code(&mut stream)?;
        let (named, stages) = match header.baseline {
            BaselineId::Initial { stages } => (None, stages),
            BaselineId::Named { sequence, stages } => {
                let baseline = held(sequence)
                    .filter(|baseline| baseline.sequence() == sequence)
                    .filter(|baseline| baseline.snapshot.len() == self.initial.bodies())
                    .ok_or(DecodeError::UnknownBaseline(sequence))?;
                let stages = stages.unwrap_or_else(|| baseline.stages());
                if !stages.uses_baseline() {
                    return Err(DecodeError::NeedlessBaseline(sequence));
                }
                if baseline.snapshot.precision() != stages.precision() {
                    return Err(DecodeError::BaselinePrecision(sequence));
                }
                (Some(baseline), stages)
            }
        };
        self.initial.plan.check(stages)?;
        let merges = Merges::default().code(&mut stream, named)?;
        let bodies = match stages.delta.is_arithmetic() {
            true => {
                let seats = self.initial.plan.schema().seats;
                begin_bins(stream, header.sequence, stages, named, seats, &mut self.state_chunk)?
            }
            false => EncodedBodies::Packed { at_bit: stream.at_bit },
        };
        Ok(BegunPacket { bytes, header, stages, named, merges, bodies })
    }

    /// Decodes the rest of the packet that this decoder began last. `prediction` is the snapshot that the caller
    /// simulated with the packet's [inputs](BegunPacket::inputs); packets without inputs ignore it. `held` must be
    /// equal to the `held` passed to [`begin`](Self::begin).
    ///
    /// # Errors
    /// As [`decode`](Self::decode). [`DecodeError::Desync`] if the packet has inputs and there is no prediction, or
    /// if the prediction differs from the sender's snapshot.
    pub fn finish<'h>(
        &mut self,
        begun: BegunPacket<'_>,
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
        prediction: Option<&QuantizedSnapshot>,
        out: &mut Baseline,
    ) -> Result<Header, DecodeError> {
        self.decode_rest(begun, held, prediction, out).inspect_err(|_| self.clear())
    }

    fn decode_rest<'h>(
        &mut self,
        begun: BegunPacket<'_>,
        held: impl Fn(Sequence) -> Option<&'h Baseline>,
        prediction: Option<&QuantizedSnapshot>,
        out: &mut Baseline,
    ) -> Result<Header, DecodeError> {
        let BegunPacket { bytes, header, stages, named, merges, bodies } = begun;
        let sequence = header.sequence;
        let (initial, merged, spares) = (&mut self.initial, &mut self.merged, &mut self.spares);
        let relation = Relation::new(stages, named, merges, &held, initial, merged, spares)
            .map_err(DecodeError::UnknownBaseline)?;
        let reference = relation.reference;
        let decoded = self.spares.unshared(&mut self.decoded);
        let mut simulated = None;
        match bodies {
            EncodedBodies::Packed { at_bit } => {
                let (before, sent) = (&reference.snapshot, &mut self.sent);
                decoded.copy_from(before);
                sent.clear();
                sent.resize(before.len(), false);
                let mut stream = BitStream::reader(bytes, at_bit, self.ledger.as_mut());
                let (numbered, into) = ((sequence, stages), Some(&mut *decoded));
                let indices = &mut self.indices;
                code_bodies(&mut stream, numbered, reference, before, into, sent, indices)?;
                stream.finish()?;
                // Bit-packed packets have no adaptive state. The old state's memory is kept.
                self.coder.spares.release(out.state.take());
            }
            EncodedBodies::Arithmetic { check, coder } => {
                let context = relation
                    .context(stages, sequence)
                    .expect("`decode_head` begins bins for arithmetic stages only");
                let held = |sequence| held(sequence).map(Baseline::view);
                let sent = &mut self.sent;
                match &mut self.ledger {
                    None => {
                        let bins = Bins { coder, observer: () };
                        self.coder.decode(context, held, bins, decoded, sent)?;
                    }
                    Some(ledger) => {
                        let bins = Bins { coder, observer: BitCostObserver::new(ledger) };
                        self.coder.decode(context, held, bins, decoded, sent)?;
                    }
                }
                let hash = self.coder.hash(&context, decoded, &self.sent);
                if hash.check(sequence) != check {
                    return Err(DecodeError::Check(sequence));
                }
                self.coder.store(&context, &self.sent, &mut out.state);
            }
            EncodedBodies::Simulated { check, long_check, inputs } => {
                // The packet carries no bodies. The prediction is the snapshot if its hash matches.
                let prediction = prediction.filter(|snapshot| {
                    snapshot.has_form_of(&reference.snapshot)
                        && SnapshotHash::new(snapshot).matches(sequence, check, long_check)
                });
                decoded.copy_from(prediction.ok_or(DecodeError::Desync(sequence))?);
                decoded.compare(&reference.snapshot, &mut self.sent);
                self.coder.spares.release(out.state.take());
                simulated = Some((inputs.origin(), inputs.last()));
            }
        }
        if let Some(ledger) = &mut self.ledger {
            if stages.delta.is_arithmetic() {
                ledger.record_overhead(bytes);
            }
            let differs = |&body: &usize| decoded.differs(&reference.snapshot, body);
            self.changed_bodies = (0..decoded.len()).filter(differs).count();
            self.sent_bodies = if simulated.is_some() { 0 } else { count(&self.sent) };
        }
        std::mem::swap(&mut out.snapshot, &mut self.decoded);
        let sent = Some(&self.sent[..]);
        let ticks = relation.ticks(sequence);
        out.finalize(sequence, stages, reference, ticks, sent, &mut self.spares);
        out.simulated = simulated;
        Ok(header)
    }

    /// Clears the state chunk and the ledger of the previous packet.
    fn clear(&mut self) {
        self.state_chunk.clear();
        if let Some(ledger) = &mut self.ledger {
            ledger.reset();
        }
    }

    /// State chunk of the last packet that was begun. Empty if the packet has no chunk, and after an error.
    pub fn state_chunk(&self) -> &[u8] {
        &self.state_chunk
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::encoder::{Encoder, Packet};
    use crate::entropy::coder::MAX_OMITTED;
    use crate::ladder;
    use crate::state::BodyState;

    /// The decoder and a packet of a world with moving bodies only.
    fn moving() -> (Decoder, Packet) {
        let body = |body: u8| BodyState {
            position: Vec3::new(f32::from(body % 30), f32::from(body / 30), 0.5),
            ..BodyState::default()
        };
        let mut world = Snapshot { bodies: (0..250).map(body).collect() };
        let limits = Limits::default();
        let decoder = Decoder::new(Plan::cubes(), world.clone(), limits).unwrap();
        let mut encoder = Encoder::new(Plan::cubes(), world.clone(), limits).unwrap();
        for body in &mut world.bodies {
            body.position += 0.25;
        }
        let stages = ladder::PREDICTED.stages;
        let mut quantized = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
        quantized.quantize(&world, stages.precision()).unwrap();
        let mut packet = Packet::default();
        encoder.encode(Sequence(1), stages, &quantized, None, &mut packet, None).unwrap();
        (decoder, packet)
    }

    #[test]
    fn a_packet_that_ends_early_is_given_up_where_its_bits_end() {
        let (mut decoder, packet) = moving();
        let mut most = 0;
        for length in 6..packet.bytes.len() - 1 {
            let mut cut = packet.bytes[..length].to_vec();
            // Zeros after the end could decode to many bins, each of a fraction of a bit.
            for last in [cut[length - 1], 0x80, 0xFF] {
                cut[length - 1] = last;
                let mut out = Baseline::default();
                assert!(decoder.decode(&cut, |_| None, &mut out).is_err());
                let changed = count(&decoder.sent);
                // A changed body takes more than half a byte with the shipped model.
                assert!(changed <= 2 * (length + MAX_OMITTED), "{changed} of {length} bytes");
                most = most.max(changed);
            }
        }
        assert!(most > 100, "{most}");
    }
}
