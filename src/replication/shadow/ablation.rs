//! The ablation: encodes the snapshots of a lane with its present stages, and with each part of them taken
//! away, without sending them, to measure what that part saves.
//!
//! As in the [shadow ladder](super), each uses baselines of the same ticks as the lane, in its own precision
//! and carried by its own packets, and a task encodes them in the background. Unlike there, no frame waits for
//! it, it runs only while something [wants](WantsAblation) it, and it takes at most a quarter of a core: where
//! that is not enough, it encodes [a share](Ablation::share) of the ticks.

mod list;
mod sampling;

use std::collections::VecDeque;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::Stages;
use cubewire_scene::TICKS_PER_SECOND;

use super::ShadowLadder;
use super::encoders::Batch;
use super::worker::Worker;
use crate::replication::PacketRecord;
use crate::replication::meter::{LaneMeter, kbps};
use crate::replication::settings::SenderSettings;
use crate::simulation::CubeWorld;

pub use list::{Ablated, Part, ablations};
use sampling::{Budget, Choice, Sampling};

/// Whether lanes that have a shadow ladder have an ablation, too.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantsAblation(pub bool);

/// What each part of a lane's present stages saves.
#[derive(Component, Debug)]
pub struct Ablation {
    present: Stages,
    /// The present stages, then each ablation.
    rows: Vec<AblationRow>,
    sampling: Sampling,
    budget: Budget,
    /// For each tick in the queue or with the task, oldest first, whether it counts.
    counts: VecDeque<bool>,
    worker: Worker,
    /// The newest tick that the figures include.
    newest: Option<u64>,
}

/// The present stages of a lane, or what is left of them without a part.
#[derive(Debug)]
pub struct AblationRow {
    ablated: Option<Ablated>,
    stages: Stages,
    /// Article bytes of the newest ticks that count, a second of them.
    bytes: VecDeque<usize>,
}

impl AblationRow {
    /// What was taken away; none for the present stages.
    #[must_use]
    pub const fn ablated(&self) -> Option<&Ablated> {
        self.ablated.as_ref()
    }

    /// What is left.
    #[must_use]
    pub const fn stages(&self) -> Stages {
        self.stages
    }

    /// Mean over the newest second of ticks that were counted, in article accounting, kilobits a second; none
    /// before there is one.
    #[must_use]
    pub fn kbps(&self) -> Option<f64> {
        let ticks = self.bytes.len();
        (ticks > 0).then(|| kbps(self.bytes.iter().sum(), ticks))
    }

    fn count(&mut self, bytes: usize) {
        if self.bytes.len() == TICKS_PER_SECOND as usize {
            self.bytes.pop_front();
        }
        self.bytes.push_back(bytes);
    }
}

impl Ablation {
    /// The ablation of these stages, for a lane that began with the scene.
    #[must_use]
    pub fn new(present: Stages) -> Self {
        let initial = CubeWorld::default().current().clone();
        let row = |ablated: Option<Ablated>| AblationRow {
            stages: ablated.as_ref().map_or(present, |ablated| ablated.stages),
            ablated,
            bytes: VecDeque::new(),
        };
        let taken_away = ablations(present).into_iter().map(Some);
        let rows: Vec<_> = [None].into_iter().chain(taken_away).map(row).collect();
        let stages = rows.iter().map(AblationRow::stages).collect();
        Self {
            present,
            rows,
            sampling: Sampling::default(),
            budget: Budget::default(),
            counts: VecDeque::new(),
            worker: Worker::new(initial, stages),
            newest: None,
        }
    }

    /// An ablation that has counted every tick up to `newest`, with `bytes` for each row.
    #[cfg(test)]
    pub(crate) fn of_bytes(present: Stages, newest: u64, bytes: impl Fn(usize) -> usize) -> Self {
        let mut ablation = Self::new(present);
        for (index, row) in ablation.rows.iter_mut().enumerate() {
            (0..TICKS_PER_SECOND).for_each(|_| row.count(bytes(index)));
        }
        ablation.newest = Some(newest);
        ablation
    }

