//! Processes hellos, inputs, messages and acks from clients.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use cubewire_codec::Snapshot;
use cubewire_protocol::{RateControl, ServerConnection, ServerEvent};

use super::apply::on_request;
use super::capture::{Bodies, entity_from_wire};
use super::sender::{ClientView, ReplicationSender};
use super::visibility::Hidden;
use crate::body::disconnect;
use crate::clock::{self, Clocks, ConnectionClock};
use crate::measure::Measure;
use crate::messages::MessageEntry;
use crate::protocol::Compiled;
use crate::transport::{Client, Connected, MAX_BACKLOG_BYTES, MessageBuffer, OrDisabled};
use crate::wire::{MAX_TO_SERVER_BYTES, ReliableToServer, decode, fits};

type NewClient = (With<Client>, Without<ReplicationSender>, OrDisabled);

pub(super) fn admit(
    new: Query<(Entity, &ConnectionClock), NewClient>,
    bodies: Res<Bodies>,
    clocks: Clocks,
    mut commands: Commands,
) {
    for (client, clock) in &new {
        let contract = Arc::clone(&bodies.protocol.contract);
        let now = clocks.now(clock);
        let connection = ServerConnection::new(contract, RateControl::WithBudget, now);
        let sender = ReplicationSender { connection, view: ClientView::default() };
        commands.entity(client).try_insert((sender, Hidden::default()));
    }
}

/// Processes the messages and datagrams of all clients.
pub(super) fn deliver(
    world: &mut World,
    clients: &mut QueryState<Entity, (With<ReplicationSender>, OrDisabled)>,
) {
    // Copied, because observers triggered below need the resource in the world.
    let bodies = world.resource::<Bodies>();
    let (protocol, tick) = (Arc::clone(&bodies.protocol), bodies.tick);
    for client in clients.iter(world).collect::<Vec<_>>() {
        let Some(mut buffer) = world.get_mut::<MessageBuffer>(client) else {
            continue;
        };
        let queue = std::mem::take(&mut buffer.incoming);
        let backlog_bytes = buffer.backlog_bytes;
        let mut messages = queue.messages.iter();
        let mut datagrams = queue.datagrams.iter();
        let outcome = messages
            .try_for_each(|bytes| on_message(world, &protocol, tick, client, bytes))
            .and_then(|()| {
                datagrams.try_for_each(|bytes| on_datagram(world, &protocol, tick, client, bytes))
            })
            .and_then(|()| check(world, client, backlog_bytes));
        let has_left = world
            .get::<ReplicationSender>(client)
            .is_some_and(|sender| sender.connection.has_left());
        if let Err(reason) = outcome {
            if let Some(mut buffer) = world.get_mut::<MessageBuffer>(client).filter(|_| has_left) {
                buffer.ended = Some(reason.clone());
            }
            disconnect(world, client, reason);
        }
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
    let now = clock::now(world, client);
    let Some(mut sender) = world.get_mut::<ReplicationSender>(client) else {
        // An observer has ended the connection.
        return Ok(());
    };
    match sender.connection.on_message(bytes)? {
        ServerEvent::Hello => {
            let welcome = sender.connection.welcome(now, tick, &Snapshot::default());
            welcome.map_err(|error| error.to_string())?;
            world.entity_mut(client).insert(Connected);
            log::debug!("client {client} admitted at tick {tick}");
        }
        ServerEvent::Request(asked) => on_request(world, protocol, client, asked),
        ServerEvent::Declined => {}
        ServerEvent::Message(bytes) => {
            let ReliableToServer::Message { channel, bytes } =
                decode(bytes).ok_or("malformed message from the client")?;
            let entry = protocol.items.to_server.get(usize::from(channel));
            let entry = entry.ok_or("message of an unregistered type from the client")?;
            return deliver_to_app(world, client, entry, bytes);
        }
    }
    Ok(())
}

fn on_datagram(
    world: &mut World,
    protocol: &Compiled,
    tick: u64,
    client: Entity,
    bytes: &[u8],
) -> Outcome {
    let Some(mut sender) = world.get_mut::<ReplicationSender>(client) else {
        return Ok(());
    };
    let received = sender.connection.on_datagram(tick, bytes)?;
    if let Some(mut measure) = world.get_mut::<Measure>(client) {
        received.acks.iter().for_each(|ack| measure.on_ack(tick, ack));
    }
    for (channel, input) in received.inputs {
        deliver_to_app(world, client, &protocol.items.inputs[channel], input)?;
    }
    Ok(())
}

fn check(world: &mut World, client: Entity, backlog_bytes: usize) -> Outcome {
    let now = clock::now(world, client);
    world
        .get_mut::<ReplicationSender>(client)
        .map_or(Ok(()), |mut sender| sender.connection.check(now, backlog_bytes, MAX_BACKLOG_BYTES))
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
