//! Linear velocities.
//!
//! ```text
//! full           f32 x 32 | f32 y 32 | f32 z 32
//! quantized      x 11 | y 11 | z 11
//! at-rest flag   at rest 1 = 1
//!                at rest 1 = 0 | x 11 | y 11 | z 11
//! affine         x 21 | y 21 | z 21                  differences
//! ```

use super::Body;
use super::position::{affine_differences, floats};
use crate::bits::{BitStream, Direction};
use crate::ledger::BitKind;
use crate::quantize::affine::AFFINE_VELOCITY;
use crate::quantize::bounded::VELOCITY;
use crate::stages::Velocity;

const KIND: BitKind = BitKind::Velocity;

impl Body<'_> {
    pub(super) fn velocity<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        cube: usize,
        velocity: [i32; 3],
    ) -> Result<[i32; 3], D::Error> {
        match self.stages.velocity {
            Velocity::Omitted => Ok(velocity),
            Velocity::Full => floats(stream, KIND, velocity),
            Velocity::Quantized => quantized(stream, velocity),
            Velocity::AtRestFlag => match stream.flag(KIND, velocity == [0; 3])? {
                true => Ok([0; 3]),
                false => quantized(stream, velocity),
            },
            Velocity::Affine => {
                let before = self.baseline.snapshot.velocities()[cube];
                affine_differences(stream, KIND, velocity, before, [AFFINE_VELOCITY; 3])
            }
        }
    }
}

fn quantized<D: Direction>(
    stream: &mut BitStream<'_, D>,
    mut velocity: [i32; 3],
) -> Result<[i32; 3], D::Error> {
    let mut field = stream.field(KIND);
    for value in &mut velocity {
        *value = field.bounded(&VELOCITY, *value)?;
    }
    field.note_components(|| [VELOCITY.bits(); 3]);
    Ok(velocity)
}
