//! Quantization of snapshots from floats or integers.

use std::sync::Arc;

use super::{Fields, QuantizedSnapshot, batch};
use crate::ledger::BitKind;
use crate::precision::{Orientation, Precision, Velocity};
use crate::quantize::bounded::Bounded;
use crate::quantize::smallest_three::SmallestThree;
use crate::stages::IllegalStages;
use crate::state::{BodyState, Snapshot};

/// A body as integers: a smallest-three orientation, and a position in the schema's steps, with z up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantizedBody {
    /// Orientation, with the schema's number of bits per component.
    pub orientation: SmallestThree,
    /// Position, in the schema's steps, with z up.
    pub position: [i32; 3],
}

impl QuantizedSnapshot {
    /// Quantizes `snapshot` into this. Values are rounded to the nearest integer and clamped to their ranges. If
    /// bodies come and go in the scene, `snapshot` must be empty, and this gets the schema's number of empty slots.
    /// Reuses memory.
    ///
    /// # Errors
    /// [`QuantizeError`] for the first body with NaN, infinity, or a quaternion of length zero, even in a field that
    /// the precision omits, and for illegal numbers of bits or steps. `self` has no bodies after an error.
    pub fn quantize(
        &mut self,
        snapshot: &Snapshot,
        precision: Precision,
    ) -> Result<(), QuantizeError> {
        self.clear(precision);
        precision.check()?;
        if let Some(slots) = self.plan.max_slots() {
            if !snapshot.bodies.is_empty() {
                return Err(QuantizeError::Lives);
            }
            self.clear_slots(slots);
            return Ok(());
        }
        self.push_all(&snapshot.bodies).inspect_err(|_| self.clear(precision))?;
        let words = self.len() * self.plan.words;
        self.words.resize(words, 0);
        Ok(())
    }

    /// Appends all bodies, quantized in batches if the precision allows it.
    fn push_all(&mut self, bodies: &[BodyState]) -> Result<(), QuantizeError> {
        let bounds = self.plan.position_bounds(self.precision.position);
        let plan = Arc::clone(&self.plan);
        let mut batch = batch::Batch::new(&plan, self.precision);
        for (first, bodies) in (0..).step_by(batch::BODIES).zip(bodies.chunks(batch::BODIES)) {
            // A batch with an invalid or unusual body has no result. Quantizing one body at a time finds the error.
            let is_quantized = batch.as_mut().is_some_and(|batch| batch.quantize(bodies));
            if let Some(batch) = batch.as_ref().filter(|_| is_quantized) {
                self.packed_positions.extend_from_slice(batch.packed_positions());
                self.narrow.extend_from_slice(batch.orientations());
                continue;
            }
            for (index, body) in (first..).zip(bodies) {
                let fields = self.fields_of(index, body, bounds.as_ref())?;
                self.push_fields(&fields);
            }
        }
        Ok(())
    }

    /// Quantizes a body. `bounds` are the bounds of positions; `None` if positions are floats.
    pub(super) fn fields_of(
        &self,
        index: usize,
        body: &BodyState,
        bounds: Option<&[Bounded; 3]>,
    ) -> Result<Fields, QuantizeError> {
        let finite = |field, components: &[f32]| {
            let value = components.iter().copied().find(|component| !component.is_finite());
            let error = value.map(|value| QuantizeError::NotFinite { body: index, field, value });
            error.map_or(Ok(()), Err)
        };
        let position = self.plan.to_core(body.position).to_array();
        let velocity = self.plan.to_core(body.linear_velocity).to_array();
        let orientation = self.plan.rotation_to_core(body.orientation);
        finite(BitKind::Position, &position)?;
        finite(BitKind::Orientation, &orientation.to_array())?;
        finite(BitKind::Velocity, &velocity)?;
        // Full orientations also need a direction. The number of bits does not matter for that.
        let bits = match self.precision.orientation {
            Orientation::Full => 9,
            Orientation::SmallestThree { bits } => bits,
        };
        let smallest_three = SmallestThree::quantize(orientation, bits, self.plan.schema().levels)
            .ok_or(QuantizeError::NoDirection { body: index })?;
        let (quaternion, smallest_three) = match self.precision.orientation {
            Orientation::Full => (words(orientation.to_array()), Default::default()),
            Orientation::SmallestThree { .. } => (Default::default(), smallest_three),
        };
        let position = match bounds {
            None => words(position),
            Some(bounds) => quantize(position, bounds),
        };
        Ok(Fields {
            position,
            interacting: body.interacting && self.plan.has_flag(),
            quaternion,
            smallest_three,
            velocity: self.velocity_of(velocity),
        })
    }

    fn velocity_of(&self, velocity: [f32; 3]) -> [i32; 3] {
        match self.plan.velocity_bounds(self.precision.velocity) {
            Some(bounds) => quantize(velocity, &[bounds; 3]),
            None if self.precision.velocity == Velocity::Omitted => [0; 3],
            None => words(velocity),
        }
    }
}

fn quantize(values: [f32; 3], bounds: &[Bounded; 3]) -> [i32; 3] {
    std::array::from_fn(|axis| bounds[axis].quantize(values[axis]))
}

