//! Processes hellos, inputs, messages and acks from clients.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use cubewire_codec::Snapshot;
use cubewire_protocol::{Feedback, ServerEvent, ServerMessage, ServerSession, one_line};

use super::apply::on_request;
use super::capture::{Bodies, entity_from_wire};
use super::sender::{Ready, ReplicationSender};
use super::visibility::Hidden;
use crate::body::{Disconnected, disconnect};
use crate::measure::Measure;
use crate::messages::MessageEntry;
use crate::protocol::Compiled;
use crate::transport::{Client, Connected, MessageBuffer, OrDisabled};
use crate::wire::{
    MAX_TO_SERVER_BYTES, ReliableToClient, ReliableToServer, Upstream, decode, encode, fits,
    new_inputs,
};

type NewClient = (With<Client>, Without<ReplicationSender>, OrDisabled);

pub(super) fn admit(new: Query<Entity, NewClient>, time: Res<Time<Real>>, mut commands: Commands) {
    for client in &new {
        let session = ServerSession::new(time.elapsed());
        let sender = ReplicationSender { session, ready: None };
        commands.entity(client).try_insert((sender, Hidden::default()));
    }
}

/// Limit of a client's acks and new inputs per frame: as many as in eight seconds at 240 Hz. Further ones are dropped.
const MAX_ITEMS: usize = 4096;

/// Processes the messages and datagrams of all clients.
pub(super) fn deliver(
    world: &mut World,
    clients: &mut QueryState<Entity, (With<ReplicationSender>, OrDisabled)>,
) {
    let now = world.resource::<Time<Real>>().elapsed();
    // Copied, because observers triggered below need the resource in the world.
    let bodies = world.resource::<Bodies>();
    let (protocol, tick) = (Arc::clone(&bodies.protocol), bodies.tick);
    for client in clients.iter(world).collect::<Vec<_>>() {
        let Some(mut buffer) = world.get_mut::<MessageBuffer>(client) else {
            continue;
        };
        let queue = std::mem::take(&mut buffer.incoming);
        let mut messages = queue.messages.iter();
        let mut outcome =
            messages.try_for_each(|bytes| on_message(world, &protocol, tick, client, bytes));
        let mut left = MAX_ITEMS;
        for bytes in &queue.datagrams {
            outcome = outcome
                .and_then(|()| on_datagram(world, &protocol, tick, client, bytes, &mut left));
        }
        if let Err(reason) = outcome {
            let has_left = world
                .get::<ReplicationSender>(client)
                .is_some_and(|sender| sender.session.has_left());
            if let Some(mut buffer) = world.get_mut::<MessageBuffer>(client).filter(|_| has_left) {
                buffer.ended = Some(reason.clone());
            }
            disconnect(world, client, reason);
        }
        let sender = world.get::<ReplicationSender>(client);
        if sender.is_some_and(|sender| sender.session.is_overdue(now)) {
            disconnect(world, client, "no hello from the client");
        }
    }
}

/// Queues the reason for the end of a connection as the last message to the client.
pub(super) fn tell_why(
    ended: On<Disconnected>,
    mut clients: Query<&mut MessageBuffer, (With<ReplicationSender>, OrDisabled)>,
) {
    if let Ok(mut buffer) = clients.get_mut(ended.entity) {
        let reason = one_line(&ended.reason);
        let refused = ServerMessage::Refused(&reason);
        buffer.last_message = Some(encode(&ReliableToClient::Session(refused)));
    }
}

type Outcome = Result<(), String>;

fn on_message(
    world: &mut World,
    protocol: &Compiled,
    tick: u64,
    client: Entity,
    bytes: &[u8],
) -> Outcome {
    let Some(mut sender) = world.get_mut::<ReplicationSender>(client) else {
        // An observer has ended the connection.
        return Ok(());
    };
    match decode(bytes).ok_or("malformed message from the client")? {
        ReliableToServer::Session(message) => {
            match sender.session.on_message(&protocol.contract, message)? {
                ServerEvent::Welcome => welcome(world, protocol, tick, client),
                ServerEvent::Settings(asked) => {
                    on_request(world, protocol, client, asked);
                    Ok(())
                }
            }
        }
        ReliableToServer::Message { channel, bytes } if sender.ready.is_some() => {
            let entry = protocol.items.to_server.get(usize::from(channel));
            let entry = entry.ok_or("message of an unregistered type from the client")?;
            deliver_to_app(world, client, entry, bytes)
        }
        ReliableToServer::Message { .. } => Err("unexpected message from the client".to_owned()),
    }
}

fn welcome(world: &mut World, protocol: &Compiled, tick: u64, client: Entity) -> Outcome {
    let now = world.resource::<Time<Real>>().elapsed();
    let mut client = world.entity_mut(client);
    let Some(mut sender) = client.get_mut::<ReplicationSender>() else {
        return Ok(());
    };
    let (contract, initial) = (&protocol.contract, Snapshot::default());
    let welcome = sender.session.welcome(contract, now, tick, &initial);
    let welcome = welcome.map_err(|error| error.to_string())?;
    let ready = Ready::new(protocol).map_err(|error| error.to_string())?;
    sender.ready = Some(Box::new(ready));
    if let Some(mut buffer) = client.get_mut::<MessageBuffer>() {
        buffer.send(&ReliableToClient::Session(welcome));
    }
    client.insert(Connected);
    log::debug!("client {} admitted at tick {tick}", client.id());
    Ok(())
}

fn on_datagram(
    world: &mut World,
    protocol: &Compiled,
    tick: u64,
    client: Entity,
    bytes: &[u8],
    left: &mut usize,
) -> Outcome {
    let malformed = "malformed datagram from the client";
    let mut sender = world.get_mut::<ReplicationSender>(client);
    let Some(ready) = sender.as_mut().and_then(|sender| sender.ready.as_mut()) else {
        // Before the hello, or after an observer has ended the connection.
        return Ok(());
    };
    let upstream: Upstream<'_> = decode(bytes).ok_or(malformed)?;
    if !upstream.is_bounded() || upstream.feedback.len() > *left {
        log::debug!("datagram of client {client} dropped: too many items");
        return Ok(());
    }
    *left -= upstream.feedback.len();
    let mut acks = Vec::new();
    for feedback in upstream.feedback {
        match ready.on_feedback(tick, feedback) {
            Some(Feedback::Ack(ack)) => acks.push(ack),
            Some(_) => {}
            None => return Err("invalid feedback from the client".to_owned()),
        }
    }
    let mut inputs = Vec::new();
    for recent in &upstream.inputs {
        let channel = usize::from(recent.channel);
        let seen = ready.inputs.get_mut(channel).ok_or(malformed)?;
        inputs.extend(new_inputs(recent, *seen).map(|input| (channel, input)));
        *seen = (*seen).max(recent.newest);
    }
    inputs.truncate(*left);
    *left -= inputs.len();
    if let Some(mut measure) = world.get_mut::<Measure>(client) {
        acks.iter().for_each(|ack| measure.on_ack(tick, ack));
    }
    for (channel, input) in inputs {
        deliver_to_app(world, client, &protocol.items.inputs[channel], input)?;
    }
    Ok(())
}

/// Passes an input or message to the app. Drops one that is longer than a correct client sends.
fn deliver_to_app(
    world: &mut World,
    client: Entity,
    entry: &MessageEntry,
    bytes: &[u8],
) -> Outcome {
    match fits(bytes.len(), MAX_TO_SERVER_BYTES) {
        Ok(()) => entry.deliver(world, client, bytes, entity_from_wire, "client"),
        Err(error) => {
            entry.drop(error);
            Ok(())
        }
    }
}
