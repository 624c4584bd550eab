//! The ablation: what a lane's present stages would cost without each of their parts.
//!
//! As in the [shadow ladder](super), each ablation uses baselines of the same ticks as the lane, from its own packets. It runs only
//! while something [wants](WantsAblation) it, on [a sample](Sampled) of the ticks.

use std::sync::Arc;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::shadow::{Encoded, Sampled, Shadow, ShadowTick};
use cubewire_codec::Stages;
use cubewire_scene::TICKS_PER_SECOND;

pub use super::parts::{Ablated, Part, ablations};

/// Whether lanes with a shadow ladder have an ablation, too.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantsAblation(pub bool);

/// What each part of a lane's present stages saves.
#[derive(Component, Debug)]
pub struct Ablation {
    /// By row after the first: what was removed.
    ablated: Vec<Ablated>,
    /// Of the present stages, then of each ablation.
    costs: Sampled,
}

/// The present stages of a lane, or what is left of them without a part.
#[derive(Clone, Copy, Debug)]
pub struct AblationRow<'a> {
    ablated: Option<&'a Ablated>,
    stages: Stages,
    kbps: Option<f64>,
}

impl<'a> AblationRow<'a> {
    /// What was removed; none for the present stages.
    #[must_use]
    pub const fn ablated(&self) -> Option<&'a Ablated> {
        self.ablated
    }

    /// What is left.
    #[must_use]
    pub const fn stages(&self) -> Stages {
        self.stages
    }

    /// Mean over the newest second of counted ticks: article accounting, kilobits a second. None before the first.
    #[must_use]
    pub const fn kbps(&self) -> Option<f64> {
        self.kbps
    }
}

impl Ablation {
    /// The ablation of these stages.
    #[must_use]
    pub fn new(present: Stages) -> Self {
        let ablated = ablations(present);
        let left = ablated.iter().map(|ablated| ablated.stages);
        let stages = [present].into_iter().chain(left);
        let costs = Sampled::new(stages, TICKS_PER_SECOND as u16);
        Self { ablated, costs }
    }

    /// An ablation that has counted every tick up to `newest`, with `bytes` for each row.
    #[cfg(test)]
    pub(crate) fn of_bytes(present: Stages, newest: u64, bytes: impl Fn(usize) -> usize) -> Self {
        let Self { ablated, costs } = Self::new(present);
        Self {
            ablated,
            costs: costs.of_bytes(newest, bytes),
        }
    }

    /// The stages that parts are removed from.
    #[must_use]
    pub fn present(&self) -> Stages {
        self.costs.stages()[0]
    }

    /// The present stages, then each ablation, in the order of [`ablations`].
    #[must_use]
    pub fn rows(&self) -> Vec<AblationRow<'_>> {
        let stages = self.costs.stages().iter().enumerate();
        let row = |(index, &stages): (usize, _)| AblationRow {
            ablated: index.checked_sub(1).map(|index| &self.ablated[index]),
            stages,
            kbps: self.costs.kbps(index),
        };
        stages.map(row).collect()
    }

    /// Age of the costs at tick `now`, ticks. None before the first.
    #[must_use]
    pub fn age_ticks(&self, now: u64) -> Option<u64> {
        self.costs.age_ticks(now)
    }

    /// Fraction of the ticks that is encoded, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.costs.share()
    }

    /// Waits until every chosen tick is encoded and counted.
    ///
    /// # Errors
    /// If a snapshot cannot be encoded.
    pub fn finish(&mut self, ladder: &mut super::ShadowLadder) -> Result {
        let encoded = ladder.shadow.finish(self.costs.list())?;
        ladder.count(Some(self), &encoded);
        Ok(())
    }

    pub(super) fn push(&mut self, tick: &Arc<ShadowTick>, shadow: &mut Shadow) {
        self.costs.push(tick, shadow);
    }

    pub(super) fn allow(&mut self, passed: Duration) -> (&Arc<[Stages]>, usize) {
        self.costs.allow(passed)
    }

    pub(super) fn count(&mut self, encoded: &[Encoded]) {
        self.costs.count(encoded);
    }
}
