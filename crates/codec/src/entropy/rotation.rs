//! Rotations in f32.
//!
//! Only additions, multiplications, divisions, comparisons and square roots are used. IEEE 754 defines exact results
//! for them, so both sides get the same numbers. No math library is used. The check in the packet detects machines
//! that compute otherwise.

use std::ops::{Add, Div, Mul, Neg, Sub};

use wide::f32x4;

use crate::plan::Components;
use crate::quantize::smallest_three::SmallestThree;

pub(crate) type Vector<T = f32> = [T; 3];
/// x, y, z, w.
pub(crate) type Quaternion<T = f32> = [T; 4];
pub(crate) type Matrix<T = f32> = [Vector<T>; 3];

/// One number, or one per SIMD lane. A lane gives the same result as a single number.
pub(crate) trait Real:
    Copy
    + From<f32>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn root(self) -> Self;
    /// Returns `yes` if this number is less than `other`, else `no`.
    fn if_less(self, other: Self, yes: Self, no: Self) -> Self;
}

impl Real for f32 {
    #[inline]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline]
    fn if_less(self, other: Self, yes: Self, no: Self) -> Self {
        if self < other { yes } else { no }
    }
}

impl Real for f32x4 {
    #[inline]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline]
    fn if_less(self, other: Self, yes: Self, no: Self) -> Self {
        self.simd_lt(other).select(yes, no)
    }
}

#[inline]
pub(crate) fn dot<T: Real>(a: Vector<T>, b: Vector<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
pub(crate) fn cross<T: Real>(a: Vector<T>, b: Vector<T>) -> Vector<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline]
pub(crate) fn mul_add<T: Real>(a: Vector<T>, b: Vector<T>, times: T) -> Vector<T> {
    std::array::from_fn(|axis| a[axis] + b[axis] * times)
}

#[inline]
pub(crate) fn difference(a: [i32; 3], b: [i32; 3]) -> Vector {
    std::array::from_fn(|axis| (a[axis] - b[axis]) as f32)
}

#[inline]
pub(crate) fn transform<T: Real>(matrix: &Matrix<T>, vector: Vector<T>) -> Vector<T> {
    matrix.map(|row| dot(row, vector))
}

#[inline]
pub(crate) fn unpack(components: &Components, packed: SmallestThree) -> Quaternion {
    let [a, b, c] = packed.components.map(|component| components.value(component));
    let rest = (1.0 - dot([a, b, c], [a, b, c])).max(0.0).sqrt();
    match packed.largest {
        0 => [rest, a, b, c],
        1 => [a, rest, b, c],
        2 => [a, b, rest, c],
        _ => [a, b, c, rest],
    }
}

/// Nearest packed components, with `largest` omitted.
#[inline]
pub(crate) fn pack(components: &Components, quaternion: Quaternion, largest: usize) -> [i32; 3] {
    let [x, y, z, w] = quaternion;
    let others = match largest {
        0 => [y, z, w],
        1 => [x, z, w],
        2 => [x, y, w],
        _ => [x, y, z],
    };
    let sign = if quaternion[largest] < 0.0 { -1.0 } else { 1.0 };
    let scale = sign * components.scale;
    others.map(|component| {
        let packed = component * scale + components.middle;
        (packed as i32).clamp(0, components.max)
    })
}

/// Indices of the components by decreasing magnitude. Equal ones are in the order x, y, z, w.
pub(crate) fn by_size(quaternion: Quaternion) -> [usize; 4] {
    // The bits of non-negative floats have the order of the floats.
    let sizes = quaternion.map(|component| component.abs().to_bits());
    let mut indices = [0; 4];
    for index in 0..4 {
        // Ranks are counted instead of sorted, because branches on the order would be mispredicted.
        // Of equal components, the first has the smaller rank.
        let is_before = |&other: &usize| match other < index {
            true => sizes[other] >= sizes[index],
            false => sizes[other] > sizes[index],
        };
        indices[(0..4).filter(is_before).count()] = index;
    }
    indices
}

#[inline]
pub(crate) fn multiply<T: Real>(a: Quaternion<T>, b: Quaternion<T>) -> Quaternion<T> {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

#[inline]
pub(crate) fn relative_rotation<T: Real>(to: Quaternion<T>, from: Quaternion<T>) -> Quaternion<T> {
    multiply(to, [-from[0], -from[1], -from[2], from[3]])
}

/// Last row of the matrix: the heights of the ends of the body's axes.
#[inline]
pub(crate) fn height_row<T: Real>([x, y, z, w]: Quaternion<T>) -> Vector<T> {
    let two = T::from(2.0);
    [two * (x * z - y * w), two * (y * z + x * w), T::from(1.0) - two * (x * x + y * y)]
}

#[inline]
pub(crate) fn matrix<T: Real>(quaternion: Quaternion<T>) -> Matrix<T> {
    let [x, y, z, w] = quaternion;
    let (one, two) = (T::from(1.0), T::from(2.0));
    [
        [one - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w)],
        [two * (x * y + z * w), one - two * (x * x + z * z), two * (y * z - x * w)],
        height_row(quaternion),
    ]
}

