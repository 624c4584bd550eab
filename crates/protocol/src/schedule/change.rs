//! Estimates the size of a body's change, and the error of a receiver that does not get it.

use cubewire_codec::QuantizedSnapshot;
use cubewire_codec::glam::{Quat, Vec3};
use cubewire_codec::schema::{Levels, Shape};
use cubewire_codec::stages::Orientation;

/// Errors are clamped to this multiple of [`UNIT_ERROR`].
pub(super) const MAX_UNIT_ERRORS: f32 = 16.0;

/// Error that doubles the growth of a priority, in the scene's units of length.
pub(super) const UNIT_ERROR: f32 = 0.05;

/// Errors are clamped to this value, in the scene's units of length.
pub(super) const MAX_ERROR: f32 = UNIT_ERROR * MAX_UNIT_ERRORS;

/// Minimum estimated bits of a change.
pub(super) const MIN_BITS: f32 = 8.0;

/// Estimated difference between a body's wanted state and the state that was last sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Distance that the body's surface moves, in the scene's units of length.
    pub(super) error: f32,
    /// Size in a packet, bits.
    pub(super) bits: f32,
}

impl Change {
    /// The change of a body that does not differ.
    pub(super) const NONE: Self = Self { error: 0.0, bits: MIN_BITS };
}

/// Compares the bodies of two snapshots.
pub(super) struct Changes<'a> {
    wanted: &'a QuantizedSnapshot,
    sent: &'a QuantizedSnapshot,
    /// Units of length per position step on each axis, or `None` if positions are floats.
    step: Option<Vec3>,
    /// Bits and levels of a quaternion component, or `None` if orientations are floats.
    component: Option<(u8, Levels)>,
    /// Position steps per unit of length, for the number of bits.
    steps: f32,
    /// Approximate steps of a quaternion component per radian, for the number of bits.
    steps_per_radian: f32,
}

impl<'a> Changes<'a> {
    pub(super) fn new(wanted: &'a QuantizedSnapshot, sent: &'a QuantizedSnapshot) -> Self {
        let plan = wanted.plan();
        let precision = wanted.precision();
        let bounds = plan.position_bounds(precision.position);
        Self {
            wanted,
            sent,
            step: bounds
                .map(|axes| Vec3::from_array(axes.map(|axis| 1.0 / axis.steps_per_unit as f32))),
            component: match precision.orientation {
                Orientation::Full => None,
                Orientation::SmallestThree { bits } => Some((bits, plan.schema().levels)),
            },
            steps: plan.bounds()[2].steps_per_unit as f32,
            steps_per_radian: f32::from(1_u16 << plan.schema().component_bits) / 3.0,
        }
    }

    /// Whether the slot had a body that is not the wanted one.
    pub(super) fn is_replaced(&self, slot: usize) -> bool {
        self.sent.life(slot).is_some_and(|life| self.wanted.life(slot) != Some(life))
    }

    /// Estimates the change of a slot. Another body in the slot has the maximum error.
    pub(super) fn of(&self, slot: usize) -> Change {
        // Approximate size of a body that is new in its slot.
        const WHOLE_BITS: f32 = 100.0;
        let Self { wanted, sent, .. } = self;
        if wanted.life(slot) != sent.life(slot) {
            return Change { error: MAX_ERROR, bits: WHOLE_BITS };
        }
        let (moved, turned) = (self.moved(slot), self.turned(slot));
        let swept = match turned > 0.0 {
            true => turned * reach(wanted, slot),
            false => 0.0,
        };
        // Each of three components takes about the binary logarithm of its steps.
        Change {
            error: moved + swept,
            bits: MIN_BITS
                + 3.0 * log2(1.0 + moved * self.steps)
                + 3.0 * log2(1.0 + turned * self.steps_per_radian),
        }
    }

    /// Distance between the positions, in the scene's units of length.
    fn moved(&self, slot: usize) -> f32 {
        let [to, from] = [self.wanted, self.sent];
        let Some(step) = self.step else {
            return to.body(slot).position.distance(from.body(slot).position);
        };
        let (to, from) = (to.position(slot), from.position(slot));
        let steps = [0, 1, 2].map(|axis| (to[axis] - from[axis]) as f32);
        (Vec3::from_array(steps) * step).length()
    }

