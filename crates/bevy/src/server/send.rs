//! What goes to clients in a tick: messages, cold data, and a snapshot, which clients share that have the same baseline and
//! see the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_tasks::{ComputeTaskPool, TaskPool};
use bevy_time::{Real, Time};
use bevy_transform::components::Transform;
use cubewire_codec::{Life, QuantizedSnapshot};
use cubewire_protocol::{BaselineChoice, View, Visibility, Within};

use super::ReplicationStats;
use super::capture::{Bodies, BodySlot, entity_to_wire};
use super::peer::{ByteBudget, Peer, PeerState, Ready};
use super::receive::turn_away;
use super::visibility::{Filters, Hidden, Interest, look};
use crate::mailbox::{Connected, Mailbox};
use crate::measure::Measure;
use crate::protocol::Compiled;
use crate::wire::{BodyId, ToClientMail, encode, sendable};

type ReadyClient = (With<Peer>, With<Connected>, Allow<Disabled>);

/// After a pause that is longer, clients are told which tick it is: half the range of their numbers is nine minutes at 60 Hz.
const PAUSE: Duration = Duration::from_secs(1);

/// Puts messages into the mailboxes of those to whom they go.
pub(super) fn send_messages(
    world: &mut World,
    clients: &mut QueryState<(Entity, &'static mut Mailbox), ReadyClient>,
    mut last: Local<Duration>,
) {
    let bodies = world.resource::<Bodies>();
    let (protocol, tick) = (bodies.protocol.clone(), bodies.tick);
    let now = world.resource::<Time<Real>>().elapsed();
    if now > std::mem::replace(&mut *last, now) + PAUSE {
        for (_, mut mailbox) in clients.iter_mut(world) {
            mailbox
                .outgoing
                .messages
                .push(encode(&ToClientMail::Tick(tick)));
        }
    }
    for (channel, entry) in protocol.to_client.iter().enumerate() {
        for (to, bytes) in (entry.drain)(world, entity_to_wire) {
            let channel = channel as u8;
            let bytes = &bytes;
            let mail = ToClientMail::Message { channel, bytes };
            let message = sendable(&mail, || format!("a message `{}`", entry.name));
            let mut refused = Vec::new();
            for (client, mut mailbox) in clients.iter_mut(world) {
                match &message {
                    _ if to.is_some_and(|to| to != client) => {}
                    Ok(message) => mailbox.outgoing.messages.push(message.clone()),
                    Err(reason) => refused.push((client, reason.clone())),
                }
            }
            for (client, reason) in refused {
                turn_away(world, client, reason);
            }
        }
    }
}

type ClientItem<'a> = (
    Entity,
    &'a mut Peer,
    &'a mut Mailbox,
    Option<&'a ByteBudget>,
    Option<&'a Interest>,
    Option<&'a Hidden>,
    Option<&'a mut Measure>,
);

/// What is sent to one client.
struct Job<'a> {
    peer: &'a mut Ready,
    mailbox: &'a mut Mailbox,
    measure: Option<Mut<'a, Measure>>,
    /// What it is to have: of clients that see the same it is the same.
    wanted: Arc<QuantizedSnapshot>,
    within: Option<Within<'static>>,
    /// Index of a job before, of the same packet.
    same_as: Option<usize>,
    /// Whether there is a packet, once that is decided.
    is_sent: Option<bool>,
}

