//! The shadow ladder: encodes the snapshots of a lane with every rung, without sending them, to measure the
//! bandwidth of each.
//!
//! A rung uses baselines of the same ticks as the lane, but in its own precision, and as if they had been
//! carried by its own packets.

use std::collections::VecDeque;

use bevy::prelude::*;
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Encoder, InitialStateError, Limits, Packet, References, Sequence, Snapshot};
use cubewire_protocol::{BaselineRing, MAX_BASELINE_AGE_TICKS};
use cubewire_scene::TICKS_PER_SECOND;

use super::packet::PacketRecord;
use super::quantized::QuantizedWorld;
use super::totals::Totals;
use super::{Accounting, LaneMeter, kbps};
use crate::simulation::CubeWorld;

/// Baselines that a shadow keeps: as many as the lane.
const RING: usize = MAX_BASELINE_AGE_TICKS as usize + 1;

/// The encoders of all rungs, for one lane.
#[derive(Component, Debug)]
pub struct ShadowLadder {
    rungs: Vec<ShadowRung>,
    packet: Packet,
}

/// One rung of the shadow ladder.
#[derive(Debug)]
pub struct ShadowRung {
    rung: Rung,
    encoder: Encoder,
    sent: BaselineRing,
    /// Article bytes of each tick of the last second.
    bytes: VecDeque<usize>,
    /// Sums since the start, or since [`ShadowLadder::restart`]. Nothing is sent, so the transport's
    /// part of them is empty.
    pub totals: Totals,
}

impl ShadowLadder {
    /// A shadow of every rung.
    ///
    /// # Errors
    /// If the codec refuses the initial state.
    pub fn new(initial: &Snapshot) -> Result<Self, InitialStateError> {
        let mut rungs = Vec::new();
        for rung in ladder::all() {
            rungs.push(ShadowRung {
                rung,
                encoder: Encoder::new(initial.clone(), Limits::default())?,
                sent: BaselineRing::new(RING),
                bytes: VecDeque::new(),
                totals: Totals::default(),
            });
        }
        Ok(Self {
            rungs,
            packet: Packet::default(),
        })
    }

    /// In the order of [`ladder::all`].
    #[must_use]
    pub fn rungs(&self) -> &[ShadowRung] {
        &self.rungs
    }

    /// Clears the totals; the baselines of the rungs stay.
    pub fn restart(&mut self) {
        for rung in &mut self.rungs {
            rung.totals = Totals::default();
        }
    }
}

impl ShadowRung {
    /// Which rung this is.
    #[must_use]
    pub const fn rung(&self) -> Rung {
        self.rung
    }

    /// Mean over the last second in article accounting, kilobits a second.
    #[must_use]
    pub fn kbps(&self) -> f64 {
        kbps(self.bytes.iter().sum(), self.bytes.len())
    }

    /// Mean since the start, likewise.
    #[must_use]
    pub fn mean_kbps(&self) -> f64 {
        self.totals.kbps(Accounting::Article)
    }

    /// Counts a tick, with the packet that would have been sent in it.
    fn count(&mut self, packet: Option<PacketRecord>) {
        let bytes = packet.as_ref().map_or(0, PacketRecord::article_bytes);
        if self.bytes.len() == TICKS_PER_SECOND as usize {
            self.bytes.pop_front();
        }
        self.bytes.push_back(bytes);
        self.totals.add_tick(packet.as_slice());
    }
}

pub(super) fn encode(
    world: Res<CubeWorld>,
    mut quantized: ResMut<QuantizedWorld>,
    mut lanes: Query<(&mut ShadowLadder, &LaneMeter)>,
) -> Result {
    let tick = world.tick();
    let sequence = Sequence(tick as u16);
    for (mut shadow, meter) in &mut lanes {
        let ShadowLadder { rungs, packet } = &mut *shadow;
        let sent = meter.samples().back();
        let Some(sent) = sent.and_then(|sample| sample.snapshots.first()) else {
            rungs.iter_mut().for_each(|rung| rung.count(None));
            continue;
        };
        let [age, second, third] = sent.acked_ages_ticks;
        for rung in rungs {
            let stages = rung.rung.stages;
            let current = quantized.get(&world, stages.precision())?;
            let mut kept = rung.sent.take_slot(tick);
            let held = |age: Option<u16>| rung.sent.get(tick.checked_sub(age?.into())?);
            let references = References {
                baseline: held(age),
                additional: [second, third].map(held),
            };
            // Nothing is encoded against the packets of rungs that use no baseline.
            let kept_here = stages.uses_baseline().then_some(&mut kept);
            rung.encoder
                .encode(sequence, stages, current, references, packet, kept_here)?;
            if stages.uses_baseline() {
                rung.sent.insert(tick, kept);
            }
            rung.count(Some(PacketRecord::new(packet, stages)));
        }
    }
    Ok(())
}
