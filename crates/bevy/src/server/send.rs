//! Sends messages, reliable components and a snapshot to each client in a tick. Clients with the same view and the same
//! baselines share an encoded snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_tasks::{ComputeTaskPool, TaskPool};
use bevy_time::{Real, Time};
use bevy_transform::components::Transform;
use cubewire_codec::QuantizedSnapshot;
use cubewire_protocol::record::PacketRecord;
use cubewire_protocol::{BaselineChoice, PacketBudget, Visibility};

use super::ReplicationStats;
use super::capture::{Bodies, entity_to_wire};
use super::sender::{Ready, ReplicationSender};
use super::visibility::{Filters, Hidden, Interest, Views, look};
use crate::measure::Measure;
use crate::shadow::LiveLadder;
use crate::transport::{Connected, MessageBuffer, OrDisabled};
use crate::wire::{BodyId, ReliableToClient, encode};

type ReadyClient = (With<ReplicationSender>, With<Connected>, OrDisabled);

/// Sends the tick to all clients in the first tick after a pause. It resets their estimates of the server's clock.
pub(super) fn report_pause(
    bodies: Res<Bodies>,
    time: Res<Time<Real>>,
    mut clients: Query<(&mut ReplicationSender, &mut MessageBuffer), ReadyClient>,
) {
    for (mut peer, mut buffer) in &mut clients {
        if let Some(tick) = peer.session.on_tick(time.elapsed(), bodies.tick) {
            buffer.send(&ReliableToClient::Session(tick));
        }
    }
}

/// Updates the allowance of reliable messages from the rest of each client's budget, in a frame without a tick.
pub(super) fn limit_messages(
    bodies: Res<Bodies>,
    time: Res<Time<Real>>,
    mut clients: Query<(&mut ReplicationSender, &mut MessageBuffer), ReadyClient>,
) {
    for (mut peer, mut buffer) in &mut clients {
        if let Some(ready) = &mut peer.ready {
            ready.allow(bodies.tick, time.elapsed(), &mut buffer);
        }
    }
}

