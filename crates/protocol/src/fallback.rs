//! What a receiver asks for where the two ends do not decode each other's arithmetic coding.

use cubewire_codec::ladder::PREDICTED_POSITION;
use cubewire_codec::{Fingerprint, Stages};

/// Why a receiver does without arithmetic coding, which needs the same trained model and the same arithmetic at both
/// ends. The fingerprints in hello and welcome tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum FallbackReason {
    /// The trained models differ.
    #[error("the two ends have different trained models")]
    Model,
    /// The machines compute something else from the same numbers.
    #[error("the two machines compute differently")]
    Arithmetic,
}

impl FallbackReason {
    /// The difference of two ends, if there is one.
    pub(crate) fn between(theirs: Fingerprint, own: Fingerprint) -> Option<Self> {
        if theirs.model != own.model {
            Some(Self::Model)
        } else if theirs.arithmetic != own.arithmetic {
            Some(Self::Arithmetic)
        } else {
            None
        }
    }

    /// What to ask for instead of `stages`: [`PREDICTED_POSITION`], which computes with integers and needs no model, if
    /// they use arithmetic coding.
    #[must_use]
    pub fn instead_of(stages: Stages) -> Option<Stages> {
        let is_arithmetic = stages.delta.is_arithmetic();
        is_arithmetic.then_some(PREDICTED_POSITION.stages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_fingerprints_are_a_reason() {
        let own = Fingerprint {
            model: 1,
            arithmetic: 2,
        };
        for (model, arithmetic, reason) in [
            (1, 2, None),
            (9, 2, Some(FallbackReason::Model)),
            (1, 9, Some(FallbackReason::Arithmetic)),
            (9, 9, Some(FallbackReason::Model)),
        ] {
            let theirs = Fingerprint { model, arithmetic };
            assert_eq!(FallbackReason::between(theirs, own), reason);
        }
    }
}
