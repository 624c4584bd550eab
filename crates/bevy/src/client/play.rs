//! Playout: spawns, moves and despawns bodies to match the snapshots that are due.

use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_transform::components::Transform;
use cubewire_codec::schema::FieldForm;
use cubewire_codec::{BodyState, Life};
use cubewire_protocol::{Playout, PlayoutSnapshot, SnapshotReceiver};

use super::receiver::{DisplayedBody, ReplicationReceiver, SlotState, State, shown_body};
use super::{VanishReason, vanish};
use crate::body::{BodyKind, Remote, RemoteBody, write};
use crate::clock;
use crate::predicted::Predicted;
use crate::transport::OrDisabled;
use crate::wire::BodyId;

pub(super) fn play(
    world: &mut World,
    receivers: &mut QueryState<(Entity, &'static mut ReplicationReceiver), OrDisabled>,
) {
    let Some((server, replication)) = receivers.iter_mut(world).next() else {
        return;
    };
    // Taken out, because observers that run during playout can change the world, and can end the connection.
    let Some(mut replica) = replication.into_inner().0.take() else {
        return;
    };
    let now = clock::now(world, server);
    if let Some(receiver) = replica.connection.receiver() {
        replica.state.play(world, receiver, now);
        replica.state.release(world);
    }
    match world.get_mut::<ReplicationReceiver>(server) {
        Some(mut replication) => replication.0 = Some(replica),
        // An observer has ended the connection.
        None => vanish_all(world, replica.state.slots),
    }
}

/// Removes the bodies of a connection that has ended.
pub(super) fn disconnect(removed: On<Remove, ReplicationReceiver>, mut world: DeferredWorld) {
    // Not a query, because queries skip a disabled connection.
    if let Some(mut replication) = world.get_mut::<ReplicationReceiver>(removed.entity)
        && let Some(replica) = replication.0.take()
    {
        let slots = replica.state.slots;
        world.commands().queue(move |world: &mut World| vanish_all(world, slots));
    }
}

fn vanish_all(world: &mut World, slots: Vec<SlotState>) {
    for shown in slots.into_iter().filter_map(|slot| slot.shown) {
        vanish(world, shown.entity, VanishReason::Disconnected);
    }
}

impl State {
    fn play(&mut self, world: &mut World, receiver: &SnapshotReceiver, now: Duration) {
        // The client can despawn bodies at any time, also while playout waits.
        for shown in self.slots.iter_mut().filter_map(|slot| slot.shown.as_mut()) {
            shown.exists = world.get_entity(shown.entity).is_ok();
        }
        let interpolation = self.interpolation;
        let is_due = |playout: &Playout<'_, PlayoutSnapshot>| {
            !interpolation.waits() || playout.due_tick >= playout.from_tick as f64
        };
        if let Some(playout) = interpolation.playout(receiver.playout(), now)
            && is_due(&playout)
            && playout.from_tick >= self.resume_tick
        {
            self.shown_tick = playout.from_tick;
            self.learn(receiver, playout.from_tick);
            let lives = playout.from.lives.iter().take(self.slots.len());
            for (slot, &life) in lives.enumerate() {
                self.show_life(world, slot, life, &playout.from.snapshot.bodies[slot]);
                // A body that is gone, but for a reason that has not arrived, keeps its last position.
                let shown = self.slots[slot].shown;
                if let Some(shown) = shown.filter(|shown| life == Some(shown.life))
                    && let Some(body) = interpolation.slot(&playout, slot)
                {
                    self.show_body(world, slot, shown, &body);
                }
            }
        }
        self.update_references(world);
        for slot in std::mem::take(&mut self.components.dirty) {
            let slot = usize::from(slot);
            if let Some(shown) = self.slots[slot].shown {
                self.write_components(world, BodyId::new(slot, shown.life), shown.entity);
            }
        }
    }

    /// Writes the reference fields again with a target that has appeared or vanished, and marks such components as dirty.
    fn update_references(&mut self, world: &mut World) {
        let protocol = Arc::clone(&self.protocol);
        if protocol.references().next().is_some() {
            for slot in 0..self.slots.len() {
                let state = &self.slots[slot];
                // A slot with another body has its values.
                let shown =
                    state.shown.filter(|shown| state.life.is_none_or(|life| life == shown.life));
                let Some(shown) = shown else {
                    continue;
                };
                let is_old = |&field: &usize| self.target(slot, field) != state.targets[field];
                let changed = protocol.references().filter(is_old).map(|field| 1 << field);
                let changed: u32 = changed.sum();
                self.slots[slot].changed |= changed;
                if changed != 0 {
                    self.write_fields(world, slot, shown.life, shown.entity);
                }
            }
        }
        let slots = &self.slots;
        self.components.update_references(|body| shown_body(slots, body));
    }

    /// Returns the entity that a reference field of a slot refers to.
    fn target(&self, slot: usize, field: usize) -> Option<Entity> {
        // 0 means no body.
        let number = self.slots[slot].values[field].checked_sub(1)?;
        shown_body(&self.slots, BodyId::from_number(number))
    }

    /// Updates the slots from the decoded snapshots up to tick `until`.
    fn learn(&mut self, receiver: &SnapshotReceiver, until: u64) {
        let later = self.decoded.split_off(&(until + 1));
        let decoded = std::mem::replace(&mut self.decoded, later);
        for tick in decoded {
            let Some(baseline) = receiver.get(tick) else {
                continue;
            };
            let snapshot = baseline.snapshot();
            for ((slot, known), age) in self.slots.iter_mut().enumerate().zip(baseline.ages()) {
                let as_of = tick.saturating_sub(age.into());
                // Ages saturate at `u8::MAX`, so the tick of a body with this age is unknown.
                let is_old = age == u8::MAX && known.as_of.is_some();
                if is_old || known.as_of >= Some(as_of) {
                    continue;
                }
                known.as_of = Some(as_of);
                known.life = snapshot.life(slot);
                if known.life.is_none() {
                    continue;
                }
                for (field, value) in known.values.iter_mut().enumerate() {
                    let new = snapshot.value(slot, field);
                    known.changed |= u32::from(*value != new) << field;
                    *value = new;
                }
            }
        }
    }

    /// Despawns the slot's body if it is gone, and spawns the body that is in the slot now.
    fn show_life(&mut self, world: &mut World, slot: usize, life: Option<Life>, body: &BodyState) {
        let state = &mut self.slots[slot];
        let as_of = state.as_of.unwrap_or(0);
        match &mut state.shown {
            Some(shown) if life == Some(shown.life) => {
                // A later snapshot can say that the body has left.
                if life == state.life {
                    shown.alive_at = as_of;
                    self.components.on_alive(BodyId::new(slot, shown.life), as_of);
                }
                return;
            }
            Some(shown) => {
                let shown = *shown;
                let told = state.gone.filter(|gone| gone.tick > shown.alive_at);
                let reason = match (told, life) {
                    (Some(gone), _) if gone.generation == shown.life.generation => gone.reason,
                    // Another body has been in the slot since, or is in it now.
                    (Some(_), _) | (None, Some(_)) => VanishReason::Despawned,
                    // Waits for the server's message with the reason.
                    (None, None) => return,
                };
                state.shown = None;
                self.components.on_vanish(slot, as_of);
                vanish(world, shown.entity, reason);
            }
            None => {}
        }
        let Some(life) = life.filter(|_| self.slots[slot].life == life) else {
            return;
        };
        let has_components = self.protocol.has_components() && self.slots[slot].values[0] == 1;
        if !has_components || self.components.has(BodyId::new(slot, life), as_of) {
            self.spawn(world, slot, life, body);
        }
    }

    /// Spawns a body. An observer can despawn the entity during this call, as a client may do at any time.
    fn spawn(&mut self, world: &mut World, slot: usize, life: Life, body: &BodyState) {
        let entity = world.spawn(transform(body)).id();
        self.slots[slot].changed = u32::MAX;
        self.write_fields(world, slot, life, entity);
        let id = BodyId::new(slot, life);
        let alive_at = self.slots[slot].as_of.unwrap_or(0);
        let gone = self.slots[slot].gone.filter(|gone| gone.generation == life.generation);
        let left_at = gone.map(|gone| gone.tick).filter(|&tick| tick > alive_at);
        let count = self.protocol.items.components.len();
        self.components.on_birth(id, alive_at, left_at, count);
        self.write_components(world, id, entity);
        self.slots[slot].shown = Some(DisplayedBody { life, entity, alive_at, exists: true });
        if let Some(kind) = self.protocol.kind_name(life.kind) {
            write(world, entity, (RemoteBody(id), Remote, BodyKind::named(kind)));
        }
    }

    /// Moves a body and writes its changed values, unless the client has despawned it.
    fn show_body(
        &mut self,
        world: &mut World,
        slot: usize,
        shown: DisplayedBody,
        body: &BodyState,
    ) {
        let Ok(mut entity) = world.get_entity_mut(shown.entity) else {
            return;
        };
        if entity.contains::<Predicted>() && !self.prediction.is_off {
            // When it is interpolated again, its values are written.
            self.slots[slot].changed = u32::MAX;
            return;
        }
        let new = transform(body);
        if let Some(mut transform) = entity.get_mut::<Transform>()
            && (transform.translation, transform.rotation) != (new.translation, new.rotation)
        {
            (transform.translation, transform.rotation) = (new.translation, new.rotation);
        }
        let state = &mut self.slots[slot];
        if state.changed != 0 && state.life == Some(shown.life) {
            self.write_fields(world, slot, shown.life, shown.entity);
        }
    }

    /// Writes the changed values of the fields that the body's kind has.
    fn write_fields(&mut self, world: &mut World, slot: usize, life: Life, body: Entity) {
        let changed = std::mem::take(&mut self.slots[slot].changed);
        let protocol = Arc::clone(&self.protocol);
        let kind = protocol.kind_name(life.kind);
        for (index, field) in (protocol.hidden_fields()..).zip(&protocol.items.fields) {
            if changed >> index & 1 == 0 {
                continue;
            }
            let is_reference = field.schema.form == FieldForm::Body;
            let target = is_reference.then(|| self.target(slot, index)).flatten();
            let state = &mut self.slots[slot];
            state.targets[index] = target;
            if field.kinds.is_empty() || kind.is_some_and(|kind| field.kinds.contains(&kind)) {
                let value = field.schema.form.dequantize(state.values[index]);
                (field.write)(world, body, value, target);
            }
        }
    }
}

pub(super) fn transform(body: &BodyState) -> Transform {
    Transform::from_translation(body.position).with_rotation(body.orientation)
}
