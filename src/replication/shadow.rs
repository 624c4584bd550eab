//! What every rung would cost now: the ladder, encoded beside a lane without being sent.
//!
//! Each rung encodes the lane's snapshots against the baselines of the lane's numbers, but in its
//! own precision and as if its own packets had brought them.

use std::collections::VecDeque;

use bevy::prelude::*;
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{
    BitLedger, Encoder, InitialStateError, Limits, Packet, QuantizedSnapshot, References, Sequence,
    Snapshot,
};
use cubewire_protocol::{BaselineRing, MAX_BASELINE_AGE_TICKS};
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::kbps;
use super::{HEADER_BYTES, LaneMeter};
use crate::simulation::World as CubeWorld;

/// Baselines that a shadow keeps: as many as the lane.
const RING: usize = MAX_BASELINE_AGE_TICKS as usize + 1;

/// Every rung of the ladder, beside one lane.
#[derive(Component, Debug)]
pub struct ShadowLadder {
    rungs: Vec<ShadowRung>,
    /// The newest snapshot, in each precision that a rung needs.
    quantized: Vec<QuantizedSnapshot>,
    packet: Packet,
}

/// One rung of it.
#[derive(Debug)]
pub struct ShadowRung {
    rung: Rung,
    encoder: Encoder,
    sent: BaselineRing,
    /// Article bytes of each tick of the newest second.
    bytes: VecDeque<usize>,
    /// Bits of every packet since the start, or since [`ShadowLadder::restart`].
    pub total: BitLedger,
    /// Article bytes since then, and the most in one packet.
    pub total_bytes: usize,
    /// See `total_bytes`.
    pub peak_bytes: usize,
    /// Packets since then, and ticks.
    pub packets: usize,
    /// See `packets`.
    pub ticks: usize,
}

impl ShadowLadder {
    /// A shadow of every rung.
    ///
    /// # Errors
    /// If the codec refuses the initial state.
    pub fn new(initial: &Snapshot) -> Result<Self, InitialStateError> {
        let mut quantized: Vec<QuantizedSnapshot> = Vec::new();
        let mut rungs = Vec::new();
        for rung in ladder::all() {
            let precision = rung.stages.precision();
            if quantized.iter().all(|other| other.precision() != precision) {
                quantized.push(QuantizedSnapshot::new(precision));
            }
            rungs.push(ShadowRung {
                rung,
                encoder: Encoder::new(initial.clone(), Limits::default())?,
                sent: BaselineRing::new(RING),
                bytes: VecDeque::new(),
                total: BitLedger::new(),
                total_bytes: 0,
                peak_bytes: 0,
                packets: 0,
                ticks: 0,
            });
        }
        Ok(Self {
            rungs,
            quantized,
            packet: Packet::default(),
        })
    }

    /// In the order of [`ladder::all`].
    #[must_use]
    pub fn rungs(&self) -> &[ShadowRung] {
        &self.rungs
    }

    /// Sets the totals to zero; what the rungs encode against stays.
    pub fn restart(&mut self) {
        for rung in &mut self.rungs {
            rung.total = BitLedger::new();
            rung.total_bytes = 0;
            rung.peak_bytes = 0;
            rung.packets = 0;
            rung.ticks = 0;
        }
    }
}

impl ShadowRung {
    /// Which it is.
    #[must_use]
    pub const fn rung(&self) -> Rung {
        self.rung
    }

    /// Mean over the newest second in article accounting, kilobits a second.
    #[must_use]
    pub fn kbps(&self) -> f64 {
        kbps(self.bytes.iter().sum(), self.bytes.len())
    }

    /// Mean since the start, likewise.
    #[must_use]
    pub fn mean_kbps(&self) -> f64 {
        kbps(self.total_bytes, self.ticks)
    }

    /// Counts a tick, with what was sent in it.
    fn count(&mut self, packet: Option<&Packet>) {
        let bytes = packet.map_or(0, |packet| packet.bytes.len() + HEADER_BYTES);
        self.ticks += 1;
        if self.bytes.len() == TICKS_PER_SECOND as usize {
            self.bytes.pop_front();
        }
        self.bytes.push_back(bytes);
        self.total_bytes += bytes;
        self.peak_bytes = self.peak_bytes.max(bytes);
        if let Some(packet) = packet {
            self.total.add(&packet.ledger);
            self.packets += 1;
        }
    }
}

pub(super) fn encode(
    world: Res<CubeWorld>,
    mut lanes: Query<(&mut ShadowLadder, &LaneMeter)>,
) -> Result {
    let tick = world.tick();
    let sequence = Sequence(tick as u16);
    for (mut shadow, meter) in &mut lanes {
        let ShadowLadder {
            rungs,
            quantized,
            packet,
        } = &mut *shadow;
        let now = meter.newest(1).next();
        if now.is_none_or(|now| now.snapshots == 0) {
            rungs.iter_mut().for_each(|rung| rung.count(None));
            continue;
        }
        let (age, earlier) = now.map_or((None, [None, None]), |now| {
            (now.baseline_age_ticks, now.earlier_age_ticks)
        });
        for snapshot in quantized.iter_mut() {
            snapshot.quantize(world.current(), snapshot.precision())?;
        }
        for rung in rungs {
            let stages = rung.rung.stages;
            let current = quantized
                .iter()
                .find(|snapshot| snapshot.precision() == stages.precision())
                .ok_or("every precision is quantized")?;
            let mut kept = rung.sent.take_slot(tick);
            let held = |age: Option<u16>| rung.sent.get(tick.checked_sub(age?.into())?);
            let references = References {
                baseline: held(age),
                additional: earlier.map(held),
            };
            // Nothing is ever encoded against what these rungs send.
            let kept_here = stages.uses_baseline().then_some(&mut kept);
            rung.encoder
                .encode(sequence, stages, current, references, packet, kept_here)?;
            if stages.uses_baseline() {
                rung.sent.insert(tick, kept);
            }
            rung.count(Some(packet));
        }
    }
    Ok(())
}
