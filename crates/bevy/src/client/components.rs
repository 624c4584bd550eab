//! Received reliable components, by slot. They can arrive before their body, and can refer to bodies that have not
//! arrived.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;

use crate::components::{ComponentAccess, Mapper, from_wire};
use crate::wire::{BodyId, Part};

/// Reliable components of the visible bodies. Memory is bounded by the number of slots, each with two values per component.
#[derive(Debug)]
pub(super) struct ReliableComponents {
    slots: Vec<Slot>,
    /// Slots of shown bodies with components to write.
    pub(super) dirty: BTreeSet<u16>,
    /// Slots of shown bodies with components that refer to bodies.
    referring: BTreeSet<u16>,
    pub(super) undecodable: u64,
}

#[derive(Debug, Default)]
struct Slot {
    /// The body that is shown.
    shown: Option<Entry>,
    /// The body that is shown next: another one, or the next appearance of the same one.
    next: Option<Entry>,
}

#[derive(Debug)]
struct Entry {
    generation: u8,
    /// First tick in which the body is not visible; `None` until it has left. The next message is for its next appearance.
    left_at: Option<u64>,
    /// Whether all components have arrived that the body had when it became visible.
    is_whole: bool,
    components: Vec<Component>,
}

#[derive(Clone, Debug, Default)]
struct Component {
    bytes: Option<Box<[u8]>>,
    is_dirty: bool,
    /// Bodies that the component refers to, and the entities that were written for them.
    references: Vec<(BodyId, Option<Entity>)>,
}

impl Entry {
    /// Creates an entry without components. They are dirty, so that a shown body loses the components that it no longer has.
    fn new(body: BodyId, count: usize, is_whole: bool) -> Self {
        let component = Component { is_dirty: true, ..Component::default() };
        let components = vec![component; count];
        Self { generation: body.generation, left_at: None, is_whole, components }
    }

    /// Whether the entry is for a body that has not left.
    fn is_open(&self, body: BodyId) -> bool {
        self.generation == body.generation && self.left_at.is_none()
    }

    /// Whether these are all components of a body that is visible in a tick.
    fn is_of(&self, body: BodyId, tick: u64) -> bool {
        let has_left = self.left_at.is_some_and(|left_at| left_at <= tick);
        self.generation == body.generation && self.is_whole && !has_left
    }
}

