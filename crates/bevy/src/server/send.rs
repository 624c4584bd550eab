//! Sends messages, reliable components and a snapshot to each client in a tick. Clients with the same view and the same
//! baselines share an encoded snapshot.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

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
use crate::transport::{Connected, Farewell, MessageBuffer, OrDisabled};
use crate::wire::{BodyId, ReliableToClient, encode};

type ConnectedClient = (With<ReplicationSender>, With<Connected>, OrDisabled);

/// Sends the tick to all clients in the first tick after a pause. It resets their estimates of the server's clock.
pub(super) fn report_pause(
    bodies: Res<Bodies>,
    time: Res<Time<Real>>,
    mut clients: Query<(&mut ReplicationSender, &mut MessageBuffer), ConnectedClient>,
) {
    for (mut sender, mut buffer) in &mut clients {
        if let Some(tick) = sender.session.on_tick(time.elapsed(), bodies.tick) {
            buffer.send(&ReliableToClient::Session(tick));
        }
    }
}

/// Updates the allowance of reliable messages from the rest of each client's budget, in a frame without a tick.
pub(super) fn limit_messages(
    bodies: Res<Bodies>,
    time: Res<Time<Real>>,
    mut clients: Query<(&mut ReplicationSender, &mut MessageBuffer), ConnectedClient>,
) {
    for (mut sender, mut buffer) in &mut clients {
        if let Some(ready) = &mut sender.ready {
            ready.allow(bodies.tick, time.elapsed(), &mut buffer);
        }
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
            let message = encode(&ReliableToClient::Message { channel, bytes });
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
    Option<&'a Interest>,
    Option<&'a Hidden>,
    Option<&'a mut Measure>,
    Option<&'a mut LiveLadder>,
);

/// Sends the tick's reliable components and snapshot to each client.
pub(super) fn send_snapshots(
    time: Res<Time<Real>>,
    bodies: Res<Bodies>,
    filters: Res<Filters>,
    mut stats: ResMut<ReplicationStats>,
    mut clients: Query<ClientItem<'static>, OrDisabled>,
    centers: Query<&Transform>,
) {
    let bodies = &*bodies;
    let mut views = Views::new(bodies, filters.can_freeze);
    let mut jobs = Vec::new();
    // If one client is measured, all ledgers list their items, because its packet can come from another client's sender.
    let is_measured = clients.iter().any(|(.., measure, _)| measure.is_some());
    for (client, sender, buffer, interest, hidden, measure, ladder) in &mut clients {
        let Some(ready) = &mut sender.into_inner().ready else {
            continue;
        };
        let center = interest.and_then(|interest| interest.center).unwrap_or(client);
        let center = centers.get(center).ok().map(|center| center.translation);
        look(bodies, ready, hidden, interest, center);
        let precision = ready.stages.precision();
        let view = views.of(precision, &ready.visibility, &mut ready.view);
        ready.sender.itemize(is_measured);
        let mut job = Job {
            ready,
            buffer: buffer.into_inner(),
            measure,
            ladder,
            view,
            packet_budget: None,
            leader: None,
            has_packet: None,
        };
        job.prepare(bodies, time.elapsed());
        if bodies.tick.is_multiple_of(job.ready.settings.send_interval_ticks.into()) {
            jobs.push(job);
        }
    }
    choose_leaders(&mut jobs);
    encode_all(&mut jobs, bodies);
    for index in 0..jobs.len() {
        let (earlier, rest) = jobs.split_at_mut(index);
        rest[0].finish(earlier, bodies, &mut stats);
    }
}

/// The snapshot to send to one client.
struct Job<'a> {
    ready: &'a mut Ready,
    buffer: &'a mut MessageBuffer,
    measure: Option<Mut<'a, Measure>>,
    ladder: Option<Mut<'a, LiveLadder>>,
    /// The bodies that the client sees. Clients that see the same have the same `Arc`.
    view: Arc<QuantizedSnapshot>,
    /// Limit of the packet, without gains and groups; `None` for a complete packet.
    packet_budget: Option<PacketBudget<'static>>,
    /// Index of an earlier job with the same view and baselines. This client gets a copy of its packet, if the packet is
    /// complete and within `packet_budget`.
    leader: Option<usize>,
    /// Whether a packet is sent. False without a change, or until the budget covers the packet. `None` before
    /// encoding.
    has_packet: Option<bool>,
}

