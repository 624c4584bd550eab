//! The encoders of a shadow. Its task owns them while it runs.

use std::sync::{Arc, Weak};

use bevy_ecs::error::Result;
use bevy_platform::time::Instant;
use cubewire_codec::{
    Baselines, Encoder, Limits, Packet, Plan, Precision, QuantizeError, QuantizedSnapshot,
    Sequence, Simulated, Snapshot, SnapshotPool, Stages,
};
use cubewire_protocol::record::PacketRecord;
use cubewire_protocol::{BaselineRing, MAX_BASELINE_AGE_TICKS};

use super::{Encoded, Job, ShadowSnapshot, is_same};

/// Number of baselines that an encoder keeps, as many as a connection.
const RING: usize = MAX_BASELINE_AGE_TICKS as usize + 1;

/// The encoders of all lists of stages.
#[derive(Debug)]
pub(super) struct Encoders {
    plan: Arc<Plan>,
    initial: Snapshot,
    lists: Vec<ListEncoders>,
    packet: Packet,
}

/// One encoder for each item of a list of stages.
#[derive(Debug)]
struct ListEncoders {
    list: Weak<[Stages]>,
    each: Vec<StagesEncoder>,
    quantized: QuantizedTick,
}

#[derive(Debug)]
struct StagesEncoder {
    stages: Stages,
    encoder: Encoder,
    /// Baselines from this encoder's packets.
    sent: BaselineRing,
}

/// A tick's snapshots in precisions other than the sent snapshot's.
#[derive(Debug)]
struct QuantizedTick {
    pool: SnapshotPool,
    snapshots: Vec<(Precision, Arc<QuantizedSnapshot>)>,
}

impl Encoders {
    pub(super) fn new(plan: Arc<Plan>, initial: Snapshot) -> Self {
        Self { plan, initial, lists: Vec::new(), packet: Packet::default() }
    }

    /// Encodes jobs in order. Skips a job if its list was dropped.
    pub(super) fn encode_all(&mut self, jobs: Vec<Job>) -> Result<Vec<Encoded>> {
        self.lists.retain(|of| of.list.strong_count() > 0);
        let mut encoded = Vec::with_capacity(jobs.len());
        for Job { list, tick } in jobs {
            let Some(stages) = list.upgrade() else {
                continue;
            };
            let index = self.index_of(&stages)?;
            let start = now();
            let packets = match &tick.sent {
                Some(sent) => self.lists[index].encode(tick.tick, sent, &mut self.packet)?,
                None => Vec::new(),
            };
            let (tick, time) = (tick.tick, start.elapsed());
            encoded.push(Encoded { list, tick, packets, time });
        }
        Ok(encoded)
    }

    /// Returns the index of a list's encoders, which are created if missing. Creating them takes longer than a frame, so it is
    /// done here, in the task.
    fn index_of(&mut self, list: &Arc<[Stages]>) -> Result<usize> {
        let mut lists = self.lists.iter();
        if let Some(index) = lists.position(|of| is_same(&of.list, list)) {
            return Ok(index);
        }
        let each = list.iter().map(|&stages| {
            let (plan, initial) = (Arc::clone(&self.plan), self.initial.clone());
            Ok(StagesEncoder {
                stages,
                encoder: Encoder::new(plan, initial, Limits::default())?,
                sent: BaselineRing::new(RING),
            })
        });
        self.lists.push(ListEncoders {
            list: Arc::downgrade(list),
            each: each.collect::<Result<_>>()?,
            quantized: QuantizedTick {
                pool: SnapshotPool::new(Arc::clone(&self.plan)),
                snapshots: Vec::new(),
            },
        });
        Ok(self.lists.len() - 1)
    }
}

impl ListEncoders {
    fn encode(
        &mut self,
        tick: u64,
        sent: &ShadowSnapshot,
        packet: &mut Packet,
    ) -> Result<Vec<PacketRecord>> {
        self.quantized.snapshots.clear();
        let [age, second, third] = sent.acked_ages_ticks;
        let mut packets = Vec::with_capacity(self.each.len());
        for of in &mut self.each {
            let stages = of.stages;
            let current = self.quantized.get(sent, stages.precision())?;
            let mut kept = of.sent.take_spare();
            let held = |age: Option<u16>| of.sent.get(tick.checked_sub(age?.into())?);
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
            let kept_here = stages.uses_baseline().then_some(&mut kept);
            let sequence = Sequence(tick as u16);
            of.encoder.encode(sequence, stages, current, references, packet, kept_here)?;
            if stages.uses_baseline() {
                of.sent.insert(tick, kept);
            }
            packets.push(PacketRecord::new(tick, packet, stages));
        }
        Ok(packets)
    }
}

impl QuantizedTick {
    fn get<'s>(
        &'s mut self,
        sent: &'s ShadowSnapshot,
        precision: Precision,
    ) -> Result<&'s Arc<QuantizedSnapshot>, QuantizeError> {
        let Some(floats) = sent.floats.as_ref() else {
            return Ok(&sent.quantized);
        };
        if sent.quantized.precision() == precision {
            return Ok(&sent.quantized);
        }
        let mut snapshots = self.snapshots.iter();
        let index = match snapshots.position(|(of, _)| *of == precision) {
            Some(index) => index,
            None => {
                let snapshot = self.pool.quantize(floats, precision)?;
                self.snapshots.push((precision, snapshot));
                self.snapshots.len() - 1
            }
        };
        Ok(&self.snapshots[index].1)
    }
}

#[allow(clippy::disallowed_methods, reason = "Bevy's clock works in a browser, too")]
fn now() -> Instant {
    Instant::now()
}
