//! Both ends of a lane, and the stages of its packets.

use std::collections::HashMap;
use std::sync::Arc;

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::stages::{Delta, Orientation};
use cubewire_codec::{
    Baseline, Baselines, BitKind, BitLedger, Coverage, DecodeError, Decoder, Encoder, Inputs,
    Limits, Packet, Plan, QuantizedBody, QuantizedSnapshot, Sequence, Simulated, Snapshot, Stages,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Stages that the demo can send as complete packets, with these numbers of bits per component. The list is the same
/// in every run. One in eight is arithmetic, because it has few combinations.
pub(crate) fn any_stages(component_bits: &[u8]) -> impl Strategy<Value = Stages> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let readable = Stages::every_readable(|most| random.random_range(0..most));
    let has_bits = |stages: &Stages| match stages.orientation {
        Orientation::Full => true,
        Orientation::SmallestThree { bits } => component_bits.contains(&bits),
    };
    let plan = Plan::cubes();
    let sendable = readable.filter(|stages| plan.check_complete(*stages).is_ok());
    let (arithmetic, packed): (Vec<_>, Vec<_>) =
        sendable.filter(has_bits).partition(|stages| stages.delta.is_arithmetic());
    prop_oneof![
        7 => prop::sample::select(packed),
        1 => prop::sample::select(arithmetic),
    ]
}

/// Legal stages without arithmetic coding.
pub(crate) fn any_packed_stages(component_bits: &[u8]) -> impl Strategy<Value = Stages> {
    any_stages(component_bits).prop_filter("is bit-packed", |stages| !stages.delta.is_arithmetic())
}

/// Both ends of a lane over a perfect link. Both hold every snapshot that was sent.
pub(crate) struct Lane {
    pub(crate) encoder: Encoder,
    pub(crate) decoder: Decoder,
    pub(crate) sent: HashMap<u16, Baseline>,
    pub(crate) received: HashMap<u16, Baseline>,
    pub(crate) packet: Packet,
    /// Whether partial packets carry each body.
    pub(crate) carried: Vec<bool>,
    /// Packets to merge with partial baselines.
    pub(crate) merged: Vec<Sequence>,
    plan: Arc<Plan>,
    initial: Snapshot,
}

impl Lane {
    /// Creates a lane for the demo's scene.
    pub(crate) fn new(initial: &Snapshot, ledger: BitLedger) -> Self {
        Self::of(Plan::cubes(), initial, ledger)
    }

    pub(crate) fn of(plan: Arc<Plan>, initial: &Snapshot, ledger: BitLedger) -> Self {
        let (scene, limits) = (|| Arc::clone(&plan), Limits::default());
        let mut decoder = Decoder::new(scene(), initial.clone(), limits).unwrap();
        decoder.set_ledger(Some(ledger.clone()));
        Self {
            encoder: Encoder::new(scene(), initial.clone(), limits).unwrap(),
            decoder,
            plan,
            sent: HashMap::new(),
            received: HashMap::new(),
            packet: Packet { ledger, ..Packet::default() },
            carried: Vec::new(),
            merged: Vec::new(),
            initial: initial.clone(),
        }
    }

    /// Creates a lane for the demo's scene with another model.
    pub(crate) fn with_model(initial: &Snapshot, model: &Arc<TrainedModel>) -> Self {
        let lane = Self::new(initial, BitLedger::new());
        Self {
            encoder: lane.encoder.with_model(Arc::clone(model)),
            decoder: lane.decoder.with_model(Arc::clone(model)),
            ..lane
        }
    }

    /// Decodes bytes at the receiver, which simulates `prediction`. The result is not stored.
    pub(crate) fn decode(
        &mut self,
        bytes: &[u8],
        prediction: Option<&QuantizedSnapshot>,
    ) -> Result<Baseline, DecodeError> {
        let held = |sequence: Sequence| self.received.get(&sequence.0);
        let mut received = Baseline::default();
        let begun = self.decoder.begin(bytes, held)?;
        self.decoder.finish(begun, held, prediction, &mut received)?;
        Ok(received)
    }

    /// Sends a snapshot relative to an earlier one, if given, and checks that it arrives.
    pub(crate) fn send(
        &mut self,
        sequence: Sequence,
        stages: Stages,
        snapshot: &Snapshot,
        baseline: Option<Sequence>,
    ) {
        let current = quantized(&self.plan, snapshot, stages);
        let names = [baseline, None, None];
        self.send_simulated((sequence, stages), &current, names, Simulated::default());
    }

