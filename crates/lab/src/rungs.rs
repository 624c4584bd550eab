//! The rungs that a recording can be measured on.

use cubewire_codec::Plan;
use cubewire_codec::ladder::Rung;

use crate::cli::Codecs;
use crate::error::LabError;

/// A rung with the scene's bits per component.
///
/// # Errors
/// If the scene does not have it.
pub(crate) fn in_scene(rung: &Rung, plan: &Plan) -> Result<Rung, LabError> {
    match plan.legal(*rung.stages) {
        Ok(stages) => Ok(Rung { stages, ..*rung }),
        Err(reason) => Err(LabError::NotInScene {
            codec: rung.name,
            scene: plan.schema().name.to_string(),
            reason,
        }),
    }
}

impl Codecs {
    /// The rungs in a scene. Of all, those that it has.
    ///
    /// # Errors
    /// If the scene does not have one that was named.
    pub(crate) fn in_scene(&self, plan: &Plan) -> Result<Vec<Rung>, LabError> {
        let rungs = self.rungs.iter().map(|rung| in_scene(rung, plan));
        match self.are_all {
            true => Ok(rungs.flatten().collect()),
            false => rungs.collect(),
        }
    }
}
