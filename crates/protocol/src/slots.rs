//! Slots of a scene in which bodies come and go: who is in which, and what one receiver is to see of them.
//!
//! Nothing about lives is a message of its own. A slot is part of the snapshot, so that what is lost, late or doubled does
//! no more harm than to a position.

use std::collections::BTreeSet;

use cubewire_codec::{Life, QuantizedSnapshot};

/// Ticks for which a slot stays empty after its body has gone. A generation comes back after 256 lives, by when no baseline
/// is as old as the first of them.
pub const COOLDOWN_TICKS: u64 = 64;

/// The slots of a scene at the server.
#[derive(Clone, Debug, Default)]
pub struct SlotTable {
    slots: Vec<SlotState>,
    /// Slots that can be used again, and when.
    free: BTreeSet<(usize, u64)>,
    max: usize,
}

#[derive(Clone, Copy, Debug)]
struct SlotState {
    life: Life,
    is_used: bool,
}

impl SlotTable {
    /// A table of at most `max` slots, none of them in use.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self {
            max,
            ..Self::default()
        }
    }

    /// Finds a slot for a body of this kind: the lowest that has been empty for [`COOLDOWN_TICKS`]. `None` if there is none.
    pub fn insert(&mut self, kind: u8, tick: u64) -> Option<(usize, Life)> {
        let free = self.free.iter().find(|&&(_, from)| from <= tick).copied();
        let slot = match free {
            Some(free) => {
                self.free.remove(&free);
                free.0
            }
            None if self.slots.len() < self.max => {
                self.slots.push(SlotState {
                    life: Life {
                        kind,
                        generation: u8::MAX,
                    },
                    is_used: false,
                });
                self.slots.len() - 1
            }
            None => return None,
        };
        let state = &mut self.slots[slot];
        state.life = Life {
            kind,
            generation: state.life.generation.wrapping_add(1),
        };
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
        self.free.insert((slot, tick + COOLDOWN_TICKS))
    }

    /// The body in a slot, if there is one.
    #[must_use]
    pub fn get(&self, slot: usize) -> Option<Life> {
        let state = self.slots.get(slot).filter(|state| state.is_used);
        state.map(|state| state.life)
    }
}

/// What a receiver sees of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// As it is.
    #[default]
    Visible,
    /// As it was when it was last visible; nothing if it never was, or if the body has gone.
    Frozen,
    /// Nothing.
    Hidden,
}

/// What one receiver is to see, tick after tick.
///
/// The values of hidden bodies, and those of frozen ones since, change no byte of a packet.
#[derive(Clone, Debug)]
pub struct View {
    wanted: QuantizedSnapshot,
    previous: QuantizedSnapshot,
}

impl View {
    /// The view of a receiver that has seen nothing of a world like this.
    #[must_use]
    pub fn new(world: &QuantizedSnapshot) -> Self {
        let empty = || QuantizedSnapshot::new(world.plan().clone(), world.precision());
        Self {
            wanted: empty(),
            previous: empty(),
        }
    }

    /// What the receiver is to see of the world: see [`Visibility`]. Slots beyond those of `visibility` are visible.
    ///
    /// # Panics
    /// If the scene is of fixed bodies.
    pub fn of(
        &mut self,
        world: &QuantizedSnapshot,
        visibility: &[Visibility],
    ) -> &QuantizedSnapshot {
        std::mem::swap(&mut self.wanted, &mut self.previous);
        self.wanted.copy_from(world);
        apply_visibility(&mut self.wanted, Some(&self.previous), visibility);
        &self.wanted
    }
}

/// Makes what a receiver is to see of a copy of the world; `before` is what it was to see in the tick before. Slots beyond those
/// of `visibility` are visible.
///
/// # Panics
/// If the scene is of fixed bodies.
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
        let mut table = SlotTable::new(3);
        let slots = [(); 3].map(|()| table.insert(1, 0).unwrap());
        assert_eq!(slots.map(|(slot, _)| slot), [0, 1, 2]);
        assert_eq!(table.insert(1, 0), None);
        assert!(table.remove(1, 10) && table.remove(0, 20));
        assert!(!table.remove(1, 11) && !table.remove(7, 11));
        assert_eq!(table.get(1), None);
        assert_eq!(table.insert(2, 9 + COOLDOWN_TICKS), None);
        let again = Life {
            kind: 2,
            generation: 1,
        };
        assert_eq!(table.insert(2, 10 + COOLDOWN_TICKS), Some((1, again)));
        assert_eq!(table.insert(2, 10 + COOLDOWN_TICKS), None);
        assert_eq!(table.insert(2, 20 + COOLDOWN_TICKS), Some((0, again)));
        assert_eq!(table.get(1), Some(again));
    }
}
