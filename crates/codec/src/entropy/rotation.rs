//! Rotations in f32.
//!
//! Only additions, multiplications, divisions, comparisons and square roots: IEEE 754 defines one result for
//! each of them, so that both sides get the same. No math library is used. A check in the packet covers the
//! rest.

use crate::quantize::smallest_three::SmallestThree;

pub(crate) type Vector = [f32; 3];
/// x, y, z, w.
pub(crate) type Quaternion = [f32; 4];
/// Rows.
pub(crate) type Matrix = [Vector; 3];

pub(crate) fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// `a` + `b` × `times`.
pub(crate) fn add(a: Vector, b: Vector, times: f32) -> Vector {
    std::array::from_fn(|axis| a[axis] + b[axis] * times)
}

pub(crate) fn transform(matrix: &Matrix, vector: Vector) -> Vector {
    matrix.map(|row| dot(row, vector))
}

const HALF_ROOT: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Components have nine bits.
const MAX_COMPONENT: f32 = 511.0;

pub(crate) fn unpack(packed: SmallestThree) -> Quaternion {
    let small = packed.components;
    let [a, b, c] =
        small.map(|component| (f32::from(component) / MAX_COMPONENT * 2.0 - 1.0) * HALF_ROOT);
    let rest = (1.0 - dot([a, b, c], [a, b, c])).max(0.0).sqrt();
    match packed.largest {
        0 => [rest, a, b, c],
        1 => [a, rest, b, c],
        2 => [a, b, rest, c],
        _ => [a, b, c, rest],
    }
}

/// The nearest packed components, with `largest` omitted.
pub(crate) fn pack(quaternion: Quaternion, largest: usize) -> [i32; 3] {
    let [x, y, z, w] = quaternion;
    let others = match largest {
        0 => [y, z, w],
        1 => [x, z, w],
        2 => [x, y, w],
        _ => [x, y, z],
    };
    let sign = if quaternion[largest] < 0.0 { -1.0 } else { 1.0 };
    others.map(|component| {
        let packed = (component * sign / HALF_ROOT * 0.5 + 0.5) * MAX_COMPONENT;
        ((packed + 0.5) as i32).clamp(0, MAX_COMPONENT as i32)
    })
}

/// Indices of the components, by magnitude, the largest first; of equals, the first in x, y, z, w.
pub(crate) fn by_size(quaternion: Quaternion) -> [usize; 4] {
    let mut indices = [0, 1, 2, 3];
    let larger = |a: usize, b: usize| quaternion[b].abs() > quaternion[a].abs();
    for end in 1..4 {
        for index in (0..end).rev() {
            if larger(indices[index], indices[index + 1]) {
                indices.swap(index, index + 1);
            }
        }
    }
    indices
}

pub(crate) fn multiply(a: Quaternion, b: Quaternion) -> Quaternion {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

/// The rotation from `from` to `to`.
pub(crate) fn step(to: Quaternion, from: Quaternion) -> Quaternion {
    multiply(to, [-from[0], -from[1], -from[2], from[3]])
}

/// The last row of the matrix: the heights of the body's axes.
pub(crate) fn height_row([x, y, z, w]: Quaternion) -> Vector {
    [
        2.0 * (x * z - y * w),
        2.0 * (y * z + x * w),
        1.0 - 2.0 * (x * x + y * y),
    ]
}

pub(crate) fn matrix(quaternion: Quaternion) -> Matrix {
    let [x, y, z, w] = quaternion;
    [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - z * w),
            2.0 * (x * z + y * w),
        ],
        [
            2.0 * (x * y + z * w),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - x * w),
        ],
        height_row(quaternion),
    ]
}

/// The rotation from `from` to `to` as axis times angle, in radians, by the series of the arc sine. The error
/// is below a hundredth for angles up to one radian.
pub(crate) fn turn(to: Quaternion, from: Quaternion) -> Vector {
    let [x, y, z, w] = step(to, from);
    let sine = dot([x, y, z], [x, y, z]);
    let series = 1.0 + sine * (1.0 / 6.0 + sine * (3.0 / 40.0 + sine * (5.0 / 112.0)));
    let factor = if w < 0.0 { -2.0 } else { 2.0 } * series;
    [x, y, z].map(|component| component * factor)
}

/// The orientation after a small turn, by the series of sine and cosine; normalized.
pub(crate) fn turned(orientation: Quaternion, turn: Vector) -> Quaternion {
    let half = turn.map(|angle| angle * 0.5);
    let square = dot(half, half);
    let [x, y, z] = half.map(|half| half * (1.0 - square / 6.0));
    let turned = multiply([x, y, z, 1.0 - square / 2.0], orientation);
    let length = turned.iter().map(|part| part * part).sum::<f32>().sqrt();
    turned.map(|part| part / length)
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    fn packed(quaternion: Quaternion) -> SmallestThree {
        SmallestThree::quantize(Quat::from_array(quaternion), 9).unwrap()
    }

    #[test]
    fn packed_orientations_survive_unpacking() {
        for largest in 0..4 {
            for components in [[10, 500, 255], [100, 120, 140], [300, 250, 511], [256; 3]] {
                let orientation = SmallestThree {
                    largest,
                    components,
                };
                let packed = pack(unpack(orientation), usize::from(largest));
                assert_eq!(packed, components.map(i32::from));
                let negated = unpack(orientation).map(|part| -part);
                assert_eq!(pack(negated, usize::from(largest)), packed);
            }
        }
    }

    #[test]
    fn components_are_ordered_by_size() {
        assert_eq!(by_size([0.1, -0.9, 0.3, 0.2]), [1, 2, 3, 0]);
        assert_eq!(by_size([0.5, -0.5, 0.5, 0.5]), [0, 1, 2, 3]);
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
            for (part, exact) in turn(end, start.to_array()).into_iter().zip(angles) {
                assert!((part - exact).abs() < 1e-3, "{part} {exact}");
            }
            let same = packed(step(end, start.to_array()));
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
