//! Adapts rungs to a scene.

use cubewire_codec::Plan;
use cubewire_codec::ladder::Rung;

use crate::cli::measurable;
use crate::error::Failure;

/// Returns the rung with the scene's number of bits per quaternion component.
///
/// # Errors
/// If the scene does not support the rung.
pub(crate) fn in_scene(rung: &Rung, plan: &Plan) -> Result<Rung, Failure> {
    let stages = plan.legal(*rung.stages).map_err(|reason| {
        let (codec, scene) = (rung.name, &plan.schema().name);
        format!("{codec} cannot encode a recording of the scene {scene}: {reason}")
    })?;
    Ok(Rung { stages, ..*rung })
}

/// Returns the chosen rungs for a scene. Without a choice, returns all supported rungs.
///
/// # Errors
/// If the scene does not support a chosen rung.
pub(crate) fn chosen(rungs: &[Rung], plan: &Plan) -> Result<Vec<Rung>, Failure> {
    match rungs {
        [] => Ok(measurable().flat_map(|rung| in_scene(&rung, plan)).collect()),
        rungs => rungs.iter().map(|rung| in_scene(rung, plan)).collect(),
    }
}
