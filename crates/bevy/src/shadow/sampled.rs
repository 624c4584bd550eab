//! Costs of stages, measured on as many ticks as a fraction of a core can encode, and the live ladder of a game's
//! connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::error::Result;
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Plan, QuantizedSnapshot, Snapshot, Stages};
use cubewire_protocol::record::{PacketRecord, kbps};

use super::sampling::{Budget, Choice, Sampling};
use super::{Encoded, Shadow, ShadowSnapshot, ShadowTick};

/// Costs of a list of stages without a byte budget. Encoding uses at most a quarter of a core. If that is not enough for all
/// ticks, a [fraction](Self::share) of the ticks is encoded.
#[derive(Debug)]
pub struct Sampled {
    /// The measured stages.
    pub stages: Vec<Stages>,
    shadow: Shadow,
    ticks_per_second: u16,
    /// By index in the list: article bytes of each counted tick, for the newest second of counted ticks.
    bytes: Vec<VecDeque<usize>>,
    sampling: Sampling,
    budget: Budget,
    /// Whether each chosen tick that is not encoded yet will be counted, oldest first.
    counts: VecDeque<bool>,
    newest: Option<u64>,
}

impl Sampled {
    /// Returns costs of these stages, not measured yet, for a connection with this plan and initial state.
    pub fn new(
        stages: impl IntoIterator<Item = Stages>,
        plan: Arc<Plan>,
        initial: Snapshot,
    ) -> Self {
        let stages: Vec<_> = stages.into_iter().collect();
        Self {
            bytes: vec![VecDeque::new(); stages.len()],
            ticks_per_second: plan.schema().ticks_per_second,
            shadow: Shadow::new(plan, initial, stages.clone()),
            stages,
            sampling: Sampling::default(),
            budget: Budget::default(),
            counts: VecDeque::new(),
            newest: None,
        }
    }

    /// Sets the costs of one second up to tick `newest`. `bytes` returns the bytes per tick by index in the list. For tests of
    /// displays.
    #[doc(hidden)]
    #[must_use]
    pub fn of_bytes(mut self, newest: u64, bytes: impl Fn(usize) -> usize) -> Self {
        let second = usize::from(self.ticks_per_second);
        for (index, row) in self.bytes.iter_mut().enumerate() {
            *row = VecDeque::from(vec![bytes(index); second]);
        }
        self.newest = Some(newest);
        self
    }

    /// Returns the mean over the newest second of counted ticks, in kilobits per second by article accounting. `None` before the
    /// first counted tick.
    pub fn kbps(&self, index: usize) -> Option<f64> {
        let bytes = self.bytes.get(index).filter(|bytes| !bytes.is_empty())?;
        Some(kbps(bytes.iter().sum(), bytes.len(), self.ticks_per_second.into()))
    }

    /// Returns the age of the costs at tick `now`, in ticks. `None` before the first counted tick.
    pub fn age_ticks(&self, now: u64) -> Option<u64> {
        Some(now.saturating_sub(self.newest?))
    }

    /// Returns the fraction of recent ticks that were chosen for encoding, 0 to 1.
    pub fn share(&self) -> f64 {
        self.sampling.share()
    }

    /// Queues a tick if it is chosen.
    pub fn push(&mut self, tick: &Arc<ShadowTick>) {
        let ages = tick.sent.as_ref().map(|sent| sent.acked_ages_ticks);
        let choice = self.sampling.choose(tick.tick, ages, self.counts.len());
        if choice != Choice::Skip {
            self.shadow.push(tick);
            self.counts.push_back(choice == Choice::Count);
        }
    }

    /// Counts the packets of the task if it has ended.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn poll(&mut self) -> Result {
        let encoded = self.shadow.poll();
        self.count(encoded)
    }

    /// [Polls](Self::poll), and starts the next task. Adds a share of the passed real time to the time budget.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn go_on(&mut self, passed: Duration) -> Result {
        self.poll()?;
        self.budget.earn(passed);
        let encoded = self.shadow.start(self.budget.ticks());
        self.count(encoded)
    }

    /// Waits until every chosen tick is encoded and counted.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn finish(&mut self) -> Result {
        let encoded = self.shadow.finish();
        self.count(encoded)
    }

    fn count(&mut self, encoded: Result<Vec<Encoded>>) -> Result {
        for encoded in encoded? {
            self.budget.spend(encoded.time);
            if self.counts.pop_front() != Some(true) {
                continue;
            }
            for (index, bytes) in self.bytes.iter_mut().enumerate() {
                if bytes.len() == usize::from(self.ticks_per_second) {
                    bytes.pop_front();
                }
                bytes.push_back(encoded.packets.get(index).map_or(0, PacketRecord::article_bytes));
            }
            self.newest = Some(encoded.tick);
        }
        Ok(())
    }
}

/// Measures the bandwidth of a server's connection on each rung that is legal in the game's schema. Insert it on the
/// connection's entity. It uses at most a quarter of a core.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub struct LiveLadder {
    rungs: Vec<Rung>,
    /// The costs, by index of the rung.
    pub costs: Sampled,
    plan: Arc<Plan>,
    newest: Option<u64>,
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
        let costs = Sampled::new(stages, Arc::clone(plan), Snapshot::default());
        Self { costs, rungs, plan: Arc::clone(plan), newest: None }
    }

    /// Returns each rung with its mean cost over the newest second of counted ticks, in kilobits per second by article
    /// accounting, without a byte budget. The cost is `None` before the first counted tick.
    pub fn rungs(&self) -> impl ExactSizeIterator<Item = (Rung, Option<f64>)> {
        self.rungs.iter().enumerate().map(|(index, rung)| (*rung, self.costs.kbps(index)))
    }

    /// Queues a tick: the ages of the newest acked snapshots and the snapshot, if one was sent. Starts again if the component
    /// comes from a connection with a later tick or another plan.
    pub(crate) fn push(
        &mut self,
        tick: u64,
        plan: &Arc<Plan>,
        sent: Option<([Option<u16>; 3], &Arc<QuantizedSnapshot>)>,
    ) {
        let is_same_plan = Arc::ptr_eq(&self.plan, plan) || self.plan.schema() == plan.schema();
        if !is_same_plan || self.newest.is_some_and(|newest| tick <= newest) {
            *self = Self::new(plan);
        }
        self.newest = Some(tick);
        let sent = sent.map(|(acked_ages_ticks, quantized)| ShadowSnapshot {
            acked_ages_ticks,
            quantized: Arc::clone(quantized),
            floats: None,
            inputs: None,
        });
        self.costs.push(&Arc::new(ShadowTick { tick, sent }));
    }
}

/// Counts the encoded packets, and starts the next tasks. Runs at the end of a frame, because tasks would delay the frame on a
/// single core.
pub(crate) fn go_on(time: Res<Time<Real>>, mut ladders: Query<&mut LiveLadder>) -> Result {
    for mut ladder in &mut ladders {
        ladder.costs.go_on(time.delta())?;
    }
    Ok(())
}
