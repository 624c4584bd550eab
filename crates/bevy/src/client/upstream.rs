//! Traffic of a client to the server: messages, and datagrams with acks and recent inputs.
//!
//! Sent in each tick, and at the same rate in frames without a tick, because a server without acks sends larger and
//! larger snapshots. Inputs are sent repeatedly, so that lost datagrams rarely lose one.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use cubewire_protocol::MAX_REPEATED_BYTES;

use super::receiver::ReplicationReceiver;
use crate::body::RemoteBody;
use crate::components::to_wire;
use crate::messages::MessageEntry;
use crate::protocol::Protocol;
use crate::transport::{Connected, Farewell, MessageBuffer, OrDisabled};
use crate::wire::ReliableToServer;

fn entity_to_wire(world: &World, entity: Entity) -> Option<Entity> {
    to_wire(world.get::<RemoteBody>(entity)?.0)
}

type Connection = (&'static mut ReplicationReceiver, &'static mut MessageBuffer);
type IsConnected = (With<Connected>, OrDisabled);

/// Queues acks, and the inputs and messages that the app has written. Messages can be written just before the connection is
/// despawned. Inputs and messages are dropped without a connection.
pub(super) fn send(
    world: &mut World,
    servers: &mut QueryState<Connection, IsConnected>,
    farewells: &mut QueryState<(&'static Farewell, &'static mut MessageBuffer)>,
) {
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
    let Some(replica) = &mut replication.0 else {
        return;
    };
    for (channel, (inputs, entry)) in inputs.into_iter().zip(&protocol.items.inputs).enumerate() {
        for (_, input) in inputs {
            let bytes = input.len();
            if bytes > MAX_REPEATED_BYTES {
                entry.unrepeated.warn(format_args!(
                    "input too long to be repeated: {bytes} bytes, limit {MAX_REPEATED_BYTES} (`{}`): it is sent once, \
                     and can be lost",
                    entry.name
                ));
            }
            replica.connection.push_input(channel, input);
        }
    }
    buffer.outgoing.datagrams.extend(replica.connection.datagrams());
}
