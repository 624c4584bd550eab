//! The adaptive state: the part of a baseline from which the model of the next packet starts.

use std::fmt;

use super::layout::{
    DISABLED, Field, Inputs, VARIANT_ADAPTIVE, VARIANT_WEIGHT_SETS, Variant, error_index,
};
use super::model::TrainedModel;
use crate::ladder;
use crate::snapshot::QuantizedSnapshot;

/// How well a cube was predicted in the packet that carried the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PredictionHistory {
    /// Whether the packet carried the cube.
    pub(crate) is_known: bool,
    /// [Magnitudes](super::residual::magnitude) of the largest residuals.
    pub(crate) position: u8,
    pub(crate) orientation: u8,
    /// The candidates with the smallest errors.
    pub(crate) best_orientation: u8,
    pub(crate) best_position: u8,
}

impl PredictionHistory {
    /// The magnitude as a context: below 16, and 0 if it is not known.
    pub(crate) fn orientation_context(self) -> usize {
        self.context(self.orientation)
    }

    /// The same for the position.
    pub(crate) fn position_context(self) -> usize {
        self.context(self.position)
    }

    fn context(self, magnitude: u8) -> usize {
        if self.is_known {
            usize::from(magnitude) + 1
        } else {
            0
        }
    }
}

/// The adaptive state after a packet: a function of the reference's state and the packet, or of the trained
/// model where the reference has no state of this variant.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct AdaptiveState {
    pub(crate) variant: Variant,
    pub(crate) weights: Vec<Inputs>,
    pub(crate) adaptive: Vec<u16>,
    /// Mean errors of candidates, in sixteenths, by [`error_index`]; empty for [`Variant::Plain`].
    pub(crate) errors: Vec<u16>,
    /// By cube; empty if there is no previous packet.
    pub(crate) predictions: Vec<PredictionHistory>,
    /// The packet's reference.
    pub(crate) reference: QuantizedSnapshot,
    /// Age of the reference in the packet; 0 if it is the initial state.
    pub(crate) reference_ticks: u16,
}

/// Without the tables, which are too long to read.
impl fmt::Debug for AdaptiveState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaptiveState")
            .field("variant", &self.variant)
            .field("reference_ticks", &self.reference_ticks)
            .finish_non_exhaustive()
    }
}

impl AdaptiveState {
    /// The state at the start of a chain.
    pub(crate) fn initial(model: &TrainedModel, variant: Variant) -> Self {
        Self {
            variant,
            weights: model.weights[variant.part(VARIANT_WEIGHT_SETS)].to_vec(),
            adaptive: model.adaptive[variant.part(VARIANT_ADAPTIVE)].to_vec(),
            errors: match variant {
                Variant::Plain => Vec::new(),
                Variant::Predicted => model.errors.clone(),
            },
            predictions: Vec::new(),
            reference: QuantizedSnapshot::new(ladder::ARITHMETIC.stages.precision()),
            reference_ticks: 0,
        }
    }

    /// Sets this to the state of the packet after `previous`, before its first bin. Reuses its memory.
    pub(crate) fn follow(
        &mut self,
        previous: &Self,
        reference: &QuantizedSnapshot,
        reference_ticks: u16,
    ) {
        self.variant = previous.variant;
        self.weights.clone_from(&previous.weights);
        self.adaptive.clone_from(&previous.adaptive);
        self.errors.clone_from(&previous.errors);
        self.predictions.clear();
        self.predictions
            .resize(reference.len(), PredictionHistory::default());
        self.reference.copy_from(reference);
        self.reference_ticks = reference_ticks;
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.weights)
            + size_of_val(&*self.adaptive)
            + size_of_val(&*self.errors)
            + size_of_val(&*self.predictions)
            + self.reference.memory_bytes()
    }

    pub(crate) fn prediction(&self, cube: usize) -> PredictionHistory {
        self.predictions.get(cube).copied().unwrap_or_default()
    }

    /// The packet's reference and its age in ticks, if it was not the initial state.
    pub(crate) fn reference(&self) -> Option<(&QuantizedSnapshot, i32)> {
        (self.reference_ticks > 0).then(|| (&self.reference, self.reference_ticks.into()))
    }

    /// The two of the first `count` candidates with the smallest mean errors in a class.
    pub(crate) fn best_candidates(&self, field: Field, class: usize, count: usize) -> [usize; 2] {
        let errors = &self.errors[error_index(field, class, 0)..][..count];
        let mut best = [0, 0];
        for (candidate, error) in errors.iter().enumerate().skip(1) {
            if *error < errors[best[0]] {
                best = [candidate, best[0]];
            } else if best[1] == best[0] || *error < errors[best[1]] {
                best[1] = candidate;
            }
        }
        best
    }

    /// Updates the mean error of a candidate.
    pub(crate) fn record_error(
        &mut self,
        field: Field,
        class: usize,
        candidate: usize,
        error: u32,
    ) {
        let mean = &mut self.errors[error_index(field, class, candidate)];
        if *mean == DISABLED {
            return;
        }
        let step = ((error.min(MAX_ERROR) * 16) as i32 - i32::from(*mean)) >> 5;
        *mean = (i32::from(*mean) + step) as u16;
    }
}

const MAX_ERROR: u32 = 2000;
