//! Histograms of the differences in a lane's packets, by the number of bits that each difference needs.

use bevy::prelude::*;
use cubewire_codec::QuantizedSnapshot;

use super::lane::Sender;
use super::meter::LaneMeter;
use crate::simulation::CubeWorld;

/// Number of buckets, for 0 to 20 bits.
pub const DELTA_BITS: usize = 21;

/// Factor applied to the counts per packet. Weights fall to 1/e after 500 packets, about eight seconds at 60 Hz.
const DECAY: f32 = 0.998;

/// How often a difference needed each number of bits, for lanes with this component. Counts decay exponentially, so that
/// they describe the last few seconds.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct DeltaCounts {
    /// Position components of cubes that moved, in quantization steps. Bits of a signed number; 0 needs 0 bits.
    pub position: [f32; DELTA_BITS],
    /// Orientation components, if the baseline's orientation omits the same component.
    pub orientation: [f32; DELTA_BITS],
    /// Gap between successive changed cubes: index difference minus 1, or the index of the first. Bits of an unsigned number.
    pub index: [f32; DELTA_BITS],
    /// Number of orientations that omit another component than the baseline, and number that omit the same.
    pub largest: [f32; 2],
}

impl DeltaCounts {
    fn decay(&mut self) {
        let all = [&mut self.position, &mut self.orientation, &mut self.index];
        for count in all.into_iter().flatten().chain(&mut self.largest) {
            *count *= DECAY;
        }
    }

    /// Counts the differences between a snapshot and its baseline.
    fn add(&mut self, current: &QuantizedSnapshot, before: &QuantizedSnapshot) {
        if current.precision() != before.precision() || current.len() != before.len() {
            return;
        }
        self.decay();
        let has_orientations =
            current.precision().orientation != cubewire_codec::stages::Orientation::Full;
        let mut least = 0;
        for cube in 0..current.len() {
            let [to, from] = [current, before].map(|snapshot| snapshot.position(cube));
            let turned = has_orientations
                .then(|| [current, before].map(|snapshot| snapshot.smallest_three(cube)))
                .filter(|[to, from]| to != from);
            let is_marked = current.is_interacting(cube) != before.is_interacting(cube);
            if to == from && turned.is_none() && !is_marked {
                continue;
            }
            self.index[unsigned_bits((cube - least) as u32)] += 1.0;
            least = cube + 1;
            if to != from {
                for axis in 0..3 {
                    self.position[signed_bits(to[axis].wrapping_sub(from[axis]))] += 1.0;
                }
            }
            if let Some([to, from]) = turned {
                let is_same = to.largest == from.largest;
                self.largest[usize::from(is_same)] += 1.0;
                if is_same {
                    for slot in 0..3 {
                        let [to, from] =
                            [to, from].map(|packed| i32::from(packed.components[slot]));
                        self.orientation[signed_bits(to - from)] += 1.0;
                    }
                }
            }
        }
    }
}

/// Bits of a signed number in two's complement. 0 needs 0 bits. At most [`DELTA_BITS`] − 1.
fn signed_bits(value: i32) -> usize {
    match value {
        0 => 0,
        // Magnitude bits plus a sign bit. A negative value is complemented, as −16 fits in 5 bits and 16 does not.
        _ => (1 + unsigned_bits((value ^ (value >> 31)) as u32)).min(DELTA_BITS - 1),
    }
}

/// Bits of an unsigned number. 0 needs 0 bits. At most [`DELTA_BITS`] − 1.
fn unsigned_bits(value: u32) -> usize {
    ((u32::BITS - value.leading_zeros()) as usize).min(DELTA_BITS - 1)
}

/// Counts the snapshot sent in this tick. A change of stages resets the counts.
pub(super) fn count(
    world: Res<CubeWorld>,
    mut lanes: Query<(&Sender, &LaneMeter, &mut DeltaCounts)>,
) {
    let tick = world.tick();
    for (sender, meter, mut counts) in &mut lanes {
        let mut samples = meter.samples().iter().rev();
        let (Some(sample), before) = (samples.next(), samples.next()) else { continue };
        if before.is_some_and(|before| before.stages != sample.stages) {
            *counts = DeltaCounts::default();
        }
        let Some(packet) = sample.snapshots.first() else { continue };
        // Differences against the newest acked snapshot, even if the packet used another baseline.
        let get = |tick| sender.snapshots()?.get(tick);
        let age = packet.acked_ages_ticks[0];
        let baseline = age.and_then(|age| get(tick.checked_sub(age.into())?));
        if let (Some(current), Some(baseline)) = (get(tick), baseline) {
            counts.add(current.snapshot(), baseline.snapshot());
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::math::{Quat, vec3};
    use cubewire_codec::{BodyState, Plan, Snapshot, ladder};

    use super::*;

    #[test]
    fn bits_are_those_of_ranges() {
        for (value, bits) in [(0, 0), (-1, 1), (1, 2), (15, 5), (-16, 5), (16, 6), (-17, 6)] {
            assert_eq!(signed_bits(value), bits, "{value}");
        }
        assert_eq!(signed_bits(i32::MIN), DELTA_BITS - 1);
        for (value, bits) in [(0, 0), (1, 1), (7, 3), (8, 4)] {
            assert_eq!(unsigned_bits(value), bits, "{value}");
        }
    }

    #[test]
    fn changed_cubes_are_counted_component_by_component() {
        let cube =
            |x: usize| BodyState { position: vec3(x as f32, 1.0, 2.0), ..BodyState::default() };
        let before = Snapshot { bodies: (0..20).map(cube).collect() };
        let mut after = before.clone();
        // 15 steps for cube 3, and 100 for cube 12.
        after.bodies[3].position.x += 15.0 / 512.0;
        after.bodies[12].position.z += 100.0 / 512.0;
        after.bodies[13].orientation = Quat::from_rotation_x(3.0);
        let precision = ladder::RELATIVE_ORIENTATION.stages.precision();
        let quantized = |snapshot: &Snapshot| {
            let mut quantized = QuantizedSnapshot::new(Plan::cubes(), precision);
            quantized.quantize(snapshot, precision).unwrap();
            quantized
        };
        let mut counts = DeltaCounts::default();
        counts.add(&quantized(&after), &quantized(&before));
        assert_eq!(counts.position[0], 4.0);
        assert_eq!((counts.position[5], counts.position[8]), (1.0, 1.0));
        assert_eq!(counts.position.iter().sum::<f32>(), 6.0);
        // The gaps are 3, 8 and 0.
        assert_eq!((counts.index[2], counts.index[4], counts.index[0]), (1.0, 1.0, 1.0));
        assert_eq!(counts.largest, [1.0, 0.0]);
        assert_eq!(counts.orientation.iter().sum::<f32>(), 0.0);
    }
}
