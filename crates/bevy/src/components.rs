//! Components that are sent reliably, encoded with serde.

use std::any::TypeId;

use bevy_ecs::change_detection::ComponentTicks;
use bevy_ecs::entity::{EntityGeneration, EntityIndex, EntityMapper};
use bevy_ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::body::write;
use crate::wire::{BodyId, Encoded, LoggedOnce, MAX_TO_CLIENT_BYTES, decode, sendable, short_name};

/// Access to one registered component type.
pub(crate) struct ComponentAccess {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    pub(crate) ticks: fn(EntityRef<'_>) -> Option<ComponentTicks>,
    /// Encodes a body's component. Entities in it are replaced by their wire form ([`to_wire`]).
    pub(crate) read: fn(EntityRef<'_>, &mut Mapper<'_>) -> Option<Encoded>,
    /// Decodes and inserts the component. Skipped if the entity was despawned. Returns false if the bytes are
    /// malformed.
    pub(crate) write: fn(&mut World, Entity, &[u8], &mut Mapper<'_>) -> bool,
    pub(crate) remove: fn(&mut World, Entity),
    pub(crate) unsent: LoggedOnce,
}

impl ComponentAccess {
    pub(crate) fn of<C: Component + Clone + Serialize + DeserializeOwned>() -> Self {
        Self {
            id: TypeId::of::<C>(),
            name: short_name::<C>(),
            ticks: |body| body.get_change_ticks::<C>(),
            read: |body, mapper| {
                let mut component = body.get::<C>()?.clone();
                C::map_entities(&mut component, mapper);
                Some(sendable(&component, MAX_TO_CLIENT_BYTES))
            },
            write: |world, body, bytes, mapper| {
                let component = decode::<C>(bytes).map(|mut component| {
                    C::map_entities(&mut component, mapper);
                    write(world, body, component);
                });
                component.is_some()
            },
            remove: |world, body| {
                if let Ok(mut body) = world.get_entity_mut(body) {
                    body.remove::<C>();
                }
            },
            unsent: LoggedOnce::default(),
        }
    }
}

/// Maps local entities to wire entities, or back.
pub(crate) struct Mapper<'a> {
    map: &'a dyn Fn(Entity) -> Option<Entity>,
    /// Entities that were mapped so far, and the results.
    pub(crate) mapped: Vec<(Entity, Option<Entity>)>,
}

impl<'a> Mapper<'a> {
    pub(crate) fn new(map: &'a dyn Fn(Entity) -> Option<Entity>) -> Self {
        Self { map, mapped: Vec::new() }
    }
}

impl EntityMapper for Mapper<'_> {
    fn get_mapped(&mut self, source: Entity) -> Entity {
        if source == Entity::PLACEHOLDER {
            return source;
        }
        let entity = (self.map)(source);
        self.mapped.push((source, entity));
        entity.unwrap_or(Entity::PLACEHOLDER)
    }

    fn set_mapped(&mut self, _: Entity, _: Entity) {}
}

/// Returns the wire entity of a body. Its index is the body's slot.
pub(crate) fn to_wire(body: BodyId) -> Option<Entity> {
    let index = EntityIndex::from_raw_u32(body.slot.into())?;
    let generation = EntityGeneration::from_bits(body.generation.into());
    Some(Entity::from_index_and_generation(index, generation))
}

pub(crate) fn from_wire(entity: Entity) -> Option<BodyId> {
    Some(BodyId {
        slot: entity.index_u32().try_into().ok()?,
        generation: entity.generation().to_bits().try_into().ok()?,
    })
}
