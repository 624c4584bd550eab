//! Traffic of a client to the server: messages, a datagram with acks, and datagrams with recent inputs.
//!
//! Sent in each tick, and at the same rate in frames without a tick, because a server without acks sends larger and
//! larger snapshots. Inputs are sent repeatedly, so that lost datagrams rarely lose one.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use cubewire_protocol::{ClientMessage, one_line};

use super::inputs::{MAX_REPEATED_BYTES, datagrams};
use super::receiver::ReplicationReceiver;
use crate::body::{Disconnected, RemoteBody};
use crate::components::to_wire;
use crate::messages::MessageEntry;
use crate::protocol::Protocol;
use crate::transport::{Connected, Farewell, MessageBuffer, OrDisabled};
use crate::wire::{MAX_FEEDBACK, ReliableToServer, Upstream, encode};

fn entity_to_wire(world: &World, entity: Entity) -> Option<Entity> {
    to_wire(world.get::<RemoteBody>(entity)?.0)
}

/// Queues the reason for the end of the connection as the last message to the server.
pub(super) fn tell_why(
    ended: On<Disconnected>,
    mut servers: Query<&mut MessageBuffer, (With<ReplicationReceiver>, OrDisabled)>,
) {
    if let Ok(mut buffer) = servers.get_mut(ended.entity) {
        let reason = one_line(&ended.reason);
        let left = ClientMessage::Left(&reason);
        buffer.last_message = Some(encode(&ReliableToServer::Session(left)));
    }
}

type Connection = (&'static mut ReplicationReceiver, &'static mut MessageBuffer);
type IsConnected = (With<Connected>, OrDisabled);

/// Queues acks in a separate datagram, because a long datagram of inputs is more likely to be lost.
fn send_feedback(replication: &mut ReplicationReceiver, buffer: &mut MessageBuffer) {
    let Some(receiver) = replication.0.as_mut().and_then(|state| state.receiver.as_mut()) else {
        return;
    };
    let feedback = std::iter::from_fn(|| receiver.poll_feedback());
    let feedback: Vec<_> = feedback.map(|feedback| feedback.encode()).collect();
    for feedback in feedback.chunks(MAX_FEEDBACK) {
        let feedback = feedback.iter().map(Vec::as_slice).collect();
        buffer.outgoing.datagrams.push(encode(&Upstream { feedback, inputs: Vec::new() }));
    }
}

/// Queues acks, and the inputs and messages that the app has written. Messages can be written just before the connection is
/// despawned. Inputs and messages are dropped without a connection.
pub(super) fn send(
    world: &mut World,
    servers: &mut QueryState<Connection, IsConnected>,
    farewells: &mut QueryState<(&'static Farewell, &'static mut MessageBuffer)>,
) {
    for (mut replication, mut buffer) in servers.iter_mut(world) {
        send_feedback(&mut replication, &mut buffer);
    }
    let protocol = Arc::clone(&world.resource::<Protocol>().0);
    let mut take = |entries: &[MessageEntry]| -> Vec<Vec<_>> {
        entries.iter().map(|entry| entry.take(world, entity_to_wire)).collect()
    };
    let (inputs, messages) = (take(&protocol.items.inputs), take(&protocol.items.to_server));
    let write_messages = |buffer: &mut MessageBuffer| {
        for (channel, messages) in messages.iter().enumerate() {
            for (_, bytes) in messages {
                buffer.send(&ReliableToServer::Message { channel: channel as u8, bytes });
            }
        }
    };
    let Some((mut replication, mut buffer)) = servers.iter_mut(world).next() else {
        let farewells = farewells.iter_mut(world);
        let farewells = farewells.filter(|(farewell, _)| farewell.sends_to_server());
        return farewells.for_each(|(_, mut buffer)| write_messages(&mut buffer));
    };
    write_messages(&mut buffer);
    let Some(state) = &mut replication.0 else {
        return;
    };
    let entries = &protocol.items.inputs;
    for ((channel, inputs), entry) in state.inputs.iter_mut().zip(inputs).zip(entries) {
        for (_, input) in inputs {
            let bytes = input.len();
            if bytes > MAX_REPEATED_BYTES {
                entry.unrepeated.warn(format_args!(
                    "input too long to be repeated: {bytes} bytes, limit {MAX_REPEATED_BYTES} (`{}`): it is sent once, \
                     and can be lost",
                    entry.name
                ));
            }
            channel.push(input);
        }
    }
    if state.receiver.is_some() {
        buffer.outgoing.datagrams.extend(datagrams(&mut state.inputs));
    }
}
