//! Inputs and messages: what apps write and read, and what is registered of each.

use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::{decode, encode, short_name};

/// What inputs and messages can be: anything that serde can write and read.
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

/// The client to which a message goes, or none for all, and its bytes.
type Addressed = (Option<Entity>, Vec<u8>);

/// A type of message, and how to get at what apps write and read of it.
pub(crate) struct MessageEntry {
    pub(crate) name: &'static str,
    /// Takes what is to be sent.
    pub(crate) drain: fn(&mut World) -> Vec<Addressed>,
    /// Delivers what has arrived; false if the bytes are none.
    pub(crate) deliver: fn(&mut World, Entity, &[u8]) -> bool,
}

impl MessageEntry {
    pub(crate) fn to_server<M: NetMessage>() -> Self {
        Self {
            name: short_name::<M>(),
            drain: |world| {
                let mut messages = world.resource_mut::<Messages<ToServer<M>>>();
                messages
                    .drain()
                    .map(|message| (None, encode(&message.0)))
                    .collect()
            },
            deliver: |world, client, bytes| match decode(bytes) {
                Some(message) => world
                    .write_message(FromClient::<M> { client, message })
                    .is_some(),
                None => false,
            },
        }
    }

    pub(crate) fn to_client<M: NetMessage>() -> Self {
        Self {
            name: short_name::<M>(),
            drain: |world| {
                let mut messages = world.resource_mut::<Messages<ToClient<M>>>();
                let bytes = |message: ToClient<M>| (message.client, encode(&message.message));
                messages.drain().map(bytes).collect()
            },
            deliver: |world, _, bytes| match decode(bytes) {
                Some(message) => world.write_message(FromServer::<M>(message)).is_some(),
                None => false,
            },
        }
    }
}