/// Rotation from `from` to `to` as axis times angle, in radians, by the series of the arc sine. The error
/// is below 0.01 for angles up to one radian.
#[inline]
pub(crate) fn rotation_vector<T: Real>(to: Quaternion<T>, from: Quaternion<T>) -> Vector<T> {
    let [x, y, z, w] = relative_rotation(to, from);
    let sine = dot([x, y, z], [x, y, z]);
    let [first, second, third] = [1.0 / 6.0, 3.0 / 40.0, 5.0 / 112.0].map(T::from);
    let series = T::from(1.0) + sine * (first + sine * (second + sine * third));
    let factor = w.if_less(T::from(0.0), T::from(-2.0), T::from(2.0)) * series;
    [x, y, z].map(|component| component * factor)
}

/// Normalized orientation after a turn, by the series of sine and cosine.
#[inline]
pub(crate) fn turned<T: Real>(orientation: Quaternion<T>, turn: Vector<T>) -> Quaternion<T> {
    normalized(turned_by_series(orientation, turn))
}

#[inline]
pub(crate) fn normalized<T: Real>(quaternion: Quaternion<T>) -> Quaternion<T> {
    let per_length = T::from(1.0) / square(quaternion).root();
    quaternion.map(|part| part * per_length)
}

/// Like [`turned`], for a turn of less than half a radian. The length is then nearly 1, so that one step of Newton's
/// method normalizes it.
#[inline]
pub(crate) fn turned_a_little<T: Real>(
    orientation: Quaternion<T>,
    turn: Vector<T>,
) -> Quaternion<T> {
    let turned = turned_by_series(orientation, turn);
    let per_length = T::from(1.5) - square(turned) * T::from(0.5);
    turned.map(|part| part * per_length)
}

#[inline]
fn turned_by_series<T: Real>(orientation: Quaternion<T>, turn: Vector<T>) -> Quaternion<T> {
    let half = turn.map(|angle| angle * T::from(0.5));
    let square = dot(half, half);
    let one = T::from(1.0);
    let sine = one - square * T::from(1.0 / 6.0);
    let [x, y, z] = half.map(|half| half * sine);
    multiply([x, y, z, one - square * T::from(0.5)], orientation)
}

#[inline]
fn square<T: Real>([x, y, z, w]: Quaternion<T>) -> T {
    x * x + y * y + z * z + w * w
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::plan::Plan;
    use crate::schema::{CUBES, Levels, Schema};

    fn packed(quaternion: Quaternion) -> SmallestThree {
        SmallestThree::quantize(Quat::from_array(quaternion), 9, Levels::Odd).unwrap()
    }

    #[test]
    fn packed_orientations_survive_unpacking() {
        for levels in [Levels::Odd, Levels::Even] {
            let plan = Plan::new(Schema { levels, ..CUBES }).unwrap();
            let nine = &plan.components;
            let last = levels.max_component(9);
            for largest in 0..4 {
                for components in [[10, 500, 255], [100, 120, 140], [300, 250, last], [256; 3]] {
                    let orientation = SmallestThree { largest, components };
                    let packed = pack(nine, unpack(nine, orientation), usize::from(largest));
                    assert_eq!(packed, components.map(i32::from));
                    let negated = unpack(nine, orientation).map(|part| -part);
                    assert_eq!(pack(nine, negated, usize::from(largest)), packed);
                }
            }
        }
    }

    #[test]
    fn the_identity_is_exact_with_odd_levels_of_any_bits() {
        for component_bits in 2..=12 {
            let plan = Plan::new(Schema { component_bits, levels: Levels::Odd, ..CUBES });
            let components = &plan.unwrap().components;
            let identity = [0.0, 0.0, 0.0, 1.0];
            let middle = components.max / 2;
            assert_eq!(pack(components, identity, 3), [middle; 3]);
            let packed = SmallestThree { largest: 3, components: [middle as u16; 3] };
            assert_eq!(unpack(components, packed), identity);
        }
    }

    #[test]
    fn turns_agree_with_glam() {
        for angles in [[0.1, 0.0, 0.0], [0.0, -0.2, 0.05], [0.25, 0.1, -0.02]] {
            let start = Quat::from_euler(glam::EulerRot::XYZ, 0.4, -1.0, 2.0);
            let rotation = Quat::from_scaled_axis(angles.into());
            let end = turned(start.to_array(), angles);
            let exact = (rotation * start).to_array();
            for part in 0..4 {
                assert!((end[part] - exact[part]).abs() < 1e-4, "{end:?} {exact:?}");
            }
            for (part, exact) in rotation_vector(end, start.to_array()).into_iter().zip(angles) {
                assert!((part - exact).abs() < 1e-3, "{part} {exact}");
            }
            let same = packed(relative_rotation(end, start.to_array()));
            assert_eq!(same, packed(rotation.to_array()));
            let arm = [1.0, -2.0, 3.0];
            let moved = transform(&matrix(rotation.to_array()), arm);
            let exact = rotation * glam::Vec3::from(arm);
            for axis in 0..3 {
                assert!((moved[axis] - exact[axis]).abs() < 1e-5);
            }
        }
    }
}
