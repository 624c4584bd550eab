//! Inputs that take effect in one tick of the server, and bodies that a client moves ahead of the snapshots.

use std::fmt;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_math::{Quat, Vec3};
use cubewire_protocol::MAX_OWN_BYTES;

use crate::messages::NetMessage;
use crate::wire::{LoggedOnce, decode, sendable, short_name};

/// The movement of bodies that a client can predict, run by replication in `FixedUpdate`, in
/// [`CubewireSystems::Predict`](crate::CubewireSystems::Predict). Its systems move the bodies with a [`TickInput`], and those that
/// these push.
///
/// At a server it runs once per tick. At a client it runs for each new input, and again for the inputs that a snapshot does not
/// contain. `Time` is that of the fixed timestep. An app that is both server and client cannot predict.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct PredictTick;

/// Server: the client, by the entity of its connection, whose inputs move this body. A client controls one body.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(clone_behavior = Ignore)]
pub struct ControlledBy(pub Entity);

/// The input of a controlled body in this tick, at the server and at the client that controls it. At the server, the last input is
/// repeated for six ticks if none arrives. Then it is the default.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[component(clone_behavior = Ignore)]
pub struct TickInput<I: Send + Sync + 'static>(pub I);

/// Client: the input that is sent next. The game keeps it up to date. Without this resource, none are sent and nothing is predicted.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextInput<I: Send + Sync + 'static>(pub I);

/// Client: this body is moved by [`PredictTick`] instead of by snapshots. The body that the client controls gets this component by
/// itself. The game can insert it into other remote bodies, and remove it.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub struct Predicted;

/// Client: what a mesh adds to the pose of a body that is or was [`Predicted`], so that corrections are not seen as jumps. Half of
/// it is gone in 100 ms.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
#[component(clone_behavior = Ignore)]
pub struct VisualOffset {
    /// In units.
    pub translation: Vec3,
    /// To be applied after the body's rotation.
    pub rotation: Quat,
}

/// The registered input.
pub(crate) struct TickInputEntry {
    pub(crate) name: &'static str,
    /// Encodes the client's next input. `None` if it cannot be sent.
    pub(crate) next: fn(&Self, &World) -> Option<Vec<u8>>,
    /// Sets the input of a body: the default for `None`. Returns false if the bytes are malformed.
    pub(crate) set: fn(&mut World, Entity, Option<&[u8]>) -> bool,
    unsent: LoggedOnce,
}

impl TickInputEntry {
    pub(crate) fn of<I: NetMessage + Clone + Default>() -> Self {
        Self {
            name: short_name::<I>(),
            next: |entry, world| {
                let next = world.get_resource::<NextInput<I>>()?;
                let bytes = sendable(&next.0, MAX_OWN_BYTES);
                let warn = |error| {
                    entry.unsent.warn(format_args!("message {error} (`{}`)", entry.name));
                };
                // Something must be sent in each tick.
                bytes.map_err(warn).or_else(|()| sendable(&I::default(), MAX_OWN_BYTES)).ok()
            },
            set: |world, body, bytes| {
                let input = bytes.map_or_else(|| Some(I::default()), decode);
                let is_valid = input.is_some();
                if let Ok(mut body) = world.get_entity_mut(body) {
                    body.insert(TickInput(input.unwrap_or_default()));
                }
                is_valid
            },
            unsent: LoggedOnce::default(),
        }
    }
}

impl fmt::Debug for TickInputEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
