//! Servers and clients over simulated links, through the real plugins, with a clock that is turned by hand.

mod budget;
mod cold;
mod connection;
mod examples;
mod lives;
mod loss;
mod messages;
mod sharing;
mod udp;
mod visibility;
mod walk;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use cubewire_bevy::testing::TestNet;
use cubewire_bevy::{
    BodyKind, CubewireAppExt, CubewirePlugin, Field, Pose, Remote, Replicated, Shape,
};
use serde::{Deserialize, Serialize};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(u8);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct OnFire(bool);

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PlayerName(String);

/// Serde of an entity needs a feature of Bevy's that is off by default.
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

fn protocol(app: &mut App) {
    app.add_plugins(
        CubewirePlugin::new("arena")
            .hz(60.0)
            .gravity(9.81)
            .floor(0.0)
            .max_bodies(200),
    )
    .replicate_pose(Pose::within(-100.0..100.0, -10.0..50.0, -100.0..100.0).step(1.0 / 128.0))
    .body_kind("crate", Shape::cuboid(Vec3::splat(0.5)))
    .body_kind("hero", Shape::capsule(0.6, 0.4))
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

/// Spawns a body at the server.
fn spawn(net: &mut TestNet, kind: &'static str, at: Vec3, more: impl Bundle) -> Entity {
    let body = (
        Replicated,
        BodyKind::named(kind),
        Transform::from_translation(at),
        more,
    );
    net.server.world_mut().spawn(body).id()
}

/// The positions of a client's bodies, in the order of x.
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

/// Bodies that roll along x, turn, appear and vanish; how many there are follows from the tick.
fn play(net: &mut TestNet, bodies: &mut Vec<Entity>, tick: usize) {
    let world = net.server.world_mut();
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
        net.server.world_mut().despawn(body);
    }
}

/// Moves bodies to and fro, each in its own way and by chance.
fn shake(net: &mut TestNet, bodies: &[Entity], tick: usize) {
    for (index, &body) in bodies.iter().enumerate() {
        // SplitMix64.
        let mut chance = (tick * 1_000 + index) as u64;
        for factor in [
            0x9E37_79B9_7F4A_7C15,
            0xBF58_476D_1CE4_E5B9,
            0x94D0_49BB_1331_11EB,
        ] {
            chance = (chance ^ chance >> 30).wrapping_mul(factor);
        }
        let chance = chance >> 54;
        let mut transform = net.server.world_mut().get_mut::<Transform>(body).unwrap();
        transform.translation.y = 1.0 + chance as f32 / 500.0;
        transform.rotation = Quat::from_rotation_y(chance as f32);
    }
}

/// What is seen of all bodies that have no cold data, in any order.
fn states(world: &mut World, is_remote: bool) -> Vec<String> {
    let mut bodies = world.query::<(&Transform, &BodyKind, &Health, Has<Remote>)>();
    let bodies = bodies.iter(world).filter(|body| body.3 == is_remote);
    let mut states: Vec<_> = bodies
        .map(|(transform, kind, health, _)| {
            let steps = (transform.translation * 128.0).round();
            format!("{} {steps} {}", kind.name(), health.0)
        })
        .collect();
    states.sort();
    states
}
