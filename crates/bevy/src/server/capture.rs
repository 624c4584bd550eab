//! Quantizes the server's bodies once per tick, for all clients.

use std::collections::BTreeSet;
use std::sync::Arc;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use cubewire_codec::{BitKind, BodyState, Life, Precision, QuantizeError, QuantizedSnapshot};
use cubewire_protocol::SlotTable;

use super::{ReplicationStats, SendGroup, SendPriority};
use crate::body::{BodyKind, Replicated, Teleport};
use crate::components::{Mapper, from_wire, to_wire};
use crate::protocol::{Compiled, NO_PROTOCOL, Protocol};
use crate::wire::{BodyId, LoggedOnce};

/// Slot of a body, which identifies it in snapshots and [`SendState`](cubewire_protocol::SendState)s. Inserted at the
/// server in the first tick with the body. Read-only. A clone of the entity gets another slot.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(immutable, clone_behavior = Ignore)]
pub struct InSlot {
    pub(crate) slot: usize,
    pub(crate) life: Life,
}

impl InSlot {
    /// Returns the index of the slot.
    pub const fn slot(&self) -> usize {
        self.slot
    }

    /// Returns the body's kind and generation.
    pub const fn life(&self) -> Life {
        self.life
    }

    const fn id(self) -> BodyId {
        BodyId::new(self.slot, self.life)
    }
}

/// All bodies by slot, as captured in the last tick.
#[derive(Resource, Debug)]
pub struct Bodies {
    pub(crate) protocol: Arc<Compiled>,
    pub(crate) tick: u64,
    pub(super) table: SlotTable,
    /// Snapshot of all bodies, for a client that sees everything.
    pub(crate) world: Arc<QuantizedSnapshot>,
    /// Earlier snapshots. Their memory is reused once no client or view refers to them.
    pool: Vec<Arc<QuantizedSnapshot>>,
    /// By slot: the newest body of each slot that was ever used.
    pub(crate) slots: Vec<BodySlot>,
    /// [`SendPriority`] by slot. Copied for each client in each tick.
    pub(crate) gains: Vec<f32>,
    /// Send group by slot. Empty if no body has one.
    pub(crate) groups: Vec<u32>,
    /// Unregistered kinds of bodies. Each is logged once.
    unknown: BTreeSet<&'static str>,
    warned: Warned,
    /// Bodies that left their slots since the last tick.
    gone: Vec<(Entity, InSlot)>,
    /// Bodies that left in the tick before. Messages of this tick can still refer to them.
    left: Vec<(Entity, InSlot)>,
    /// Reliable components that changed in this tick: slot and component index.
    pub(crate) changed: Vec<(usize, usize)>,
    /// Bodies that were disabled and are in the snapshot again, in the same slot. Visibility filters are then evaluated again.
    pub(super) returned: Vec<Entity>,
}

/// Warnings that are logged only for the first body.
#[derive(Debug, Default)]
struct Warned {
    no_kind: LoggedOnce,
    no_position: LoggedOnce,
    no_rotation: LoggedOnce,
    no_teleports: LoggedOnce,
}

