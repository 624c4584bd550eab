//! Inputs and messages: the types that apps write and read, and the registered functions for each.

use std::any::TypeId;

use bevy_ecs::entity::MapEntities;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::components::Mapper;
use crate::wire::{
    Encoded, LoggedOnce, MAX_TO_CLIENT_BYTES, MAX_TO_SERVER_BYTES, Unsendable, decode, sendable,
    short_name,
};

/// An input or message: any type that serde can serialize and deserialize.
///
/// A value that the other end would refuse is dropped, with one warning for each type that names it. Refused are values
/// with more than [`MAX_TO_SERVER_BYTES`] or [`MAX_TO_CLIENT_BYTES`] in postcard, with more than 64 levels (each nested
/// option, newtype, tuple, struct, enum, sequence or map is a level), or with more elements in sequences and maps than
/// bytes, which is only possible with zero-sized elements.
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
    #[must_use]
    pub const fn all(message: M) -> Self {
        Self { client: None, message }
    }

    /// Addresses a message to one client.
    #[must_use]
    pub const fn one(client: Entity, message: M) -> Self {
        Self { client: Some(client), message }
    }
}

/// Receiver of a message, `None` for all clients, and its bytes.
type Addressed<B> = (Option<Entity>, B);

/// Maps a body's entity at this end to its wire form or, when receiving, back. `None` if the entity is not a body.
pub(crate) type MapEntity = fn(&World, Entity) -> Option<Entity>;

/// Functions of a registered message type.
pub(crate) struct MessageEntry {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    /// Takes the messages that the app has written, encoded.
    pub(crate) drain: fn(&mut World, MapEntity) -> Vec<Addressed<Encoded>>,
    /// Decodes a message and writes it for the app. Returns false if the bytes are malformed.
    pub(crate) deliver: fn(&mut World, Entity, &[u8], MapEntity) -> bool,
    /// Limits the warning about a dropped message to one.
    pub(crate) dropped: LoggedOnce,
    /// Limits the warning about an input too long to be repeated to one.
    pub(crate) unrepeated: LoggedOnce,
}

/// Maps the entities in a message, when sending and when receiving.
pub(crate) trait Entities<M> {
    fn map(message: &mut M, world: &World, map: MapEntity);
}

/// Leaves entities unchanged.
pub(crate) enum AsIs {}

impl<M> Entities<M> for AsIs {
    fn map(_: &mut M, _: &World, _: MapEntity) {}
}

/// Maps entities with [`MapEntities`].
pub(crate) enum Mapped {}

impl<M: MapEntities> Entities<M> for Mapped {
    fn map(message: &mut M, world: &World, map: MapEntity) {
        message.map_entities(&mut Mapper::new(&|entity| map(world, entity)));
    }
}

impl MessageEntry {
    pub(crate) fn to_server<M: NetMessage, E: Entities<M>>() -> Self {
        Self {
            id: TypeId::of::<M>(),
            name: short_name::<M>(),
            drain: |world, map| {
                let messages = drain::<ToServer<M>>(world).into_iter();
                let bytes = messages.map(|to| bytes::<M, E>(to.0, world, map, MAX_TO_SERVER_BYTES));
                bytes.map(|bytes| (None, bytes)).collect()
            },
            deliver: |world, client, bytes, map| match message::<M, E>(bytes, world, map) {
                Some(message) => world.write_message(FromClient::<M> { client, message }).is_some(),
                None => false,
            },
            dropped: LoggedOnce::default(),
            unrepeated: LoggedOnce::default(),
        }
    }

    pub(crate) fn to_client<M: NetMessage, E: Entities<M>>() -> Self {
        Self {
            id: TypeId::of::<M>(),
            name: short_name::<M>(),
            drain: |world, map| {
                let messages = drain::<ToClient<M>>(world).into_iter();
                let bytes = |message| bytes::<M, E>(message, world, map, MAX_TO_CLIENT_BYTES);
                messages.map(|to| (to.client, bytes(to.message))).collect()
            },
            deliver: |world, _, bytes, map| match message::<M, E>(bytes, world, map) {
                Some(message) => world.write_message(FromServer::<M>(message)).is_some(),
                None => false,
            },
            dropped: LoggedOnce::default(),
            unrepeated: LoggedOnce::default(),
        }
    }

    /// Takes the messages to send. Drops messages that cannot be encoded, with a warning.
    pub(crate) fn take(&self, world: &mut World, map: MapEntity) -> Vec<Addressed<Vec<u8>>> {
        let messages = (self.drain)(world, map).into_iter();
        let sendable = messages.filter_map(|(to, bytes)| match bytes {
            Ok(bytes) => Some((to, bytes)),
            Err(error) => {
                self.drop(error);
                None
            }
        });
        sendable.collect()
    }

    /// Warns that a message is dropped.
    pub(crate) fn drop(&self, error: Unsendable) {
        let name = self.name;
        self.dropped.warn(format_args!("message {error} (`{name}`)"));
    }
}

fn drain<M: Message>(world: &mut World) -> Vec<M> {
    world.resource_mut::<Messages<M>>().drain().collect()
}

fn bytes<M: NetMessage, E: Entities<M>>(
    mut message: M,
    world: &World,
    map: MapEntity,
    limit: usize,
) -> Encoded {
    E::map(&mut message, world, map);
    sendable(&message, limit)
}

fn message<M: NetMessage, E: Entities<M>>(
    bytes: &[u8],
    world: &World,
    map: MapEntity,
) -> Option<M> {
    let mut message = decode(bytes)?;
    E::map(&mut message, world, map);
    Some(message)
}
