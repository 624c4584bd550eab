//! Linear velocities.
//!
//! ```text
//! full           f32 x 32 | f32 y 32 | f32 z 32
//! quantized      x 11 | y 11 | z 11
//! at-rest flag   at rest 1 = 1
//!                at rest 1 = 0 | x 11 | y 11 | z 11
//! affine         x 21 | y 21 | z 21                  differences
//! ```

use bitstream_io::BitWrite;

use super::Body;
use super::position::{take_affine_difference, take_floats};
use crate::ledger::BitKind;
use crate::quantize::affine::{AFFINE_VELOCITY, DIFFERENCE_BITS, DIFFERENCE_ZERO_POINT};
use crate::quantize::bounded::VELOCITY;
use crate::sink::{Sink, Word};
use crate::snapshot::QuantizedSnapshot;
use crate::source::{DecodeError, Source};
use crate::stages::Velocity;

const KIND: BitKind = BitKind::Velocity;

impl Body<'_> {
    pub(super) fn put_velocity<W: BitWrite>(
        &self,
        sink: &mut Sink<'_, W>,
        current: &QuantizedSnapshot,
        cube: usize,
    ) {
        match self.stages.velocity {
            Velocity::Omitted => {}
            Velocity::Full => {
                for word in current.velocities[cube] {
                    sink.put(KIND, 32, word.cast_unsigned());
                }
                sink.note_components(|| [32; 3]);
            }
            Velocity::Quantized => put_quantized(sink, current.velocities[cube]),
            Velocity::AtRestFlag => {
                let velocity = current.velocities[cube];
                let at_rest = velocity == [0; 3];
                sink.put_flag(KIND, at_rest);
                if !at_rest {
                    put_quantized(sink, velocity);
                }
            }
            Velocity::Affine => {
                let before = self.baseline.snapshot.velocities[cube];
                for (value, before) in current.velocities[cube].into_iter().zip(before) {
                    let code = value - before + DIFFERENCE_ZERO_POINT;
                    sink.put(KIND, DIFFERENCE_BITS, code.cast_unsigned());
                }
                sink.note_components(|| [DIFFERENCE_BITS; 3]);
            }
        }
    }

    pub(super) fn take_velocity(
        &self,
        source: &mut Source<'_>,
        decoded: &mut QuantizedSnapshot,
        cube: usize,
    ) -> Result<(), DecodeError> {
        match self.stages.velocity {
            Velocity::Omitted => return Ok(()),
            Velocity::Full => decoded.velocities[cube] = take_floats(source, KIND)?,
            Velocity::Quantized => decoded.velocities[cube] = take_quantized(source)?,
            Velocity::AtRestFlag => {
                decoded.velocities[cube] = if source.take_flag(KIND)? {
                    [0; 3]
                } else {
                    take_quantized(source)?
                };
            }
            Velocity::Affine => {
                for value in &mut decoded.velocities[cube] {
                    *value = take_affine_difference(source, KIND, *value, AFFINE_VELOCITY)?;
                }
            }
        }
        Ok(())
    }
}

fn put_quantized<W: BitWrite>(sink: &mut Sink<'_, W>, velocity: [i32; 3]) {
    for value in velocity {
        sink.put_word(KIND, Word::bounded(&VELOCITY, value));
    }
    sink.note_components(|| [VELOCITY.bits(); 3]);
}

fn take_quantized(source: &mut Source<'_>) -> Result<[i32; 3], DecodeError> {
    let mut velocity = [0; 3];
    for value in &mut velocity {
        *value = source.take_bounded(KIND, &VELOCITY)?;
    }
    Ok(velocity)
}