#[derive(Clone, Debug)]
pub(crate) struct BodySlot {
    pub(crate) entity: Entity,
    /// Last tick when the queries found the body; 0 means never.
    found_at: u64,
    /// The last valid pose.
    pub(crate) position: Vec3,
    rotation: Quat,
    /// Number of teleports modulo 256, at most one per tick.
    teleports: u8,
    /// Whether the body has teleported since it was last captured. It can have been disabled since.
    has_teleported: bool,
    pub(crate) components: Vec<ReliableComponent>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ReliableComponent {
    /// The newest encoding that can be sent. `None` if the body does not have the component.
    pub(crate) value: Option<Arc<[u8]>>,
    /// Whether it refers to entities. If so, it is encoded again in each tick, because their slots can change.
    refers: bool,
    /// Whether the current value cannot be sent. Clients then keep `value`.
    is_unsendable: bool,
}

impl BodySlot {
    pub(crate) fn has_components(&self) -> bool {
        self.components.iter().any(|component| component.value.is_some())
    }
}

impl FromWorld for Bodies {
    fn from_world(world: &mut World) -> Self {
        let protocol = world.get_resource::<Protocol>().expect(NO_PROTOCOL).0.clone();
        let slots = protocol.plan.max_slots().expect("the scene of a game has slots");
        let mut empty = QuantizedSnapshot::new(protocol.plan.clone(), protocol.stages.precision());
        empty.clear_slots(slots);
        Self {
            tick: 0,
            table: SlotTable::new(slots, protocol.plan.schema().ticks_per_second),
            world: Arc::new(empty),
            pool: Vec::new(),
            slots: Vec::new(),
            gains: Vec::new(),
            groups: Vec::new(),
            unknown: BTreeSet::new(),
            warned: Warned::default(),
            gone: Vec::new(),
            left: Vec::new(),
            changed: Vec::new(),
            returned: Vec::new(),
            protocol,
        }
    }
}

/// Removes an [`InSlot`] that the game has moved to another entity or world.
pub(super) fn reject(inserted: On<Insert, InSlot>, mut world: DeferredWorld) {
    let (at, bodies) = (world.get::<InSlot>(inserted.entity), world.get_resource::<Bodies>());
    let is_own = at.zip(bodies).is_some_and(|(at, bodies)| bodies.is_own(at, inserted.entity));
    if !is_own {
        world.commands().entity(inserted.entity).try_remove::<InSlot>();
    }
}

/// Frees the slot of a body that lost its [`InSlot`]. Reads the world, because a query would skip disabled entities.
pub(super) fn forget(removed: On<Remove, InSlot>, mut world: DeferredWorld) {
    if let Some(&body) = world.get::<InSlot>(removed.entity)
        && let Some(mut bodies) = world.get_resource_mut::<Bodies>()
        && bodies.is_own(&body, removed.entity)
    {
        let tick = bodies.tick;
        bodies.table.remove(body.slot, tick);
        bodies.gone.push((removed.entity, body));
    }
}

/// Removes the slot of an entity that lost a component required for a body.
pub(super) fn withdraw(
    removed: On<Remove, (Replicated, BodyKind, Transform)>,
    mut world: DeferredWorld,
) {
    if world.get::<InSlot>(removed.entity).is_some() {
        world.commands().entity(removed.entity).try_remove::<InSlot>();
    }
}

/// Removes the slot after a change of kind, because a body of another kind is a new body.
pub(super) fn change_kind(inserted: On<Insert, BodyKind>, mut commands: Commands) {
    commands.entity(inserted.entity).try_remove::<InSlot>();
}

/// Records the teleport of a body that has a slot. Reads the world, because a query would skip disabled entities.
pub(super) fn note_teleport(inserted: On<Insert, Teleport>, mut world: DeferredWorld) {
    let slot = world.get::<InSlot>(inserted.entity).map(|at| at.slot);
    let Some(mut bodies) = world.get_resource_mut::<Bodies>() else {
        return;
    };
    if !bodies.protocol.items.has_teleports && bodies.warned.no_teleports.is_first() {
        log::warn!("`Teleport` has no effect: the protocol has no `replicate_teleports`");
    }
    if let Some(body) = slot.and_then(|slot| bodies.slots.get_mut(slot)) {
        body.has_teleported = true;
    }
}

type NewBody = (With<Replicated>, With<Transform>, Without<InSlot>);

type Body<'a> = (
    EntityRef<'a>,
    Ref<'a, Transform>,
    &'a InSlot,
    Option<&'a SendPriority>,
    Option<&'a SendGroup>,
);

