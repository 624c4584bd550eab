//! The coding order of bodies, and the distances from resting bodies to the bodies that were coded before them.
//!
//! A resting body is *touched* if a body with coded fields is near it.

use super::history::{BaselineHistory, KinematicHistory, Position, distance_squared};
use crate::flags::{Bits, flagged};
use crate::plan::Lengths;
use crate::snapshot::PackedPosition;

/// Memory that is reused from packet to packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// False for resting bodies that are not coded yet. True for the anchor, the active bodies, and touched bodies once
    /// they are coded.
    pub(super) has_turn: Vec<bool>,
    /// The anchor, then the active bodies, in coding order.
    pub(super) order: Vec<OrderKey>,
    /// Histories of the bodies in `order`.
    pub(super) histories: Vec<KinematicHistory>,
    pub(super) resting: Resting,
    /// Slots in which bodies come or go.
    pub(super) changed_lives: Vec<usize>,
}

impl Scratch {
    /// Flags the active bodies and the anchor in `has_turn`, if they are in the reference and stay.
    pub(super) fn flag_turns(&mut self, snapshots: &BaselineHistory<'_>) {
        self.has_turn.clone_from(&snapshots.motion.moved);
        if let Some((older, _)) = snapshots.additional[0] {
            snapshots.reference.flag_differing(older, &mut self.has_turn);
        }
        if let Some(anchor) = snapshots.anchor() {
            self.has_turn[anchor] = true;
        }
        if snapshots.plan.has_lives() {
            for body in 0..self.has_turn.len() {
                self.has_turn[body] &= self.stays(snapshots, body);
            }
        }
    }

    /// Whether the slot has the same body in the reference and in the packet. `lives` codes all other slots.
    fn stays(&self, snapshots: &BaselineHistory<'_>, slot: usize) -> bool {
        let is_changed = self.changed_lives.binary_search(&slot).is_ok();
        snapshots.reference.is_present(slot) && !is_changed
    }

    /// Sorts the bodies that have a turn: the anchor first, the others by distance to it, or by index without one.
    /// Computes their histories.
    pub(super) fn sort(&mut self, snapshots: &BaselineHistory<'_>) {
        let center = snapshots.center();
        let positions = &snapshots.reference.packed_positions;
        let anchor = snapshots.anchor().filter(|&anchor| self.has_turn[anchor]);
        self.order.clear();
        self.order.extend(anchor.map(|anchor| OrderKey::new(anchor, 0)));
        let others = self.order.len();
        flagged(&self.has_turn).for_each(|body| {
            let position = positions[body].position();
            let distance = center.map_or(0, |center| distance_squared(position, center));
            if Some(body) != anchor {
                self.order.push(OrderKey::new(body, distance));
            }
        });
        self.order[others..].sort_unstable();
        self.histories.clear();
        self.histories.extend(self.order.iter().map(|key| snapshots.history(key.body())));
    }

    /// Fills the grid with the resting bodies. A partial packet has only its carried bodies. Flags all other bodies, so
    /// that the passes over resting bodies skip them.
    pub(super) fn place_resting(
        &mut self,
        snapshots: &BaselineHistory<'_>,
        is_carried: Option<&[bool]>,
    ) {
        if snapshots.plan.has_lives() {
            for body in 0..self.has_turn.len() {
                self.has_turn[body] |= !self.stays(snapshots, body);
            }
        }
        for (has_turn, is_carried) in self.has_turn.iter_mut().zip(is_carried.unwrap_or_default()) {
            *has_turn |= !is_carried;
        }
        let positions = &snapshots.reference.packed_positions;
        self.resting.reset(positions, &self.has_turn, &snapshots.plan.lengths);
    }
}

/// Squared distance to the anchor, in steps squared, and index of a body in one number, which sorts faster than two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OrderKey(u64);

impl OrderKey {
    pub(super) fn new(body: usize, distance: i64) -> Self {
        Self(distance.cast_unsigned() << BODY_BITS | body as u64)
    }

    pub(super) const fn body(self) -> usize {
        (self.0 & ((1 << BODY_BITS) - 1)) as usize
    }

    pub(super) const fn distance(self) -> i64 {
        (self.0 >> BODY_BITS).cast_signed()
    }
}

/// A snapshot has at most 65 536 bodies, and its squared distances are below 2⁴⁸.
const BODY_BITS: u32 = 16;

/// Resting bodies in a grid, with the distance from each to the nearest coded body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resting {
    /// First body of each cell's linked list.
    cells: Vec<u32>,
    /// All bodies of the snapshot, resting or not.
    bodies: Vec<RestingBody>,
    /// Resting bodies that a coded body came near.
    pub(super) touched: Bits,
    /// Number of coded bodies compared with the resting ones so far.
    approached: usize,
    /// Binary logarithm of the side of a cell, in steps.
    cell_bits: u32,
    /// See [`Lengths::anchor_margin`].
    anchor_margin: i64,
    /// Width of a distance class, in steps.
    class_width: f32,
}

