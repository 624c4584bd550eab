//! Conversion of poses to and from integers.

use std::f32::consts::{FRAC_1_SQRT_2, SQRT_2};

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::quantize::bounded::POSITION;
use cubewire_codec::schema::Levels;
use cubewire_codec::{BodyState, Precision, QuantizedSnapshot, ladder, stages};
use cubewire_scene::{CUBES, MAX_PLAYERS, cubes, initial_position};
use glam::{Quat, Vec3};

const ORIENTATION_BITS: u8 = match PRECISION.orientation {
    stages::Orientation::SmallestThree { bits } => bits,
    stages::Orientation::Full => panic!("orientations are quantized"),
};

/// Levels of a component in [`CUBES`](cubewire_codec::schema::CUBES).
const LEVELS: Levels = Levels::Even;

/// Precision of the snapshots that worlds are built from.
pub(crate) const PRECISION: Precision = ladder::SIMULATED.stages.options().precision();

/// Whether worlds can be built from a snapshot: it has all cubes of one to four players, in this precision.
pub(crate) fn is_of_scene(snapshot: &QuantizedSnapshot) -> bool {
    (CUBES..=cubes(MAX_PLAYERS)).contains(&snapshot.len()) && snapshot.precision() == PRECISION
}

#[derive(PartialEq)]
pub(crate) struct Integers {
    pub(crate) position: [i32; 3],
    pub(crate) orientation: SmallestThree,
}

impl Integers {
    pub(crate) fn of(snapshot: &QuantizedSnapshot, cube: usize) -> Self {
        Self { position: snapshot.position(cube), orientation: snapshot.smallest_three(cube) }
    }

    /// Quantizes a pose. `None` if the orientation is not finite or zero.
    pub(crate) fn quantize(position: Vec3, orientation: Quat) -> Option<Self> {
        let [x, y, z] = position.to_array();
        let [of_x, of_y, of_z] = POSITION;
        Some(Self {
            position: [of_x.quantize(x), of_y.quantize(y), of_z.quantize(z)],
            orientation: SmallestThree::quantize(orientation, ORIENTATION_BITS, LEVELS)?,
        })
    }
}

/// Returns the pose of a cube near the centre of its quantization cell, so that it quantizes to the snapshot's
/// integers. A cube at its initial position gets the exact initial pose.
pub(crate) fn dequantize(snapshot: &QuantizedSnapshot, cube: usize) -> BodyState {
    let mut state = snapshot.body(cube);
    let initial = initial_position(cube);
    if Integers::quantize(initial, Quat::IDENTITY) == Some(Integers::of(snapshot, cube)) {
        state.position = initial;
        state.orientation = Quat::IDENTITY;
        return state;
    }
    let code = snapshot.smallest_three(cube);
    let is_same = |&orientation: &Quat| {
        SmallestThree::quantize(orientation, ORIENTATION_BITS, LEVELS) == Some(code)
    };
    if !is_same(&state.orientation) {
        // At the limits of the components, the omitted component can come out smaller than another one. Pulling the
        // three components towards zero makes the omitted one larger.
        let pulls = [0.125, 0.25, 0.375, 0.49];
        let nearest = pulls.map(|pull| pulled(code, pull)).into_iter().find(is_same);
        state.orientation = nearest.unwrap_or(state.orientation);
    }
    state
}

/// Orientation of a code with its three components moved towards zero by `pull` steps.
fn pulled(code: SmallestThree, pull: f32) -> Quat {
    let step = SQRT_2 / f32::from(LEVELS.max_component(ORIENTATION_BITS));
    let mut components = [0.0; 4];
    let mut left = code.components.into_iter();
    for (_, component) in (0..).zip(&mut components).filter(|&(i, _)| i != code.largest) {
        let value = f32::from(left.next().unwrap_or_default()) * step - FRAC_1_SQRT_2;
        *component = value.signum() * (value.abs() - pull * step).max(0.0);
    }
    let sum: f32 = components.iter().map(|component| component * component).sum();
    components[usize::from(code.largest)] = (1.0 - sum).max(0.0).sqrt();
    Quat::from_array(components).normalize()
}

#[cfg(test)]
mod tests {
    use cubewire_codec::Plan;
    use cubewire_codec::Snapshot;

    use super::*;

    #[test]
    fn every_orientation_that_is_quantized_has_a_value_with_the_same_integers() {
        let mut seed = 1_u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed) / f64::from(u32::MAX) * 2.0 - 1.0
        };
        let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), PRECISION);
        let mut pulled = 0;
        for round in 0..100_000 {
            let mut components = [random(), random(), random(), random()];
            // Two, three or four nearly equal components.
            let equal = round % 4 + 1;
            for component in &mut components[..equal] {
                *component = component.signum() * (0.9 + 0.002 * random());
            }
            let orientation = Quat::from_array(components.map(|c| c as f32)).normalize();
            let cube = BodyState { orientation, ..BodyState::default() };
            let cubes = vec![cube];
            snapshot.quantize(&Snapshot { bodies: cubes }, PRECISION).unwrap();
            let value = dequantize(&snapshot, 0).orientation;
            let integers = Integers::quantize(Vec3::ZERO, value);
            assert!(integers == Some(Integers::of(&snapshot, 0)), "{orientation}");
            assert!(value.is_normalized());
            pulled += usize::from(value != snapshot.body(0).orientation);
        }
        assert!((100..50_000).contains(&pulled), "{pulled}");
    }
}
