//! What clients say: hello, inputs, messages and acks.

use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_time::{Real, Time};
use cubewire_codec::{Fingerprint, Snapshot};
use cubewire_protocol::{Feedback, Welcome};

use super::capture::{Bodies, entity_from_wire};
use super::peer::{Peer, PeerState, Ready};
use super::visibility::Hidden;
use crate::body::{Disconnected, HasEnded};
use crate::mailbox::{Client, Connected, Mailbox};
use crate::measure::Measure;
use crate::protocol::Compiled;
use crate::wire::{
    Hello, MAX_TO_SERVER_BYTES, ToClientMail, ToServerMail, Upstream, VERSION, decode, difference,
    encode, fits, new_inputs,
};

/// A client that says nothing, or was refused and does not leave.
const PATIENCE: Duration = Duration::from_secs(5);

type NewClient = (With<Client>, Without<Peer>, Allow<Disabled>);

/// Gives every new connection its peer.
pub(super) fn admit(new: Query<Entity, NewClient>, time: Res<Time<Real>>, mut commands: Commands) {
    for client in &new {
        let peer = Peer::new(time.elapsed());
        commands
            .entity(client)
            .try_insert((peer, Hidden::default()));
    }
}

/// Takes the mail of all clients.
pub(super) fn deliver(
    world: &mut World,
    clients: &mut QueryState<Entity, (With<Peer>, Allow<Disabled>)>,
) {
    let now = world.resource::<Time<Real>>().elapsed();
    // Observers of what follows need the resource itself.
    let bodies = world.resource::<Bodies>();
    let (protocol, tick) = (Arc::clone(&bodies.protocol), bodies.tick);
    for client in clients.iter(world).collect::<Vec<_>>() {
        let taken = world.get_mut::<Mailbox>(client).map(|mut mailbox| {
            let mailbox = &mut mailbox.incoming;
            (
                std::mem::take(&mut mailbox.messages),
                std::mem::take(&mut mailbox.datagrams),
            )
        });
        let Some((messages, datagrams)) = taken else {
            continue;
        };
        let messages = messages.iter().map(|bytes| (true, bytes));
        let mail = messages.chain(datagrams.iter().map(|bytes| (false, bytes)));
        for (is_message, bytes) in mail {
            let outcome = match is_message {
                true => on_message(world, &protocol, tick, client, bytes),
                false => on_datagram(world, &protocol, tick, client, bytes),
            };
            if let Err(reason) = outcome {
                turn_away(world, client, reason);
                break;
            }
        }
        match world.get::<Peer>(client) {
            Some(peer) if now <= peer.since + PATIENCE => {}
            Some(peer) if matches!(peer.state, PeerState::Silent) => {
                turn_away(world, client, "the client said no hello".to_owned());
            }
            Some(peer) if matches!(peer.state, PeerState::Refused) => {
                world.entity_mut(client).despawn();
            }
            _ => {}
        }
    }
}

