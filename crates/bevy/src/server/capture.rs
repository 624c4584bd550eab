//! The server's bodies, quantized once a tick for all clients.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_transform::components::Transform;
use cubewire_codec::{BodyState, Life, QuantizedSnapshot};
use cubewire_protocol::SlotTable;

use super::{ReplicationStats, SendGroup, SendPriority};
use crate::body::{BodyKind, Replicated};
use crate::cold::{Mapper, from_wire, to_wire};
use crate::protocol::{Compiled, NO_PROTOCOL, Protocol};
use crate::wire::BodyId;

/// The slot of a body, by which snapshots and [`Standing`](cubewire_protocol::Standing)s know it. Inserted at the server with
/// the first tick that has the body, and read only.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(immutable)]
pub struct InSlot {
    pub(crate) slot: usize,
    pub(crate) life: Life,
}

impl InSlot {
    /// Index of the slot.
    #[must_use]
    pub const fn slot(&self) -> usize {
        self.slot
    }

    /// Kind and generation of the body in it.
    #[must_use]
    pub const fn life(&self) -> Life {
        self.life
    }

    fn to_wire(self) -> Option<Entity> {
        to_wire(BodyId::new(self.slot, self.life))
    }
}

/// All bodies, by slot, as they were captured in the last tick.
#[derive(Resource)]
pub struct Bodies {
    pub(crate) protocol: Arc<Compiled>,
    pub(crate) tick: u64,
    table: SlotTable,
    pub(crate) world: Arc<QuantizedSnapshot>,
    /// Snapshots whose memory can be reused once nobody else holds them.
    pool: Vec<Arc<QuantizedSnapshot>>,
    /// Those that have ever been in use.
    pub(crate) slots: Vec<BodySlot>,
    pub(crate) gains: Vec<f32>,
    /// Empty if no body has one.
    pub(crate) groups: Vec<u32>,
    /// Kinds that bodies have and that were not registered.
    unknown: BTreeSet<&'static str>,
    /// Whether the log has said so of entities without a kind, and of bodies that are nowhere finite.
    has_warned: [bool; 2],
    /// Bodies that have gone since the last tick.
    gone: Vec<(Entity, InSlot)>,
    /// Those that went in the tick before: what is sent in this one can refer to them.
    left: Vec<(Entity, InSlot)>,
    /// Cold components that changed in this tick.
    pub(crate) changed: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
pub(crate) struct BodySlot {
    pub(crate) entity: Entity,
    pub(crate) position: Vec3,
    /// By component.
    pub(crate) cold: Vec<Option<Box<[u8]>>>,
    /// By component: whether it refers to entities, whose slots can change while it does not.
    refers: Vec<bool>,
}

impl FromWorld for Bodies {
    fn from_world(world: &mut World) -> Self {
        let protocol = world
            .get_resource::<Protocol>()
            .expect(NO_PROTOCOL)
            .0
            .clone();
        let slots = protocol.plan.max_slots().expect("bodies come and go");
        let empty = || {
            let mut empty =
                QuantizedSnapshot::new(protocol.plan.clone(), protocol.stages.precision());
            empty.clear_slots(slots);
            empty
        };
        Self {
            tick: 0,
            table: SlotTable::new(slots, protocol.plan.schema().ticks_per_second),
            world: Arc::new(empty()),
            pool: Vec::new(),
            slots: Vec::new(),
            gains: Vec::new(),
            groups: Vec::new(),
            unknown: BTreeSet::new(),
            has_warned: [false; 2],
            gone: Vec::new(),
            left: Vec::new(),
            changed: Vec::new(),
            protocol,
        }
    }
}

/// A body that leaves its slot, for whatever reason.
pub(super) fn forget(
    removed: On<Remove, InSlot>,
    bodies: Option<ResMut<Bodies>>,
    slots: Query<&InSlot>,
) {
    if let Some(mut bodies) = bodies
        && let Ok(body) = slots.get(removed.entity)
    {
        let tick = bodies.tick;
        bodies.table.remove(body.slot, tick);
        bodies.gone.push((removed.entity, *body));
    }
}

/// What has lost one of these is no body any more.
pub(super) fn withdraw(
    removed: On<Remove, (Replicated, BodyKind, Transform)>,
    bodies: Query<(), With<InSlot>>,
    mut commands: Commands,
) {
    if bodies.contains(removed.entity) {
        commands.entity(removed.entity).try_remove::<InSlot>();
    }
}

/// A body of another kind is another body.
pub(super) fn change_kind(inserted: On<Insert, BodyKind>, mut commands: Commands) {
    commands.entity(inserted.entity).try_remove::<InSlot>();
}

type NewBody = (With<Replicated>, With<Transform>, Without<InSlot>);

type Body<'a> = (
    EntityRef<'a>,
    Ref<'a, Transform>,
    &'a InSlot,
    Option<&'a SendPriority>,
    Option<&'a SendGroup>,
);