impl ReliableComponents {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots: (0..slots).map(|_| Slot::default()).collect(),
            dirty: BTreeSet::new(),
            referring: BTreeSet::new(),
            undecodable: 0,
        }
    }

    /// Stores the components of a message. The body's slot must be valid. `count` is the number of registered components.
    pub(super) fn take(
        &mut self,
        body: BodyId,
        part: Part,
        components: &[(u8, Option<&[u8]>)],
        count: usize,
    ) {
        let slot = &mut self.slots[usize::from(body.slot)];
        let shown = slot.shown.as_mut().filter(|shown| shown.is_open(body));
        let is_shown = shown.is_some();
        let begins = matches!(part, Part::All | Part::Begin);
        let new = || Entry::new(body, count, part != Part::Begin);
        let entry = match shown {
            Some(shown) => shown,
            None => {
                let next = slot.next.take().filter(|next| next.is_open(body));
                slot.next.insert(next.unwrap_or_else(new))
            }
        };
        if begins {
            *entry = new();
        }
        entry.is_whole |= part == Part::End;
        for &(component, bytes) in components {
            entry.components[usize::from(component)] =
                Component { bytes: bytes.map(Box::from), is_dirty: true, references: Vec::new() };
        }
        if is_shown {
            self.dirty.insert(body.slot);
        }
    }

    /// Records that a body is not visible from a tick on.
    pub(super) fn leave(&mut self, body: BodyId, tick: u64) {
        let Some(Slot { shown, next }) = self.slots.get_mut(usize::from(body.slot)) else {
            return;
        };
        if let Some(entry) = shown.iter_mut().chain(next).find(|entry| entry.is_open(body)) {
            entry.left_at = Some(tick);
        }
    }

    /// Returns whether all components have arrived of a body that is visible in a tick and not shown yet.
    pub(super) fn has(&self, body: BodyId, tick: u64) -> bool {
        let next = self.slots[usize::from(body.slot)].next.as_ref();
        next.is_some_and(|next| next.is_of(body, tick))
    }

    /// Marks all components of a newly spawned body as dirty. `left_at` is the first tick in which it is not visible, if
    /// known. `count` is the number of registered components.
    pub(super) fn on_birth(&mut self, body: BodyId, tick: u64, left_at: Option<u64>, count: usize) {
        let slot = &mut self.slots[usize::from(body.slot)];
        let next = slot.next.take_if(|next| next.is_of(body, tick));
        let without = || Entry { left_at, ..Entry::new(body, count, true) };
        let shown = slot.shown.insert(next.unwrap_or_else(without));
        for component in &mut shown.components {
            component.is_dirty = component.bytes.is_some();
        }
    }

    /// Replaces the components of a shown body that is visible in a tick, if it has left and come back unnoticed.
    pub(super) fn on_alive(&mut self, body: BodyId, tick: u64) {
        let Slot { shown, next } = &mut self.slots[usize::from(body.slot)];
        let left_at = shown.as_ref().and_then(|shown| shown.left_at);
        if left_at.is_some_and(|left_at| left_at <= tick)
            && let Some(next) = next.take_if(|next| next.is_of(body, tick))
        {
            *shown = Some(next);
            self.dirty.insert(body.slot);
        }
    }

    /// Forgets the components of a body that vanishes in a tick, unless they are of its next appearance.
    pub(super) fn on_vanish(&mut self, slot: usize, tick: u64) {
        let Slot { shown, next } = &mut self.slots[slot];
        let is_later = |entry: &Entry| entry.left_at.is_none_or(|left_at| tick < left_at);
        if let Some(later) = shown.take().filter(is_later) {
            next.get_or_insert(later);
        }
    }

    /// Marks components as dirty that refer to bodies which have appeared or vanished since the components were written.
    /// `entity` returns the local entity of a body.
    pub(super) fn update_references(&mut self, entity: impl Fn(BodyId) -> Option<Entity>) {
        self.referring.retain(|&slot| {
            let mut refers = false;
            let shown = self.slots[usize::from(slot)].shown.iter_mut();
            for component in shown.flat_map(|shown| &mut shown.components) {
                refers |= !component.references.is_empty();
                if component.references.iter().any(|&(body, written)| entity(body) != written) {
                    component.is_dirty = true;
                    self.dirty.insert(slot);
                }
            }
            refers
        });
    }

    /// Writes the dirty components of a shown body, unless it was despawned. `entity` returns the local entity of a referenced
    /// body.
    pub(super) fn write(
        &mut self,
        world: &mut World,
        slot: usize,
        body: Entity,
        registered: &[ComponentAccess],
        entity: impl Fn(BodyId) -> Option<Entity>,
    ) {
        let Some(shown) = self.slots[slot].shown.as_mut().filter(|shown| shown.is_whole) else {
            return;
        };
        let map = |wire| entity(from_wire(wire)?);
        for (component, registered) in shown.components.iter_mut().zip(registered) {
            if !std::mem::take(&mut component.is_dirty) {
                continue;
            }
            let mut mapper = Mapper::new(&map);
            match &component.bytes {
                Some(bytes) if !(registered.write)(world, body, bytes, &mut mapper) => {
                    if self.undecodable == 0 {
                        log::warn!("malformed component from the server (`{}`)", registered.name);
                    }
                    self.undecodable += 1;
                }
                Some(_) => {}
                None => (registered.remove)(world, body),
            }
            let references = mapper.mapped.into_iter();
            let body = |(wire, written)| Some((from_wire(wire)?, written));
            component.references = references.filter_map(body).collect();
            if !component.references.is_empty() {
                self.referring.insert(slot as u16);
            }
        }
    }
}
