//! Checks which stages can be used for a scene.

use super::{PACKED_END, Plan};
use crate::precision::{Orientation, Position};
use crate::quantize::affine::AFFINE_POSITION;
use crate::quantize::bounded::Bounded;
use crate::schema::{Range, Support};
use crate::stages::{
    Coverage, Delta, IllegalStages, RelativeOrientation, RelativePosition, StageOptions, Stages,
    Velocity,
};

/// Bits per component on the ladder, which stand for the schema's.
const USUAL_BITS: u8 = 9;

impl Plan {
    /// Returns the stages with these options, if the scene supports them. Nine bits per component are replaced by the
    /// schema's bits, like any other number if the schema does not support other ones.
    /// [`QUANTIZED`](Position::QUANTIZED) stands for the schema's steps.
    ///
    /// # Errors
    /// The first reason why the scene does not support them.
    pub fn legal(&self, options: StageOptions) -> Result<Stages, IllegalStages> {
        let mut options = options;
        if let Orientation::SmallestThree { bits } = &mut options.orientation
            && (*bits == USUAL_BITS || !self.schema.support.other_steps)
        {
            *bits = self.schema.component_bits;
        }
        let stages = options.check_for_any()?;
        self.check(stages)?;
        Ok(stages)
    }

    /// Checks that a sender of this scene can send complete packets with these stages in every tick. For stages that
    /// a receiver asked for.
    ///
    /// # Errors
    /// The first reason why it cannot.
    pub fn check_complete(&self, stages: Stages) -> Result<(), IllegalStages> {
        match stages.coverage() {
            Coverage::Complete => self.check(stages),
            Coverage::Partial => Err(IllegalStages::PartialWanted),
        }
    }

    /// Checks that the scene supports these stages.
    pub(crate) fn check(&self, stages: Stages) -> Result<(), IllegalStages> {
        let Support { floats, other_steps, velocities, simulation } = self.schema.support;
        let (scene, velocity) = (self.schema.component_bits, stages.velocity);
        if let Orientation::SmallestThree { bits } = stages.orientation
            && bits != scene
            && (!other_steps || stages.delta.is_arithmetic())
        {
            return Err(IllegalStages::OtherComponentBits { bits, scene });
        }
        let has_velocity = velocity != Velocity::Omitted;
        let has_floats = stages.orientation == Orientation::Full
            || stages.position == Position::Full
            || velocity == Velocity::Full;
        let has_other_steps = velocity == Velocity::Affine
            || !matches!(stages.position, Position::Full | Position::QUANTIZED);
        let is_simulated = stages.delta == Delta::ArithmeticSimulated;
        for (is_needed, is_supported, what) in [
            (has_velocity, velocities, "velocities"),
            (has_floats, floats, "floats"),
            (has_other_steps, other_steps, "other steps"),
            (is_simulated, simulation, "simulation"),
        ] {
            if is_needed && !is_supported {
                return Err(IllegalStages::Unsupported(what));
            }
        }
        self.check_steps(stages.position)?;
        let predicts = stages.relative_position == RelativePosition::Predicted
            || stages.relative_orientation == RelativeOrientation::GrowingRanges
            || matches!(stages.delta, Delta::ArithmeticPredicted | Delta::ArithmeticSimulated);
        match predicts && !self.has_equal_steps() {
            true => Err(IllegalStages::Combination(
                "predictions need equal steps along all axes of the scene",
            )),
            false => Ok(()),
        }
    }

    /// Checks that the integers of all positions of the scene can be stored.
    fn check_steps(&self, position: Position) -> Result<(), IllegalStages> {
        let (is_possible, reason) = match position {
            Position::Full | Position::QUANTIZED => return Ok(()),
            Position::Affine => {
                let is_inside = |(range, affine): (Range, &Bounded)| {
                    let [min, max] = [range.min, range.max].map(|at| at * affine.steps_per_unit);
                    f64::from(affine.min) <= min && max <= f64::from(affine.max)
                };
                let mut ranges = self.ranges(512).into_iter().zip(&AFFINE_POSITION);
                let reason = "affine positions are within 256 units across and from 0 to 32 upwards, but the scene's \
                              are not";
                (ranges.all(is_inside), reason)
            }
            Position::Quantized { steps_per_metre } => {
                let is_packable = |range: Range| {
                    let integers = range.integers();
                    let (first, last) = (*integers.start(), *integers.end());
                    -PACKED_END <= first && first <= last && last < PACKED_END
                };
                let reason = "the range of positions is too long for such fine steps, or shorter than a coarse one";
                (self.ranges(steps_per_metre).into_iter().all(is_packable), reason)
            }
        };
        if is_possible { Ok(()) } else { Err(IllegalStages::Combination(reason)) }
    }

    fn has_equal_steps(&self) -> bool {
        let [x, y, z] = self.bounds.map(|bounds| bounds.steps_per_unit);
        x == y && y == z
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder;
    use crate::schema::{CUBES, Schema};

    /// Texts of stages, each with the capabilities that it needs. Other rungs need no capability.
    const NEEDS: &str = "\
orientation=full | velocities,floats
orientation=smallest-three-9+velocity=full | velocities,floats
orientation=smallest-three-9+velocity=quantized | velocities,floats
orientation=smallest-three-9+velocity=at-rest-flag | velocities,floats
orientation=smallest-three-9+velocity=omitted | floats
orientation=smallest-three-10+velocity=affine+position=affine | velocities,other steps
orientation=full+velocity=omitted+position=quantized+delta=indices | floats
velocity=omitted+position=quantized-1024+delta=relative-indices+relative-position=two-ranges | floats,other steps
orientation=smallest-three-9+velocity=at-rest-flag+position=quantized+delta=indices | velocities
orientation=smallest-three-9+velocity=omitted+position=affine | other steps
orientation=smallest-three-9+velocity=omitted+position=quantized+delta=arithmetic-simulated | simulation";

    #[test]
    fn stages_are_legal_if_the_schema_supports_what_they_need() {
        let rows = NEEDS.lines().filter_map(|row| row.split_once(" | "));
        let mut rows: Vec<(Stages, &str)> =
            rows.map(|(text, needs)| (text.parse().unwrap(), needs)).collect();
        let others = ladder::all().map(|rung| rung.stages);
        let others = others.filter(|rung| rows.iter().all(|(stages, _)| stages != rung));
        rows.extend(others.map(|rung| (rung, "")).collect::<Vec<_>>());
        for bits in 0..16_u8 {
            let [floats, other_steps, velocities, simulation] =
                [1, 2, 4, 8].map(|bit| bits & bit != 0);
            let support = Support { floats, other_steps, velocities, simulation };
            let plan = Plan::new(Schema { support, ..CUBES }).unwrap();
            // In the order of the checks.
            let supports = [
                ("velocities", velocities),
                ("floats", floats),
                ("other steps", other_steps),
                ("simulation", simulation),
            ];
            for &(stages, needs) in &rows {
                let mut missing = supports.iter().filter(|(_, is_supported)| !is_supported);
                let expected = match missing.find(|(what, _)| needs.contains(what)) {
                    Some((what, _)) => Err(IllegalStages::Unsupported(what)),
                    None => Ok(stages),
                };
                assert_eq!(plan.legal(*stages), expected, "{support:?} {stages}");
            }
        }
    }
}
