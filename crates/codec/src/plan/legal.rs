//! Which stages a scene has.

use super::Plan;
use crate::precision::{Orientation, Position};
use crate::stages::{
    Coverage, Delta, IllegalStages, RelativeOrientation, RelativePosition, StageOptions, Stages,
    Velocity,
};

impl Plan {
    /// The stages with these options but the scene's own bits per component, if the scene has them. Of other scenes than
    /// [`CUBES`](crate::schema::CUBES), positions have the schema's own steps, for which
    /// [`QUANTIZED`](Position::QUANTIZED) stands.
    ///
    /// # Errors
    /// The first reason why it does not.
    pub fn legal(&self, options: StageOptions) -> Result<Stages, IllegalStages> {
        let mut options = options;
        if let Orientation::SmallestThree { bits } = &mut options.orientation
            && !self.is_demo
        {
            *bits = self.schema.component_bits;
        }
        let stages = options.check_for_any()?;
        self.check(stages)?;
        Ok(stages)
    }

    /// Checks that a sender of this scene can send complete packets of these stages in every tick: for stages that come from a
    /// receiver.
    ///
    /// # Errors
    /// The first reason why it cannot.
    pub fn check_complete(&self, stages: Stages) -> Result<(), IllegalStages> {
        match stages.coverage() {
            Coverage::Complete => self.check(stages),
            Coverage::Partial => Err(IllegalStages::PartialWanted),
        }
    }

    /// Whether the scene has these stages.
    pub(crate) fn check(&self, stages: Stages) -> Result<(), IllegalStages> {
        let scene = self.schema.component_bits;
        match stages.orientation {
            Orientation::SmallestThree { bits }
                if bits != scene && (!self.is_demo || stages.delta.is_arithmetic()) =>
            {
                return Err(IllegalStages::OtherComponentBits { bits, scene });
            }
            Orientation::Full if !self.is_demo => {
                return Err(IllegalStages::DemoOnly("orientations as floats"));
            }
            _ => {}
        }
        if self.is_demo {
            return Ok(());
        }
        if stages.position != Position::QUANTIZED {
            return Err(IllegalStages::DemoOnly(
                "positions in other steps than the scene's",
            ));
        }
        if stages.velocity != Velocity::Omitted {
            return Err(IllegalStages::DemoOnly("velocities"));
        }
        let predicts = stages.relative_position == RelativePosition::Predicted
            || stages.relative_orientation == RelativeOrientation::GrowingRanges
            || stages.delta == Delta::ArithmeticPredicted;
        match stages.delta {
            Delta::ArithmeticSimulated => Err(IllegalStages::DemoOnly("simulated scenes")),
            _ if predicts && !self.has_equal_steps() => Err(IllegalStages::UnequalSteps),
            _ => Ok(()),
        }
    }

    fn has_equal_steps(&self) -> bool {
        let [x, y, z] = self.bounds.map(|bounds| bounds.steps_per_unit);
        x == y && y == z
    }
}
