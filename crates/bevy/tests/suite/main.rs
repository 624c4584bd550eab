//! Servers and clients over simulated links, with the real plugins and a manual clock.

mod budget;
mod components;
mod connection;
mod disabled;
mod examples;
mod farewell;
mod game_renet;
mod lives;
mod log_records;
mod measure;
mod messages;
mod model;
mod observers;
mod poses;
mod prediction;
mod references;
mod settings;
mod shadow;
mod sharing;
mod steady;
mod teleports;
mod time;
mod udp;
mod visibility;

use std::time::Duration;

use bevy_app::App;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use cubewire_bevy::prelude::*;
use cubewire_bevy::testing::TestNet;
use cubewire_bevy::{InSlot, ReplicationReceiver, ReplicationSender};
use cubewire_link::{Conditions, Jitter, Loss};
use cubewire_protocol::SnapshotSender;
use serde::{Deserialize, Serialize};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(u8);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct OnFire(bool);

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PlayerName(String);

/// Serializes an entity as `u64`. Bevy's own implementation needs a feature that is off by default.
mod as_bits {
    use super::{Deserialize, Entity};

    pub(super) fn serialize<S: serde::Serializer>(
        entity: &Entity,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(entity.to_bits())
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Entity, D::Error> {
        let bits = u64::deserialize(deserializer)?;
        Entity::try_from_bits(bits).ok_or_else(|| serde::de::Error::custom("no entity"))
    }
}

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Follows(
    #[entities]
    #[serde(with = "as_bits")]
    Entity,
);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Steer(i32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Chat(String);

/// Registers bodies with a pose only.
fn poses(app: &mut App, hero: Shape) -> &mut App {
    app.add_plugins(CubewirePlugin::new("arena").floor(0.0).max_bodies(200))
        .replicate_pose(Pose::within(-100.0..100.0, -10.0..50.0, -100.0..100.0))
        .body_kind("crate", Shape::cuboid(Vec3::splat(0.5)))
        .body_kind("hero", hero)
}

fn protocol(app: &mut App) {
    poses(app, Shape::capsule(0.6, 0.4))
        .replicate_field(
            "health",
            Field::int(0..=100),
            |health: &Health| health.0.into(),
            |value| Health(value as u8),
        )
        .replicate_field(
            "on-fire",
            Field::flag(),
            |fire: &OnFire| fire.0.into(),
            |value| OnFire(value > 0.5),
        )
        .replicate::<PlayerName>()
        .replicate::<Follows>()
        .add_input::<Steer>()
        .add_message_to_server::<Chat>()
        .add_message_to_client::<Chat>();
}

/// A network with independent loss of this fraction of the datagrams, and 30 ms of latency.
fn lossy(loss: f64, seed: u64) -> TestNet {
    lossy_with(protocol, loss, seed)
}

/// As [`lossy`], with another protocol.
fn lossy_with(protocol: fn(&mut App), loss: f64, seed: u64) -> TestNet {
    let conditions = Conditions {
        loss: Loss::bursts(loss, 1.0),
        latency: Duration::from_millis(30),
        ..Conditions::PERFECT
    };
    TestNet::with_conditions(protocol, conditions, seed)
}

/// A perfect network with a client.
fn with_client(protocol: fn(&mut App)) -> TestNet {
    let mut net = TestNet::new(protocol);
    net.add_client();
    net
}

/// A perfect network with a client that shows a crate at the origin, and the server's entity for the crate.
fn with_body(protocol: fn(&mut App), more: impl Bundle) -> (TestNet, Entity) {
    let mut net = with_client(protocol);
    let body = spawn(&mut net, "crate", Vec3::ZERO, more);
    net.run_until(|net| net.count::<Remote>(0) == 1);
    (net, body)
}

/// A perfect network with a client that shows crates on the x axis, and the server's entities for the crates.
fn with_row(protocol: fn(&mut App), crates: usize, distance: f32) -> (TestNet, Vec<Entity>) {
    let mut net = with_client(protocol);
    let bodies = spawn_row(&mut net, crates, distance);
    net.run_until(|net| net.count::<Remote>(0) == crates);
    (net, bodies)
}

/// A perfect network with a visibility filter and a connected client, and the server's entity for it.
fn filtered<F: VisibilityFilter>() -> (TestNet, Entity) {
    let mut net = TestNet::new(protocol);
    net.server.add_visibility_filter::<F>();
    let client = connect(&mut net);
    (net, client)
}

fn server(net: &mut TestNet) -> &mut World {
    net.server.world_mut()
}

/// The server's replication statistics.
fn stats(net: &TestNet) -> ReplicationStats {
    *net.server.world().resource()
}

fn all<C: Component>(app: &mut App) -> Vec<Entity> {
    let world = app.world_mut();
    let mut all = world.query_filtered::<Entity, With<C>>();
    all.iter(world).collect()
}

/// Number of an app's entities with a component.
fn count<C: Component>(app: &mut App) -> usize {
    all::<C>(app).len()
}

fn at_server<C: Component>(net: &TestNet, entity: Entity) -> &C {
    net.server.world().get(entity).unwrap()
}

fn at_client<C: Component>(net: &TestNet, entity: Entity) -> &C {
    net.clients[0].world().get(entity).unwrap()
}

fn of_connection<C: Component>(net: &mut TestNet, client: usize) -> &C {
    let connection = all::<Server>(&mut net.clients[client])[0];
    net.clients[client].world().get(connection).unwrap()
}

fn snapshot_sender(net: &TestNet, client: Entity) -> &SnapshotSender {
    at_server::<ReplicationSender>(net, client).sender().unwrap()
}

/// The server's entity for the only client.
fn client_entity(net: &mut TestNet) -> Entity {
    let clients = all::<Connected>(&mut net.server);
    assert_eq!(clients.len(), 1);
    clients[0]
}

/// Adds the only client, waits until it is connected, and returns the server's entity for it.
fn connect(net: &mut TestNet) -> Entity {
    connect_all(net, 1)[0]
}

/// As [`connect`], with another protocol or additional plugins.
fn connect_with(net: &mut TestNet, protocol: impl FnOnce(&mut App)) -> Entity {
    net.add_client_with(protocol);
    net.run_until(|net| net.count::<Connected>(0) == 1);
    client_entity(net)
}

/// Adds clients, waits until all are connected, and returns the server's entities for them.
fn connect_all(net: &mut TestNet, clients: usize) -> Vec<Entity> {
    (0..clients).for_each(|_| _ = net.add_client());
    net.run_until(|net| (0..clients).all(|client| net.count::<Connected>(client) == 1));
    all::<Connected>(&mut net.server)
}

/// Drains the messages of a type.
fn taken<M: Message>(app: &mut App) -> Vec<M> {
    let mut messages = app.world_mut().resource_mut::<Messages<M>>();
    messages.drain().collect()
}

/// Values of an app's events.
#[derive(Resource)]
struct Noted<T>(Vec<T>);

/// Notes the reasons for the ends of connections, as `String`, and of bodies, as `VanishReason`.
fn watch(app: &mut App) {
    app.insert_resource(Noted::<String>(Vec::new()))
        .insert_resource(Noted::<VanishReason>(Vec::new()))
        .add_observer(|ended: On<Disconnected>, mut noted: ResMut<Noted<String>>| {
            noted.0.push(ended.reason.clone());
        })
        .add_observer(|gone: On<Vanished>, mut noted: ResMut<Noted<VanishReason>>| {
            noted.0.push(gone.reason);
        });
}

/// A client's protocol, with [`watch`].
fn watched(app: &mut App) {
    protocol(app);
    watch(app);
}

/// Drains what [`watch`] has noted.
fn noted<T: Send + Sync + 'static>(app: &mut App) -> Vec<T> {
    std::mem::take(&mut app.world_mut().resource_mut::<Noted<T>>().0)
}

/// Spawns a body in a server's world.
fn spawn_in(world: &mut World, kind: &'static str, at: Vec3, more: impl Bundle) -> Entity {
    let at = Transform::from_translation(at);
    world.spawn((Replicated, BodyKind::named(kind), at, more)).id()
}

/// Spawns a body at the server.
fn spawn(net: &mut TestNet, kind: &'static str, at: Vec3, more: impl Bundle) -> Entity {
    spawn_in(server(net), kind, at, more)
}

/// Spawns crates on the x axis with this distance between them.
fn spawn_row(net: &mut TestNet, crates: usize, distance: f32) -> Vec<Entity> {
    (0..crates).map(|x| spawn(net, "crate", Vec3::X * x as f32 * distance, ())).collect()
}

/// Moves a body of the server.
fn put(net: &mut TestNet, body: Entity, at: Vec3) {
    let mut transform = server(net).get_mut::<Transform>(body).unwrap();
    transform.translation = at;
}

/// Inserts components into an entity of the server.
fn insert(net: &mut TestNet, entity: Entity, bundle: impl Bundle) {
    server(net).entity_mut(entity).insert(bundle);
}

/// Positions of a client's bodies, sorted by x.
fn positions(net: &mut TestNet, client: usize) -> Vec<Vec3> {
    let world = net.clients[client].world_mut();
    let mut bodies = world.query_filtered::<&Transform, With<Remote>>();
    let mut positions: Vec<_> = bodies.iter(world).map(|body| body.translation).collect();
    positions.sort_by(|a, b| a.x.total_cmp(&b.x));
    positions
}

/// The only remote body of a client with a component.
fn only<C: Component>(net: &mut TestNet, client: usize) -> Entity {
    let world = net.clients[client].world_mut();
    let mut bodies = world.query_filtered::<Entity, (With<Remote>, With<C>)>();
    bodies.single(world).expect("there is one")
}

/// The component of the first client's only remote body that has it.
fn only_value<C: Component>(net: &mut TestNet) -> &C {
    let body = only::<C>(net, 0);
    at_client(net, body)
}

/// The xorshift64 generator.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

/// Rolls and turns bodies, and spawns and despawns some. Fully determined by `tick`.
fn play(net: &mut TestNet, bodies: &mut Vec<Entity>, tick: usize) {
    let world = server(net);
    for (index, &body) in bodies.iter().enumerate() {
        let mut transform = world.get_mut::<Transform>(body).unwrap();
        if !(index + tick).is_multiple_of(3) {
            transform.translation.x += 0.002 * index as f32;
            transform.rotation *= Quat::from_rotation_z(0.05);
        }
        world.get_mut::<Health>(body).unwrap().0 = ((tick + index) % 100) as u8;
    }
    if tick.is_multiple_of(7) {
        let at = Vec3::new((tick % 90) as f32, 0.5, 3.0);
        bodies.push(spawn(net, "crate", at, Health(9)));
    }
    if tick.is_multiple_of(11) && bodies.len() > 5 {
        let body = bodies.remove(tick % bodies.len());
        server(net).despawn(body);
    }
}

fn play_ticks(net: &mut TestNet, bodies: &mut Vec<Entity>, ticks: std::ops::Range<usize>) {
    for tick in ticks {
        play(net, bodies, tick);
        net.tick();
    }
}

/// Moves a server's bodies up and down pseudorandomly. Fully determined by `tick` and index.
fn shake(world: &mut World, bodies: &[Entity], tick: usize) {
    for (index, &body) in bodies.iter().enumerate() {
        // The finalizer of SplitMix64.
        let mut chance = (tick * 1_000 + index) as u64;
        for factor in [0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
            chance = (chance ^ chance >> 30).wrapping_mul(factor);
        }
        let chance = chance >> 54;
        let mut transform = world.get_mut::<Transform>(body).unwrap();
        transform.translation.y = 1.0 + chance as f32 / 500.0;
        transform.rotation = Quat::from_rotation_y(chance as f32);
    }
}

/// Hides the body from all clients.
#[derive(Component, Clone, Copy)]
#[component(immutable)]
struct Hidden(bool);

impl VisibilityFilter for Hidden {
    type Client = Connected;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Despawn;