    /// The stages that parts are taken away from.
    #[must_use]
    pub const fn present(&self) -> Stages {
        self.present
    }

    /// The figures of the present stages, then of each ablation, in the order of [`ablations`].
    #[must_use]
    pub fn rows(&self) -> &[AblationRow] {
        &self.rows
    }

    /// How many ticks the figures are older than tick `now`; none before there are any.
    #[must_use]
    pub fn age_ticks(&self, now: u64) -> Option<u64> {
        Some(now.saturating_sub(self.newest?))
    }

    /// The share of the ticks that is encoded, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.sampling.share()
    }

    /// Waits until every tick that was chosen is encoded and counted, whatever it takes.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn finish(&mut self) -> Result {
        let batches = self.worker.finish();
        self.count(batches)
    }

    /// Queues what a lane has sent in the newest tick, if that tick is chosen.
    fn push(&mut self, world: &CubeWorld, sent: Option<&PacketRecord>) {
        let tick = world.tick();
        let acked_ages_ticks = sent.map(|sent| sent.acked_ages_ticks);
        let choice = self
            .sampling
            .choose(tick, acked_ages_ticks, self.counts.len());
        if choice == Choice::Skip {
            return;
        }
        self.worker.push(world, sent);
        self.counts.push_back(choice == Choice::Count);
    }

    /// Counts what the task has encoded, and starts it again if there is time for that.
    fn go_on(&mut self, passed: Duration) -> Result {
        self.budget.earn(passed);
        let batch = self.worker.poll();
        self.count(batch)?;
        let batch = self.worker.start(self.budget.ticks());
        self.count(batch)
    }

    fn count(&mut self, batches: impl IntoIterator<Item = Batch>) -> Result {
        for batch in batches {
            self.budget.spend(batch.time, batch.time_per_tick());
            for (tick, packets) in batch.encoded {
                if self.counts.pop_front() == Some(true) {
                    for (index, row) in self.rows.iter_mut().enumerate() {
                        row.count(packets.get(index).map_or(0, PacketRecord::article_bytes));
                    }
                    self.newest = Some(tick);
                }
            }
            batch.result?;
        }
        Ok(())
    }
}

/// A lane, its shadow and its ablation.
type AblatedLane<'a> = (
    Entity,
    &'a LaneMeter,
    Has<ShadowLadder>,
    Option<&'a mut Ablation>,
);

/// Whether it sends, and is or may be ablated.
type IsAblated = (
    With<SenderSettings>,
    Or<(With<ShadowLadder>, With<Ablation>)>,
);

/// Queues the newest tick of every lane that should have an ablation, and removes those that nothing wants.
pub(in crate::replication) fn queue(
    world: Res<CubeWorld>,
    wants: Res<WantsAblation>,
    mut lanes: Query<AblatedLane<'_>, IsAblated>,
    mut commands: Commands,
) {
    for (lane, meter, has_shadow, ablation) in &mut lanes {
        if !wants.0 || !has_shadow {
            if ablation.is_some() {
                commands.entity(lane).try_remove::<Ablation>();
            }
            continue;
        }
        let Some(sample) = meter.samples().back() else {
            continue;
        };
        match ablation {
            Some(mut ablation) if ablation.present == sample.stages => {
                ablation.push(&world, sample.snapshots.first());
            }
            _ => {
                let ablation = Ablation::new(sample.stages);
                commands.entity(lane).try_insert(ablation);
            }
        }
    }
}

/// Starts the tasks at the end of a frame, if there is time for them.
pub(in crate::replication) fn start(
    clock: Res<Time<Real>>,
    mut ablations: Query<&mut Ablation>,
) -> Result {
    for mut ablation in &mut ablations {
        ablation.go_on(clock.delta())?;
    }
    Ok(())
}
