//! Quantization of several bodies at a time.
//!
//! [`Bounded::quantize`] and [`SmallestThree::quantize`] define the integers, in f64. Here they are computed in
//! f32, column by column, so that the compiler can use SIMD instructions. If a rounding error could change an
//! integer, it is computed by the definition.

use super::PackedPosition;
use crate::plan::Plan;
use crate::precision::Precision;
use crate::quantize::bounded::Bounded;
use crate::quantize::smallest_three::{Levels, MAX_NARROW_BITS, SmallestThree};
use crate::state::BodyState;

/// Maximum number of bodies in a batch.
pub(super) const BODIES: usize = 32;

type Lanes<T> = [T; BODIES];

/// Up to [`BODIES`] bodies as columns.
pub(super) struct Batch<'p> {
    plan: &'p Plan,
    bounds: [Bounded; 3],
    component_bits: u8,
    count: usize,
    position: [Lanes<f32>; 3],
    orientation: [Lanes<f32>; 4],
    /// 0 if the velocity is finite, otherwise NaN.
    velocity: Lanes<f32>,
    interacting: Lanes<bool>,
    steps: [Lanes<i32>; 3],
    /// Whether all components are finite and the orientation has about unit length.
    is_usual: Lanes<bool>,
    /// Whether rounding errors cannot have changed the integers of the orientation.
    is_certain: Lanes<bool>,
    packed_positions: Lanes<PackedPosition>,
    orientations: Lanes<u32>,
}

impl<'p> Batch<'p> {
    /// Returns `None` if a snapshot does not pack the precision, if the steps per unit are not powers of two, or if
    /// components have more than [`MAX_NARROW_BITS`] bits.
    pub(super) fn new(plan: &'p Plan, precision: Precision) -> Option<Self> {
        let bits = precision.packed_component_bits();
        let component_bits = bits.filter(|&bits| bits <= MAX_NARROW_BITS)?;
        let bounds = plan.position_bounds(precision.position)?;
        let is_exact = |bounds: &Bounded| bounds.steps_per_unit.to_bits() << 12 == 0;
        bounds.iter().all(is_exact).then(|| Self {
            plan,
            bounds,
            component_bits,
            count: 0,
            position: [[0.0; BODIES]; 3],
            orientation: [[0.0; BODIES]; 4],
            velocity: [0.0; BODIES],
            interacting: [false; BODIES],
            steps: [[0; BODIES]; 3],
            is_usual: [false; BODIES],
            is_certain: [false; BODIES],
            packed_positions: [PackedPosition::default(); BODIES],
            orientations: [0; BODIES],
        })
    }

    /// Quantizes up to [`BODIES`] bodies. Returns false, without a result, if one of them has a component that is not
    /// finite or a quaternion that is far from unit length.
    pub(super) fn quantize(&mut self, bodies: &[BodyState]) -> bool {
        self.gather(bodies);
        self.check();
        if self.is_usual[..self.count].contains(&false) {
            return false;
        }
        for axis in 0..3 {
            round(&self.position[axis], &self.bounds[axis], &mut self.steps[axis]);
        }
        self.pack();
        for (lane, body) in bodies.iter().enumerate() {
            let steps = [0, 1, 2].map(|axis| self.steps[axis][lane]);
            self.packed_positions[lane] = PackedPosition::new(steps, self.interacting[lane]);
            if !self.is_certain[lane] {
                let orientation = self.plan.rotation_to_core(body.orientation);
                let levels = self.plan.schema().levels;
                let exact = SmallestThree::quantize(orientation, self.component_bits, levels)
                    .expect("it is about as long as a unit quaternion");
                self.orientations[lane] = exact.to_narrow_word();
            }
        }
        true
    }

    /// Positions of the last batch.
    pub(super) fn packed_positions(&self) -> &[PackedPosition] {
        &self.packed_positions[..self.count]
    }

    /// Orientations of the last batch, as [narrow words](SmallestThree::to_narrow_word).
    pub(super) fn orientations(&self) -> &[u32] {
        &self.orientations[..self.count]
    }

    fn gather(&mut self, bodies: &[BodyState]) {
        self.count = bodies.len();
        for (lane, body) in bodies.iter().enumerate() {
            let position = self.plan.to_core(body.position).to_array();
            for (column, part) in self.position.iter_mut().zip(position) {
                column[lane] = part;
            }
            let orientation = self.plan.rotation_to_core(body.orientation).to_array();
            for (column, part) in self.orientation.iter_mut().zip(orientation) {
                column[lane] = part;
            }
            self.velocity[lane] = body.linear_velocity.element_sum() * 0.0;
            self.interacting[lane] = body.interacting && self.plan.has_flag();
        }
    }