impl Job<'_> {
    /// Queues reliable components, and computes the limit of the packet.
    fn prepare(&mut self, bodies: &Bodies, now: Duration) {
        let (tick, view) = (bodies.tick, &self.view);
        let (ready, buffer) = (&mut *self.ready, &mut *self.buffer);
        queue_changes(bodies, ready, view);
        queue_appearances(bodies, ready, view, buffer);
        let room = ready.reliable_room(buffer);
        // Before `allow`, which reserves bytes for waiting messages.
        ready.outbox.take(room, &mut buffer.outgoing.messages);
        self.packet_budget =
            ready.allow(tick, now, buffer).or_else(|| ready.without_budget(tick, view));
        let sent = buffer.traffic.sent.bytes();
        let before = std::mem::replace(&mut ready.sent_bytes, sent);
        if let Some(measure) = &mut self.measure {
            let ticks_per_second = bodies.protocol.plan.schema().ticks_per_second;
            let sent = sent.saturating_sub(before) as usize;
            measure.send(tick, ticks_per_second, sent, ready.limit, &ready.settings);
        }
    }

    fn encode(&mut self, bodies: &Bodies) {
        let ready = &mut *self.ready;
        let (tick, stages, view) = (bodies.tick, ready.stages, &self.view);
        let packet = match self.packet_budget {
            None => ready.sender.send(tick, stages, view, ready.settings.baseline).map(Some),
            Some(packet_budget) => {
                let packet_budget =
                    PacketBudget { gains: &ready.gains, groups: &bodies.groups, ..packet_budget };
                ready.sender.send_within(tick, stages, view, packet_budget)
            }
        };
        self.has_packet = Some(packet.is_ok_and(|packet| packet.is_some()));
    }

    /// Uses the leader's packet if it is complete and fits. Otherwise this job encodes its own.
    fn follow(&mut self, leader: &Self, tick: u64) {
        let sender = &leader.ready.sender;
        let size = sender.packet().bytes.len();
        let fits = self.packet_budget.is_none_or(|packet_budget| size <= packet_budget.bytes);
        let is_complete = leader.has_packet == Some(true) && !sender.is_scheduling();
        match is_complete && fits {
            true => self.has_packet = Some(self.ready.sender.send_same(tick, sender).is_ok()),
            false => self.leader = None,
        }
    }

    /// Puts the packet into the message buffer, and measures it. `earlier` are the jobs before this one.
    fn finish(&mut self, earlier: &[Self], bodies: &Bodies, stats: &mut ReplicationStats) {
        let (tick, ready) = (bodies.tick, &mut *self.ready);
        if let Some(measure) = &mut self.measure {
            let ticks_per_second = bodies.protocol.plan.schema().ticks_per_second;
            measure.note_waits(tick, ticks_per_second, &ready.sender);
        }
        let has_packet = self.has_packet == Some(true);
        if let Some(ladder) = &mut self.ladder {
            let sent = has_packet.then(|| (ready.sender.acked_ages(tick), &self.view));
            ladder.push(tick, &bodies.protocol.plan, sent);
        }
        if !has_packet {
            return;
        }
        let sender = self.leader.map_or(&ready.sender, |leader| &earlier[leader].ready.sender);
        let packet = sender.packet();
        let bytes = packet.bytes.clone();
        stats.packets += 1;
        stats.encodes += u64::from(self.leader.is_none());
        stats.snapshot_bytes += bytes.len() as u64;
        if let Some(measure) = &mut self.measure {
            measure.count(PacketRecord::new(tick, packet, ready.stages));
        }
        if let Some(budget) = &mut ready.budget {
            self.buffer.spread_ticks = budget.on_sent(tick, bytes.len());
        }
        self.buffer.outgoing.datagrams.push(bytes);
    }
}

