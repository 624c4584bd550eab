//! Allocation of slots to bodies.

/// Number of ticks that a slot stays empty after its body was removed. A receiver that misses frames in this
/// time still sees the slot empty between two generations.
pub(super) const COOL_DOWN: u64 = 64;

/// A fixed number of slots. Each is empty or holds a value.
pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
}

struct Slot<T> {
    /// Generation of the next value.
    generation: u8,
    /// First tick at which the slot may be filled.
    free_from: u64,
    /// The value with its generation.
    living: Option<(u8, T)>,
}

impl<T> Slots<T> {
    /// Creates `count` empty slots.
    pub(super) fn new(count: usize) -> Self {
        let empty = || Slot { generation: 0, free_from: 0, living: None };
        Self { slots: std::iter::repeat_with(empty).take(count).collect() }
    }

    pub(super) const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Number of filled slots.
    pub(super) fn living(&self) -> usize {
        self.iter().flatten().count()
    }

    /// Returns the lowest empty slot that has cooled down at `tick`.
    pub(super) fn vacant(&self, tick: u64) -> Option<usize> {
        let is_vacant = |slot: &Slot<T>| slot.living.is_none() && slot.free_from <= tick;
        self.slots.iter().position(is_vacant)
    }

    /// Fills an empty slot and increments its generation.
    pub(super) fn fill(&mut self, index: usize, value: T) {
        let slot = &mut self.slots[index];
        debug_assert!(slot.living.is_none(), "slot {index} is not empty");
        slot.living = Some((slot.generation, value));
        slot.generation = slot.generation.wrapping_add(1);
    }

    /// Empties a slot and returns its value. Starts the cool-down.
    pub(super) fn empty(&mut self, index: usize, tick: u64) -> Option<T> {
        let slot = &mut self.slots[index];
        let (_, value) = slot.living.take()?;
        slot.free_from = tick + COOL_DOWN;
        Some(value)
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.slots[index].living.as_ref().map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.slots[index].living.as_mut().map(|(_, value)| value)
    }

    /// Iterates over all slots, each with its generation and value or `None`.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<&(u8, T)>> {
        self.slots.iter().map(|slot| slot.living.as_ref())
    }

    /// Iterates over the values of filled slots, with their index.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        let slots = self.slots.iter_mut().enumerate();
        slots.filter_map(|(index, slot)| Some((index, &mut slot.living.as_mut()?.1)))
    }
}
