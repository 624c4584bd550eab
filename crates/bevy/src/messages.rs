//! Inputs and messages: what apps write and read, and what is registered of each.

use std::any::TypeId;

use bevy_ecs::entity::MapEntities;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cold::Mapper;
use crate::wire::{
    Encoded, LoggedOnce, MAX_TO_CLIENT_BYTES, MAX_TO_SERVER_BYTES, Unsendable, decode, sendable,
    short_name,
};

/// What inputs and messages can be: anything that serde can write and read.
///
/// A value that the other end would not take is dropped, with a warning that names its type, once for each type: one with more
/// than [`MAX_TO_SERVER_BYTES`] or [`MAX_TO_CLIENT_BYTES`] in postcard, with more than 64 levels (each option, newtype,
/// tuple, struct, enum, sequence and map in another is one), or with more elements in sequences and maps than bytes, which
/// only elements of no size can be.
pub trait NetMessage: Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<M: Serialize + DeserializeOwned + Send + Sync + 'static> NetMessage for M {}

/// An input or a message that a client sends. It is dropped while the client is not [`Connected`](crate::Connected).
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToServer<M: Send + Sync + 'static>(pub M);

/// An input or a message that has arrived at a server.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromClient<M: Send + Sync + 'static> {
    /// The entity of the connection, with [`Client`](crate::Client).
    pub client: Entity,
    /// What it sent.
    pub message: M,
}

/// A message that a server sends, to clients that are [`Connected`](crate::Connected).
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToClient<M: Send + Sync + 'static> {
    /// To whom; `None` for all.
    pub client: Option<Entity>,
    /// What it sends.
    pub message: M,
}

/// A message that has arrived at a client.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromServer<M: Send + Sync + 'static>(pub M);

impl<M: Send + Sync + 'static> ToClient<M> {
    /// To all clients.
    #[must_use]
    pub const fn all(message: M) -> Self {
        Self {
            client: None,
            message,
        }
    }

    /// To one client.
    #[must_use]
    pub const fn one(client: Entity, message: M) -> Self {
        Self {
            client: Some(client),
            message,
        }
    }
}

/// The client to which a message goes, or `None` for all, and its bytes.
type Addressed<B> = (Option<Entity>, B);

/// What an entity is on the wire, or what one of the wire is at this end of a connection, if it is a body.
pub(crate) type MapEntity = fn(&World, Entity) -> Option<Entity>;

/// A type of message, and how to get at what apps write and read of it.
pub(crate) struct MessageEntry {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    /// Takes what is to be sent.
    pub(crate) drain: fn(&mut World, MapEntity) -> Vec<Addressed<Encoded>>,
    /// Delivers what has arrived; false if the bytes are none.
    pub(crate) deliver: fn(&mut World, Entity, &[u8], MapEntity) -> bool,
    /// That one was dropped.
    pub(crate) dropped: LoggedOnce,
    /// That one is too long to be sent again.
    pub(crate) unrepeated: LoggedOnce,
}

/// What is done with the entities in a message before it is sent, and once it has arrived.
pub(crate) trait Entities<M> {
    fn map(message: &mut M, world: &World, map: MapEntity);
}

/// Nothing.
pub(crate) enum AsIs {}

impl<M> Entities<M> for AsIs {
    fn map(_: &mut M, _: &World, _: MapEntity) {}
}

/// They become those of the other end.
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
                Some(message) => world
                    .write_message(FromClient::<M> { client, message })
                    .is_some(),
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

    /// Takes what is to be sent, without what cannot be.
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

    /// Logs that a message is dropped.
    pub(crate) fn drop(&self, error: Unsendable) {
        let name = self.name;
        self.dropped
            .warn(format_args!("message {error} (`{name}`)"));
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