/// Maximum number of earlier jobs with the same key that a job is compared with. The first one nearly always matches.
const MAX_COMPARED: usize = 4;

/// Sets [`Job::leader`] of each job with the view, stages and acks of an earlier one.
fn choose_leaders(jobs: &mut [Job<'_>]) {
    let mut leaders: HashMap<_, Vec<usize>> = HashMap::new();
    for index in 0..jobs.len() {
        let job = &jobs[index];
        let sender = &job.ready.sender;
        // The smallest baseline depends on older acks, which `is_like` does not compare.
        if sender.is_scheduling() || job.ready.settings.baseline != BaselineChoice::Newest {
            continue;
        }
        let view = Arc::as_ptr(&job.view);
        let key = (view, job.packet_budget.is_some(), job.ready.stages, sender.sharing_key());
        let leaders = leaders.entry(key).or_default();
        let is_same = |&&leader: &&usize| jobs[leader].ready.sender.is_like(sender);
        match leaders.iter().find(is_same).copied() {
            Some(leader) => jobs[index].leader = Some(leader),
            None if leaders.len() < MAX_COMPARED => leaders.push(index),
            None => {}
        }
    }
}

/// Encodes the packets of the leaders in parallel, and then the packets of followers that cannot use their leader's.
fn encode_all(jobs: &mut [Job<'_>], bodies: &Bodies) {
    encode_due(jobs, bodies);
    for index in 0..jobs.len() {
        let (earlier, rest) = jobs.split_at_mut(index);
        if let Some(leader) = rest[0].leader {
            rest[0].follow(&earlier[leader], bodies.tick);
        }
    }
    encode_due(jobs, bodies);
}

/// Encodes the packets of all jobs that have neither a packet nor a leader.
fn encode_due(jobs: &mut [Job<'_>], bodies: &Bodies) {
    let due = jobs.iter_mut().filter(|job| job.leader.is_none() && job.has_packet.is_none());
    let mut due: Vec<_> = due.collect();
    // A single packet is encoded on this thread, because waking another one takes time.
    if let [job] = &mut *due {
        return job.encode(bodies);
    }
    ComputeTaskPool::get_or_init(TaskPool::default).scope(|scope| {
        for job in due {
            scope.spawn(async move { job.encode(bodies) });
        }
    });
}

/// Queues the reliable components that have changed in this tick, of bodies that the client saw in the last tick, too.
fn queue_changes(bodies: &Bodies, ready: &mut Ready, view: &QuantizedSnapshot) {
    for &(slot, component) in &bodies.changed {
        let known = &mut ready.slots[slot];
        let Some(life) = view.life(slot).filter(|&life| known.seen == Some(life)) else {
            continue;
        };
        match ready.visibility[slot] {
            Visibility::Visible => {
                known.told = Some(life);
                let value = bodies.slots[slot].components[component].value.clone();
                ready.outbox.change(slot, life, component, value);
            }
            // A frozen body keeps its components until it is visible again.
            _ => known.is_stale = true,
        }
    }
}

/// Queues all reliable components of bodies that have become visible, and why other bodies are no longer visible.
fn queue_appearances(
    bodies: &Bodies,
    ready: &mut Ready,
    view: &QuantizedSnapshot,
    buffer: &mut MessageBuffer,
) {
    for (slot, known) in ready.slots.iter_mut().enumerate() {
        let visible = view.life(slot);
        let before = std::mem::replace(&mut known.seen, visible);
        let is_thawed = known.is_stale && ready.visibility[slot] == Visibility::Visible;
        if before == visible && !is_thawed {
            continue;
        }
        known.is_stale = false;
        if let Some(before) = before.filter(|_| before != visible) {
            ready.outbox.forget(slot);
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
            ready.outbox.replace(slot, life, values);
        }
    }
}
