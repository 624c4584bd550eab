//! What changes of bodies take, and what it costs a receiver not to know of them.

use cubewire_codec::schema::Shape;
use cubewire_codec::{Plan, QuantizedSnapshot};

/// Errors count up to so many times [`UNIT_ERROR`].
pub(super) const MAX_UNIT_ERRORS: f32 = 16.0;

/// The error that doubles how fast a priority grows, in the scene's units of length.
pub(super) const UNIT_ERROR: f32 = 0.05;

/// An error as large as can be.
pub(super) const MAX_ERROR: f32 = UNIT_ERROR * MAX_UNIT_ERRORS;

/// The fewest estimated bits of a change.
pub(super) const MIN_BITS: f32 = 8.0;

/// How a body differs from what was sent of it.
pub(super) struct Change {
    /// In the scene's units of length.
    pub(super) error: f32,
    /// Estimated.
    pub(super) bits: f32,
}

/// Tells how bodies of one snapshot differ from another's.
pub(super) struct Changes<'a> {
    wanted: &'a QuantizedSnapshot,
    sent: &'a QuantizedSnapshot,
    steps: f32,
    steps_per_radian: f32,
}

impl<'a> Changes<'a> {
    pub(super) fn new(wanted: &'a QuantizedSnapshot, sent: &'a QuantizedSnapshot) -> Self {
        let plan = wanted.plan();
        Self {
            wanted,
            sent,
            steps: plan.bounds()[2].steps_per_unit as f32,
            steps_per_radian: f32::from(1_u16 << plan.schema().component_bits) / 3.0,
        }
    }

    pub(super) fn of(&self, slot: usize) -> Change {
        const WHOLE_BITS: f32 = 100.0;
        let Self { wanted, sent, .. } = self;
        let life = wanted.life(slot);
        if life != sent.life(slot) {
            return Change {
                error: MAX_ERROR,
                bits: WHOLE_BITS,
            };
        }
        let (to, from) = (wanted.body(slot), sent.body(slot));
        let moved = to.position.distance(from.position);
        let turned = to.orientation.angle_between(from.orientation);
        let kind = life.map_or(0, |life| life.kind);
        Change {
            error: moved + turned * reach(wanted.plan(), kind),
            bits: MIN_BITS
                + 3.0 * (1.0 + moved * self.steps).log2()
                + 3.0 * (1.0 + turned * self.steps_per_radian).log2(),
        }
    }
}

/// How far the surface of a body of a kind is from its centre.
fn reach(plan: &Plan, kind: u8) -> f32 {
    match plan.schema().kinds[usize::from(kind)].shape {
        Shape::Box([x, y, z]) => x.max(y).max(z),
        Shape::Ball(radius) => radius,
        Shape::Capsule { half, radius } => half + radius,
        Shape::Unknown => 0.5,
    }
}
