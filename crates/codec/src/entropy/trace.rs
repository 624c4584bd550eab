//! How cubes moved up to the baseline: all that coding a cube starts from.

use super::rotation::{Quaternion, Vector, height_row, turn, unpack};
use crate::quantize::smallest_three::SmallestThree;
use crate::snapshot::QuantizedSnapshot;

/// 1/512 m.
pub(crate) type Place = [i32; 3];

/// A snapshot, and by how many ticks it is older than the baseline.
pub(crate) type Older<'a> = (&'a QuantizedSnapshot, i32);

/// The snapshots that a packet is relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshots<'a> {
    pub(crate) baseline: &'a QuantizedSnapshot,
    /// By cube: whether it differs from the baseline's own.
    pub(crate) moved: &'a [bool],
    /// Ticks from the baseline to the snapshot that is coded.
    pub(crate) ticks: i32,
    /// The baseline's own.
    pub(crate) before: Option<Older<'a>>,
    /// Two more, the newer one first.
    pub(crate) earlier: [Option<Older<'a>>; 2],
}

/// What a cube was like in an older snapshot.
#[derive(Clone, Copy, Debug)]
struct Then {
    /// From there to the baseline.
    moved: Place,
    words: SmallestThree,
    ticks: i32,
}

/// How a cube moved up to the baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trace {
    pub(crate) cube: usize,
    pub(crate) place: Place,
    pub(crate) words: SmallestThree,
    pub(crate) orientation: Quaternion,
    /// Displacement from the baseline's own baseline, for six ticks.
    pub(crate) long: Place,
    /// From the newer one of the two earlier baselines, per tick; from `long` without them.
    pub(crate) short: Place,
    /// Largest change of an orientation's component, over the same.
    pub(crate) long_turn: i32,
    pub(crate) short_turn: i32,
    /// Ticks from the baseline to the snapshot that is coded.
    pub(crate) ticks: i32,
    pub(crate) half_side: f32,
    before: Option<Then>,
    earlier: [Option<Then>; 2],
}

/// Half a side in 1/512 m: 1.5 m the player's, 0.4 m the others'.
const PLAYER_HALF: f32 = 384.0;
const CUBE_HALF: f32 = 102.4;

impl Snapshots<'_> {
    /// Marks cubes that moved up to the baseline. Reuses memory.
    pub(crate) fn mark_active(&self, active: &mut Vec<bool>) {
        active.clear();
        active.extend(self.moved);
        if let Some((earlier, _)) = self.earlier[0] {
            self.baseline.mark_differing(earlier, active);
        }
    }

    pub(crate) fn trace(&self, cube: usize) -> Trace {
        let place = self.baseline.positions[cube];
        let words = self.baseline.smallest_three(cube);
        let since = |other: Option<Older<'_>>| {
            let (other, ticks) = other?;
            let then = other.positions[cube];
            Some(Then {
                moved: std::array::from_fn(|axis| place[axis] - then[axis]),
                words: other.smallest_three(cube),
                ticks,
            })
        };
        let before = since(self.before);
        let earlier = self.earlier.map(since);
        let long = before.map_or([0; 3], |then| then.moved.map(|axis| axis * 6 / then.ticks));
        let turned = |then: Option<Then>| then.map_or(0, |then| change(words, then.words));
        Trace {
            cube,
            place,
            words,
            orientation: unpack(words),
            long,
            short: earlier[0].map_or(long.map(|axis| axis / 6), |then| {
                then.moved.map(|axis| axis / then.ticks)
            }),
            long_turn: turned(before),
            short_turn: turned(earlier[0]),
            ticks: self.ticks,
            half_side: if cube == 0 { PLAYER_HALF } else { CUBE_HALF },
            before,
            earlier,
        }
    }
}

impl Trace {
    /// Height of the lowest corner.
    pub(crate) fn clearance(&self) -> i32 {
        let [x, y, z] = height_row(self.orientation).map(f32::abs);
        (self.place[2] as f32 - self.half_side * (x + y + z)) as i32
    }

    /// 1/512 m a tick.
    pub(crate) fn velocity(&self) -> Vector {
        let newer = self.earlier[0].or(self.before);
        let older = self.earlier[1].or(newer);
        let [newer, older] = [newer, older].map(|then| {
            then.map_or([0.0; 3], |then| {
                then.moved.map(|axis| axis as f32 / then.ticks as f32)
            })
        });
        std::array::from_fn(|axis| (newer[axis] + older[axis]) * 0.5)
    }

    /// Radians a tick.
    pub(crate) fn spin(&self) -> Vector {
        self.spin_since(self.earlier[0].or(self.before))
    }

    /// The same, from the baseline's own baseline.
    pub(crate) fn long_spin(&self) -> Vector {
        self.spin_since(self.before)
    }

    fn spin_since(&self, then: Option<Then>) -> Vector {
        then.map_or([0.0; 3], |then| {
            let angles = turn(self.orientation, unpack(then.words));
            angles.map(|angle| angle / then.ticks as f32)
        })
    }
}

/// Largest difference of the words of two orientations.
fn change(a: SmallestThree, b: SmallestThree) -> i32 {
    let components = a.components.into_iter().zip(b.components);
    let difference = components.map(|(a, b)| (i32::from(a) - i32::from(b)).abs());
    let largest = i32::from(a.largest.abs_diff(b.largest));
    difference.max().unwrap_or(0).max(largest)
}