/// Bits of `f32` numbers as integers.
fn words<const N: usize>(values: [f32; N]) -> [i32; N] {
    values.map(|value| value.to_bits().cast_signed())
}

/// Error of quantizing a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum QuantizeError {
    /// Illegal number of bits of a smallest-three component, or of steps per metre.
    #[error(transparent)]
    Precision(#[from] IllegalStages),
    #[error("bodies of this scene can spawn and despawn: put them into slots one by one")]
    Lives,
    #[error("body {body}: {field} has the component {value}, which is not a finite number")]
    NotFinite { body: usize, field: BitKind, value: f32 },
    #[error("body {body}: the orientation is a quaternion of length zero")]
    NoDirection { body: usize },
    #[error("body {body}: {field} {value} is outside {min}..={max}")]
    OutOfRange { body: usize, field: BitKind, value: i64, min: i64, max: i64 },
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};
    use proptest::prelude::*;

    use super::*;
    use crate::plan::Plan;
    use crate::precision::Position;
    use crate::schema::{CUBES, Levels, Schema};

    /// Quantizes without batches.
    fn plain(
        plan: &Arc<Plan>,
        bodies: &[BodyState],
        precision: Precision,
    ) -> Result<QuantizedSnapshot, QuantizeError> {
        let mut plain = QuantizedSnapshot::new(Arc::clone(plan), precision);
        let bounds = plain.plan.position_bounds(precision.position);
        for (index, body) in bodies.iter().enumerate() {
            let fields = plain.fields_of(index, body, bounds.as_ref())?;
            plain.push_fields(&fields);
        }
        Ok(plain)
    }

    /// Numbers of all sizes, halves of steps, and a few that are not finite.
    fn number() -> impl Strategy<Value = f32> {
        prop_oneof![
            200 => -300.0_f32..300.0,
            200 => (-700_000..700_000).prop_map(|halves| halves as f32 / 2048.0),
            50 => -1e-3_f32..1e-3,
            20 => prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO,
            1 => prop::num::f32::ANY,
        ]
    }

    /// Components that are arbitrary, small, zero, or equal to others.
    fn component() -> impl Strategy<Value = f32> {
        let small = (-1.0_f32..1.0, 0..45_i32).prop_map(|(part, power)| part * 0.5_f32.powi(power));
        let equal =
            prop::sample::select(vec![0.0, -0.0, 0.5, -0.5, std::f32::consts::FRAC_1_SQRT_2]);
        prop_oneof![3 => -1.0_f32..1.0, 2 => small, 2 => equal]
    }

    fn body() -> impl Strategy<Value = BodyState> {
        let length = prop_oneof![20 => Just(1.0_f32), 1 => 1e-8_f32..100.0];
        let quaternion = (prop::array::uniform4(component()), any::<bool>(), length);
        let orientation = quaternion.prop_map(|(parts, normalize, length)| {
            let quaternion = Quat::from_array(parts);
            match normalize && quaternion.length() > 1e-3 {
                true => quaternion.normalize() * length,
                false => quaternion,
            }
        });
        let vector = || prop::array::uniform3(number()).prop_map(Vec3::from_array);
        (vector(), orientation, vector(), any::<bool>()).prop_map(
            |(position, orientation, linear_velocity, interacting)| BodyState {
                position,
                orientation,
                linear_velocity,
                interacting,
            },
        )
    }

    fn precision() -> impl Strategy<Value = Precision> {
        let velocity = prop::sample::select(&Velocity::ALL);
        let position = prop_oneof![
            4 => (5..=12_u16).prop_map(|log| Position::Quantized { steps_per_metre: 1 << log }),
            1 => prop::sample::select(vec![Position::Full, Position::Affine]),
        ];
        let orientation = prop_oneof![
            6 => (2..=15_u8).prop_map(|bits| Orientation::SmallestThree { bits }),
            1 => Just(Orientation::Full),
        ];
        (orientation, velocity, position).prop_map(|(orientation, velocity, position)| Precision {
            orientation,
            velocity,
            position,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(match ProptestConfig::default().cases {
            cases if cfg!(miri) => cases,
            cases => 8 * cases,
        }))]
        #[test]
        fn many_bodies_are_quantized_as_each_of_them(
            bodies in prop::collection::vec(body(), 0..70),
            precision in precision(),
            levels in prop::sample::select(vec![Levels::Odd, Levels::Even]),
        ) {
            let plan = Plan::new(Schema { levels, ..CUBES }).unwrap();
            let expected = plain(&plan, &bodies, precision);
            let mut quantized = QuantizedSnapshot::new(plan, precision);
            let outcome = quantized.quantize(&Snapshot { bodies }, precision);
            match expected {
                Ok(expected) => {
                    prop_assert_eq!(outcome, Ok(()));
                    prop_assert_eq!(quantized, expected);
                }
                // NaN is not equal to itself.
                Err(error) => {
                    prop_assert_eq!(format!("{:?}", outcome.unwrap_err()), format!("{error:?}"));
                    prop_assert!(quantized.is_empty());
                }
            }
        }
    }
}
