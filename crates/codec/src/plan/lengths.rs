//! Distances for predictors and contexts.

/// Distances in steps for predictors and contexts. They are tuned for cubes of 0.4 m in 1/512 m, and scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lengths {
    /// Number of steps per step of the cubes' scene.
    pub(crate) scale: f32,
    /// Number of classes of distance to the anchor per step.
    pub(crate) distance_classes: f32,
    /// Distance within which the anchor carries other bodies.
    pub(crate) anchor_reach: f32,
    /// Distance within which a body carries other bodies.
    pub(crate) reach: f32,
    /// Height above which bodies rarely reach the floor within a packet's time.
    pub(crate) high: i32,
    /// Height below which the lowest point counts as touching the floor.
    pub(crate) contact: f32,
    /// Height above which points do not reach the floor within a tick at the speeds that matter.
    pub(crate) near_floor: f32,
    /// Binary logarithm of the side of a cell in the grid of resting bodies.
    pub(crate) cell_bits: u32,
    /// Distance by which the anchor's side is farther from its centre than another body's.
    pub(crate) anchor_margin: i64,
    /// Upper bounds of all classes of clearance except the last.
    pub(crate) clearances: [i32; 5],
}

impl Lengths {
    pub(super) fn new(scale: f32) -> Self {
        let whole = |length: f32| (length * scale).round() as i32;
        Self {
            scale,
            distance_classes: 1.0 / (64.0 * scale),
            anchor_reach: 900.0 * scale,
            reach: 350.0 * scale,
            high: whole(300.0),
            contact: 8.0 * scale,
            near_floor: 44.0 * scale,
            cell_bits: power_of_two(512.0 * scale).clamp(2, 14),
            anchor_margin: whole(280.0).into(),
            clearances: [-12.0, 5.0, 19.0, 59.0, 150.0].map(whole),
        }
    }

    /// Class of the height of the lowest point above the floor.
    #[inline]
    pub(crate) fn clearance_class(&self, clearance: i32) -> usize {
        self.clearances.iter().filter(|&&bound| clearance > bound).count()
    }
}

/// Binary logarithm of the power of two that is nearest to a length.
const fn power_of_two(length: f32) -> u32 {
    let steps = length * (4.0 / 3.0);
    match steps as u32 {
        0 => 0,
        steps => steps.ilog2(),
    }
}
