//! Checks which stages can be used for a scene.

use super::Plan;
use crate::precision::{Orientation, Position};
use crate::stages::{
    Coverage, Delta, IllegalStages, RelativeOrientation, RelativePosition, StageOptions, Stages,
    Velocity,
};

impl Plan {
    /// Returns the stages with these options, if the scene supports them. In scenes other than
    /// [`CUBES`](crate::schema::CUBES), the bits per component are replaced by the scene's, and positions must be
    /// [`QUANTIZED`](Position::QUANTIZED), which stands for the schema's steps.
    ///
    /// # Errors
    /// The first reason why the scene does not support them.
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
            return Err(IllegalStages::DemoOnly("positions in other steps than the scene's"));
        }
        if stages.velocity != Velocity::Omitted {
            return Err(IllegalStages::DemoOnly("velocities"));
        }
        let predicts = stages.relative_position == RelativePosition::Predicted
            || stages.relative_orientation == RelativeOrientation::GrowingRanges
            || stages.delta == Delta::ArithmeticPredicted;
        match stages.delta {
            Delta::ArithmeticSimulated => Err(IllegalStages::DemoOnly("simulated scenes")),
            _ if predicts && !self.has_equal_steps() => Err(IllegalStages::Combination(
                "predictions need equal steps along all axes of the scene",
            )),
            _ => Ok(()),
        }
    }

    fn has_equal_steps(&self) -> bool {
        let [x, y, z] = self.bounds.map(|bounds| bounds.steps_per_unit);
        x == y && y == z
    }
}
