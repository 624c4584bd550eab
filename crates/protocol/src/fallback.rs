//! The fallback if sender and receiver cannot decode each other's arithmetic coding.

use cubewire_codec::ladder::PREDICTED_POSITION;
use cubewire_codec::{Fingerprint, Stages};

/// Reason why a receiver does not get arithmetic coding. Arithmetic coding needs the same trained model and the same
/// arithmetic at both ends, which they compare by the fingerprints in hello and welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum FallbackReason {
    /// The trained models differ.
    #[error("the two ends have different trained models")]
    Model,
    /// The two machines get different results from the same calculation.
    #[error("the two machines compute different results")]
    Arithmetic,
}

impl FallbackReason {
    /// Compares two fingerprints. Returns `None` if they are equal.
    pub(crate) fn between(theirs: Fingerprint, own: Fingerprint) -> Option<Self> {
        if theirs.model != own.model {
            Some(Self::Model)
        } else if theirs.arithmetic != own.arithmetic {
            Some(Self::Arithmetic)
        } else {
            None
        }
    }

    /// Returns the stages to use in place of arithmetic `stages`: [`PREDICTED_POSITION`], which uses integers and no
    /// model. `None` if `stages` do not use arithmetic coding.
    #[must_use]
    pub fn instead_of(stages: Stages) -> Option<Stages> {
        let is_arithmetic = stages.delta.is_arithmetic();
        is_arithmetic.then_some(PREDICTED_POSITION.stages)
    }
}
