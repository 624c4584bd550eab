//! Moves the predicted bodies ahead of the snapshots.
//!
//! The server reports with each snapshot how many inputs it has used. If the snapshot has what was predicted after that input,
//! nothing is done. Otherwise the bodies are set to the snapshot's values, and the inputs that it does not contain are run again.

use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_math::Quat;
use bevy_platform::time::Instant;
use bevy_time::{Fixed, Time};
use bevy_transform::components::Transform;
use cubewire_codec::schema::FieldForm;
use cubewire_codec::{Baseline, QuantizedSnapshot};
use cubewire_protocol::ClientConnection;

use super::play::transform;
use super::prediction::{BodyRecord, Record};
use super::receiver::{ReplicationReceiver, State, shown_body};
use crate::body::RemoteBody;
use crate::clock;
use crate::components::Mapper;
use crate::measure::Measure;
use crate::predicted::{PredictTick, Predicted, VisualOffset};
use crate::protocol::OwnBody;
use crate::transport::OrDisabled;
use crate::wire::BodyId;

/// Time in which half of an offset is gone.
const HALF_LIFE: f32 = 0.1;

/// An offset that is longer than the way at the maximum speed in this time is dropped, seconds: the body jumps.
const MAX_OFFSET_SECONDS: f32 = 0.5;

/// Maximum number of ticks that are predicted: inputs of a second at 60 Hz.
const MAX_AHEAD: usize = 60;

/// Client: whether [`Predicted`] bodies are moved ahead of the snapshots. If false, they are shown like others, and inputs are sent all
/// the same. It can change at any time. Default: true.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictsBodies(pub bool);

impl Default for PredictsBodies {
    fn default() -> Self {
        Self(true)
    }
}

