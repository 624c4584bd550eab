//! Distances that matter to predictors and contexts.

/// Distances in steps that matter to predictors and contexts: those of cubes of 0.4 m in 1/512 m, scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lengths {
    /// Steps for each step of the cubes' scene.
    pub(crate) scale: f32,
    /// Classes of distance to the anchor for each step.
    pub(crate) distance_classes: f32,
    /// How far the anchor carries others.
    pub(crate) anchor_reach: f32,
    /// How far a body carries others.
    pub(crate) reach: f32,
    /// Height above which bodies seldom reach the floor within a packet's time.
    pub(crate) high: i32,
    /// Height below which the lowest point counts as touching the floor.
    pub(crate) contact: f32,
    /// Points above this height do not reach the floor within a tick at the speeds that matter.
    pub(crate) near_floor: f32,
    /// The cells in which resting bodies are found have 2 to this power of steps.
    pub(crate) cell_bits: u32,
    /// How much farther the anchor's side reaches than that of others.
    pub(crate) anchor_margin: i64,
    /// Upper bounds of the classes of clearance but the last.
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

    /// The class of the height of a lowest point above the floor.
    #[inline]
    pub(crate) fn clearance_class(&self, clearance: i32) -> usize {
        let bounds = self.clearances.iter();
        bounds.filter(|&&bound| clearance > bound).count()
    }
}

/// The power of two that is nearest to a length, rounded down from halfway between two.
const fn power_of_two(length: f32) -> u32 {
    let steps = length * (4.0 / 3.0);
    match steps as u32 {
        0 => 0,
        steps => steps.ilog2(),
    }
}
