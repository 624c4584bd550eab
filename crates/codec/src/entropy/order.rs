//! The coding order of bodies.

use super::history::{BaselineHistory, KinematicHistory, distance_squared};
use super::resting::Resting;
use crate::flags::flagged;

#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Whether each body has a turn: active bodies, the anchor, and resting bodies that were touched.
    pub(super) has_turn: Vec<bool>,
    pub(super) order: Vec<OrderKey>,
    /// Histories of the player and the active bodies, in coding order.
    pub(super) histories: Vec<KinematicHistory>,
    pub(super) resting: Resting,
    pub(super) untouched: Vec<usize>,
    /// Resting bodies in a partial packet.
    pub(super) carried: Vec<usize>,
    /// Slots in which bodies come or go.
    pub(super) changed_lives: Vec<usize>,
}

impl Scratch {
    /// Flags the active bodies and the anchor in `has_turn`. Returns the anchor if it is in the reference and stays.
    pub(super) fn flag_turns(&mut self, snapshots: &BaselineHistory<'_>) -> Option<usize> {
        snapshots.flag_active(&mut self.has_turn);
        if snapshots.plan.has_lives() {
            for body in 0..self.has_turn.len() {
                self.has_turn[body] &= self.is_coded(snapshots, body);
            }
        }
        let anchor = snapshots.anchor();
        let anchor = anchor.filter(|&anchor| self.is_coded(snapshots, anchor));
        if let Some(anchor) = anchor {
            self.has_turn[anchor] = true;
        }
        anchor
    }

    /// Whether the reference has a body in the slot and it stays.
    pub(super) fn is_coded(&self, snapshots: &BaselineHistory<'_>, slot: usize) -> bool {
        let is_changed = self.changed_lives.binary_search(&slot).is_ok();
        snapshots.reference.is_present(slot) && !is_changed
    }

    /// Sorts the bodies that have a turn by distance to the anchor, or by index without one. Leaves out the anchor.
    pub(super) fn sort(&mut self, snapshots: &BaselineHistory<'_>, anchor: Option<usize>) {
        let center = snapshots.center();
        let positions = snapshots.reference.packed_positions();
        self.order.clear();
        flagged(&self.has_turn).for_each(|body| {
            let position = positions[body].position();
            let distance = center.map_or(0, |center| distance_squared(position, center));
            if Some(body) != anchor {
                self.order.push(OrderKey::new(body, distance));
            }
        });
        self.order.sort_unstable();
    }
}

/// Squared distance to the player and index of a body in one number, which sorts faster than two.
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