/// Assigns slots to new bodies, and captures the tick's state of all bodies in a new snapshot.
pub(super) fn capture(
    world: &mut World,
    new: &mut QueryState<(Entity, Option<&'static BodyKind>), NewBody>,
    all: &mut QueryState<Body<'static>, With<Replicated>>,
) {
    world.resource_mut::<Bodies>().tick += 1;
    let (mut waiting, mut without_slot) = (0, 0);
    for entity in new.iter(world).map(|(body, _)| body).collect::<Vec<_>>() {
        // Looked up again for each entity: observers of the previous ones may have changed it. They also need `Bodies`
        // to be in the world.
        let Ok((_, kind)) = new.get(world, entity) else {
            continue;
        };
        let kind = kind.copied();
        let mut bodies = world.resource_mut::<Bodies>();
        let Some(kind) = bodies.registered_kind(entity, kind) else {
            waiting += 1;
            continue;
        };
        match bodies.insert(entity, kind) {
            Some(slot) => _ = world.entity_mut(entity).insert(slot),
            None => without_slot += 1,
        }
    }
    world.resource_scope(|world, mut bodies: Mut<'_, Bodies>| {
        let bodies = &mut *bodies;
        let since = (world.last_change_tick(), world.change_tick());
        let mut shared = bodies.unshared();
        let snapshot = Arc::get_mut(&mut shared).expect("it is not shared");
        bodies.left = std::mem::take(&mut bodies.gone);
        bodies.returned.clear();
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
        bodies.take_out_others(snapshot, world);
        bodies.world = shared;
        let mut stats = world.resource_mut::<ReplicationStats>();
        (stats.tick, stats.bodies) = (bodies.tick, count);
        stats.waiting = waiting + without_slot;
        stats.cooling = without_slot.min(bodies.table.cooling());
    });
}

/// Returns the wire form of a body, also of one that left since the last tick.
pub(super) fn entity_to_wire(world: &World, entity: Entity) -> Option<Entity> {
    let left = || {
        world.resource::<Bodies>().left.iter().find(|(body, _)| *body == entity).map(|(_, at)| at)
    };
    to_wire(world.get::<InSlot>(entity).or_else(left)?.id())
}

/// Returns the body for a wire entity that a client has sent.
pub(super) fn entity_from_wire(world: &World, entity: Entity) -> Option<Entity> {
    let named = from_wire(entity)?;
    let body = world.resource::<Bodies>().slots.get(usize::from(named.slot))?;
    let at = world.get::<InSlot>(body.entity)?;
    (at.id() == named).then_some(body.entity)
}

impl Bodies {
    /// Returns the snapshot for a client that sees everything, for recording or measuring a game. Slots are empty
    /// before the first tick.
    pub fn snapshot(&self) -> &QuantizedSnapshot {
        &self.world
    }

    /// Returns the snapshot for a client that sees everything, in a precision.
    pub(super) fn in_precision(&self, precision: Precision) -> Arc<QuantizedSnapshot> {
        if self.world.precision() == precision {
            return Arc::clone(&self.world);
        }
        let exact = |slot: usize| {
            let BodySlot { position, rotation: orientation, .. } = self.slots[slot];
            BodyState { position, orientation, ..BodyState::default() }
        };
        let snapshot = self.world.in_precision(precision, exact);
        Arc::new(snapshot.expect("these poses were valid in another precision"))
    }

    /// Whether this slot was assigned to the entity.
    fn is_own(&self, at: &InSlot, entity: Entity) -> bool {
        self.table.get(at.slot) == Some(at.life) && self.slots[at.slot].entity == entity
    }

