//! The encoders of a shadow ladder, which a task takes with it.

use std::time::Duration;

use bevy::platform::time::Instant;
use bevy::prelude::*;
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Encoder, InitialStateError, Limits, Packet, References, Sequence, Snapshot};
use cubewire_protocol::{BaselineRing, MAX_BASELINE_AGE_TICKS};

use crate::replication::packet::PacketRecord;
use crate::replication::quantized::QuantizedWorld;

/// Baselines that a shadow keeps: as many as the lane.
const RING: usize = MAX_BASELINE_AGE_TICKS as usize + 1;

/// A tick to encode.
#[derive(Debug)]
pub(super) struct ShadowTick {
    pub(super) tick: u64,
    /// Ages of the acked snapshots, as in [`PacketRecord::acked_ages_ticks`]; none if the lane sent
    /// nothing in this tick.
    pub(super) acked_ages_ticks: Option<[Option<u16>; 3]>,
    /// The cubes; of no meaning if nothing was sent.
    pub(super) snapshot: Snapshot,
}

/// An encoder and the baselines of each rung, in the order of [`ladder::all`].
#[derive(Debug)]
pub(super) struct Encoders {
    rungs: Vec<RungEncoder>,
    quantized: QuantizedWorld,
    packet: Packet,
}

#[derive(Debug)]
struct RungEncoder {
    rung: Rung,
    encoder: Encoder,
    sent: BaselineRing,
}

/// What became of some ticks, and the encoders, to encode the next ones.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) encoders: Box<Encoders>,
    /// Oldest first, each with the packet of every rung; without packets if nothing was sent.
    pub(super) encoded: Vec<(ShadowTick, Vec<PacketRecord>)>,
    /// If a tick failed, those after it were not encoded.
    pub(super) result: Result,
    /// How long this took.
    pub(super) time: Duration,
}

impl Encoders {
    pub(super) fn new(initial: &Snapshot) -> Result<Self, InitialStateError> {
        let mut rungs = Vec::new();
        for rung in ladder::all() {
            rungs.push(RungEncoder {
                rung,
                encoder: Encoder::new(initial.clone(), Limits::default())?,
                sent: BaselineRing::new(RING),
            });
        }
        Ok(Self {
            rungs,
            quantized: QuantizedWorld::default(),
            packet: Packet::default(),
        })
    }

    /// Encodes ticks in this order.
    pub(super) fn encode_all(mut self: Box<Self>, ticks: Vec<ShadowTick>) -> Batch {
        let start = Instant::now();
        let mut encoded = Vec::with_capacity(ticks.len());
        let mut result = Ok(());
        for tick in ticks {
            match self.encode(&tick) {
                Ok(packets) => encoded.push((tick, packets)),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        Batch {
            encoders: self,
            encoded,
            result,
            time: start.elapsed(),
        }
    }

    fn encode(&mut self, tick: &ShadowTick) -> Result<Vec<PacketRecord>> {
        let Some([age, second, third]) = tick.acked_ages_ticks else {
            return Ok(Vec::new());
        };
        let ShadowTick { tick, snapshot, .. } = tick;
        let packet = &mut self.packet;
        let mut packets = Vec::with_capacity(self.rungs.len());
        for rung in &mut self.rungs {
            let stages = rung.rung.stages;
            let current = self.quantized.get(*tick, snapshot, stages.precision())?;
            let mut kept = rung.sent.take_slot(*tick);
            let held = |age: Option<u16>| rung.sent.get(tick.checked_sub(age?.into())?);
            let references = References {
                baseline: held(age),
                additional: [second, third].map(held),
            };
            // Nothing is encoded against the packets of rungs that use no baseline.
            let kept_here = stages.uses_baseline().then_some(&mut kept);
            let sequence = Sequence(*tick as u16);
            rung.encoder
                .encode(sequence, stages, current, references, packet, kept_here)?;
            if stages.uses_baseline() {
                rung.sent.insert(*tick, kept);
            }
            packets.push(PacketRecord::new(packet, stages));
        }
        Ok(packets)
    }
}
