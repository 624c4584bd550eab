//! Kinematic history: how bodies moved before the reference, computed from older snapshots.

use super::rotation::{Quaternion, Vector, unpack};
use crate::motion::{MAX_TICKS, Motion};
use crate::plan::{Components, Plan};
use crate::quantize::smallest_three::SmallestThree;
use crate::snapshot::QuantizedSnapshot;

/// A position, in steps.
pub(crate) type Position = [i32; 3];

/// A snapshot, and its age relative to the reference in ticks.
pub(crate) type OlderSnapshot<'a> = (&'a QuantizedSnapshot, i32);

/// The reference of a packet, and the older snapshots that velocities are computed from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaselineHistory<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) reference: &'a QuantizedSnapshot,
    /// Ticks from the reference to the snapshot that is coded.
    pub(crate) ticks: i32,
    /// Motion of the bodies from the reference's own baseline to the reference.
    pub(crate) motion: &'a Motion,
    /// The additional references, the newer one first.
    pub(crate) additional: [Option<OlderSnapshot<'a>>; 2],
}

/// The pose of a body in a snapshot older than the reference.
#[derive(Clone, Copy, Debug)]
struct PastPose {
    /// Displacement from this pose to the reference, in steps.
    displacement: Position,
    packed: SmallestThree,
    /// Age relative to the reference.
    ticks: i32,
}

/// The pose of a body in the reference, and its motion before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KinematicHistory {
    pub(crate) body: usize,
    pub(crate) position: Position,
    pub(crate) packed: SmallestThree,
    pub(crate) orientation: Quaternion,
    /// Displacement since the reference's own reference, in steps, scaled to six ticks: the age of baselines in the
    /// recordings that the contexts were tuned on.
    pub(crate) motion_6_ticks: Position,
    /// Displacement per tick since the newer additional reference, in steps. Without one, `motion_6_ticks` / 6. It is
    /// newer but coarser: a step is 1.95 mm, and a body at 0.12 m/s moves by one step in a tick.
    pub(crate) velocity: Position,
    /// Largest change of a packed component since the reference's own reference, however long ago that is.
    pub(crate) rotation: i32,
    /// Largest change of a packed component since the newer additional reference; 0 without one.
    pub(crate) recent_rotation: i32,
    /// Ticks from the reference to the snapshot that is coded.
    pub(crate) ticks: i32,
    pub(crate) kind: usize,
    /// The extrapolation, if it was computed in advance.
    pub(crate) extrapolation: Option<Extrapolation>,
    previous: Option<PastPose>,
    additional: [Option<PastPose>; 2],
}

/// Extrapolated pose and motion of a body, as if no other body moved it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extrapolation {
    /// Pose after rigid-body motion with ground contact.
    pub(crate) position: Vector,
    pub(crate) orientation: Quaternion,
    /// Orientation after turning at the mean spin, damped for collisions.
    pub(crate) spun: Quaternion,
    /// In steps per tick.
    pub(crate) velocity: Vector,
    /// Angular velocities, in radians per tick: the newest, and the mean since the reference's own reference.
    pub(crate) spins: [Vector; 2],
}

impl Extrapolation {
    /// The extrapolation of a resting body: it stays where it is.
    pub(crate) fn at_rest(history: &KinematicHistory) -> Self {
        Self {
            position: history.position.map(|axis| axis as f32),
            orientation: history.orientation,
            spun: history.orientation,
            velocity: [0.0; 3],
            spins: [[0.0; 3]; 2],
        }
    }
}