    fn is_visible(&self, _: Option<&Connected>) -> bool {
        !self.0
    }
}

/// Kind, position, health, name and followed body of all bodies with health that are not [`Hidden`], sorted, as lines of text.
fn states(world: &mut World, is_remote: bool) -> Vec<String> {
    let is_seen = |body: &EntityRef<'_>| body.get::<Hidden>().is_none_or(|hidden| !hidden.0);
    let steps = |transform: &Transform| (transform.translation * 128.0).round();
    let mut bodies = world.query::<(EntityRef, &Transform, &BodyKind, &Health)>();
    let bodies = bodies.iter(world);
    let mut states: Vec<_> = bodies
        .filter(|(body, ..)| body.contains::<Remote>() == is_remote && is_seen(body))
        .map(|(body, transform, kind, health)| {
            let target = body.get::<Follows>().and_then(|follows| world.get_entity(follows.0).ok());
            let target = target.filter(is_seen);
            let target = target.and_then(|body| body.get::<Transform>().map(steps));
            let name = body.get::<PlayerName>().map(|name| &name.0);
            let at = steps(transform);
            format!("{at} {} {} {name:?} {target:?}", kind.name(), health.0)
        })
        .collect();
    states.sort();
    states
}

/// Whether every client has the server's bodies.
fn are_equal(net: &mut TestNet) -> bool {
    let expected = states(server(net), false);
    net.clients.iter_mut().all(|client| states(client.world_mut(), true) == expected)
}

/// Bytes sent to a client, as counted on the wire.
fn sent_bytes(net: &TestNet, client: Entity) -> u64 {
    at_server::<MessageBuffer>(net, client).traffic.sent.bytes()
}

/// Maximum number of bytes within a number of frames. `totals` are the bytes after each frame.
fn most_within(totals: &[u64], frames: usize) -> u64 {
    totals.windows(frames + 1).map(|bytes| bytes[frames] - bytes[0]).max().unwrap()
}
