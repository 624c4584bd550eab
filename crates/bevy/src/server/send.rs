//! Sends messages, reliable components and a snapshot to each client in a tick. Clients with the same view and the same
//! baselines share an encoded snapshot.

use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use cubewire_codec::QuantizedSnapshot;
use cubewire_protocol::{Extras, Visibility};

use super::ReplicationStats;
use super::capture::{Bodies, entity_to_wire};
use super::limit::{EncodeLimit, encode};
use super::sender::{ClientView, ReplicationSender};
use super::visibility::{Filters, Hidden, Interest, Views, look};
use crate::clock::{Clocks, ConnectionClock};
use crate::measure::Measure;
use crate::shadow::LiveLadder;
use crate::transport::{Connected, Farewell, MessageBuffer, OrDisabled};
use crate::wire::{self, BodyId, ReliableToClient};

type ConnectedClient = (With<ReplicationSender>, With<Connected>, OrDisabled);

type TimedClient<'a> = (&'a mut ReplicationSender, &'a mut MessageBuffer, &'a ConnectionClock);

/// Records the tick of all clients. After a pause, it resets their estimates of the server's clock.
pub(super) fn report_tick(
    bodies: Res<Bodies>,
    clocks: Clocks,
    mut clients: Query<TimedClient<'_>, ConnectedClient>,
) {
    for (mut sender, mut buffer, clock) in &mut clients {
        sender.connection.on_tick(clocks.now(clock), bodies.tick);
        buffer.send_all(|| sender.connection.poll_message());
    }
}

/// Applies the current restrictions of processor time to the clients.
pub(super) fn limit_encoding(
    mut limit: ResMut<EncodeLimit>,
    mut stats: ResMut<ReplicationStats>,
    mut clients: Query<&mut ReplicationSender, ConnectedClient>,
) {
    let connections = clients.iter_mut().map(|sender| &mut sender.into_inner().connection);
    limit.0.begin_tick(connections);
    stats.throttle = limit.0.throttle();
}

/// Updates the allowance of reliable messages from the rest of each client's budget, in a frame without a tick.
pub(super) fn limit_messages(
    bodies: Res<Bodies>,
    clocks: Clocks,
    mut clients: Query<TimedClient<'_>, ConnectedClient>,
) {
    for (mut sender, mut buffer, clock) in &mut clients {
        buffer.allow(&mut sender.connection, clocks.now(clock), bodies.tick);
    }
}

/// Sends the game's messages, also to clients that were despawned in this tick.
pub(super) fn send_messages(
    world: &mut World,
    clients: &mut QueryState<(Entity, &'static mut MessageBuffer), ConnectedClient>,
    farewells: &mut QueryState<(&'static Farewell, &'static mut MessageBuffer)>,
) {
    let protocol = world.resource::<Bodies>().protocol.clone();
    for (channel, entry) in protocol.items.to_client.iter().enumerate() {
        for (to, bytes) in entry.take(world, entity_to_wire) {
            let (channel, bytes) = (channel as u8, &bytes[..]);
            let message = wire::encode(&ReliableToClient::Message { channel, bytes });
            for (client, mut buffer) in clients.iter_mut(world) {
                if to.is_none_or(|to| to == client) {
                    buffer.outgoing.messages.push(message.clone());
                }
            }
            for (farewell, mut buffer) in farewells.iter_mut(world) {
                if farewell.sends_to(to) {
                    buffer.outgoing.messages.push(message.clone());
                }
            }
        }
    }
}

type ClientItem<'a> = (
    Entity,
    &'a mut ReplicationSender,
    &'a mut MessageBuffer,
    &'a ConnectionClock,
    Option<&'a Interest>,
    Option<&'a Hidden>,
    Option<&'a mut Measure>,
    Option<&'a mut LiveLadder>,
);

