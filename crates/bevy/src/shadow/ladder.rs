//! The live ladder of a game's connection.

use std::sync::Arc;

use bevy_ecs::error::Result;
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Plan, QuantizedSnapshot, Snapshot};

use super::{Sampled, Shadow, ShadowSnapshot, ShadowTick};

/// Measures the bandwidth of a server's connection on each rung that is legal in the game's schema. Insert it on the
/// connection's entity. It uses at most a quarter of a core.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub struct LiveLadder {
    rungs: Vec<Rung>,
    shadow: Shadow,
    sampled: Sampled,
}

impl LiveLadder {
    /// Returns a ladder for a game with this plan.
    pub fn new(plan: &Arc<Plan>) -> Self {
        let legal = |rung: Rung| {
            let stages = plan.legal(*rung.stages).ok()?;
            Some(Rung { stages, ..rung })
        };
        let rungs: Vec<Rung> = ladder::all().filter_map(legal).collect();
        let stages = rungs.iter().map(|rung| rung.stages);
        Self {
            sampled: Sampled::new(stages, plan.schema().ticks_per_second),
            rungs,
            shadow: Shadow::new(Arc::clone(plan), Snapshot::default()),
        }
    }

    /// Returns each rung with its mean cost over the newest second of counted ticks, in kilobits per second by article
    /// accounting, without a byte budget. The cost is `None` before the first counted tick.
    pub fn rungs(&self) -> impl ExactSizeIterator<Item = (Rung, Option<f64>)> {
        self.rungs.iter().enumerate().map(|(index, rung)| (*rung, self.sampled.kbps(index)))
    }

    /// Returns the costs, by index of the rung.
    pub const fn costs(&self) -> &Sampled {
        &self.sampled
    }

    /// Waits until every chosen tick is encoded and counted.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn finish(&mut self) -> Result {
        let encoded = self.shadow.finish(self.sampled.list())?;
        self.sampled.count(&encoded);
        Ok(())
    }

    /// Queues a tick: the ages of the newest acked snapshots and the snapshot, if one was sent.
    pub(crate) fn push(
        &mut self,
        tick: u64,
        sent: Option<([Option<u16>; 3], &Arc<QuantizedSnapshot>)>,
    ) {
        let sent = sent.map(|(acked_ages_ticks, quantized)| ShadowSnapshot {
            acked_ages_ticks,
            quantized: Arc::clone(quantized),
            floats: None,
            inputs: None,
        });
        let tick = Arc::new(ShadowTick { tick, sent });
        self.sampled.push(&tick, &mut self.shadow);
    }
}

/// Counts the encoded packets, and starts the next tasks. Runs at the end of a frame, because tasks would delay the frame on a
/// single core.
pub(crate) fn go_on(time: Res<Time<Real>>, mut ladders: Query<&mut LiveLadder>) -> Result {
    for mut ladder in &mut ladders {
        let LiveLadder { shadow, sampled, .. } = &mut *ladder;
        sampled.count(&shadow.poll()?);
        let encoded = shadow.start(&mut [sampled.allow(time.delta())])?;
        sampled.count(&encoded);
    }
    Ok(())
}
