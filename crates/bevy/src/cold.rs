//! Components that are sent reliably, as serde has them.

use bevy_ecs::change_detection::ComponentTicks;
use bevy_ecs::entity::{EntityGeneration, EntityIndex, EntityMapper};
use bevy_ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::body::write;
use crate::wire::{BodyId, Encoded, LoggedOnce, MAX_TO_CLIENT_BYTES, decode, sendable, short_name};

/// A type of component, and how to get at it.
pub(crate) struct ColdEntry {
    pub(crate) name: &'static str,
    pub(crate) ticks: fn(EntityRef<'_>) -> Option<ComponentTicks>,
    /// The bytes of a body's component, with the entities in it as they are on the wire.
    pub(crate) read: fn(EntityRef<'_>, &mut Mapper<'_>) -> Option<Encoded>,
    /// Inserts the component, unless the entity has been despawned. False if the bytes are malformed.
    pub(crate) write: fn(&mut World, Entity, &[u8], &mut Mapper<'_>) -> bool,
    pub(crate) remove: fn(&mut World, Entity),
    /// Whether a warning about an unsendable value was logged.
    pub(crate) unsent: LoggedOnce,
}

impl ColdEntry {
    pub(crate) fn of<C: Component + Clone + Serialize + DeserializeOwned>() -> Self {
        Self {
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

/// Maps entities to those of the wire, or back.
pub(crate) struct Mapper<'a> {
    map: &'a dyn Fn(Entity) -> Option<Entity>,
    /// The entities that were mapped, as they were before.
    pub(crate) references: Vec<Entity>,
}

impl<'a> Mapper<'a> {
    pub(crate) fn new(map: &'a dyn Fn(Entity) -> Option<Entity>) -> Self {
        Self {
            map,
            references: Vec::new(),
        }
    }
}

impl EntityMapper for Mapper<'_> {
    fn get_mapped(&mut self, source: Entity) -> Entity {
        if source == Entity::PLACEHOLDER {
            return source;
        }
        self.references.push(source);
        (self.map)(source).unwrap_or(Entity::PLACEHOLDER)
    }

    fn set_mapped(&mut self, _: Entity, _: Entity) {}
}

/// A body as an entity of the wire: its slot is the index.
pub(crate) fn to_wire(body: BodyId) -> Option<Entity> {
    let index = EntityIndex::from_raw_u32(body.slot.into())?;
    let generation = EntityGeneration::from_bits(body.generation.into());
    Some(Entity::from_index_and_generation(index, generation))
}

/// The body of an entity of the wire.
pub(crate) fn from_wire(entity: Entity) -> Option<BodyId> {
    Some(BodyId {
        slot: entity.index_u32().try_into().ok()?,
        generation: entity.generation().to_bits().try_into().ok()?,
    })
}
