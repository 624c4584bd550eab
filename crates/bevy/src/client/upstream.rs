//! What a client sends: messages, and in a datagram each tick its acks and its last inputs.

use std::sync::Arc;

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;

use super::inputs::Inputs;
use super::session::Session;
use crate::body::{RemoteBody, disconnect};
use crate::cold::to_wire;
use crate::mailbox::{Connected, Mailbox};
use crate::protocol::Protocol;
use crate::wire::{RecentInputs, ToServerMail, Upstream, encode, sendable};

/// What a remote body is on the wire.
fn entity_to_wire(world: &World, entity: Entity) -> Option<Entity> {
    to_wire(world.get::<RemoteBody>(entity)?.0)
}

type Connection = (Entity, &'static mut Session, &'static mut Mailbox);

/// Takes what was written and puts it into the mailbox, once a tick. What is written without a connection is dropped.
pub(super) fn send(
    world: &mut World,
    servers: &mut QueryState<Connection, (With<Connected>, Allow<Disabled>)>,
) {
    let protocol = Arc::clone(&world.resource::<Protocol>().0);
    let mut drain = |entries: &[crate::messages::MessageEntry]| -> Vec<Vec<_>> {
        entries
            .iter()
            .map(|entry| (entry.drain)(world, entity_to_wire))
            .collect()
    };
    let (inputs, messages) = (drain(&protocol.inputs), drain(&protocol.to_server));
    let Some((server, mut session, mut mailbox)) = servers.iter_mut(world).next() else {
        return;
    };
    for (channel, (messages, entry)) in messages.iter().zip(&protocol.to_server).enumerate() {
        for (_, bytes) in messages {
            let channel = channel as u8;
            let message = ToServerMail::Message { channel, bytes };
            match sendable(&message, || format!("a message `{}`", entry.name)) {
                Ok(message) => mailbox.outgoing.messages.push(message),
                Err(reason) => return disconnect(world, server, reason),
            }
        }
    }
    let Some(state) = &mut session.0 else {
        return;
    };
    for (channel, inputs) in state.inputs.iter_mut().zip(inputs) {
        inputs
            .into_iter()
            .for_each(|(_, input)| channel.push(input));
    }
    let Some(receiver) = &mut state.receiver else {
        return;
    };
    let feedback: Vec<_> = std::iter::from_fn(|| receiver.poll_feedback()).collect();
    let feedback: Vec<_> = feedback
        .into_iter()
        .map(|feedback| feedback.encode())
        .collect();
    let channels = state.inputs.iter().enumerate();
    let channels = channels.filter(|(_, inputs)| !inputs.recent.is_empty());
    let upstream = Upstream {
        feedback: feedback.iter().map(Vec::as_slice).collect(),
        inputs: channels
            .map(|(channel, inputs)| RecentInputs {
                channel: channel as u8,
                newest: inputs.newest,
                inputs: inputs.recent.iter().map(|(input, _)| &input[..]).collect(),
            })
            .collect(),
    };
    if upstream != Upstream::default() {
        mailbox.outgoing.datagrams.push(encode(&upstream));
    }
    state.inputs.iter_mut().for_each(Inputs::sent);
}