    fn check(&mut self) {
        let [x, y, z] = &self.position;
        let [a, b, c, d] = &self.orientation;
        for lane in 0..BODIES {
            // 0 times infinity and 0 times NaN are NaN.
            let zero = x[lane] * 0.0 + y[lane] * 0.0 + z[lane] * 0.0 + self.velocity[lane];
            let square = square(a[lane], b[lane], c[lane], d[lane]);
            self.is_usual[lane] = (zero == 0.0) & (square > 1e-3) & (square < 1e3);
        }
    }

    /// Computes the smallest three of each orientation, and whether rounding errors cannot have changed them.
    ///
    /// A component c of a quaternion of length l has the integer round((c / l × √2 + 1) / 2 × max), which equals
    /// floor(e + (max + 1) / 2) with e = c / l × max / √2. The second summand is the sum of the whole number `middle`
    /// and of `shift`, which is ½ if max is even and 0 otherwise. The relative error of e is below seven roundings,
    /// 4.2 × 10⁻⁷. Adding the shift rounds once more. The floor is certain if the sum with the shift is farther from
    /// the nearest integer than both errors. Zero has no error, so upright bodies are certain.
    fn pack(&mut self) {
        let levels = self.plan.schema().levels;
        let max = levels.max_component(self.component_bits);
        let middle = f32::from(max.div_ceil(2));
        let shift = match levels {
            Levels::Odd => 0.5,
            Levels::Even => 0.0,
        };
        let max = f32::from(max);
        let [x, y, z, w] = &self.orientation;
        for lane in 0..BODIES {
            let [x, y, z, w] = [x[lane], y[lane], z[lane], w[lane]];
            let length = square(x, y, z, w).sqrt();
            let (largest, signed) = (0_u32, x);
            let is_larger = y.abs() > signed.abs();
            let (largest, signed) = (select(is_larger, 1, largest), select(is_larger, y, signed));
            let is_larger = z.abs() > signed.abs();
            let (largest, signed) = (select(is_larger, 2, largest), select(is_larger, z, signed));
            let is_larger = w.abs() > signed.abs();
            let (largest, signed) = (select(is_larger, 3, largest), select(is_larger, w, signed));
            let scale = (max * std::f32::consts::FRAC_1_SQRT_2 / length).copysign(signed);
            let small = [
                select(largest == 0, y, x),
                select(largest <= 1, z, y),
                select(largest <= 2, w, z),
            ];
            let mut word = largest << 30;
            let mut is_certain = true;
            for (slot, component) in small.into_iter().enumerate() {
                let scaled = component * scale;
                let shifted = scaled + shift;
                let near = (shifted + ROUND) - ROUND;
                let over = shifted - near;
                let floor = near - select(over < 0.0, 1.0, 0.0);
                let error = (scaled.abs() + shift) * 1e-6 + 1e-11;
                is_certain &= (over.abs() > error) | (scaled == 0.0);
                word |= integer(floor + middle).cast_unsigned() << (20 - 10 * slot);
            }
            self.orientations[lane] = word;
            self.is_certain[lane] = is_certain;
        }
    }
}

/// Rounds like [`Bounded::quantize`]. The steps per unit are a power of two, so products with them are exact.
fn round(values: &Lanes<f32>, bounds: &Bounded, out: &mut Lanes<i32>) {
    let steps = bounds.steps_per_unit as f32;
    let (min, max) = (bounds.min as f32, bounds.max as f32);
    for (value, out) in values.iter().zip(out) {
        let scaled = value * steps;
        let scaled = select(scaled < max, scaled, max);
        let scaled = select(scaled > min, scaled, min);
        let near = (scaled + ROUND) - ROUND;
        // `near` rounds halves to even; they have to be rounded away from zero.
        let over = scaled - near;
        let more = select((over == 0.5) & (scaled > 0.0), 1.0, 0.0);
        let less = select((over == -0.5) & (scaled < 0.0), 1.0, 0.0);
        *out = integer(near + more - less);
    }
}

/// Rounds a number within ±2²² when added to it, because the sum has no bits for fractions.
const ROUND: f32 = 12_582_912.0;

/// Converts a whole number within ±2²² to an integer.
#[inline]
fn integer(whole: f32) -> i32 {
    (whole + ROUND).to_bits().cast_signed() - ROUND.to_bits().cast_signed()
}

#[inline]
fn square(x: f32, y: f32, z: f32, w: f32) -> f32 {
    x * x + y * y + z * z + w * w
}

/// Selects without a branch.
#[inline]
fn select<T>(condition: bool, yes: T, no: T) -> T {
    if condition { yes } else { no }
}