/// Tells the game and the client why that is refused. Its entity goes once it has left, or after a while.
pub(super) fn turn_away(world: &mut World, client: Entity, reason: String) {
    let since = world.resource::<Time<Real>>().elapsed();
    let Ok(mut entity) = world.get_entity_mut(client) else {
        return;
    };
    if entity.contains::<HasEnded>() {
        return;
    }
    if let Some(mut peer) = entity.get_mut::<Peer>() {
        (peer.state, peer.since) = (PeerState::Refused, since);
    }
    if let Some(mut mailbox) = entity.get_mut::<Mailbox>() {
        mailbox.reliable_allowance = None;
        let refused = encode(&ToClientMail::Refused(&reason));
        mailbox.outgoing.messages.push(refused);
    }
    entity.insert(HasEnded);
    world.trigger(Disconnected {
        entity: client,
        reason,
    });
    if let Ok(mut entity) = world.get_entity_mut(client) {
        entity.remove::<Connected>();
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
    let peer = world.get::<Peer>(client).map(|peer| &peer.state);
    // What it sent before it knew.
    let Some(state @ (PeerState::Silent | PeerState::Ready(_))) = peer else {
        return Ok(());
    };
    let mail = decode(bytes).ok_or("the client sent an invalid message")?;
    match (mail, state) {
        (ToServerMail::Hello(hello), PeerState::Silent) => {
            greet(world, protocol, tick, client, &hello);
            Ok(())
        }
        (ToServerMail::Message { channel, bytes }, PeerState::Ready(_)) => {
            let entry = protocol.to_server.get(usize::from(channel));
            let entry = entry.ok_or("the client sent a message of no type")?;
            if let Err(error) = fits(bytes.len(), MAX_TO_SERVER_BYTES) {
                entry.drop(error);
                return Ok(());
            }
            let is_delivered = (entry.deliver)(world, client, bytes, entity_from_wire);
            is_delivered.then_some(()).ok_or_else(|| {
                format!("the client sent bytes that are no message `{}`", entry.name)
            })
        }
        _ => Err("the client sent a message out of turn".to_owned()),
    }
}

/// Answers a hello.
fn greet(world: &mut World, protocol: &Compiled, tick: u64, client: Entity, hello: &Hello<'_>) {
    let refusal = match hello.version {
        VERSION => difference(&protocol.text, hello.protocol),
        theirs => Some(format!(
            "the server speaks version {VERSION:#x} of the wire format, and the client {theirs:#x}"
        )),
    };
    let fingerprint = Fingerprint {
        model: hello.model,
        arithmetic: hello.arithmetic,
    };
    let welcome = Welcome {
        plan: protocol.plan.clone(),
        tick,
        fingerprint: Fingerprint::shipped(),
        initial: Snapshot::default(),
    };
    let ready = Ready::new(protocol, fingerprint);
    let (ready, welcome) = match (refusal, ready, welcome.encode()) {
        (None, Ok(ready), Ok(welcome)) => (ready, welcome),
        (refusal, ..) => {
            let reason = refusal.unwrap_or_else(|| "the server has no initial state".to_owned());
            return turn_away(world, client, reason);
        }
    };
    let mut client = world.entity_mut(client);
    if let Some(mut peer) = client.get_mut::<Peer>() {
        peer.state = PeerState::Ready(Box::new(ready));
    }
    if let Some(mut mailbox) = client.get_mut::<Mailbox>() {
        let welcome = encode(&ToClientMail::Welcome(&welcome));
        mailbox.outgoing.messages.push(welcome);
    }
    client.insert(Connected);
}

fn on_datagram(
    world: &mut World,
    protocol: &Compiled,
    tick: u64,
    client: Entity,
    bytes: &[u8],
) -> Outcome {
    let none = "the client sent an invalid datagram";
    let mut peer = world.get_mut::<Peer>(client);
    let Some(PeerState::Ready(ready)) = peer.as_mut().map(|peer| &mut peer.state) else {
        // From a client that was refused.
        return Ok(());
    };
    let upstream: Upstream<'_> = decode(bytes).ok_or(none)?;
    let mut acks = Vec::new();
    for feedback in upstream.feedback {
        match ready.on_feedback(tick, feedback) {
            Some(Feedback::Ack(ack)) => acks.push(ack),
            Some(_) => {}
            None => return Err("the client sent invalid feedback".to_owned()),
        }
    }
    let mut inputs = Vec::new();
    for recent in &upstream.inputs {
        let channel = usize::from(recent.channel);
        let seen = ready.inputs.get_mut(channel).ok_or(none)?;
        inputs.extend(new_inputs(recent, *seen).map(|input| (channel, input)));
        *seen = (*seen).max(recent.newest);
    }
    if let Some(mut measure) = world.get_mut::<Measure>(client) {
        acks.iter().for_each(|ack| measure.on_ack(tick, ack));
    }
    for (channel, input) in inputs {
        let entry = &protocol.inputs[channel];
        if let Err(error) = fits(input.len(), MAX_TO_SERVER_BYTES) {
            entry.drop(error);
            continue;
        }
        if !(entry.deliver)(world, client, input, entity_from_wire) {
            let name = entry.name;
            return Err(format!("the client sent bytes that are no input `{name}`"));
        }
    }
    Ok(())
}