/// Sends the tick's reliable components and snapshot to each client.
pub(super) fn send_snapshots(
    (clocks, bodies, filters): (Clocks, Res<Bodies>, Res<Filters>),
    limit: Option<Res<EncodeLimit>>,
    mut stats: ResMut<ReplicationStats>,
    mut clients: Query<ClientItem<'static>, OrDisabled>,
    centers: Query<&Transform>,
) {
    let bodies = &*bodies;
    let (tick, plan) = (bodies.tick, &bodies.protocol.plan);
    let rate = plan.schema().ticks_per_second;
    let mut views = Views::new(bodies, filters.can_freeze);
    let (mut jobs, mut outputs) = (Vec::new(), Vec::new());
    // If one client is measured, all ledgers list their items, because its packet can come from another client's sender.
    let is_measured = clients.iter().any(|(.., measure, _)| measure.is_some());
    for (client, sender, buffer, clock, interest, hidden, mut measure, ladder) in &mut clients {
        let (sender, buffer) = (sender.into_inner(), buffer.into_inner());
        if !sender.connection.is_welcomed() {
            continue;
        }
        let center = interest.and_then(|interest| interest.center).unwrap_or(client);
        let center = centers.get(center).ok().map(|center| center.translation);
        look(bodies, &mut sender.view, hidden, interest, center);
        let settings = sender.connection.settings();
        let precision = settings.map_or(bodies.world.precision(), |used| used.stages.precision());
        let snapshot = views.of(precision, &sender.view.visibility, &mut sender.view.last);
        queue_changes(bodies, &mut sender.view, &snapshot);
        queue_appearances(bodies, &mut sender.view, &snapshot, buffer);
        let room = sender.reliable_room(buffer);
        // Before `allow`, which reserves bytes for waiting messages.
        sender.view.outbox.take(room, &mut buffer.outgoing.messages);
        buffer.allow(&mut sender.connection, clocks.now(clock), tick);
        let sent = buffer.traffic.sent.bytes();
        let before = std::mem::replace(&mut sender.view.sent_bytes, sent);
        if let Some(measure) = &mut measure {
            let sample = sender.connection.sample(tick);
            measure.send(sample, rate, sent.saturating_sub(before) as usize);
        }
        if let Some(sender) = sender.connection.sender_mut() {
            sender.itemize(is_measured);
        }
        let (gains, own) = (&sender.view.gains[..], &sender.view.own[..]);
        let extras = Extras { gains, own, groups: &bodies.groups, ..Extras::default() };
        if let Some(job) = sender.connection.prepare(tick, snapshot, extras) {
            jobs.push(job);
            outputs.push((buffer, measure, ladder));
        }
    }
    encode(tick, &mut jobs, limit.as_deref());
    for (job, (buffer, mut measure, ladder)) in jobs.into_iter().zip(outputs) {
        if let Some(measure) = &mut measure {
            measure.note_waits(tick, rate, job.sender());
        }
        if let Some(mut ladder) = ladder {
            let sent = job.has_packet().then(|| (job.sender().acked_ages(tick), job.snapshot()));
            ladder.push(tick, plan, sent);
        }
        let sample = measure.as_mut().and_then(|measure| measure.begun());
        // A snapshot that cannot be encoded is tried again in the next tick.
        if let Ok(Some(packet)) = job.finish(sample) {
            stats.packets += 1;
            stats.encodes += u64::from(!packet.is_shared);
            stats.snapshot_bytes += packet.bytes.len() as u64;
            buffer.spread_ticks = packet.spread_ticks;
            buffer.outgoing.datagrams.push(packet.bytes);
        }
    }
}

/// Queues the reliable components that have changed in this tick, of bodies that the client saw in the last tick, too.
fn queue_changes(bodies: &Bodies, client: &mut ClientView, view: &QuantizedSnapshot) {
    for &(slot, component) in &bodies.changed {
        let known = &mut client.slots[slot];
        let Some(life) = view.life(slot).filter(|&life| known.seen == Some(life)) else {
            continue;
        };
        match client.visibility[slot] {
            Visibility::Visible => {
                known.told = Some(life);
                let value = bodies.slots[slot].components[component].value.clone();
                client.outbox.change(slot, life, component, value);
            }
            // A frozen body keeps its components until it is visible again.
            _ => known.is_stale = true,
        }
    }
}

/// Queues all reliable components of bodies that have become visible, and why other bodies are no longer visible.
fn queue_appearances(
    bodies: &Bodies,
    client: &mut ClientView,
    view: &QuantizedSnapshot,
    buffer: &mut MessageBuffer,
) {
    for (slot, known) in client.slots.iter_mut().enumerate() {
        let visible = view.life(slot);
        let before = std::mem::replace(&mut known.seen, visible);
        let is_thawed = known.is_stale && client.visibility[slot] == Visibility::Visible;
        if before == visible && !is_thawed {
            continue;
        }
        known.is_stale = false;
        if let Some(before) = before.filter(|_| before != visible) {
            client.outbox.forget(slot);
            let (body, tick) = (BodyId::new(slot, before), bodies.tick);
            let is_hidden = bodies.table.get(slot) == Some(before);
            buffer.send(&ReliableToClient::Gone { body, tick, is_hidden });
        }
        let body = &bodies.slots[slot];
        // Includes a body that has lost all components since it was last visible, so that the client removes them.
        if let Some(life) = visible
            && (body.has_components() || known.told == visible)
        {
            known.told = visible;
            let values = body.components.iter().map(|component| component.value.clone());
            client.outbox.replace(slot, life, values);
        }
    }
}
