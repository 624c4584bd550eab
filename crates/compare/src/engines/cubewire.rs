//! `cubewire-bevy`.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use cubewire_bevy::{
    BodyKind, Client, ClientPlugin, ConnectionSettings, CubewireAppExt, CubewirePlugin, Field,
    InSlot, MessageBuffer, Pose, Replicated, ReplicationReceiver, Server, ServerPlugin, Shape,
};
use cubewire_codec::ladder::{CHANGED_FLAGS, PREDICTED, PREDICTED_POSITION, Rung};
use cubewire_codec::schema;

use crate::apps::{Apps, End, Library, Slot};
use crate::engine::{Engine, Variant};
use crate::scene::{Body, Frame, Scene};
use crate::wire::RawMessage;

const fn variant(name: &'static str, start: fn(&Scene) -> Box<dyn Engine>) -> Variant {
    Variant { library: "cubewire-bevy", name, start }
}

/// The default, and two rungs of packed bits.
pub const VARIANTS: &[Variant] = &[
    variant("as it comes", |scene| start(scene, PREDICTED)),
    variant("predicted-position", |scene| start(scene, PREDICTED_POSITION)),
    variant("changed-flags", |scene| start(scene, CHANGED_FLAGS)),
];

#[derive(Component, Clone, Copy, PartialEq)]
struct Interacting(bool);

struct Cubewire {
    /// The connection at the server and at the client.
    ends: [Entity; 2],
    kinds: Vec<&'static str>,
    /// Slots of the scene, by the server's slot and generation.
    slots: HashMap<(usize, u8), Slot>,
}

fn app(scene: &Scene, kinds: &[&'static str]) -> App {
    let (schema, grid) = (&scene.schema, &scene.grid);
    let mut plugin = CubewirePlugin::new("compare")
        .hz(schema.ticks_per_second.into())
        .gravity(schema.world.gravity)
        .max_speed(schema.world.max_speed)
        .max_bodies(scene.slots() as u32);
    if let Some(floor) = schema.world.floor {
        plugin = plugin.floor(floor);
    }
    let [x, y, z] = grid.axes.map(|range| range.min..range.max);
    let pose = Pose::within(x, y, z)
        .step(1.0 / grid.axes[0].steps_per_unit)
        .orientation_bits(grid.component_bits);
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, plugin))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .replicate_pose(pose);
    for (kind, name) in schema.kinds.iter().zip(kinds) {
        let shape = match kind.shape {
            schema::Shape::Ball(radius) => Shape::ball(radius),
            schema::Shape::Box(half) => Shape::cuboid(half.into()),
            schema::Shape::Capsule { half, radius } => Shape::capsule(half, radius),
            schema::Shape::Unknown => Shape::UNKNOWN,
        };
        app.body_kind(name, shape);
    }
    if scene.has_flag {
        let to = |flag: &Interacting| f64::from(u8::from(flag.0));
        let from = |value| Interacting(value != 0.0);
        app.replicate_field("interacting", Field::flag(), to, from);
    }
    app
}

fn start(scene: &Scene, rung: Rung) -> Box<dyn Engine> {
    let kinds = scene.schema.kinds.iter();
    let kinds: Vec<_> = kinds.map(|kind| &*kind.name.to_string().leak()).collect();
    let [mut server, mut client] = [app(scene, &kinds), app(scene, &kinds)];
    server.add_plugins(ServerPlugin);
    client.add_plugins(ClientPlugin);
    let settings = ConnectionSettings { stages: *rung.stages, ..ConnectionSettings::default() };
    let connection = (Client, settings, MessageBuffer::new(28));
    let ends = [
        server.world_mut().spawn(connection).id(),
        client.world_mut().spawn((Server, MessageBuffer::new(28))).id(),
    ];
    for app in [&mut server, &mut client] {
        app.finish();
        app.cleanup();
    }
    let slots = HashMap::new();
    let library = Cubewire { ends, kinds, slots };
    Box::new(Apps { server, client, library })
}

fn parts(body: &Body) -> (Transform, Interacting) {
    let transform = Transform::from_translation(body.position).with_rotation(body.rotation);
    (transform, Interacting(body.flag))
}

impl Cubewire {
    fn buffer<'a>(&self, end: End, app: &'a mut App) -> Mut<'a, MessageBuffer> {
        let buffer = app.world_mut().get_mut(self.ends[end as usize]);
        buffer.expect("the connection lasts")
    }
}

impl Library for Cubewire {
    fn spawn(&self, world: &mut World, slot: Slot, body: &Body) {
        let kind = BodyKind::named(self.kinds[usize::from(body.life.0)]);
        world.spawn((Replicated, kind, slot, parts(body)));
    }

    fn change(&self, entity: &mut EntityWorldMut, body: &Body) {
        let (transform, flag) = parts(body);
        let old = entity.get_mut::<Transform>();
        old.expect("bodies are spawned with it").set_if_neq(transform);
        let old = entity.get_mut::<Interacting>();
        old.expect("bodies are spawned with it").set_if_neq(flag);
    }

    fn deliver(&mut self, end: End, app: &mut App, message: RawMessage) {
        let incoming = &mut self.buffer(end, app).incoming;
        match message.is_reliable {
            true => incoming.messages.push(message.bytes),
            false => incoming.datagrams.push(message.bytes),
        }
    }

    fn collect(&mut self, end: End, app: &mut App) -> Vec<RawMessage> {
        let world = app.world_mut();
        for (slot, at) in world.query::<(&Slot, &InSlot)>().iter(world) {
            self.slots.insert((at.slot(), at.life().generation), *slot);
        }
        let message = std::mem::take(&mut self.buffer(end, app).outgoing);
        let messages = message.messages.into_iter().map(|bytes| (true, bytes));
        let datagrams = message.datagrams.into_iter().map(|bytes| (false, bytes));
        let message = messages.chain(datagrams);
        message.map(|(is_reliable, bytes)| RawMessage { is_reliable, channel: 0, bytes }).collect()
    }

    fn shown(&self, client: &mut App, frame: &mut Frame) {
        let replication =
            client.world().get::<ReplicationReceiver>(self.ends[End::Client as usize]);
        let replication = replication.expect("the connection lasts");
        assert_eq!(replication.undecodable(), 0, "no packet is damaged");
        let newest = replication.receiver().and_then(|receiver| receiver.get(receiver.newest()?));
        let snapshot = newest.expect("the client has joined").snapshot();
        for slot in 0..snapshot.len() {
            let (life, state) = (snapshot.life(slot), snapshot.body(slot));
            let Some(life) = life else { continue };
            frame[usize::from(self.slots[&(slot, life.generation)].0)] = Some(Body {
                life: (life.kind, life.generation),
                position: state.position,
                rotation: state.orientation,
                flag: state.interacting,
            });
        }
    }
}