/// Sends a tick's snapshot to all clients.
pub(super) fn send_snapshots(
    time: Res<Time<Real>>,
    bodies: Res<Bodies>,
    filters: Res<Filters>,
    mut stats: ResMut<ReplicationStats>,
    mut clients: Query<ClientItem<'static>, Allow<Disabled>>,
    centers: Query<&Transform>,
    mut commands: Commands,
) {
    let bodies = &*bodies;
    let ticks_per_second = bodies.protocol.plan.schema().ticks_per_second;
    let mut views: HashMap<Vec<Visibility>, Arc<QuantizedSnapshot>> = HashMap::new();
    let mut jobs = Vec::new();
    let is_measured = clients.iter().any(|(.., measure)| measure.is_some());
    for (client, peer, mailbox, budget, interest, hidden, mut measure) in &mut clients {
        let (peer, mailbox) = (peer.into_inner(), mailbox.into_inner());
        let PeerState::Ready(ready) = &mut peer.state else {
            continue;
        };
        let center = interest.and_then(|interest| interest.center);
        let center = centers.get(center.unwrap_or(client)).ok();
        let center = center.map(|center| center.translation);
        look(bodies, ready, hidden, interest, center);
        let wanted = wanted(bodies, ready, filters.can_freeze, &mut views);
        if let Err(reason) = send_lives(bodies, ready, &wanted, mailbox) {
            commands.queue(move |world: &mut World| turn_away(world, client, reason));
            continue;
        }
        let budget = budget.copied();
        let (tick, now) = (bodies.tick, time.elapsed());
        let within = ready
            .within(tick, now, ticks_per_second, budget, mailbox)
            .or_else(|| ready.without_budget(tick, &wanted));
        ready.sender.itemize(is_measured);
        if let Some(measure) = &mut measure {
            let sent = mailbox.traffic.sent.bytes();
            measure.send(tick, ticks_per_second, sent, budget);
        }
        jobs.push(Job {
            peer: ready,
            mailbox,
            measure,
            wanted,
            within,
            same_as: None,
            is_sent: None,
        });
    }
    share(&mut jobs);
    let pool = ComputeTaskPool::get_or_init(TaskPool::default);
    let encode = |jobs: &mut [Job<'_>]| {
        pool.scope(|scope| {
            for job in jobs.iter_mut().filter(|job| job.is_to_encode()) {
                scope.spawn(async move { job.encode(bodies) });
            }
        });
    };
    encode(&mut jobs);
    for index in 0..jobs.len() {
        let (before, rest) = jobs.split_at_mut(index);
        if let Some(leader) = rest[0].same_as {
            rest[0].take_over(&before[leader], bodies.tick);
        }
    }
    encode(&mut jobs);
    for index in 0..jobs.len() {
        let (before, rest) = jobs.split_at_mut(index);
        let job = &mut rest[0];
        if let Some(measure) = &mut job.measure {
            measure.note_waits(bodies.tick, ticks_per_second, &job.peer.sender);
        }
        if job.is_sent != Some(true) {
            continue;
        }
        let encoder = job
            .same_as
            .map_or(&*job.peer, |leader| &*before[leader].peer);
        let packet = encoder.sender.packet();
        stats.packets += 1;
        stats.encodes += u64::from(job.same_as.is_none());
        let bytes = packet.bytes.clone();
        stats.snapshot_bytes += bytes.len() as u64;
        if let Some(measure) = &mut job.measure {
            measure.count(bodies.tick, packet.clone(), false);
        }
        job.peer
            .on_sent(bodies.tick, bytes.len() + job.mailbox.overhead_bytes);
        job.mailbox.outgoing.datagrams.push(bytes);
    }
}

impl Job<'_> {
    const fn is_to_encode(&self) -> bool {
        self.same_as.is_none() && self.is_sent.is_none()
    }

    /// Sends what another one has sent, if that is complete and fits.
    fn take_over(&mut self, leader: &Self, tick: u64) {
        let sender = &leader.peer.sender;
        let size = sender.packet().bytes.len();
        let fits = self.within.is_none_or(|within| size <= within.bytes);
        let is_complete = leader.is_sent == Some(true) && !sender.is_scheduling();
        match is_complete && fits {
            true => self.is_sent = Some(self.peer.sender.send_same(tick, sender).is_ok()),
            false => self.same_as = None,
        }
    }

    fn encode(&mut self, bodies: &Bodies) {
        let peer = &mut *self.peer;
        let (tick, stages, wanted) = (bodies.tick, peer.stages, &self.wanted);
        let sent = match self.within {
            None => peer
                .sender
                .send(tick, stages, wanted, BaselineChoice::Newest)
                .map(Some),
            Some(within) => {
                let within = Within {
                    gains: &peer.gains,
                    groups: &bodies.groups,
                    ..within
                };
                peer.sender.send_within(tick, stages, wanted, within)
            }
        };
        self.is_sent = Some(sent.is_ok_and(|sent| sent.is_some()));
    }
}