type PredictedBodies = QueryState<(Entity, &'static RemoteBody), With<Predicted>>;

/// Compares the newest snapshot with the prediction, then sends the inputs that are due and runs their ticks.
#[allow(clippy::disallowed_methods, reason = "Bevy's clock works in a browser, too")]
pub(super) fn predict(
    world: &mut World,
    receivers: &mut QueryState<(Entity, &'static mut ReplicationReceiver), OrDisabled>,
    bodies: &mut PredictedBodies,
    offsets: &mut QueryState<&'static mut VisualOffset>,
) {
    let Some((server, replication)) = receivers.iter_mut(world).next() else {
        return;
    };
    // Taken out, because the game's systems run below.
    let Some(mut replica) = replication.into_inner().0.take() else {
        return;
    };
    if replica.state.protocol.items.tick_input.is_some() {
        let (now, started) = (clock::now(world, server), Instant::now());
        let before = replica.state.prediction.stats;
        replica.state.prediction.is_off = !world.resource::<PredictsBodies>().0;
        fade(world, offsets);
        replica.state.predict(world, bodies, &mut replica.connection, now);
        let (connection, state) = (&replica.connection, &mut replica.state);
        let stats = &mut state.prediction.stats;
        stats.time += started.elapsed();
        let is_ahead = !state.prediction.records.is_empty();
        stats.input_delay = match is_ahead {
            true => connection.newest_input_age(now),
            false => connection.input_age(now, state.shown_tick),
        };
        let stats = *stats;
        if let Some(mut measure) = world.get_mut::<Measure>(server)
            && let Some(sample) = measure.begun()
        {
            let corrected = stats.corrected_units - before.corrected_units;
            sample.input_age = stats.input_delay;
            sample.correction_m =
                (stats.corrections > before.corrections).then_some(corrected as f32);
            sample.corrected_ticks = (stats.ticks_again - before.ticks_again) as u32;
            sample.predicting = stats.time - before.time;
        }
    }
    if let Some(mut replication) = world.get_mut::<ReplicationReceiver>(server) {
        replication.0 = Some(replica);
    }
}

fn fade(world: &mut World, offsets: &mut QueryState<&'static mut VisualOffset>) {
    let seconds = world.resource::<Time<Fixed>>().timestep().as_secs_f32();
    let left = 0.5_f32.powf(seconds / HALF_LIFE);
    for mut offset in offsets.iter_mut(world) {
        if *offset != VisualOffset::default() {
            offset.translation *= left;
            offset.rotation = Quat::IDENTITY.slerp(offset.rotation, left);
            if offset.translation.length() < 1e-5 && offset.rotation.xyz().length() < 1e-5 {
                *offset = VisualOffset::default();
            }
        }
    }
}

impl State {
    fn predict(
        &mut self,
        world: &mut World,
        bodies: &mut PredictedBodies,
        connection: &mut ClientConnection,
        now: Duration,
    ) {
        let protocol = Arc::clone(&self.protocol);
        let Some(entry) = &protocol.items.tick_input else { return };
        self.correct(world, bodies, connection);
        for _ in 0..connection.tick_inputs_due(now) {
            let Some(input) = (entry.next)(entry, world) else { return };
            let number = connection.push_tick_input(now, input.clone());
            self.prediction.stats.ticks += 1;
            self.tick(world, bodies, number, &input);
        }
    }

    /// Runs the tick of an input, and records the predicted bodies.
    fn tick(&mut self, world: &mut World, bodies: &mut PredictedBodies, number: u64, input: &[u8]) {
        let protocol = Arc::clone(&self.protocol);
        let own = self.prediction.own.and_then(|own| shown_body(&self.slots, own));
        let Some(own) = own.filter(|&own| self.is_predicted(world, own)) else {
            return;
        };
        if let Some(entry) = &protocol.items.tick_input {
            (entry.set)(world, own, Some(input));
        }
        world.run_schedule(PredictTick);
        self.record(world, bodies, number);
    }

    fn record(&mut self, world: &World, bodies: &mut PredictedBodies, number: u64) {
        let present = present(world, bodies).into_iter();
        let of = |(entity, body)| BodyRecord::of(&self.protocol, world, (entity, body));
        let bodies = present.map(of).collect();
        let records = &mut self.prediction.records;
        if records.len() > MAX_AHEAD {
            records.pop_front();
        }
        records.push_back(Record { number, bodies });
    }

    /// Compares the newest snapshot with what was predicted, and predicts again from it if they differ.
    fn correct(
        &mut self,
        world: &mut World,
        bodies: &mut PredictedBodies,
        connection: &ClientConnection,
    ) -> Option<()> {
        let receiver = connection.receiver()?;
        let newest = receiver.newest().filter(|&newest| self.prediction.base != Some(newest))?;
        let report = connection.input_report(newest).filter(|report| report.tick == newest)?;
        self.prediction.base = Some(newest);
        let protocol = Arc::clone(&self.protocol);
        // A body that is not shown yet is predicted once it is.
        let own = OwnBody::decode(&protocol, &report.own);
        let own = own.filter(|own| shown_body(&self.slots, own.body).is_some());
        let (entity, is_new) = self.control(world, own.as_ref().map(|own| own.body))?;
        let own = own?;
        if self.prediction.is_off {
            return None;
        }
        let snapshot = receiver.get(newest).map(Baseline::snapshot)?;
        let records = &mut self.prediction.records;
        while records.front().is_some_and(|record| record.number < report.used) {
            records.pop_front();
        }
        let record = records.front().filter(|record| record.number == report.used);
        let present = present(world, bodies);
        let is_right = record.is_some_and(|record| {
            record.bodies.len() == present.len()
                && record.bodies.iter().zip(&present).all(|(predicted, &(_, body))| {
                    predicted.body == body
                        && predicted.is_confirmed(&protocol, snapshot)
                        && (body != own.body || predicted.has_components(&own.components))
                })
        });
        if is_right {
            return Some(());
        }
        let jumped = self.jumped(&present, snapshot);
        let is_first = is_new || self.prediction.records.is_empty();
        let known = self.prediction.records.pop_front();
        let known = known.filter(|record| record.number == report.used);
        let known = known.map(|record| record.bodies).unwrap_or_default();
        let poses = present.iter().filter_map(|&(it, _)| Some((it, *world.get::<Transform>(it)?)));
        let poses: Vec<_> = poses.collect();
        self.restore_all(world, snapshot, &present, &own, &known);
        self.prediction.records.clear();
        self.record(world, bodies, report.used);
        let inputs: Vec<_> =
            connection.tick_inputs_after(report.used).map(<[u8]>::to_vec).collect();
        if inputs.len() > MAX_AHEAD {
            return None;
        }
        for (number, input) in (report.used + 1..).zip(&inputs) {
            self.tick(world, bodies, number, input);
        }
        let stats = &mut self.prediction.stats;
        stats.corrections += u64::from(!is_first);
        stats.ticks_again += inputs.len() as u64;
        for (other, before) in poses {
            let units = self.offset(world, other, &before);
            if jumped.contains(&other)
                && let Some(mut offset) = world.get_mut::<VisualOffset>(other)
            {
                *offset = VisualOffset::default();
            }
            if other == entity && !is_first {
                self.prediction.stats.corrected_units += f64::from(units);
            }
        }
        Some(())
    }

    /// Makes this the body that the client controls. Returns its entity, and whether it was another body before. `None` if it is
    /// not there.
    fn control(&mut self, world: &mut World, own: Option<BodyId>) -> Option<(Entity, bool)> {
        let before = std::mem::replace(&mut self.prediction.own, own);
        let is_new = before != own;
        if is_new
            && let Some(before) = before.and_then(|before| shown_body(&self.slots, before))
            && let Ok(mut before) = world.get_entity_mut(before)
        {
            before.remove::<Predicted>();
        }
        let entity = shown_body(&self.slots, own?)?;
        if is_new {
            world.get_entity_mut(entity).ok()?.insert((Predicted, VisualOffset::default()));
        }
        Some((entity, is_new))
    }

    /// The bodies that have teleported since the last snapshot.
    fn jumped(
        &mut self,
        present: &[(Entity, BodyId)],
        snapshot: &QuantizedSnapshot,
    ) -> Vec<Entity> {
        if !self.protocol.items.has_teleports {
            return Vec::new();
        }
        let field = self.protocol.plan.schema().fields.len() - 1;
        let count = |body: BodyId| snapshot.value(usize::from(body.slot), field);
        let before = &self.prediction.teleports;
        let has = |body| before.get(&body).is_some_and(|before| *before != count(body));
        let jumped = present.iter().filter(|&&(_, body)| has(body)).map(|&(entity, _)| entity);
        let jumped = jumped.collect();
        self.prediction.teleports = present.iter().map(|&(_, it)| (it, count(it))).collect();
        jumped
    }

    /// Whether a body is moved ahead of the snapshots.
    pub(super) fn is_predicted(&self, world: &World, entity: Entity) -> bool {
        !self.prediction.is_off && world.get::<Predicted>(entity).is_some()
    }

    /// Starts the offset of the bodies that are no longer predicted at the pose that they had. Runs after they were moved.
    pub(super) fn release(&mut self, world: &mut World) {
        let is_off = self.prediction.is_off;
        let Some(newest) = self.prediction.records.back_mut() else { return };
        let is_predicted =
            |body: &BodyRecord| !is_off && world.get::<Predicted>(body.entity).is_some();
        let released: Vec<_> = newest.bodies.extract_if(.., |body| !is_predicted(body)).collect();
        if is_off {
            self.prediction.records.clear();
        }
        for BodyRecord { entity, pose: (translation, rotation), .. } in released {
            let before = Transform { translation, rotation, ..Transform::default() };
            self.offset(world, entity, &before);
        }
    }

    /// Adds the way of a body from `before` to its offset. Returns its length.
    fn offset(&self, world: &mut World, entity: Entity, before: &Transform) -> f32 {
        let Ok(mut body) = world.get_entity_mut(entity) else { return 0.0 };
        let Some(now) = body.get::<Transform>().copied() else { return 0.0 };
        let mut offset = body.get::<VisualOffset>().copied().unwrap_or_default();
        let way = before.translation - now.translation;
        offset.translation += way;
        offset.rotation = offset.rotation * before.rotation * now.rotation.inverse();
        offset.rotation = offset.rotation.normalize();
        let most = self.protocol.plan.schema().world.max_speed * MAX_OFFSET_SECONDS;
        // Not if it is not finite, either.
        let is_small = offset.translation.length() <= most && offset.rotation.is_finite();
        body.insert(if is_small { offset } else { VisualOffset::default() });
        way.length()
    }

    /// Sets bodies to the values of a snapshot. The predicted components of the client's own body were sent with it, those of others
    /// are as `known`.
    fn restore_all(
        &self,
        world: &mut World,
        snapshot: &QuantizedSnapshot,
        bodies: &[(Entity, BodyId)],
        own: &OwnBody<'_>,
        known: &[BodyRecord],
    ) {
        for &(entity, body) in bodies {
            let components = match body == own.body {
                true => own.components.clone(),
                false => {
                    let known = known.iter().find(|known| known.body == body);
                    let known = known.map_or(&[][..], |known| &known.components);
                    known.iter().map(Option::as_deref).collect()
                }
            };
            self.restore(world, snapshot, (entity, body), &components);
        }
    }

    /// Sets a body to the values of a snapshot, and its predicted components.
    fn restore(
        &self,
        world: &mut World,
        snapshot: &QuantizedSnapshot,
        (entity, body): (Entity, BodyId),
        components: &[Option<&[u8]>],
    ) {
        let slot = usize::from(body.slot);
        let Some(life) = snapshot.life(slot).filter(|it| it.generation == body.generation) else {
            return;
        };
        if let Some(mut at) = world.get_mut::<Transform>(entity) {
            let new = transform(&snapshot.body(slot));
            (at.translation, at.rotation) = (new.translation, new.rotation);
        }
        let protocol = &self.protocol;
        let kind = protocol.kind_name(life.kind);
        for (index, field) in (protocol.hidden_fields()..).zip(&protocol.items.fields) {
            if field.kinds.is_empty() || kind.is_some_and(|kind| field.kinds.contains(&kind)) {
                let value = snapshot.value(slot, index);
                let target = value.checked_sub(1).filter(|_| field.schema.form == FieldForm::Body);
                let target = target.map(BodyId::from_number);
                let target = target.and_then(|target| shown_body(&self.slots, target));
                (field.write)(world, entity, field.schema.form.dequantize(value), target);
            }
        }
        for (component, bytes) in protocol.items.predicted.iter().zip(components) {
            match bytes {
                Some(bytes) => {
                    (component.write)(world, entity, bytes, &mut Mapper::new(&|_| None));
                }
                None => (component.remove)(world, entity),
            }
        }
    }
}

/// The predicted bodies, by slot.
fn present(world: &World, bodies: &mut PredictedBodies) -> Vec<(Entity, BodyId)> {
    let present = bodies.iter(world).map(|(entity, &RemoteBody(body))| (entity, body));
    let mut present: Vec<_> = present.collect();
    present.sort_unstable_by_key(|(_, body)| body.slot);
    present
}