    /// Like [`send`](Self::send), for a receiver that simulates the same scene. `names` are the baseline and the
    /// additional references.
    pub(crate) fn send_simulated(
        &mut self,
        (sequence, stages): (Sequence, Stages),
        current: &QuantizedSnapshot,
        names: [Option<Sequence>; 3],
        simulated: Simulated<'_>,
    ) {
        let kept = self.encode((sequence, stages), current, names, simulated);
        let sent = |sequence: Sequence| self.sent.get(&sequence.0);
        let baseline = names[0].and_then(sent);
        let has_merged = self.merged.iter().copied().any(|other| sent(other).is_some());
        self.assert_accounted(stages);
        let is_partial = stages.coverage() == Coverage::Partial;
        let is_of_one = !is_partial && !has_merged;
        if is_of_one && !stages.delta.is_arithmetic() {
            let mut recorded = Baseline::default();
            recorded.record(sequence, stages, current, baseline);
            assert_eq!(recorded, kept, "{stages:?}");
        }

        let changed = self.count_changed(stages, current, baseline);
        if !has_merged {
            assert_eq!(self.packet.changed_bodies, changed, "{stages:?}");
        }
        let is_simulated = stages.delta == Delta::ArithmeticSimulated;
        let inputs = simulated.inputs.filter(|_| is_simulated);
        let carried = match (stages.delta, inputs) {
            (Delta::Off, _) => current.len(),
            (_, Some(_)) => 0,
            _ if is_partial => self.carried.iter().filter(|&&carried| carried).count(),
            (_, None) => self.packet.changed_bodies,
        };
        assert_eq!(self.packet.sent_bodies, carried, "{stages:?}");

        let mut received = Baseline::default();
        let held = |sequence: Sequence| self.received.get(&sequence.0);
        let refused = |error| -> ! { panic!("{stages:?}: {error}") };
        let begun = self.decoder.begin(&self.packet.bytes, held);
        let begun = begun.unwrap_or_else(|error| refused(error));
        assert_eq!(begun.inputs(), inputs);
        let prediction = inputs.map(|_| current);
        self.decoder
            .finish(begun, held, prediction, &mut received)
            .unwrap_or_else(|error| refused(error));
        if !is_partial {
            assert_eq!(received.snapshot(), current, "{stages:?}");
        }
        assert_eq!(received, kept, "{stages:?}");
        // The decoder counts the same bits as the encoder.
        let decoded = self.decoder.packet(self.packet.bytes.clone()).unwrap();
        assert_eq!(decoded.ledger, self.packet.ledger);
        assert_eq!(decoded.sent_bodies, carried, "{stages:?}");
        if is_of_one && (stages.delta != Delta::Off || baseline.is_none()) {
            assert_eq!(decoded.changed_bodies, changed, "{stages:?}");
        }
        assert_eq!(received.origin(), inputs.map(Inputs::origin));
        if is_simulated {
            assert_eq!(self.decoder.state_chunk(), simulated.state_chunk);
        }
        self.sent.insert(sequence.0, kept);
        self.received.insert(sequence.0, received);
    }

    /// Checks that the ledger's bits add up to the packet, and its items to the bits of each kind.
    fn assert_accounted(&self, stages: Stages) {
        let ledger = &self.packet.ledger;
        let bits = self.packet.bytes.len() as f64 * 8.0;
        let is = |counted: f64, bits: f64| match stages.delta.is_arithmetic() {
            true => assert!((counted - bits).abs() < 1e-6, "{stages:?}: {counted}"),
            false => assert_eq!(counted, bits, "{stages:?}"),
        };
        is(ledger.total(), bits);
        if let Some(items) = ledger.items() {
            let mut kinds = [0.0; BitKind::ALL.len()];
            for item in items {
                kinds[item.kind.index()] += item.bits;
            }
            for kind in BitKind::ALL {
                is(kinds[kind.index()], ledger.kind(kind));
            }
        }
    }

    /// Encodes a snapshot without sending it.
    pub(crate) fn encode(
        &mut self,
        (sequence, stages): (Sequence, Stages),
        current: &QuantizedSnapshot,
        names: [Option<Sequence>; 3],
        simulated: Simulated<'_>,
    ) -> Baseline {
        let sent = |sequence: Sequence| self.sent.get(&sequence.0);
        let [baseline, first, second] = names.map(|sequence| sequence.and_then(sent));
        let merged: Vec<&Baseline> = self.merged.iter().copied().filter_map(sent).collect();
        let references = Baselines {
            baseline,
            additional: [first, second],
            simulated,
            merged: &merged,
            carried: &self.carried,
        };
        let (mut kept, packet) = (Baseline::default(), &mut self.packet);
        let out = Some(&mut kept);
        self.encoder.encode(sequence, stages, current, references, packet, out).unwrap();
        kept
    }

    fn count_changed(
        &self,
        stages: Stages,
        current: &QuantizedSnapshot,
        baseline: Option<&Baseline>,
    ) -> usize {
        let initial = quantized(&self.plan, &self.initial, stages);
        let reference = baseline
            .map(Baseline::snapshot)
            .filter(|baseline| baseline.precision() == current.precision())
            .unwrap_or(&initial);
        let mut differs = Vec::new();
        current.compare(reference, &mut differs);
        differs.into_iter().filter(|&differs| differs).count()
    }
}

/// Quantizes a snapshot in the precision of the stages.
pub(crate) fn quantized(
    plan: &Arc<Plan>,
    snapshot: &Snapshot,
    stages: Stages,
) -> QuantizedSnapshot {
    let mut quantized = QuantizedSnapshot::new(Arc::clone(plan), stages.precision());
    quantized.quantize(snapshot, stages.precision()).unwrap();
    quantized
}

pub(crate) fn floats(quantized: &QuantizedSnapshot) -> Snapshot {
    let mut snapshot = Snapshot::default();
    quantized.dequantize(&mut snapshot);
    snapshot
}

/// Flips a bit. The first bit of a byte is the most significant one.
pub(crate) fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 0x80 >> (bit % 8);
}

pub(crate) fn body_of(snapshot: &QuantizedSnapshot, body: usize) -> QuantizedBody {
    QuantizedBody { orientation: snapshot.smallest_three(body), position: snapshot.position(body) }
}
