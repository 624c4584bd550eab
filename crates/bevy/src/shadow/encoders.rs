//! The encoders of a shadow, one for each of its stages.

use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::error::Result;
use bevy_platform::time::Instant;
use cubewire_codec::{
    Baseline, Baselines, Encoder, Inputs, Limits, Packet, Plan, Precision, QuantizedSnapshot,
    Sequence, Simulated, Snapshot, SnapshotPool, Stages,
};
use cubewire_protocol::record::PacketRecord;
use cubewire_protocol::{BaselineRing, MAX_BASELINE_AGE_TICKS};

/// A snapshot that a connection sent.
#[derive(Debug)]
pub struct ShadowSnapshot {
    /// Ages of the three newest acked snapshots, as in [`PacketRecord::acked_ages_ticks`].
    pub acked_ages_ticks: [Option<u16>; 3],
    /// The snapshot as it was sent.
    pub quantized: Arc<QuantizedSnapshot>,
    /// The same bodies as floats, for stages with another precision. Without them, the integers are converted.
    pub floats: Option<Snapshot>,
    /// Simulation inputs of a receiver in sync, for stages that simulate.
    pub inputs: Option<Inputs>,
}

/// A chosen tick of a connection.
#[derive(Debug)]
pub(super) struct ChosenTick {
    pub(super) tick: u64,
    /// `None` if the connection sent no snapshot in this tick.
    pub(super) sent: Option<Arc<ShadowSnapshot>>,
    /// Whether its packets are counted. Otherwise they are only baselines.
    pub(super) is_counted: bool,
    /// Packets in the order of the stages. Empty before encoding, and without a snapshot.
    pub(super) packets: Vec<PacketRecord>,
    /// Time spent encoding.
    pub(super) time: Duration,
}

/// Number of baselines that an encoder keeps, as many as a connection.
const RING: usize = MAX_BASELINE_AGE_TICKS as usize + 1;

#[derive(Debug)]
pub(super) struct Encoders {
    plan: Arc<Plan>,
    initial: Arc<Snapshot>,
    stages: Vec<Stages>,
    /// One encoder for each of the stages. Empty before the first tick.
    encoders: Vec<StagesEncoder>,
    pool: SnapshotPool,
    packet: Packet,
}

#[derive(Debug)]
struct StagesEncoder {
    stages: Stages,
    encoder: Encoder,
    /// Baselines from this encoder's packets.
    sent: BaselineRing,
    /// The snapshot of the packet that is being encoded.
    next: Baseline,
}

impl Encoders {
    pub(super) fn new(plan: Arc<Plan>, initial: Arc<Snapshot>, stages: Vec<Stages>) -> Self {
        let pool = SnapshotPool::new(Arc::clone(&plan));
        Self { plan, initial, stages, encoders: Vec::new(), pool, packet: Packet::default() }
    }

    /// Encodes ticks in order. Creates the encoders before the first tick: it takes longer than a frame, so it is done here, in
    /// the task.
    pub(super) fn encode_all(&mut self, ticks: &mut [ChosenTick]) -> Result {
        if self.encoders.is_empty() {
            let encoders = self.stages.iter().map(|&stages| {
                let (plan, initial) = (Arc::clone(&self.plan), Snapshot::clone(&self.initial));
                Ok(StagesEncoder {
                    stages,
                    encoder: Encoder::new(plan, initial, Limits::default())?,
                    sent: BaselineRing::new(RING),
                    next: Baseline::default(),
                })
            });
            self.encoders = encoders.collect::<Result<_>>()?;
        }
        ticks.iter_mut().try_for_each(|tick| self.encode(tick))
    }

    fn encode(&mut self, tick: &mut ChosenTick) -> Result {
        let start = now();
        if let Some(sent) = tick.sent.take() {
            let mut quantized = vec![(sent.quantized.precision(), Arc::clone(&sent.quantized))];
            for encoder in &mut self.encoders {
                let precision = encoder.stages.precision();
                let current = quantize(&sent, precision, &mut quantized, &mut self.pool)?;
                tick.packets.push(encoder.encode(tick.tick, &sent, &current, &mut self.packet)?);
            }
        }
        tick.time = start.elapsed();
        Ok(())
    }
}

impl StagesEncoder {
    fn encode(
        &mut self,
        tick: u64,
        sent: &ShadowSnapshot,
        current: &Arc<QuantizedSnapshot>,
        packet: &mut Packet,
    ) -> Result<PacketRecord> {
        let [age, second, third] = sent.acked_ages_ticks;
        let held = |age: Option<u16>| self.sent.get(tick.checked_sub(age?.into())?);
        let baseline = held(age);
        // A receiver can simulate only from a baseline that it has.
        let inputs = sent.inputs.as_ref().filter(|_| baseline.is_some() == age.is_some());
        let references = Baselines {
            baseline,
            additional: [second, third].map(held),
            simulated: Simulated { inputs, state_chunk: &[] },
            ..Baselines::default()
        };
        // Stages without a baseline need no copy of the packet.
        let next = self.stages.uses_baseline().then_some(&mut self.next);
        let sequence = Sequence(tick as u16);
        self.encoder.encode(sequence, self.stages, current, references, packet, next)?;
        if self.stages.uses_baseline() {
            self.sent.store(tick, &mut self.next);
        }
        Ok(PacketRecord::new(tick, packet, self.stages))
    }
}

/// Returns a tick's snapshot in a precision, from `known` or quantized again: from floats or, without them, from the
/// integers that were sent.
fn quantize(
    sent: &ShadowSnapshot,
    precision: Precision,
    known: &mut Vec<(Precision, Arc<QuantizedSnapshot>)>,
    pool: &mut SnapshotPool,
) -> Result<Arc<QuantizedSnapshot>> {
    if let Some((_, snapshot)) = known.iter().find(|(of, _)| *of == precision) {
        return Ok(Arc::clone(snapshot));
    }
    let snapshot = match &sent.floats {
        Some(floats) => pool.quantize(floats, precision)?,
        None => {
            let sent = &sent.quantized;
            Arc::new(sent.in_precision(precision, |slot| sent.body(slot))?)
        }
    };
    known.push((precision, Arc::clone(&snapshot)));
    Ok(snapshot)
}

#[allow(clippy::disallowed_methods, reason = "Bevy's clock works in a browser, too")]
fn now() -> Instant {
    Instant::now()
}
