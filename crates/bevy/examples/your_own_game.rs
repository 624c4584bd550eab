//! A game that has nothing of the demo: two teams of heroes, among pebbles and boulders that fly about. Heroes lose health,
//! die and are born again. Each team's client sees what is near its captain, over UDP, for at most 64 kbit/s. There is nothing
//! to draw and there are no keys: each second, clients and server say what they see and have sent.
//! `cargo run -p cubewire-bevy --example your_own_game -- --seconds 10`

use bevy_app::{App, FixedUpdate, Plugins, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use cubewire_bevy::{renet::*, *}; // replication
use serde::{Deserialize, Serialize};

#[derive(Component)]
struct Health(f64);
#[derive(Component)]
struct Velocity(Vec3);
#[derive(Component, Clone, Serialize, Deserialize)]
struct Team(String);

fn protocol(app: &mut App) {
    app.add_plugins(CubewirePlugin::new("own-game").floor(0.0)) // replication
        .replicate_pose(Pose::within(-64.0..64.0, -1.0..31.0, -64.0..64.0)) // replication
        .body_kind("hero", Shape::capsule(0.6, 0.4)) // replication
        .body_kind("pebble", Shape::ball(0.25)) // replication
        .body_kind("boulder", Shape::ball(1.5)) // replication
        .replicate_field("health", Field::int(0..=9), |h: &Health| h.0, Health) // replication
        .replicate::<Team>(); // replication
}

/// A body, by its number: where it starts and how fast is as if by chance.
fn body(kind: &'static str, number: usize) -> impl Bundle {
    let turned = |angle: f32, vector| Quat::from_rotation_y(number as f32 * angle) * vector;
    let at = turned(2.4, Vec3::X * (number as f32 * 7.0 % 50.0)) + Vec3::Y;
    let velocity = Velocity(turned(7.3, Vec3::new(4.0, number as f32 % 9.0, 0.0)));
    let body = (Replicated, BodyKind::named(kind)); // replication
    (body, Transform::from_translation(at), velocity)
}

/// Bodies fly and bounce, and turn back at the edge.
fn fly(mut bodies: Query<(&mut Transform, &mut Velocity)>) {
    for (mut transform, mut velocity) in &mut bodies {
        let (at, speed) = (transform.translation, velocity.0.y);
        velocity.0.y = if at.y < 0.5 { 6.0 } else { speed - 0.16 };
        if at.length() > 55.0 {
            velocity.0 = -at.normalize() * 5.0;
        }
        transform.translation += velocity.0 / 60.0;
        transform.rotation = Quat::from_scaled_axis(velocity.0 / 60.0) * transform.rotation;
    }
}

/// Heroes lose health, die, and are born again.
fn fight(mut heroes: Query<(Entity, &mut Health)>, mut commands: Commands, mut born: Local<usize>) {
    for (hero, mut health) in &mut heroes {
        health.0 -= 0.01 + f64::from(hero.index_u32() % 5) * 0.005;
        if health.0 < 0.0 {
            commands.entity(hero).despawn();
        }
    }
    for _ in heroes.iter().len()..20 {
        *born += 1;
        let team = Team(["red", "blue"][*born % 2].to_owned());
        commands.spawn((body("hero", *born), team, Health(9.0)));
    }
}

/// Each client follows a captain of its team: another one, if that has died.
fn follow(see: Query<Entity, With<Connected>>, all: Query<(Entity, &Team)>, mut to: Commands) {
    for (client, team) in see.iter().zip(["red", "blue"]) {
        if let Some((captain, _)) = all.iter().find(|hero| hero.1.0 == team) {
            let sees = Interest::around(captain, 20.0, 25.0); // replication
            to.entity(client).insert((sees, ByteBudget::kbps(64))); // replication
        }
    }
}

fn app<Marker>(plugins: impl Plugins<Marker>) -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, protocol));
    app.add_plugins(plugins).finish();
    app
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(2).unwrap_or("5".to_owned());
    let key = Key::random();
    let listener = RenetServer::listen("127.0.0.1:0", key)?; // replication
    let tokens = [1, 2].map(|client| key.token(listener.address(), client));
    let game = |app: &mut App| {
        app.add_systems(FixedUpdate, (fly, fight, follow));
    };
    let server = app((ServerPlugin, listener, game)); // replication
    let client = |token| app((ClientPlugin, RenetClient::connect(token))); // replication
    let [red, blue] = tokens.map(|token| token.map(client));
    let mut apps = [red?, blue?, server];
    for number in 0..120 {
        let kind = ["boulder", "pebble", "pebble"][number % 3];
        apps[2].world_mut().spawn(body(kind, number));
    }
    for frame in 1..=seconds.parse::<u32>()? * 60 {
        apps.iter_mut().for_each(App::update);
        if frame % 60 == 0 {
            apps.iter_mut().for_each(report);
        }
        std::thread::sleep(std::time::Duration::from_secs(1) / 60);
    }
    Ok(())
}

fn report(app: &mut App) {
    let world = app.world_mut();
    let mut heroes = world.query_filtered::<&Health, With<Team>>();
    let health: f64 = heroes.iter(world).map(|health| health.0).sum();
    let heroes = heroes.iter(world).len();
    let balls = world.query::<&BodyKind>().iter(world).len() - heroes; // replication
    let mut sent = world.query::<&Mailbox>();
    let sent: u64 = sent.iter(world).map(|mail| mail.traffic.sent.bytes()).sum();
    println!("{heroes:>2} heroes, {health:>4.1} health, {balls:>3} balls; {sent:>6} bytes sent");
}
