//! The encoders of a shadow, which a task takes with it.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{
    Baselines, Encoder, Inputs, Limits, Origin, Packet, Plan, Sequence, Simulated, Snapshot, Stages,
};
use cubewire_protocol::record::PacketRecord;
use cubewire_protocol::{BaselineRing, MAX_BASELINE_AGE_TICKS};

use crate::clock;
use crate::replication::quantized::QuantizedWorld;
use crate::simulation::CubeWorld;

/// Baselines that a shadow keeps: as many as the lane.
const RING: usize = MAX_BASELINE_AGE_TICKS as usize + 1;

/// A tick to encode.
#[derive(Debug)]
pub(super) struct ShadowTick {
    tick: u64,
    /// Ages of the acked snapshots, as in [`PacketRecord::acked_ages_ticks`]; none if the lane sent
    /// nothing in this tick.
    acked_ages_ticks: Option<[Option<u16>; 3]>,
    /// The cubes; of no meaning if nothing was sent.
    snapshot: Snapshot,
    /// What a receiver in sync would simulate them with.
    inputs: Option<Inputs>,
}

impl ShadowTick {
    /// What a lane has sent in the newest tick, in the memory of a snapshot that nobody needs.
    pub(super) fn new(
        world: &CubeWorld,
        sent: Option<&PacketRecord>,
        mut snapshot: Snapshot,
    ) -> Self {
        if sent.is_some() {
            snapshot.bodies.clone_from(&world.current().bodies);
        }
        Self {
            tick: world.tick(),
            acked_ages_ticks: sent.map(|sent| sent.acked_ages_ticks),
            snapshot,
            inputs: sent.and_then(|sent| inputs(world, sent.acked_ages_ticks[0])),
        }
    }
}

/// The inputs for a receiver in sync, since the baseline, or since the start of the scene while there is none.
fn inputs(world: &CubeWorld, acked_age_ticks: Option<u16>) -> Option<Inputs> {
    let (tick, history) = (world.tick(), world.inputs());
    let age = match acked_age_ticks {
        Some(age) => age.into(),
        None => tick - history.started()?,
    };
    let age = u8::try_from(age).ok()?;
    let origin = match acked_age_ticks {
        Some(_) => Origin::Continued(age),
        None => Origin::FromSceneStart(age),
    };
    let mut inputs = Vec::new();
    history.since(tick - u64::from(age), &mut inputs);
    Inputs::new(origin, &inputs)
}

/// An encoder for each of some stages, with the baselines that its own packets carried.
#[derive(Debug)]
pub(super) struct Encoders {
    initial: Snapshot,
    stages: Vec<Stages>,
    /// Set up by the first task, as that takes longer than a frame has; empty before.
    each: Vec<StagesEncoder>,
    quantized: QuantizedWorld,
    packet: Packet,
}

#[derive(Debug)]
struct StagesEncoder {
    stages: Stages,
    encoder: Encoder,
    sent: BaselineRing,
}

/// What became of some ticks.
#[derive(Debug)]
pub(super) struct Batch {
    /// Oldest first, each with the packets of all stages, in their order; without packets if nothing was
    /// sent.
    pub(super) encoded: Vec<(u64, Vec<PacketRecord>)>,
    /// The snapshots of these ticks, which nobody needs any more.
    pub(super) spare: Vec<Snapshot>,
    /// If a tick failed, those after it were not encoded.
    pub(super) result: Result,
    /// How long this took.
    pub(super) time: Duration,
}

impl Batch {
    /// How long one tick took; none if there are none.
    pub(super) fn time_per_tick(&self) -> Option<Duration> {
        match u32::try_from(self.encoded.len()) {
            Ok(ticks @ 1..) => Some(self.time / ticks),
            _ => None,
        }
    }
}

impl Encoders {
    pub(super) fn new(initial: Snapshot, stages: Vec<Stages>) -> Self {
        Self {
            initial,
            stages,
            each: Vec::new(),
            quantized: QuantizedWorld::default(),
            packet: Packet::default(),
        }
    }

    /// Encodes ticks in this order.
    pub(super) fn encode_all(&mut self, ticks: Vec<ShadowTick>) -> Batch {
        let mut result = self.set_up();
        let mut encoded = Vec::with_capacity(ticks.len());
        let start = clock::now();
        for tick in &ticks {
            if result.is_ok() {
                result = self
                    .encode(tick)
                    .map(|packets| encoded.push((tick.tick, packets)));
            }
        }
        Batch {
            encoded,
            time: start.elapsed(),
            spare: ticks.into_iter().map(|tick| tick.snapshot).collect(),
            result,
        }
    }

    fn set_up(&mut self) -> Result {
        if self.each.is_empty() {
            let each = self.stages.iter().map(|&stages| {
                let encoder = Encoder::new(Plan::cubes(), self.initial.clone(), Limits::default())?;
                Ok(StagesEncoder {
                    stages,
                    encoder,
                    sent: BaselineRing::new(RING),
                })
            });
            self.each = each.collect::<Result<_>>()?;
        }
        Ok(())
    }

    fn encode(&mut self, tick: &ShadowTick) -> Result<Vec<PacketRecord>> {
        let Some([age, second, third]) = tick.acked_ages_ticks else {
            return Ok(Vec::new());
        };
        let ShadowTick {
            tick,
            snapshot,
            inputs,
            ..
        } = tick;
        let packet = &mut self.packet;
        let mut packets = Vec::with_capacity(self.each.len());
        for StagesEncoder {
            stages,
            encoder,
            sent,
        } in &mut self.each
        {
            let stages = *stages;
            let current = self.quantized.get(*tick, snapshot, stages.precision())?;
            let mut kept = sent.take_slot(*tick);
            let held = |age: Option<u16>| sent.get(tick.checked_sub(age?.into())?);
            let baseline = held(age);
            // A receiver of these packets can only go on from one that it has.
            let inputs = inputs
                .as_ref()
                .filter(|_| baseline.is_some() == age.is_some());
            let references = Baselines {
                baseline,
                additional: [second, third].map(held),
                simulated: Simulated {
                    inputs,
                    state_chunk: &[],
                },
                ..Baselines::default()
            };
            // Nothing is encoded against the packets of stages that use no baseline.
            let kept_here = stages.uses_baseline().then_some(&mut kept);
            let sequence = Sequence(*tick as u16);
            encoder.encode(sequence, stages, current, references, packet, kept_here)?;
            if stages.uses_baseline() {
                sent.insert(*tick, kept);
            }
            packets.push(PacketRecord::new(*tick, packet, stages));
        }
        Ok(packets)
    }
}
