//! Adapts rungs to a scene.

use cubewire_codec::Plan;
use cubewire_codec::ladder::Rung;

use crate::cli::Codecs;
use crate::error::LabError;

/// Returns the rung with the scene's number of bits per quaternion component.
///
/// # Errors
/// If the scene does not support the rung.
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
    /// Returns the rungs for a scene. With `all`, rungs that the scene does not support are left out.
    ///
    /// # Errors
    /// If the scene does not support a rung that was named.
    pub(crate) fn in_scene(&self, plan: &Plan) -> Result<Vec<Rung>, LabError> {
        let rungs = self.rungs.iter().map(|rung| in_scene(rung, plan));
        match self.are_all {
            true => Ok(rungs.flatten().collect()),
            false => rungs.collect(),
        }
    }
}