#[derive(Clone, Copy, Debug)]
struct RestingBody {
    packed: PackedPosition,
    /// Next body in the same cell.
    next: u32,
    /// Squared distance to the nearest coded body, in steps squared; [`FAR`] if no coded body is near.
    nearest: u32,
}

/// Maximum number of coded bodies to compare. Without it, the work would grow with the square of the number of bodies
/// in a packet.
const MAX_APPROACHED: usize = 512;

/// Distance class of a body that no coded body came near.
pub(crate) const UNTOUCHED: usize = 15;

const NONE: u32 = u32::MAX;
const FAR: u32 = u32::MAX;
/// Number of cells along x and along y, a power of two. The grid wraps around, so a cell also has bodies that are far
/// apart.
const CELLS: i32 = 32;
const CELL_COUNT: usize = (CELLS * CELLS) as usize;

impl Resting {
    /// Starts a packet. Bodies with `is_active` are left out of the grid.
    pub(crate) fn reset(
        &mut self,
        positions: &[PackedPosition],
        is_active: &[bool],
        lengths: &Lengths,
    ) {
        let bits = lengths.cell_bits;
        self.cell_bits = bits;
        self.anchor_margin = lengths.anchor_margin;
        // 15 classes reach 360 steps. Corners of two cubes can touch up to 2√3 × 102.4 = 355.
        self.class_width = 24.0 * lengths.scale;
        self.touched.clear(positions.len());
        self.approached = 0;
        self.cells.clear();
        self.cells.resize(CELL_COUNT, NONE);
        let cells: &mut [u32; CELL_COUNT] = self.cells.first_chunk_mut().expect("it was resized");
        let bodies = positions.iter().zip(is_active).zip(0..);
        self.bodies.clear();
        self.bodies.extend(bodies.map(|((&packed, is_active), body)| {
            let mut next = NONE;
            if !is_active {
                let [x, y] = packed.shifted_xy(bits);
                next = std::mem::replace(&mut cells[cell(x, y)], body);
            }
            RestingBody { packed, next, nearest: FAR }
        }));
    }

    /// Adds a body at its coded `position`. It touches the resting bodies nearer than the side of a cell. The anchor
    /// touches those nearer than two sides.
    pub(crate) fn approach(&mut self, position: Position, is_anchor: bool) {
        if self.approached == MAX_APPROACHED {
            return;
        }
        self.approached += 1;
        let bits = self.cell_bits;
        let reach = if is_anchor { 2 } else { 1 };
        let limit = i64::from(reach * reach) << (2 * bits);
        let [column, row, _] = position.map(|axis| axis >> bits);
        for x in column - reach..=column + reach {
            for y in row - reach..=row + reach {
                let mut at = self.cells[cell(x, y)];
                while at != NONE {
                    let body = &mut self.bodies[at as usize];
                    let distance = distance_squared(position, body.packed.position());
                    let is_near = distance < limit;
                    let mut near = if is_near { distance as u32 } else { FAR };
                    // The anchor is larger than other bodies. The margin makes the distance comparable with theirs.
                    if is_anchor && is_near {
                        let gap = ((distance as f32).sqrt() as i64 - self.anchor_margin).max(0);
                        near = (gap * gap) as u32;
                    }
                    body.nearest = body.nearest.min(near);
                    self.touched.set_if(at as usize, is_near);
                    at = body.next;
                }
            }
        }
    }

    /// Distance class of the nearest coded body: 0 to 14, or [`UNTOUCHED`].
    pub(crate) fn nearest(&self, body: usize) -> usize {
        match self.bodies[body].nearest {
            FAR => UNTOUCHED,
            distance => ((distance as f32).sqrt() / self.class_width).min(14.0) as usize,
        }
    }
}

const fn cell(x: i32, y: i32) -> usize {
    const MASK: i32 = CELLS - 1;
    ((y & MASK) * CELLS + (x & MASK)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    const CELL: i32 = 512;

    #[test]
    fn only_the_first_coded_bodies_are_compared_with_those_at_rest() {
        let mut resting = Resting::default();
        let far = [4 * CELL, 0, 0];
        let positions = [[0; 3], [0; 3], far].map(|position| PackedPosition::new(position, false));
        let lengths = &Plan::cubes().lengths;
        resting.reset(&positions, &[true, false, false], lengths);
        for _ in 0..MAX_APPROACHED {
            resting.approach([0; 3], false);
        }
        assert_eq!([1, 2].map(|body| resting.nearest(body)), [0, UNTOUCHED]);
        resting.approach(far, false);
        assert_eq!(resting.nearest(2), UNTOUCHED);
        assert_eq!([0, 2].map(|body| resting.touched.next(body)), [Some(1), None]);
        resting.reset(&positions, &[true, true, false], lengths);
        resting.approach(far, false);
        assert_eq!(resting.nearest(2), 0);
    }
}
