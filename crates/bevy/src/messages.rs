//! Inputs and messages: the types that apps write and read, and the registered functions for each.

use std::any::{Any, TypeId};

use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::{
    LoggedOnce, MAX_TO_CLIENT_BYTES, MAX_TO_SERVER_BYTES, Unsendable, decode, sendable, short_name,
};

/// An input or message: any type that serde can serialize and deserialize.
///
/// A value that cannot be sent is dropped, with one warning for each type that names it: a value that its `Serialize`
/// refuses, that cannot be decoded again (as a type with `#[serde(tag)]`), with more than [`MAX_TO_SERVER_BYTES`] or
/// [`MAX_TO_CLIENT_BYTES`] in postcard, with more than 64 levels (each nested option, newtype, tuple, struct, enum, sequence
/// or map is a level), or with more elements in sequences and maps than bytes, which is only possible with zero-sized
/// elements.
pub trait NetMessage: Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<M: Serialize + DeserializeOwned + Send + Sync + 'static> NetMessage for M {}

/// An input or message that a client sends. Dropped while the client is not [`Connected`](crate::Connected).
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToServer<M: Send + Sync + 'static>(pub M);

/// An input or message that a server has received.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromClient<M: Send + Sync + 'static> {
    /// Entity of the connection, with [`Client`](crate::Client).
    pub client: Entity,
    /// The received value.
    pub message: M,
}

/// A message that a server sends to [`Connected`](crate::Connected) clients.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToClient<M: Send + Sync + 'static> {
    /// Entity of the receiving connection; `None` sends to all clients.
    pub client: Option<Entity>,
    /// The value to send.
    pub message: M,
}

/// A message that a client has received.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromServer<M: Send + Sync + 'static>(pub M);

impl<M: Send + Sync + 'static> ToClient<M> {
    /// Addresses a message to all clients.
    pub const fn all(message: M) -> Self {
        Self { client: None, message }
    }

    /// Addresses a message to one client.
    pub const fn one(client: Entity, message: M) -> Self {
        Self { client: Some(client), message }
    }
}

/// Receiver of a message, `None` for all clients, and its bytes.
type Addressed = (Option<Entity>, Vec<u8>);

/// Maps a body's entity at this end to its wire form or, when receiving, back. `None` if the entity is not a body.
pub(crate) type MapEntity = fn(&World, Entity) -> Option<Entity>;

/// Maps the entities in a message of the registered type.
pub(crate) type MapMessage = fn(&mut dyn Any, &dyn Fn(Entity) -> Option<Entity>);

pub(crate) struct MessageEntry {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    /// Called before encoding and after decoding. Leaves entities unchanged by default.
    pub(crate) map: MapMessage,
    /// Takes the messages that the app has written, encoded. Drops messages that cannot be sent, with a warning.
    take: fn(&Self, &mut World, MapEntity) -> Vec<Addressed>,
    /// Decodes a message and writes it for the app. Returns false if the bytes are malformed.
    deliver: fn(&Self, &mut World, Entity, &[u8], MapEntity) -> bool,
    dropped: LoggedOnce,
    /// Limits the warning about an input too long to be repeated to one.
    pub(crate) unrepeated: LoggedOnce,
}

impl MessageEntry {
    pub(crate) fn to_server<M: NetMessage>() -> Self {
        Self {
            take: |entry, world, map| {
                let messages = drain::<ToServer<M>>(world).into_iter();
                let encode = |to: ToServer<M>| entry.encode(to.0, world, map, MAX_TO_SERVER_BYTES);
                messages.filter_map(|to| Some((None, encode(to)?))).collect()
            },
            deliver: |entry, world, client, bytes, map| match entry.decode(bytes, world, map) {
                Some(message) => world.write_message(FromClient::<M> { client, message }).is_some(),
                None => false,
            },
            ..Self::to_client::<M>()
        }
    }

    pub(crate) fn to_client<M: NetMessage>() -> Self {
        Self {
            id: TypeId::of::<M>(),
            name: short_name::<M>(),
            map: |_, _| {},
            take: |entry, world, map| {
                let messages = drain::<ToClient<M>>(world).into_iter();
                let encode = |message| entry.encode::<M>(message, world, map, MAX_TO_CLIENT_BYTES);
                messages.filter_map(|to| Some((to.client, encode(to.message)?))).collect()
            },
            deliver: |entry, world, _, bytes, map| match entry.decode(bytes, world, map) {
                Some(message) => world.write_message(FromServer::<M>(message)).is_some(),
                None => false,
            },
            dropped: LoggedOnce::default(),
            unrepeated: LoggedOnce::default(),
        }
    }

    /// Takes the messages to send.
    pub(crate) fn take(&self, world: &mut World, map: MapEntity) -> Vec<Addressed> {
        (self.take)(self, world, map)
    }

    /// Decodes a message and writes it for the app. `peer` is the name of the other end.
    ///
    /// # Errors
    /// A sentence, if the bytes are malformed.
    pub(crate) fn deliver(
        &self,
        world: &mut World,
        connection: Entity,
        bytes: &[u8],
        map: MapEntity,
        peer: &str,
    ) -> Result<(), String> {
        match (self.deliver)(self, world, connection, bytes, map) {
            true => Ok(()),
            false => Err(format!("malformed message from the {peer} (`{}`)", self.name)),
        }
    }

    pub(crate) fn drop(&self, error: Unsendable) {
        let name = self.name;
        self.dropped.warn(format_args!("message {error} (`{name}`)"));
    }

    fn encode<M: NetMessage>(
        &self,
        mut message: M,
        world: &World,
        map: MapEntity,
        limit: usize,
    ) -> Option<Vec<u8>> {
        (self.map)(&mut message, &|entity| map(world, entity));
        sendable(&message, limit).map_err(|error| self.drop(error)).ok()
    }

    fn decode<M: NetMessage>(&self, bytes: &[u8], world: &World, map: MapEntity) -> Option<M> {
        let mut message = decode(bytes)?;
        (self.map)(&mut message, &|entity| map(world, entity));
        Some(message)
    }
}

fn drain<M: Message>(world: &mut World) -> Vec<M> {
    world.resource_mut::<Messages<M>>().drain().collect()
}
