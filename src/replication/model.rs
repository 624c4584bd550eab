//! The trained model of arithmetic coding.

use std::sync::Arc;

use bevy::prelude::*;
use cubewire_codec::entropy::{Fingerprint, TrainedModel};

/// What the lanes of this process code arithmetically with; by default the model that ships with the codec. Lanes that
/// exist already keep theirs.
#[derive(Resource, Clone, Debug)]
pub struct CodingModel {
    /// The model.
    pub trained: Arc<TrainedModel>,
    /// What a server tells its viewers that it has: of the model and of this machine.
    pub fingerprint: Fingerprint,
}

impl CodingModel {
    /// With the fingerprint that belongs to the model.
    #[must_use]
    pub fn new(trained: Arc<TrainedModel>) -> Self {
        Self {
            fingerprint: Fingerprint::of(&trained),
            trained,
        }
    }
}

impl Default for CodingModel {
    fn default() -> Self {
        Self {
            trained: TrainedModel::shipped(),
            fingerprint: Fingerprint::shipped(),
        }
    }
}