    /// Removes the bodies from a snapshot that the queries did not find in this tick. They are gone, or are disabled
    /// and keep their slots.
    fn take_out_others(&mut self, snapshot: &mut QuantizedSnapshot, world: &World) {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.found_at == self.tick {
                continue;
            }
            if snapshot.life(index).is_some() {
                snapshot.remove(index);
                // Components can change while the body is disabled.
                slot.components.fill(ReliableComponent::default());
            }
            let Some(life) = self.table.get(index) else {
                continue;
            };
            // Clearing a world triggers no observers, so [`forget`] may not have run.
            let at = InSlot { slot: index, life };
            if world.get::<InSlot>(slot.entity) != Some(&at) {
                self.table.remove(index, self.tick);
            }
        }
    }

    /// Returns the index of a body's kind. Warns if the body has no kind, or one that is not registered.
    fn registered_kind(&mut self, body: Entity, kind: Option<BodyKind>) -> Option<u8> {
        let Some(kind) = kind else {
            if self.warned.no_kind.is_first() {
                log::warn!(
                    "entity {body} is not replicated, because it has no `BodyKind`; others like it are not logged"
                );
            }
            return None;
        };
        let (name, kind) = (kind.name(), self.protocol.kind(kind.name()));
        if kind.is_none() && self.unknown.insert(name) {
            log::warn!("bodies of kind `{name}` are not replicated: the kind is not registered");
        }
        kind
    }

    /// Assigns a slot to a body. Returns `None` if all slots are in use or cooling down.
    fn insert(&mut self, entity: Entity, kind: u8) -> Option<InSlot> {
        let (slot, life) = self.table.insert(kind, self.tick)?;
        let body = BodySlot {
            entity,
            found_at: 0,
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            teleports: 0,
            has_teleported: false,
            components: vec![ReliableComponent::default(); self.protocol.items.components.len()],
        };
        match self.slots.get_mut(slot) {
            Some(slot) => *slot = body,
            None => {
                self.slots.push(body);
                self.gains.push(1.0);
            }
        }
        Some(InSlot { slot, life })
    }

    /// Returns a copy of the last snapshot, in reused memory if possible. The last snapshot enters the pool.
    fn unshared(&mut self) -> Arc<QuantizedSnapshot> {
        let free = self.pool.iter().position(|held| Arc::strong_count(held) == 1);
        let mut free = match free {
            Some(index) => self.pool.swap_remove(index),
            None => Arc::new(QuantizedSnapshot::new(
                self.protocol.plan.clone(),
                self.protocol.stages.precision(),
            )),
        };
        Arc::get_mut(&mut free).expect("it is not shared").copy_from(&self.world);
        self.pool.push(Arc::clone(&self.world));
        free
    }

    /// Writes a changed body into a snapshot. Returns false if the body has never had a valid pose.
    fn put(
        &mut self,
        snapshot: &mut QuantizedSnapshot,
        (body, transform, at, priority, group): Body<'_>,
        since: (Tick, Tick),
        values: &mut Vec<u32>,
        world: &World,
    ) -> bool {
        let slot = at.slot;
        self.gains[slot] = priority.map_or(1.0, |priority| priority.0);
        if let Some(group) = group {
            self.join(slot, group.0);
        }
        // `snapshot` is a copy of the last tick's, and `found_before` is 0 for a new body.
        let is_known = snapshot.life(slot) == Some(at.life);
        let found_before = std::mem::replace(&mut self.slots[slot].found_at, self.tick);
        self.read_components(body, at, since, world);
        self.read_values(body, slot, transform.translation.is_finite(), values, world);
        let is_same = |(field, &value): (usize, &u32)| snapshot.value(slot, field) == value;
        if is_known && !transform.is_changed() && values.iter().enumerate().all(is_same) {
            return true;
        }
        let mut state = BodyState {
            position: transform.translation,
            orientation: transform.rotation,
            ..BodyState::default()
        };
        // Replaces each invalid part at most once, so it ends.
        while let Err(error) = snapshot.put(slot, at.life, &state, values) {
            self.warn_of_pose(body.id(), error);
            // The invalid part keeps its last value. The valid part and the fields are still sent.
            let last = &self.slots[slot];
            match error {
                _ if !is_known => return false,
                QuantizeError::NotFinite { field: BitKind::Position, .. }
                    if state.position != last.position =>
                {
                    state.position = last.position;
                }
                QuantizeError::NotFinite { .. } | QuantizeError::NoDirection { .. }
                    if state.orientation != last.rotation =>
                {
                    state.orientation = last.rotation;
                }
                _ => return true,
            }
        }
        let put = &mut self.slots[slot];
        (put.position, put.rotation) = (state.position, state.orientation);
        if !is_known && found_before > 0 {
            self.returned.push(body.id());
        }
        true
    }

    /// Reads the quantized fields of a body in the schema's order, with the flag of components and the teleport count.
    fn read_values(
        &mut self,
        body: EntityRef<'_>,
        slot: usize,
        is_finite: bool,
        values: &mut Vec<u32>,
        world: &World,
    ) {
        let protocol = &self.protocol;
        let state = &mut self.slots[slot];
        values.clear();
        if protocol.has_components() {
            values.push(state.has_components().into());
        }
        let fields = protocol.items.fields.iter();
        let id_of = |entity| world.get::<InSlot>(entity).map(|at| at.id());
        values.extend(fields.map(|field| field.schema.form.quantize((field.read)(body, &id_of))));
        if protocol.items.has_teleports {
            // A jump to an invalid position happens when the position is valid again.
            if state.has_teleported && is_finite {
                state.teleports = state.teleports.wrapping_add(1);
                state.has_teleported = false;
            }
            values.push(state.teleports.into());
        }
    }

    fn warn_of_pose(&self, body: Entity, error: QuantizeError) {
        let Warned { no_position, no_rotation, .. } = &self.warned;
        let (once, what) = match error {
            QuantizeError::NotFinite { field: BitKind::Position, .. } => {
                (no_position, "translation is not finite")
            }
            QuantizeError::NoDirection { .. } => {
                (no_rotation, "rotation is a quaternion of length zero")
            }
            _ => (no_rotation, "rotation is not finite"),
        };
        if once.is_first() {
            log::warn!("entity {body}: the {what}; clients keep the last valid one");
        }
    }

    fn join(&mut self, slot: usize, group: u32) {
        if self.groups.is_empty() {
            // A body without a [`SendGroup`] is alone in its group. These numbers count down from the maximum, to stay
            // apart from the game's.
            let slots = self.slots.len() as u32;
            self.groups.extend((0..slots).map(|slot| u32::MAX - slot));
        }
        self.groups[slot] = group;
    }

    /// Encodes the changed reliable components of a body, and records which ones differ.
    fn read_components(
        &mut self,
        body: EntityRef<'_>,
        at: &InSlot,
        (last, this): (Tick, Tick),
        world: &World,
    ) {
        let to_wire = |entity: Entity| to_wire(world.get::<InSlot>(entity)?.id());
        for (index, entry) in self.protocol.items.components.iter().enumerate() {
            let known = &mut self.slots[at.slot].components[index];
            let is_reusable = (known.value.is_some() || known.is_unsendable) && !known.refers;
            let bytes = match (entry.ticks)(body) {
                None => None,
                Some(ticks) if is_reusable && !ticks.is_changed(last, this) => continue,
                Some(_) => {
                    let mut mapper = Mapper::new(&to_wire);
                    let bytes = (entry.read)(body, &mut mapper);
                    known.refers = !mapper.mapped.is_empty();
                    bytes
                }
            };
            known.is_unsendable = matches!(bytes, Some(Err(_)));
            match bytes.transpose() {
                Ok(bytes) => {
                    if known.value.as_deref() != bytes.as_deref() {
                        known.value = bytes.map(Arc::from);
                        self.changed.push((at.slot, index));
                    }
                }
                Err(error) => entry.unsent.warn(format_args!(
                    "component {error} (`{}` of entity {}): clients keep the previous value",
                    entry.name,
                    body.id()
                )),
            }
        }
    }
}
