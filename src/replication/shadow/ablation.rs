//! The ablation: the cost of a lane's stages without each part of them.
//!
//! As in the [shadow ladder](super), each ablation uses baselines of the same ticks as the lane, from packets with its own
//! stages. It runs only while [`WantsAblation`] is set, on [a sample](Sampled) of the ticks.

use bevy::prelude::*;
use cubewire_bevy::shadow::Sampled;
use cubewire_codec::{Plan, Snapshot, Stages};

pub use super::parts::{Ablated, Part, ablations};

/// Whether lanes with a shadow ladder have an ablation, too.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantsAblation(pub bool);

/// Costs of a lane's present stages, and of these stages without each part.
#[derive(Component, Debug)]
pub struct Ablation {
    ablated: Vec<Ablated>,
    /// Costs of the present stages, followed by the costs of each ablation.
    pub costs: Sampled,
}

/// A row: the present stages of a lane, or these stages without a part.
#[derive(Clone, Copy, Debug)]
pub struct AblationRow<'a> {
    /// The removed part. `None` for the present stages.
    pub ablated: Option<&'a Ablated>,
    pub stages: Stages,
    /// Mean over the newest second of counted ticks, in kilobits per second by article accounting. `None` before the first
    /// counted tick.
    pub kbps: Option<f64>,
}

impl Ablation {
    /// `initial` is the scene's initial state.
    pub fn new(present: Stages, initial: &Snapshot) -> Self {
        let ablated = ablations(present);
        let left = ablated.iter().map(|ablated| ablated.stages);
        let stages = [present].into_iter().chain(left);
        let costs = Sampled::new(stages, Plan::cubes(), initial.clone());
        Self { ablated, costs }
    }

    /// Returns an ablation that has counted one second of ticks up to `newest`, with `bytes` per tick for each row.
    #[cfg(test)]
    pub(crate) fn of_bytes(present: Stages, newest: u64, bytes: impl Fn(usize) -> usize) -> Self {
        let Self { ablated, costs } = Self::new(present, &Snapshot::default());
        Self { ablated, costs: costs.of_bytes(newest, bytes) }
    }

    pub fn present(&self) -> Stages {
        self.costs.stages[0]
    }

    /// Returns a row for the present stages, followed by a row for each ablation in the order of [`ablations`].
    pub fn rows(&self) -> Vec<AblationRow<'_>> {
        let stages = self.costs.stages.iter().enumerate();
        let row = |(index, &stages): (usize, _)| AblationRow {
            ablated: index.checked_sub(1).map(|index| &self.ablated[index]),
            stages,
            kbps: self.costs.kbps(index),
        };
        stages.map(row).collect()
    }
}