impl BaselineHistory<'_> {
    /// The anchor, which is the body that others gather around (the player), if the reference has it.
    pub(crate) fn anchor(&self) -> Option<usize> {
        let is_there =
            |&anchor: &usize| anchor < self.reference.len() && self.reference.is_present(anchor);
        self.plan.anchor.filter(is_there)
    }

    /// Position of the anchor in the reference.
    pub(crate) fn center(&self) -> Option<Position> {
        self.anchor().map(|anchor| self.reference.position(anchor))
    }

    /// Squared distance of a body to the anchor in the reference, in steps squared; 0 without an anchor.
    pub(crate) fn distance_to_anchor(&self, body: usize) -> i64 {
        let position = self.reference.position(body);
        self.center().map_or(0, |center| distance_squared(position, center))
    }

    #[inline]
    pub(crate) fn history(&self, body: usize) -> KinematicHistory {
        let position = self.reference.position(body);
        let packed = self.reference.smallest_three(body);
        let pose = |(past, ticks)| self.past_pose(body, position, past, ticks);
        let span = i32::from(self.motion.span(body));
        let past = self.motion.past(self.reference, body);
        let past = past.filter(|_| span > 0).map(|past| (past, span));
        let previous = past.and_then(pose);
        let ticks = self.ticks + i32::from(self.motion.age(body));
        let ticks = ticks.min(MAX_TICKS.into());
        let additional = self
            .additional
            .map(|older| older.and_then(|(older, ticks)| pose(((older, body), ticks))));
        let motion_6_ticks = previous.map_or([0; 3], |pose| pose.in_ticks(6));
        let velocity =
            additional[0].map_or(motion_6_ticks.map(|axis| axis / 6), |pose| pose.in_ticks(1));
        let turn = |pose: Option<PastPose>| pose.map_or(0, |pose| change(packed, pose.packed));
        KinematicHistory {
            body,
            position,
            packed,
            orientation: unpack(&self.plan.components, packed),
            motion_6_ticks,
            velocity,
            rotation: turn(previous),
            recent_rotation: turn(additional[0]),
            ticks,
            extrapolation: None,
            kind: self.reference.kind(body),
            previous,
            additional,
        }
    }

    #[inline(always)]
    fn past_pose(
        &self,
        body: usize,
        position: Position,
        (older, slot): (&QuantizedSnapshot, usize),
        ticks: i32,
    ) -> Option<PastPose> {
        if self.plan.has_lives() && !self.reference.is_life_of(body, (older, slot)) {
            return None;
        }
        let from = older.position(slot);
        Some(PastPose {
            displacement: std::array::from_fn(|axis| position[axis] - from[axis]),
            packed: older.smallest_three(slot),
            ticks,
        })
    }
}

impl PastPose {
    /// The displacement since the pose, scaled to this many ticks.
    fn in_ticks(&self, ticks: i32) -> [i32; 3] {
        match self.ticks == ticks {
            // The usual case, which needs no division.
            true => self.displacement,
            false => self.displacement.map(|axis| axis * ticks / self.ticks),
        }
    }
}

impl KinematicHistory {
    /// Mean of the newest and the previous velocity, in steps per tick. The mean has less rounding error than the newest.
    pub(crate) fn mean_velocity(&self) -> Vector {
        let newer = self.additional[0].or(self.previous);
        let older = self.additional[1].or(newer);
        let [newer, older] = [newer, older].map(|pose| {
            pose.map_or([0.0; 3], |pose| {
                pose.displacement.map(|axis| axis as f32 / pose.ticks as f32)
            })
        });
        std::array::from_fn(|axis| (newer[axis] + older[axis]) * 0.5)
    }

    /// Earlier orientations to compute angular velocities from, each with its age in ticks, if known: the newest
    /// before the reference, and the orientation in the reference's own reference.
    pub(crate) fn past_orientations(
        &self,
        components: &Components,
    ) -> [Option<(Quaternion, f32)>; 2] {
        let newest = self.additional[0].or(self.previous);
        [newest, self.previous]
            .map(|pose| pose.map(|pose| (unpack(components, pose.packed), pose.ticks as f32)))
    }
}

#[inline]
pub(crate) fn distance_squared(a: Position, b: Position) -> i64 {
    (0..3)
        .map(|axis| i64::from(a[axis]) - i64::from(b[axis]))
        .map(|difference| difference * difference)
        .sum()
}

/// Largest difference between the integers of two packed orientations: a cheap measure of rotation that is only a
/// context.
fn change(a: SmallestThree, b: SmallestThree) -> i32 {
    let [x, y, z] = [0, 1, 2].map(|axis| a.components[axis].abs_diff(b.components[axis]));
    x.max(y).max(z).max(u16::from(a.largest.abs_diff(b.largest))).into()
}
