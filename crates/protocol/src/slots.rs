//! Slots of a scene with bodies that come and go: allocation, and visibility for a receiver.
//!
//! Births and deaths are not messages. They are part of the snapshot, so loss, delay and duplication do them no more
//! harm than they do to a position.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use cubewire_codec::{Life, QuantizedSnapshot};

/// Time that a slot stays empty after its body was removed.
///
/// References to a body name its slot. The slot stays empty until receivers have usually learned that the reference
/// ended: one second covers a lost packet and its replacement. A body is identified by its slot's generation, which
/// repeats after 256 bodies. This takes at least 256 seconds, longer than any message about the first body is in
/// flight.
pub const COOLDOWN: Duration = Duration::from_secs(1);

/// Minimum cooldown in ticks, for low tick rates. With 2 ticks, a generation repeats after 512 ticks at the earliest.
/// Packets refer to snapshots of the last [`MAX_BASELINE_AGE_TICKS`](crate::MAX_BASELINE_AGE_TICKS) and to 31 ticks
/// before them.
const MIN_COOLDOWN_TICKS: u64 = 2;

/// Allocates the slots of a scene on the server.
#[derive(Clone, Debug)]
pub struct SlotTable {
    slots: Vec<SlotState>,
    /// Empty slots that have cooled down.
    free: BTreeSet<usize>,
    /// Empty slots in cooldown: the tick when the cooldown ends, ascending, and the slot.
    cooling: VecDeque<(u64, usize)>,
    cooldown_ticks: u64,
    max: usize,
}

#[derive(Clone, Copy, Debug)]
struct SlotState {
    /// Kind and generation of the body in the slot, or of the last one if it is empty.
    life: Life,
    is_used: bool,
}

impl SlotTable {
    /// Creates a table with up to `max` slots, all of them empty, for a scene with this tick rate.
    pub fn new(max: usize, ticks_per_second: u16) -> Self {
        let cooldown_ticks = COOLDOWN.as_secs() * u64::from(ticks_per_second);
        Self {
            slots: Vec::new(),
            free: BTreeSet::new(),
            cooling: VecDeque::new(),
            cooldown_ticks: cooldown_ticks.max(MIN_COOLDOWN_TICKS),
            max,
        }
    }

    /// Allocates a slot for a body of this kind: the lowest that has been empty for
    /// [`COOLDOWN`]. Returns the slot and the body's life, or `None` if all slots are in
    /// use or [cooling](Self::cooling). Ticks must not decrease.
    pub fn insert(&mut self, kind: u8, tick: u64) -> Option<(usize, Life)> {
        while let Some((_, slot)) = self.cooling.pop_front_if(|(from, _)| *from <= tick) {
            self.free.insert(slot);
        }
        let slot = match self.free.pop_first() {
            Some(slot) => slot,
            None if self.slots.len() < self.max => {
                // The generation is incremented below, so the first body has generation 0.
                self.slots
                    .push(SlotState { life: Life { kind, generation: u8::MAX }, is_used: false });
                self.slots.len() - 1
            }
            None => return None,
        };
        let state = &mut self.slots[slot];
        state.life = Life { kind, generation: state.life.generation.wrapping_add(1) };
        state.is_used = true;
        Some((slot, state.life))
    }

    /// Frees a slot. Returns whether it was in use.
    pub fn remove(&mut self, slot: usize, tick: u64) -> bool {
        let state = self.slots.get_mut(slot).filter(|state| state.is_used);
        let Some(state) = state else {
            return false;
        };
        state.is_used = false;
        self.cooling.push_back((tick + self.cooldown_ticks, slot));
        true
    }

    /// Returns the number of empty slots that were in cooldown at the last [`insert`](Self::insert).
    pub fn cooling(&self) -> usize {
        self.cooling.len()
    }

    /// Returns the body in a slot, or `None` if the slot is empty.
    pub fn get(&self, slot: usize) -> Option<Life> {
        let state = self.slots.get(slot).filter(|state| state.is_used);
        state.map(|state| state.life)
    }
}

/// Visibility of a slot for a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// The current state.
    #[default]
    Visible,
    /// The state when it was last visible. Empty if it never was, or if the body was removed.
    Frozen,
    /// Empty.
    Hidden,
}

/// Applies a receiver's visibility to `view`, which must be a copy of the world. `before` is the result for the tick
/// before. Slots beyond the end of `visibility` are visible. The values of hidden bodies, and later values of frozen
/// ones, do not change any byte of a packet.
///
/// # Panics
/// If the scene has fixed bodies and a slot would become empty.
pub fn apply_visibility(
    view: &mut QuantizedSnapshot,
    before: Option<&QuantizedSnapshot>,
    visibility: &[Visibility],
) {
    let is_known = |before: &&QuantizedSnapshot| {
        before.len() == view.len() && before.precision() == view.precision()
    };
    let before = before.filter(is_known);
    for (slot, visibility) in visibility.iter().enumerate().take(view.len()) {
        // The last view of the same body.
        let frozen = before.filter(|before| before.life(slot) == view.life(slot));
        match (visibility, frozen) {
            (Visibility::Visible, _) => {}
            (Visibility::Frozen, Some(before)) => view.copy_slot(slot, before),
            (Visibility::Frozen | Visibility::Hidden, _) => view.remove(slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_slot_is_used_again_after_a_while_and_with_another_generation() {
        let mut table = SlotTable::new(3, 60);
        let slots = [(); 3].map(|()| table.insert(1, 0).unwrap());
        assert_eq!(slots.map(|(slot, _)| slot), [0, 1, 2]);
        assert_eq!(table.insert(1, 0), None);
        assert!(table.remove(1, 10) && table.remove(0, 20));
        assert!(!table.remove(1, 21) && !table.remove(7, 21));
        assert_eq!(table.get(1), None);
        assert_eq!(table.insert(2, 69), None);
        assert_eq!(table.cooling(), 2);
        let again = Life { kind: 2, generation: 1 };
        assert_eq!(table.insert(2, 70), Some((1, again)));
        assert_eq!(table.insert(2, 70), None);
        assert_eq!(table.cooling(), 1);
        assert_eq!(table.insert(2, 80), Some((0, again)));
        assert_eq!(table.get(1), Some(again));
    }
    #[test]
    fn a_slot_cools_down_for_a_second_at_any_rate() {
        for (ticks_per_second, cooldown) in [(1, 2), (2, 2), (3, 3), (60, 60), (1_000, 1_000)] {
            let mut table = SlotTable::new(1, ticks_per_second);
            table.insert(0, 5);
            table.remove(0, 7);
            assert_eq!(table.insert(0, 6 + cooldown), None, "{ticks_per_second} Hz");
            assert!(table.insert(0, 7 + cooldown).is_some());
        }
    }

    /// With 60 000 slots in cooldown, each attempt looks at one slot.
    #[test]
    fn a_full_table_refuses_without_a_look_at_all_slots() {
        const SLOTS: usize = 60_000;
        let mut table = SlotTable::new(SLOTS, 60);
        (0..SLOTS).for_each(|_| _ = table.insert(0, 0));
        assert!((0..SLOTS).all(|slot| table.remove(slot, 1)));
        // If each attempt looked at all slots, this would take 3.6 billion steps.
        (0..SLOTS).for_each(|_| assert_eq!(table.insert(0, 2), None));
        assert_eq!(table.cooling(), SLOTS);
        (0..SLOTS).for_each(|slot| assert_eq!(table.insert(0, 61).map(|at| at.0), Some(slot)));
        assert_eq!(table.cooling(), 0);
    }
}