/// Takes a tick's state of all bodies.
pub(super) fn capture(
    world: &mut World,
    new: &mut QueryState<(Entity, Option<&'static BodyKind>), NewBody>,
    all: &mut QueryState<Body<'static>, With<Replicated>>,
) {
    world.resource_mut::<Bodies>().tick += 1;
    let mut waiting = 0;
    for entity in new.iter(world).map(|(body, _)| body).collect::<Vec<_>>() {
        // Observers of those before can have changed it, and for them the resource is there.
        let Ok((_, kind)) = new.get(world, entity) else {
            continue;
        };
        let kind = kind.copied();
        match world.resource_mut::<Bodies>().insert(entity, kind) {
            Some(slot) => {
                world.entity_mut(entity).insert(slot);
            }
            None => waiting += 1,
        }
    }
    world.resource_scope(|world, mut bodies: Mut<'_, Bodies>| {
        let bodies = &mut *bodies;
        let since = (world.last_change_tick(), world.change_tick());
        let mut shared = bodies.unshared();
        let snapshot = Arc::get_mut(&mut shared).expect("nobody else holds it");
        bodies.left = std::mem::take(&mut bodies.gone);
        for &(_, InSlot { slot, .. }) in &bodies.left {
            if bodies.table.get(slot).is_none() {
                snapshot.remove(slot);
                bodies.slots[slot].cold.fill(None);
            }
        }
        bodies.changed.clear();
        bodies.groups.clear();
        let (mut values, mut count) = (Vec::new(), 0);
        {
            let world = &*world;
            for body in all.query(world) {
                match bodies.put(snapshot, body, since, &mut values, world) {
                    true => count += 1,
                    false => waiting += 1,
                }
            }
        }
        bodies.world = shared;
        let mut stats = world.resource_mut::<ReplicationStats>();
        (stats.tick, stats.bodies, stats.waiting) = (bodies.tick, count, waiting);
    });
}

impl fmt::Debug for Bodies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bodies")
            .field("tick", &self.tick)
            .finish_non_exhaustive()
    }
}

/// What a body is on the wire, also if it has gone since the last tick.
pub(super) fn entity_to_wire(world: &World, entity: Entity) -> Option<Entity> {
    let left = || {
        let mut left = world.resource::<Bodies>().left.iter();
        left.find(|(body, _)| *body == entity).map(|(_, at)| at)
    };
    world.get::<InSlot>(entity).or_else(left)?.to_wire()
}

/// The body that an entity is which a client has sent.
pub(super) fn entity_from_wire(world: &World, entity: Entity) -> Option<Entity> {
    let named = from_wire(entity)?;
    let body = world
        .resource::<Bodies>()
        .slots
        .get(usize::from(named.slot))?;
    let at = world.get::<InSlot>(body.entity)?;
    (BodyId::new(at.slot, at.life) == named).then_some(body.entity)
}

impl Bodies {
    /// What a client that sees everything is sent: to record a game, and to measure it. Slots are empty before the first tick.
    #[must_use]
    pub fn snapshot(&self) -> &QuantizedSnapshot {
        &self.world
    }

    /// Finds a slot for a body.
    fn insert(&mut self, body: Entity, kind: Option<BodyKind>) -> Option<InSlot> {
        if kind.is_none() && !std::mem::replace(&mut self.has_warned[0], true) {
            log::warn!(
                "entity {body} is not replicated, and neither are others like it: it has no `BodyKind`"
            );
        }
        let name = kind?.name();
        let kind = self.protocol.kind(name);
        if kind.is_none() && self.unknown.insert(name) {
            log::warn!("bodies of kind `{name}` are not replicated: it was not registered");
        }
        let kind = kind?;
        let (slot, life) = self.table.insert(kind, self.tick)?;
        let cold = self.protocol.cold.len();
        if slot == self.slots.len() {
            self.slots.push(BodySlot {
                entity: Entity::PLACEHOLDER,
                position: Vec3::ZERO,
                cold: vec![None; cold],
                refers: vec![false; cold],
            });
            self.gains.push(1.0);
        }
        self.slots[slot].cold.fill(None);
        Some(InSlot { slot, life })
    }