    /// Angle between the orientations, radians.
    fn turned(&self, slot: usize) -> f32 {
        let between = |to: Quat, from: Quat| to.angle_between(from);
        let Some((bits, levels)) = self.component else {
            let [to, from] = [self.wanted, self.sent].map(|of| of.body(slot).orientation);
            return between(to, from);
        };
        let [to, from] = [self.wanted, self.sent].map(|of| of.smallest_three(slot));
        if to == from {
            return 0.0;
        }
        if to.largest != from.largest {
            return between(to.dequantize(bits, levels), from.dequantize(bits, levels));
        }
        // The chord between the unit quaternions, with positive omitted components, in component steps.
        let max = f32::from(levels.max_component(bits));
        let [to, from] = [to, from]
            .map(|three| three.components.map(|component| 2.0 * f32::from(component) - max));
        let omitted = |of: [f32; 3]| {
            let squares: f32 = of.iter().map(|component| component * component).sum();
            (2.0 * max * max - squares).max(0.0).sqrt()
        };
        let shift = omitted(to) - omitted(from);
        let squares =
            (0..3).map(|axis| (to[axis] - from[axis]).powi(2)).sum::<f32>() + shift * shift;
        let squares = squares / (2.0 * max * max);
        // A quaternion and its negative are the same rotation, so take the shorter of two chords. Their squares add
        // up to 4.
        let squares = squares.min(4.0 - squares).max(0.0);
        // 4 asin(chord / 2), up to a relative error of about 1 %.
        squares.sqrt() * (2.0 + squares / 12.0)
    }
}

/// Approximates the binary logarithm of a number ≥ 1 by straight lines between powers of two. Exact enough for
/// estimates, and the same on all machines.
fn log2(of: f32) -> f32 {
    (of.to_bits() - 1.0_f32.to_bits()) as f32 / (1 << (f32::MANTISSA_DIGITS - 1)) as f32
}

/// Returns the largest half extent of a body, which is about the distance that its surface turns per radian.
fn reach(of: &QuantizedSnapshot, slot: usize) -> f32 {
    let kind = of.life(slot).map_or(0, |life| life.kind);
    match of.plan().schema().kinds[usize::from(kind)].shape {
        Shape::Box([x, y, z]) => x.max(y).max(z),
        Shape::Ball(radius) => radius,
        Shape::Capsule { half, radius } => half + radius,
        Shape::Unknown => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::{BodyState, Plan, Snapshot, ladder};
    use proptest::prelude::*;

    use super::*;

    fn rotation() -> impl Strategy<Value = Quat> {
        let components = prop::array::uniform4(-1.0_f32..1.0).prop_map(Quat::from_array);
        components.prop_filter_map("has a direction", |q| (q.length() > 0.1).then(|| q.normalize()))
    }

    proptest! {
        #[test]
        fn an_error_is_that_of_what_is_seen(
            turned in rotation(),
            by in (rotation(), 0.0_f32..1.0),
            moved in prop::array::uniform3(-20.0_f32..20.0),
        ) {
            let precision = ladder::CHANGED_FLAGS.stages.precision();
            let body = |position, orientation| BodyState { position, orientation, ..BodyState::default() };
            let near = turned.slerp(by.0, by.1 * by.1);
            let states = [body(Vec3::Z, turned), body(Vec3::Z + Vec3::from_array(moved), near)];
            let [from, to] = states.map(|state| {
                let mut quantized = QuantizedSnapshot::new(Plan::cubes(), precision);
                quantized.quantize(&Snapshot { bodies: vec![state] }, precision).unwrap();
                quantized
            });
            let changes = Changes::new(&to, &from);
            let [shown_from, shown_to] = [from.body(0), to.body(0)];
            let moved = shown_to.position.distance(shown_from.position);
            let turned = shown_to.orientation.angle_between(shown_from.orientation);
            prop_assert!((changes.moved(0) - moved).abs() < 1e-3);
            prop_assert!((changes.turned(0) - turned).abs() < 0.01 + 0.03 * turned, "{} and {turned}", changes.turned(0));
        }

        #[test]
        fn the_logarithm_is_off_by_less_than_a_tenth(of in 1.0_f32..1e9) {
            prop_assert!((log2(of) - of.log2()).abs() < 0.1);
        }
    }
}
