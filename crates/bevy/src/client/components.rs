//! Received reliable components, by slot. They can arrive before their body, and can refer to bodies that have not
//! arrived.

use std::collections::{BTreeSet, HashSet};

use bevy_ecs::prelude::*;

use crate::components::{ComponentAccess, Mapper, from_wire};
use crate::wire::{BodyId, Part};

/// Reliable components of the visible bodies. Memory is bounded by the number of slots, each with one value per
/// component.
#[derive(Debug)]
pub(super) struct ReliableComponents {
    /// By slot.
    bodies: Vec<Option<Entry>>,
    /// Slots of shown bodies with components to write.
    pub(super) dirty: BTreeSet<u16>,
    pub(super) undecodable: u64,
}

#[derive(Debug)]
struct Entry {
    generation: u8,
    /// Whether the body has left. The next message is for its next appearance.
    has_left: bool,
    /// Whether all components have arrived that the body had when it became visible.
    is_whole: bool,
    components: Vec<Component>,
}

#[derive(Clone, Debug, Default)]
struct Component {
    bytes: Option<Box<[u8]>>,
    is_dirty: bool,
    /// Bodies that the component refers to, once it was written.
    references: Vec<BodyId>,
}

impl ReliableComponents {
    pub(super) fn new(slots: usize) -> Self {
        Self { bodies: (0..slots).map(|_| None).collect(), dirty: BTreeSet::new(), undecodable: 0 }
    }

    /// Stores the components of a message. The body's slot must be valid.
    pub(super) fn take(
        &mut self,
        body: BodyId,
        part: Part,
        components: &[(u8, Option<&[u8]>)],
        count: usize,
        is_shown: bool,
    ) {
        let entry = &mut self.bodies[usize::from(body.slot)];
        let begins = matches!(part, Part::All | Part::Begin);
        let is_other =
            |entry: &Entry| entry.generation != body.generation || begins || entry.has_left;
        if entry.as_ref().is_none_or(is_other) {
            // Dirty without a value, so that a shown body loses the components that it no longer has.
            let component = Component { is_dirty: true, ..Component::default() };
            *entry = Some(Entry {
                generation: body.generation,
                has_left: false,
                is_whole: part != Part::Begin,
                components: vec![component; count],
            });
        }
        let entry = entry.as_mut().expect("it was just set");
        entry.is_whole |= part == Part::End;
        for &(component, bytes) in components {
            entry.components[usize::from(component)] =
                Component { bytes: bytes.map(Box::from), is_dirty: true, references: Vec::new() };
        }
        if is_shown {
            self.dirty.insert(body.slot);
        }
    }

    pub(super) fn leave(&mut self, body: BodyId) {
        let entry = self.bodies.get_mut(usize::from(body.slot));
        if let Some(entry) = entry.and_then(Option::as_mut)
            && entry.generation == body.generation
        {
            entry.has_left = true;
        }
    }

    /// Returns whether all components of a body have arrived.
    pub(super) fn has(&self, body: BodyId) -> bool {
        let entry = self.bodies[usize::from(body.slot)].as_ref();
        entry.is_some_and(|entry| entry.generation == body.generation && entry.is_whole)
    }

    /// Marks all components of a newly spawned body as dirty.
    pub(super) fn on_birth(&mut self, body: BodyId) {
        if let Some(entry) = &mut self.bodies[usize::from(body.slot)] {
            for component in &mut entry.components {
                component.is_dirty = component.bytes.is_some();
            }
        }
    }

    /// Marks components that refer to these bodies as dirty. The bodies have appeared or vanished.
    pub(super) fn on_touched(&mut self, bodies: &HashSet<BodyId>) {
        for (slot, entry) in self.bodies.iter_mut().enumerate() {
            for component in entry.iter_mut().flat_map(|entry| &mut entry.components) {
                if component.references.iter().any(|body| bodies.contains(body)) {
                    component.is_dirty = true;
                    self.dirty.insert(slot as u16);
                }
            }
        }
    }

    /// Writes a body's dirty components, unless the body was despawned. `entity` returns the local entity of a
    /// referenced body.
    pub(super) fn write(
        &mut self,
        world: &mut World,
        at: BodyId,
        body: Entity,
        registered: &[ComponentAccess],
        entity: impl Fn(BodyId) -> Option<Entity>,
    ) {
        let Some(entry) = &mut self.bodies[usize::from(at.slot)] else {
            return;
        };
        if entry.generation != at.generation || !entry.is_whole {
            return;
        }
        let map = |wire| entity(from_wire(wire)?);
        for (component, registered) in entry.components.iter_mut().zip(registered) {
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
            let references = mapper.references.into_iter();
            component.references = references.filter_map(from_wire).collect();
        }
    }
}