/// What a client is to have.
fn wanted(
    bodies: &Bodies,
    peer: &mut Ready,
    can_freeze: bool,
    views: &mut HashMap<Vec<Visibility>, Arc<QuantizedSnapshot>>,
) -> Arc<QuantizedSnapshot> {
    let world = &bodies.world;
    if can_freeze {
        let view = peer.view.get_or_insert_with(|| View::new(world));
        return Arc::new(view.of(world, &peer.visibility).clone());
    }
    let is_hidden = |visibility: &Visibility| *visibility != Visibility::Visible;
    if !peer.visibility.iter().any(is_hidden) {
        return Arc::clone(world);
    }
    if let Some(view) = views.get(&peer.visibility) {
        return Arc::clone(view);
    }
    let view = Arc::new(View::new(world).of(world, &peer.visibility).clone());
    views.insert(peer.visibility.clone(), Arc::clone(&view));
    view
}

/// Finds the clients that can be sent the same packet.
fn share(jobs: &mut [Job<'_>]) {
    let mut leaders: Vec<usize> = Vec::new();
    for index in 0..jobs.len() {
        let job = &jobs[index];
        if job.peer.sender.is_scheduling() {
            continue;
        }
        let is_same = |leader: &&usize| {
            let leader = &jobs[**leader];
            Arc::ptr_eq(&leader.wanted, &job.wanted)
                && leader.within.is_some() == job.within.is_some()
                && leader.peer.stages == job.peer.stages
                && leader.peer.sender.is_like(&job.peer.sender)
        };
        match leaders.iter().find(is_same).copied() {
            Some(leader) => jobs[index].same_as = Some(leader),
            None => leaders.push(index),
        }
    }
}

/// Sends cold data of bodies that have become visible, and what of it has changed; and of those that are visible no more, why.
/// The error says which data is too large.
fn send_lives(
    bodies: &Bodies,
    peer: &mut Ready,
    wanted: &QuantizedSnapshot,
    mailbox: &mut Mailbox,
) -> Result<(), String> {
    let mut send = |slot: usize, mail: &ToClientMail<'_>| {
        let message = sendable(mail, || too_large(&bodies.slots[slot], &bodies.protocol))?;
        mailbox.outgoing.messages.push(message);
        Ok::<_, String>(())
    };
    for &(slot, component) in &bodies.changed {
        let Some(life) = wanted
            .life(slot)
            .filter(|&life| peer.seen[slot] == Some(life))
        else {
            continue;
        };
        match peer.visibility[slot] {
            Visibility::Visible => {
                peer.told[slot] = Some(life);
                send(
                    slot,
                    &ToClientMail::Cold {
                        body: BodyId::new(slot, life),
                        is_first: false,
                        components: vec![(
                            component as u8,
                            bodies.slots[slot].cold[component].as_deref(),
                        )],
                    },
                )?;
            }
            _ => peer.is_stale[slot] = true,
        }
    }
    for slot in 0..peer.seen.len() {
        let visible = wanted.life(slot);
        let before = std::mem::replace(&mut peer.seen[slot], visible);
        let is_thawed = peer.is_stale[slot] && peer.visibility[slot] == Visibility::Visible;
        if before == visible && !is_thawed {
            continue;
        }
        peer.is_stale[slot] = false;
        if let Some(before) = before.filter(|_| before != visible) {
            send(
                slot,
                &ToClientMail::Gone {
                    body: BodyId::new(slot, before),
                    tick: bodies.tick,
                    is_hidden: bodies.holds(slot, before),
                },
            )?;
        }
        let cold = &bodies.slots[slot].cold;
        // Of one that had some when it was last visible, too, and has none any more.
        let is_told =
            |life: &Life| cold.iter().any(Option::is_some) || peer.told[slot] == Some(*life);
        if let Some(visible) = visible.filter(is_told) {
            peer.told[slot] = Some(visible);
            let all = cold.iter().enumerate().filter(|(_, bytes)| bytes.is_some());
            let components = all.map(|(index, bytes)| (index as u8, bytes.as_deref()));
            send(
                slot,
                &ToClientMail::Cold {
                    body: BodyId::new(slot, visible),
                    is_first: true,
                    components: components.collect(),
                },
            )?;
        }
    }
    Ok(())
}

/// What of a body is too large.
fn too_large(body: &BodySlot, protocol: &Compiled) -> String {
    let length = |bytes: &Option<Box<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len());
    let components = body.cold.iter().zip(&protocol.cold);
    let largest = components.max_by_key(|(bytes, _)| length(bytes));
    let name = largest.map_or("", |(_, entry)| entry.name);
    let entity = body.entity;
    format!("the components of body {entity}, the largest of which is `{name}`")
}