    /// A copy of the last snapshot, in memory that is reused.
    fn unshared(&mut self) -> Arc<QuantizedSnapshot> {
        let mut pool = self.pool.iter();
        let free = pool.position(|held| Arc::strong_count(held) == 1);
        let mut free = match free {
            Some(index) => self.pool.swap_remove(index),
            None => Arc::new(QuantizedSnapshot::new(
                self.protocol.plan.clone(),
                self.protocol.stages.precision(),
            )),
        };
        let copy = Arc::get_mut(&mut free).expect("nobody else holds it");
        copy.copy_from(&self.world);
        self.pool.push(Arc::clone(&self.world));
        free
    }

    /// Puts a body into a snapshot, unless nothing of it has changed. False if there is nothing of it yet.
    fn put(
        &mut self,
        snapshot: &mut QuantizedSnapshot,
        (body, transform, at, priority, group): Body<'_>,
        since: (Tick, Tick),
        values: &mut Vec<u32>,
        world: &World,
    ) -> bool {
        let slot = at.slot;
        self.slots[slot].entity = body.id();
        self.gains[slot] = priority.map_or(1.0, |priority| priority.0);
        if let Some(group) = group {
            self.join(slot, group.0);
        }
        self.read_cold(body, at, since, world);
        let protocol = &self.protocol;
        values.clear();
        if protocol.has_cold() {
            let has_cold = self.slots[slot].cold.iter().any(Option::is_some);
            values.push(has_cold.into());
        }
        let fields = protocol.fields.iter();
        let slot_of = |entity| world.get::<InSlot>(entity).map(|at| at.slot);
        values.extend(fields.map(|field| field.form().quantize((field.read)(body, &slot_of))));
        let is_known = snapshot.life(slot) == Some(at.life);
        let is_same = |(field, &value): (usize, &u32)| snapshot.value(slot, field) == value;
        if is_known && !transform.is_changed() && values.iter().enumerate().all(is_same) {
            return true;
        }
        let state = BodyState {
            position: transform.translation,
            orientation: transform.rotation,
            ..BodyState::default()
        };
        let is_put = snapshot.put(slot, at.life, &state, values).is_ok();
        if is_put {
            self.slots[slot].position = transform.translation;
        }
        // One that is not finite stays where it was.
        if !is_put && !std::mem::replace(&mut self.has_warned[1], true) {
            let body = body.id();
            log::warn!(
                "the `Transform` of entity {body} is not finite: clients see the last that was"
            );
        }
        is_put || is_known
    }

    fn join(&mut self, slot: usize, group: u32) {
        if self.groups.is_empty() {
            // By itself, each is a group of its own, from the other end of the numbers.
            let slots = self.slots.len() as u32;
            self.groups.extend((0..slots).map(|slot| u32::MAX - slot));
        }
        self.groups[slot] = group;
    }

    /// Notes which cold components have changed.
    fn read_cold(
        &mut self,
        body: EntityRef<'_>,
        at: &InSlot,
        (last, this): (Tick, Tick),
        world: &World,
    ) {
        let to_wire = |entity: Entity| world.get::<InSlot>(entity)?.to_wire();
        for (index, entry) in self.protocol.cold.iter().enumerate() {
            let slot = &mut self.slots[at.slot];
            let (known, refers) = (&mut slot.cold[index], &mut slot.refers[index]);
            let is_same = known.is_some() && !*refers;
            let bytes = match (entry.ticks)(body) {
                None => None,
                Some(ticks) if is_same && !ticks.is_changed(last, this) => continue,
                Some(_) => {
                    let mut mapper = Mapper::new(&to_wire);
                    let bytes = (entry.read)(body, &mut mapper);
                    *refers = !mapper.references.is_empty();
                    bytes
                }
            };
            let bytes = bytes.map(Vec::into_boxed_slice);
            if *known != bytes {
                *known = bytes;
                self.changed.push((at.slot, index));
            }
        }
    }
}