pub(super) fn send_messages(
    world: &mut World,
    clients: &mut QueryState<(Entity, &'static mut MessageBuffer), ReadyClient>,
) {
    let protocol = world.resource::<Bodies>().protocol.clone();
    for (channel, entry) in protocol.items.to_client.iter().enumerate() {
        for (to, bytes) in entry.take(world, entity_to_wire) {
            let (channel, bytes) = (channel as u8, &bytes[..]);
            let message = encode(&ReliableToClient::Message { channel, bytes });
            for (client, mut buffer) in clients.iter_mut(world) {
                if to.is_none_or(|to| to == client) {
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
    Option<&'a Interest>,
    Option<&'a Hidden>,
    Option<&'a mut Measure>,
    Option<&'a mut LiveLadder>,
);

/// The snapshot to send to one client.
struct Job<'a> {
    peer: &'a mut Ready,
    buffer: &'a mut MessageBuffer,
    measure: Option<Mut<'a, Measure>>,
    ladder: Option<Mut<'a, LiveLadder>>,
    /// The client's view. Clients that see the same have the same `Arc`.
    wanted: Arc<QuantizedSnapshot>,
    /// Limit of the packet, without gains and groups; `None` for a complete packet.
    packet_budget: Option<PacketBudget<'static>>,
    /// Index of an earlier job. The client gets its packet if that is complete and within `packet_budget`.
    same_as: Option<usize>,
    /// Whether a packet is sent. False if there is no change, or it waits for a larger budget. `None` until that is decided.
    is_sent: Option<bool>,
}

pub(super) fn send_snapshots(
    time: Res<Time<Real>>,
    bodies: Res<Bodies>,
    filters: Res<Filters>,
    mut stats: ResMut<ReplicationStats>,
    mut clients: Query<ClientItem<'static>, OrDisabled>,
    centers: Query<&Transform>,
) {
    let bodies = &*bodies;
    let ticks_per_second = bodies.protocol.plan.schema().ticks_per_second;
    let mut views = Views::new(&bodies.world, filters.can_freeze);
    let mut jobs = Vec::new();
    // If one client is measured, all ledgers list their items, because its packet can come from another client's sender.
    let is_measured = clients.iter().any(|(.., measure, _)| measure.is_some());
    for (client, peer, buffer, interest, hidden, mut measure, ladder) in &mut clients {
        let (peer, buffer) = (peer.into_inner(), buffer.into_inner());
        let Some(ready) = &mut peer.ready else {
            continue;
        };
        let center = interest.and_then(|interest| interest.center).unwrap_or(client);
        let center = centers.get(center).ok().map(|center| center.translation);
        look(bodies, ready, hidden, interest, center);
        let wanted = views.of(&ready.visibility, &mut ready.view);
        queue_lives(bodies, ready, &wanted, buffer);
        let room = ready.reliable_room(buffer);
        // Before `allow`, which reserves bytes for waiting messages.
        ready.outbox.take(room, &mut buffer.outgoing.messages);
        let (tick, now) = (bodies.tick, time.elapsed());
        let packet_budget =
            ready.allow(tick, now, buffer).or_else(|| ready.without_budget(tick, &wanted));
        ready.sender.itemize(is_measured);
        if let Some(measure) = &mut measure {
            let sent = buffer.traffic.sent.bytes();
            measure.send(tick, ticks_per_second, sent, ready.limit, &ready.settings);
        }
        if !tick.is_multiple_of(ready.settings.send_interval_ticks.into()) {
            continue;
        }
        jobs.push(Job {
            peer: ready,
            buffer,
            measure,
            ladder,
            wanted,
            packet_budget,
            same_as: None,
            is_sent: None,
        });
    }
    share(&mut jobs);
    encode_all(&mut jobs, bodies);
    for index in 0..jobs.len() {
        let (before, rest) = jobs.split_at_mut(index);
        let job = &mut rest[0];
        if let Some(measure) = &mut job.measure {
            measure.note_waits(bodies.tick, ticks_per_second, &job.peer.sender);
        }
        let is_sent = job.is_sent == Some(true);
        if let Some(ladder) = &mut job.ladder {
            let acked_ages_ticks = job.peer.sender.acked_ages(bodies.tick);
            ladder.push(bodies.tick, is_sent.then_some((acked_ages_ticks, &job.wanted)));
        }
        if !is_sent {
            continue;
        }
        let packet = job.same_as.map_or(&*job.peer, |leader| &*before[leader].peer).sender.packet();
        stats.packets += 1;
        stats.encodes += u64::from(job.same_as.is_none());
        let bytes = packet.bytes.clone();
        stats.snapshot_bytes += bytes.len() as u64;
        if let Some(measure) = &mut job.measure {
            measure.count(PacketRecord::new(bodies.tick, packet, job.peer.stages));
        }
        if let Some(budget) = &mut job.peer.budget {
            job.buffer.spread_ticks = budget.on_sent(bodies.tick, bytes.len());
        }
        job.buffer.outgoing.datagrams.push(bytes);
    }
}

/// Encodes the packets in parallel. Jobs with [`Job::same_as`] then share a packet, or encode their own if it does not fit.
fn encode_all(jobs: &mut [Job<'_>], bodies: &Bodies) {
    let pool = ComputeTaskPool::get_or_init(TaskPool::default);
    let encode = |jobs: &mut [Job<'_>]| {
        let due = jobs.iter_mut().filter(|job| job.same_as.is_none() && job.is_sent.is_none());
        let mut due: Vec<_> = due.collect();
        // Waking another thread takes longer than a packet of a few bodies.
        if let [job] = &mut *due {
            return job.encode(bodies);
        }
        pool.scope(|scope| {
            for job in due {
                scope.spawn(async move { job.encode(bodies) });
            }
        });
    };
    encode(jobs);
    for index in 0..jobs.len() {
        let (before, rest) = jobs.split_at_mut(index);
        if let Some(leader) = rest[0].same_as {
            rest[0].take_over(&before[leader], bodies.tick);
        }
    }
    encode(jobs);
}

impl Job<'_> {
    /// Sends another job's packet if it is complete and fits. Otherwise this job encodes its own.
    fn take_over(&mut self, leader: &Self, tick: u64) {
        let sender = &leader.peer.sender;
        let size = sender.packet().bytes.len();
        let fits = self.packet_budget.is_none_or(|packet_budget| size <= packet_budget.bytes);
        let is_complete = leader.is_sent == Some(true) && !sender.is_scheduling();
        match is_complete && fits {
            true => self.is_sent = Some(self.peer.sender.send_same(tick, sender).is_ok()),
            false => self.same_as = None,
        }
    }

    fn encode(&mut self, bodies: &Bodies) {
        let peer = &mut *self.peer;
        let (tick, stages, wanted) = (bodies.tick, peer.stages, &self.wanted);
        let sent = match self.packet_budget {
            None => peer.sender.send(tick, stages, wanted, peer.settings.baseline).map(Some),
            Some(packet_budget) => {
                let packet_budget =
                    PacketBudget { gains: &peer.gains, groups: &bodies.groups, ..packet_budget };
                peer.sender.send_within(tick, stages, wanted, packet_budget)
            }
        };
        self.is_sent = Some(sent.is_ok_and(|sent| sent.is_some()));
    }
}

/// Maximum number of earlier jobs with the same key that a job is compared with. The first one nearly always matches.
const MAX_COMPARED: usize = 4;

/// Sets [`Job::same_as`] of each job with the view, stages and acks of an earlier one.
fn share(jobs: &mut [Job<'_>]) {
    let mut leaders: HashMap<_, Vec<usize>> = HashMap::new();
    for index in 0..jobs.len() {
        let job = &jobs[index];
        let sender = &job.peer.sender;
        // The smallest baseline depends on older acks, which `is_like` does not compare.
        if sender.is_scheduling() || job.peer.settings.baseline != BaselineChoice::Newest {
            continue;
        }
        let view = Arc::as_ptr(&job.wanted);
        let key = (view, job.packet_budget.is_some(), job.peer.stages, sender.sharing_key());
        let leaders = leaders.entry(key).or_default();
        let is_same = |&&leader: &&usize| jobs[leader].peer.sender.is_like(sender);
        match leaders.iter().find(is_same).copied() {
            Some(leader) => jobs[index].same_as = Some(leader),
            None if leaders.len() < MAX_COMPARED => leaders.push(index),
            None => {}
        }
    }
}

/// Queues changed reliable components of visible bodies, and all reliable components of bodies that have become visible.
/// Queues the reason for each body that is no longer visible.
fn queue_lives(
    bodies: &Bodies,
    peer: &mut Ready,
    wanted: &QuantizedSnapshot,
    buffer: &mut MessageBuffer,
) {
    for &(slot, component) in &bodies.changed {
        let view = &mut peer.slots[slot];
        let Some(life) = wanted.life(slot).filter(|&life| view.seen == Some(life)) else {
            continue;
        };
        match peer.visibility[slot] {
            Visibility::Visible => {
                view.told = Some(life);
                let value = bodies.slots[slot].components[component].value.clone();
                peer.outbox.change(slot, life, component, value);
            }
            _ => view.is_stale = true,
        }
    }
    for (slot, view) in peer.slots.iter_mut().enumerate() {
        let visible = wanted.life(slot);
        let before = std::mem::replace(&mut view.seen, visible);
        let is_thawed = view.is_stale && peer.visibility[slot] == Visibility::Visible;
        if before == visible && !is_thawed {
            continue;
        }
        view.is_stale = false;
        if let Some(before) = before.filter(|_| before != visible) {
            peer.outbox.forget(slot);
            let (body, tick) = (BodyId::new(slot, before), bodies.tick);
            let is_hidden = bodies.table.get(slot) == Some(before);
            buffer.send(&ReliableToClient::Gone { body, tick, is_hidden });
        }
        let body = &bodies.slots[slot];
        // Includes a body that has lost all components since it was last visible, so that the client removes them.
        if let Some(life) = visible
            && (body.has_components() || view.told == visible)
        {
            view.told = visible;
            let values = body.components.iter().map(|component| component.value.clone());
            peer.outbox.replace(slot, life, values);
        }
    }
}
