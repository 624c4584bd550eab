//! Distributions of the differences that a lane's packets carry, by the bits that they need.

use bevy::prelude::*;
use cubewire_codec::QuantizedSnapshot;

use super::lane::Sender;
use super::meter::LaneMeter;
use crate::simulation::CubeWorld;

/// Numbers of bits that are distinguished: 0 to 20.
pub const DELTA_BITS: usize = 21;

/// Share of the counts that is left after a packet: the newest eight seconds weigh most.
const DECAY: f32 = 0.998;

/// How often a difference needs each number of bits, for lanes that have this component. Counts decay, so that they
/// are those of the last seconds.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct DeltaCounts {
    /// Components of positions of the cubes that differ from the baseline, in the stages' steps: bits of a
    /// signed number, as in a range of that width. Zero needs 0.
    pub position: [f32; DELTA_BITS],
    /// Components of orientations that omit the same component as the baseline's.
    pub orientation: [f32; DELTA_BITS],
    /// Distance from one changed cube to the next, less 1: bits of an unsigned number.
    pub index: [f32; DELTA_BITS],
    /// Orientations that omit another component than the baseline's, and those that do not.
    pub largest: [f32; 2],
}

impl DeltaCounts {
    fn decay(&mut self) {
        let all = [&mut self.position, &mut self.orientation, &mut self.index];
        for count in all.into_iter().flatten().chain(&mut self.largest) {
            *count *= DECAY;
        }
    }

    /// Adds the differences of a snapshot against its baseline.
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

/// Bits of a signed number, 0 for zero, at most the last of [`DELTA_BITS`].
fn signed_bits(value: i32) -> usize {
    match value {
        0 => 0,
        // As many as without its sign, towards zero, and the sign.
        _ => (1 + unsigned_bits((value ^ (value >> 31)) as u32)).min(DELTA_BITS - 1),
    }
}

/// Bits of an unsigned number, 0 for zero.
fn unsigned_bits(value: u32) -> usize {
    ((u32::BITS - value.leading_zeros()) as usize).min(DELTA_BITS - 1)
}

/// Adds what was sent in this tick. After a change of stages the counts start again.
pub(super) fn count(
    world: Res<CubeWorld>,
    mut lanes: Query<(&Sender, &LaneMeter, &mut DeltaCounts)>,
) {
    let tick = world.tick();
    for (sender, meter, mut counts) in &mut lanes {
        let mut samples = meter.samples().iter().rev();
        let (Some(sample), before) = (samples.next(), samples.next()) else {
            continue;
        };
        if before.is_some_and(|before| before.stages != sample.stages) {
            *counts = DeltaCounts::default();
        }
        let Some(packet) = sample.snapshots.first() else {
            continue;
        };
        let age = packet.acked_ages_ticks[0];
        let baseline = age.and_then(|age| sender.0.get(tick.checked_sub(age.into())?));
        if let (Some(current), Some(baseline)) = (sender.0.get(tick), baseline) {
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
        for (value, bits) in [
            (0, 0),
            (-1, 1),
            (1, 2),
            (15, 5),
            (-16, 5),
            (16, 6),
            (-17, 6),
        ] {
            assert_eq!(signed_bits(value), bits, "{value}");
        }
        assert_eq!(signed_bits(i32::MIN), DELTA_BITS - 1);
        for (value, bits) in [(0, 0), (1, 1), (7, 3), (8, 4)] {
            assert_eq!(unsigned_bits(value), bits, "{value}");
        }
    }

    #[test]
    fn changed_cubes_are_counted_component_by_component() {
        let cube = |x: usize| BodyState {
            position: vec3(x as f32, 1.0, 2.0),
            ..BodyState::default()
        };
        let before = Snapshot {
            bodies: (0..20).map(cube).collect(),
        };
        let mut after = before.clone();
        // 15 steps, and 20 cubes on, 100.
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
        // Distances 3, 8 and 0.
        assert_eq!(
            (counts.index[2], counts.index[4], counts.index[0]),
            (1.0, 1.0, 1.0)
        );
        assert_eq!(counts.largest, [1.0, 0.0]);
        assert_eq!(counts.orientation.iter().sum::<f32>(), 0.0);
    }
}
