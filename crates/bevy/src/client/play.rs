//! Playout: spawns, moves and despawns bodies to match the snapshots that are due.

use std::collections::HashSet;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_time::{Real, Time};
use bevy_transform::components::Transform;
use cubewire_codec::{BodyState, Life};
use cubewire_protocol::{Playout, PlayoutSnapshot, SnapshotReceiver};

use super::receiver::{DisplayedBody, ReplicationReceiver, SlotState, State};
use super::{VanishReason, vanish};
use crate::body::{BodyKind, Remote, RemoteBody, write};
use crate::transport::OrDisabled;
use crate::wire::BodyId;

pub(super) fn play(
    world: &mut World,
    receivers: &mut QueryState<(Entity, &'static mut ReplicationReceiver), OrDisabled>,
) {
    let now = world.resource::<Time<Real>>().elapsed();
    let Some((server, replication)) = receivers.iter_mut(world).next() else {
        return;
    };
    // Taken out, because observers that run during playout can change the world, and can end the connection.
    let Some(mut state) = replication.into_inner().0.take() else {
        return;
    };
    state.play(world, now);
    match world.get_mut::<ReplicationReceiver>(server) {
        Some(mut replication) => replication.0 = Some(state),
        // An observer has ended the connection.
        None => vanish_all(world, state.slots),
    }
}

/// Removes the bodies of a connection that has ended.
pub(super) fn disconnect(removed: On<Remove, ReplicationReceiver>, mut world: DeferredWorld) {
    // Not a query, because queries skip a disabled connection.
    if let Some(mut replication) = world.get_mut::<ReplicationReceiver>(removed.entity)
        && let Some(state) = replication.0.take()
    {
        let slots = state.slots;
        world.commands().queue(move |world: &mut World| vanish_all(world, slots));
    }
}

fn vanish_all(world: &mut World, slots: Vec<SlotState>) {
    for shown in slots.into_iter().filter_map(|slot| slot.shown) {
        vanish(world, shown.entity, VanishReason::Disconnected);
    }
}

impl State {
    fn play(&mut self, world: &mut World, now: std::time::Duration) {
        let Some(receiver) = self.receiver.take() else {
            return;
        };
        let interpolation = self.interpolation;
        let is_due = |playout: &Playout<'_, PlayoutSnapshot>| {
            !interpolation.waits() || playout.due_tick >= playout.from_tick as f64
        };
        if let Some(playout) = interpolation.playout(receiver.playout(), now)
            && is_due(&playout)
            && playout.from_tick >= self.resume_tick
        {
            self.shown_tick = playout.from_tick;
            self.learn(&receiver, playout.from_tick);
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
            let touched = std::mem::take(&mut self.touched);
            if !touched.is_empty() {
                self.components.on_touched(&touched);
                self.refer(world, &touched);
            }
            for slot in std::mem::take(&mut self.components.dirty) {
                let slot = usize::from(slot);
                if let Some(shown) = self.slots[slot].shown {
                    self.write_components(world, BodyId::new(slot, shown.life), shown.entity);
                }
            }
        }
        self.receiver = Some(receiver);
    }

    /// Writes all reference fields with a target that has appeared or vanished.
    fn refer(&mut self, world: &mut World, touched: &HashSet<BodyId>) {
        let protocol = Arc::clone(&self.protocol);
        if protocol.references().next().is_none() {
            return;
        }
        let is_touched: HashSet<u32> = touched.iter().map(|body| u32::from(body.slot)).collect();
        for slot in 0..self.slots.len() {
            let state = &mut self.slots[slot];
            let shown = state.shown.filter(|shown| state.life == Some(shown.life));
            let Some(shown) = shown else {
                continue;
            };
            for field in protocol.references() {
                // The value is the target's slot + 1. 0 means no body.
                let target = state.values[field].checked_sub(1);
                if target.is_some_and(|target| is_touched.contains(&target)) {
                    state.changed |= 1 << field;
                }
            }
            if state.changed != 0 {
                self.write_fields(world, slot, shown.entity);
            }
        }
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
                shown.alive_at = as_of;
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
                self.touched.insert(BodyId::new(slot, shown.life));
                vanish(world, shown.entity, reason);
            }
            None => {}
        }
        let Some(life) = life.filter(|_| self.slots[slot].life == life) else {
            return;
        };
        let has_components = self.protocol.has_components() && self.slots[slot].values[0] == 1;
        if !has_components || self.components.has(BodyId::new(slot, life)) {
            self.spawn(world, slot, life, body);
        }
    }

    /// Spawns a body. An observer can despawn the entity during this call, as a client may do at any time.
    fn spawn(&mut self, world: &mut World, slot: usize, life: Life, body: &BodyState) {
        let entity = world.spawn(transform(body)).id();
        self.slots[slot].changed = u32::MAX;
        self.write_fields(world, slot, entity);
        let id = BodyId::new(slot, life);
        self.components.on_birth(id);
        self.write_components(world, id, entity);
        self.touched.insert(id);
        let alive_at = self.slots[slot].as_of.unwrap_or(0);
        self.slots[slot].shown = Some(DisplayedBody { life, entity, alive_at });
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
        let new = transform(body);
        if let Some(mut transform) = entity.get_mut::<Transform>()
            && (transform.translation, transform.rotation) != (new.translation, new.rotation)
        {
            (transform.translation, transform.rotation) = (new.translation, new.rotation);
        }
        let state = &mut self.slots[slot];
        if state.changed != 0 && state.life == Some(shown.life) {
            self.write_fields(world, slot, shown.entity);
        }
    }

    /// Writes the changed values of the fields that the body's kind has.
    fn write_fields(&mut self, world: &mut World, slot: usize, body: Entity) {
        let changed = std::mem::take(&mut self.slots[slot].changed);
        let (state, protocol) = (&self.slots[slot], &self.protocol);
        let kind = state.life.and_then(|life| protocol.kind_name(life.kind));
        let body_of = |slot: usize| Some(self.slots.get(slot)?.shown?.entity);
        let values = state.values.iter().enumerate();
        for (field, (bit, &value)) in
            protocol.items.fields.iter().zip(values.skip(protocol.hidden_fields()))
        {
            let has_it =
                field.kinds.is_empty() || kind.is_some_and(|kind| field.kinds.contains(&kind));
            if changed >> bit & 1 == 1 && has_it {
                (field.write)(world, body, field.schema.form.dequantize(value), &body_of);
            }
        }
    }
}

fn transform(body: &BodyState) -> Transform {
    Transform::from_translation(body.position).with_rotation(body.orientation)
}
