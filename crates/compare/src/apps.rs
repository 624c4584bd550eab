//! Libraries with plugins for a server app and a client app.

use std::time::{Duration, Instant};

use bevy::ecs::component::Mutable;
use bevy::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::scene::{Body, Frame, Grid, Packed};
use crate::wire::{OneWayLink, RawMessage};

/// The differences between the libraries.
pub trait Library {
    /// Adds a body to the server's world.
    fn spawn(&self, world: &mut World, slot: Slot, body: &Body);

    fn change(&self, entity: &mut EntityWorldMut, body: &Body);

    /// Passes received messages to an app.
    fn deliver(&mut self, end: End, app: &mut App, message: RawMessage);

    fn collect(&mut self, end: End, app: &mut App) -> Vec<RawMessage>;

    /// Writes the bodies of the client's world to `frame`.
    fn shown(&self, client: &mut App, frame: &mut Frame);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Server,
    Client,
}

/// Slot of the scene, with the generation of its body.
#[derive(Component, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slot(pub u16, pub u8);

pub struct Apps<L> {
    pub server: App,
    pub client: App,
    pub library: L,
}

impl<L: Library> Apps<L> {
    /// Changes the server's world to the bodies of a frame.
    fn apply(&mut self, frame: &Frame) {
        let world = self.server.world_mut();
        let mut entities = vec![None; frame.len()];
        for (entity, slot) in world.query::<(Entity, &Slot)>().iter(world) {
            entities[usize::from(slot.0)] = Some((entity, slot.1));
        }
        for (slot, (body, entity)) in frame.iter().zip(entities).enumerate() {
            let generation = body.map(|body| body.life.1);
            let same = entity.filter(|&(_, other)| Some(other) == generation);
            if let Some((entity, _)) = entity.filter(|_| same.is_none()) {
                world.despawn(entity);
            }
            match (body, same) {
                (Some(body), Some((same, _))) => {
                    self.library.change(&mut world.entity_mut(same), body);
                }
                (Some(body), None) => {
                    self.library.spawn(world, Slot(slot as u16, body.life.1), body);
                }
                (None, _) => {}
            }
        }
    }
}

impl<L: Library> Engine for Apps<L> {
    fn step(
        &mut self,
        now: u64,
        frame: &Frame,
        down: &mut OneWayLink,
        up: &mut OneWayLink,
    ) -> Duration {
        for message in up.receive(now) {
            self.library.deliver(End::Server, &mut self.server, message);
        }
        self.apply(frame);
        let start = Instant::now();
        self.server.update();
        let time = start.elapsed();
        for message in self.library.collect(End::Server, &mut self.server) {
            down.send(now, message);
        }
        for message in down.receive(now) {
            self.library.deliver(End::Client, &mut self.client, message);
        }
        self.client.update();
        for message in self.library.collect(End::Client, &mut self.client) {
            up.send(now, message);
        }
        time
    }

    fn shown(&mut self, frame: &mut Frame) {
        self.library.shown(&mut self.client, frame);
    }
}

/// Component form of a body, for libraries without a pose type.
pub trait Form: Component<Mutability = Mutable> + PartialEq + Serialize + DeserializeOwned {
    fn of(grid: &Grid, body: &Body) -> Self;

    fn body(&self, grid: &Grid) -> Body;

    fn change(entity: &mut EntityWorldMut, new: Self) {
        let old = entity.get_mut::<Self>();
        old.expect("bodies are spawned with it").set_if_neq(new);
    }

    fn shown(client: &mut App, grid: &Grid, frame: &mut Frame) {
        let world = client.world_mut();
        for (slot, form) in world.query::<(&Slot, &Self)>().iter(world) {
            frame[usize::from(slot.0)] = Some(form.body(grid));
        }
    }
}

/// A body with unquantized numbers.
#[derive(Component, PartialEq, Serialize, Deserialize)]
pub struct Plain(Vec3, Quat, bool);

impl Form for Plain {
    fn of(_: &Grid, body: &Body) -> Self {
        Self(body.position, body.rotation, body.flag)
    }

    fn body(&self, _: &Grid) -> Body {
        Body { life: (0, 0), position: self.0, rotation: self.1, flag: self.2 }
    }
}

/// A body that is quantized and packed by hand.
#[derive(Component, PartialEq, Serialize, Deserialize)]
pub struct Bits(Packed);

impl Form for Bits {
    fn of(grid: &Grid, body: &Body) -> Self {
        Self(grid.pack(body))
    }

    fn body(&self, grid: &Grid) -> Body {
        grid.unpack(self.0)
    }
}
