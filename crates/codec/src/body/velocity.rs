//! Linear velocities.
//!
//! ```text
//! full           f32 x 32 | f32 y 32 | f32 z 32
//! quantized      x 11 | y 11 | z 11
//! at-rest flag   at rest 1 = 1
//!                at rest 1 = 0 | x 11 | y 11 | z 11
//! affine         x 21 | y 21 | z 21                  differences
//! ```

use super::BodyCoder;
use super::position::{affine_differences, floats};
use crate::bits::{BitStream, Direction};
use crate::ledger::BitKind;
use crate::quantize::affine::AFFINE_VELOCITY;
use crate::quantize::bounded::{Bounded, VELOCITY};
use crate::stages::Velocity;

const KIND: BitKind = BitKind::Velocity;

impl BodyCoder<'_> {
    pub(super) fn velocity<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        body: usize,
        velocity: &mut [i32; 3],
    ) -> Result<(), D::Error> {
        const BOUNDS: [Bounded; 3] = [VELOCITY; 3];
        match self.stages.velocity {
            Velocity::Omitted => Ok(()),
            Velocity::Full => floats(stream, KIND, velocity),
            Velocity::Quantized => stream.bounded(KIND, &BOUNDS, velocity),
            Velocity::AtRestFlag => {
                if stream.flag(KIND, *velocity == [0; 3])? {
                    *velocity = [0; 3];
                    return Ok(());
                }
                stream.bounded(KIND, &BOUNDS, velocity)
            }
            Velocity::Affine => {
                let before = self.baseline.snapshot.velocities()[body];
                affine_differences(stream, KIND, velocity, before, &[AFFINE_VELOCITY; 3])
            }
        }
    }
}
