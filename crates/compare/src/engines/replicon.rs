//! `bevy_replicon`. Each message is one datagram; a real transport would add its own bytes.

use std::marker::PhantomData;

use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use bevy_replicon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::apps::{Apps, Bits, End, Form, Library, Plain, Slot};
use crate::engine::{Engine, Variant};
use crate::scene::{Body, Frame, Grid, Scene};
use crate::wire::RawMessage;

pub const VARIANTS: &[Variant] = &[
    Variant {
        library: "bevy_replicon",
        name: "as it comes",
        start: |scene| start::<Plain>(scene, |app| _ = app.replicate::<Plain>()),
    },
    Variant {
        library: "bevy_replicon",
        name: "bit-packed",
        start: |scene| start::<Bits>(scene, |app| _ = app.replicate::<Bits>()),
    },
    Variant {
        library: "bevy_replicon",
        name: "quantized, diffs",
        start: |scene| start::<Steps>(scene, |app| _ = app.replicate_diff::<Steps>()),
    },
];

/// [`Grid::numbers`].
#[derive(Component, PartialEq, Serialize, Deserialize)]
struct Steps([i32; 8]);

/// A bit for each number that changed, and the differences.
#[derive(Serialize, Deserialize)]
struct StepsDiff(u8, Vec<i32>);

impl Diffable for Steps {
    type Diff = StepsDiff;

    fn apply_diff(&mut self, StepsDiff(changed, by): &StepsDiff) -> Result<()> {
        let numbers = self.0.iter_mut().enumerate();
        let numbers = numbers.filter(|(index, _)| changed >> index & 1 == 1);
        numbers.zip(by).for_each(|((_, number), by)| *number += by);
        Ok(())
    }
}

impl Form for Steps {
    fn of(grid: &Grid, body: &Body) -> Self {
        Self(grid.numbers(body))
    }

    fn body(&self, grid: &Grid) -> Body {
        grid.body(self.0)
    }

    fn change(entity: &mut EntityWorldMut, new: Self) {
        let old = entity.get::<Self>().expect("bodies are spawned with it");
        let by = [0, 1, 2, 3, 4, 5, 6, 7].map(|i: usize| new.0[i] - old.0[i]);
        let bits = by.iter().enumerate().map(|(i, &by)| u8::from(by != 0) << i);
        let changed = bits.sum();
        if changed != 0 {
            let by = by.into_iter().filter(|&by| by != 0).collect();
            let done = entity.apply_diff::<Self>(StepsDiff(changed, by));
            done.expect("the component is there");
        }
    }
}

struct Replicon<F> {
    /// The client's entity in the server app.
    peer: Entity,
    grid: Grid,
    form: PhantomData<F>,
}

fn start<F: Form>(scene: &Scene, register: fn(&mut App)) -> Box<dyn Engine> {
    let [mut server, mut client] = [(); 2].map(|()| {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, StatesPlugin, RepliconPlugins))
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
            .insert_resource(Time::<Fixed>::from_hz(scene.schema.ticks_per_second.into()))
            .replicate_once::<Slot>();
        register(&mut app);
        app.finish();
        app.cleanup();
        app
    });
    let world = server.world_mut();
    world.resource_mut::<NextState<ServerState>>().set(ServerState::Running);
    let peer = world.spawn(ConnectedClient { max_size: 1200 }).id();
    let world = client.world_mut();
    world.resource_mut::<NextState<ClientState>>().set(ClientState::Connected);
    let (grid, form) = (scene.grid.clone(), PhantomData::<F>);
    let library = Replicon { peer, grid, form };
    Box::new(Apps { server, client, library })
}

impl<F: Form> Library for Replicon<F> {
    fn spawn(&self, world: &mut World, slot: Slot, body: &Body) {
        world.spawn((Replicated, slot, F::of(&self.grid, body)));
    }

    fn change(&self, entity: &mut EntityWorldMut, body: &Body) {
        F::change(entity, F::of(&self.grid, body));
    }

    fn deliver(&mut self, end: End, app: &mut App, RawMessage { channel, bytes, .. }: RawMessage) {
        let world = app.world_mut();
        match end {
            End::Server => {
                let mut messages = world.resource_mut::<ServerMessages>();
                messages.insert_received(self.peer, channel, bytes);
            }
            End::Client => {
                let mut messages = world.resource_mut::<ClientMessages>();
                messages.insert_received(channel, bytes);
            }
        }
    }

    fn collect(&mut self, end: End, app: &mut App) -> Vec<RawMessage> {
        let world = app.world_mut();
        let channels = world.resource::<RepliconChannels>().clone();
        let message = |channels: &[Channel], channel, bytes: Vec<u8>| RawMessage {
            is_reliable: channels[channel] != Channel::Unreliable,
            channel,
            bytes,
        };
        if end == End::Server {
            let mut messages = world.resource_mut::<ServerMessages>();
            let sent = messages.drain_sent();
            let message =
                sent.map(|(_, id, bytes)| message(channels.server_channels(), id, bytes.into()));
            message.collect()
        } else {
            let mut messages = world.resource_mut::<ClientMessages>();
            let sent = messages.drain_sent();
            let message =
                sent.map(|(id, bytes)| message(channels.client_channels(), id, bytes.into()));
            message.collect()
        }
    }

    fn shown(&self, client: &mut App, frame: &mut Frame) {
        F::shown(client, &self.grid, frame);
    }
}
