//! A game that has nothing of the demo: two teams of heroes, among pebbles and boulders that fly about. Heroes lose health, die
//! and are born again. Each team's client sees what is near its captain, over UDP, for at most 64 kbit/s. The window shows the
//! server's world and where every bit of it goes (F9); with `--seconds` there is none, and at the end it says what was sent.
//! `cargo run --example your_own_game -- --seconds 10`

use bevy::app::ScheduleRunnerPlugin;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::{prelude::*, time::common_conditions::on_timer};
use cubewire_bevy::{renet::*, *}; // replication
use serde::{Deserialize, Serialize};
use std::{env, thread, time::Duration};

#[derive(Component)]
struct Health(f64);
/// How fast a body flies, and its radius.
#[derive(Component)]
struct Flies(Vec3, f32);
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
fn body(kind: &'static str, radius: f32, number: usize) -> impl Bundle {
    let turned = |angle: f32, vector| Quat::from_rotation_y(number as f32 * angle) * vector;
    let at = turned(2.4, Vec3::X * (number as f32 * 7.0 % 50.0)) + Vec3::Y;
    let speed = turned(7.3, Vec3::new(4.0, number as f32 % 9.0, 0.0));
    let body = (Replicated, BodyKind::named(kind)); // replication
    (body, Transform::from_translation(at), Flies(speed, radius))
}

fn fly(mut bodies: Query<(&mut Transform, &mut Flies)>) {
    for (mut body, mut flies) in &mut bodies {
        let (at, speed) = (body.translation, &mut flies.0);
        *speed -= at * 0.001 + Vec3::Y * 0.16;
        speed.y = if at.y < 0.5 { 6.0 } else { speed.y };
        body.translation += *speed / 60.0;
        body.rotate(Quat::from_scaled_axis(*speed / 60.0));
    }
}

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
        commands.spawn((body("hero", 0.5, *born), team, Health(9.0)));
    }
}

/// Each client follows a captain of its team: another one, if that has died.
fn follow(see: Query<Entity, With<Connected>>, all: Query<(Entity, &Team)>, mut to: Commands) {
    for (client, team) in see.iter().zip(["red", "blue"]) {
        if let Some((captain, _)) = all.iter().find(|hero| hero.1.0 == team) {
            let sees = (Interest::around(captain, 20.0, 25.0), Name::new(team)); // replication
            to.entity(client).insert((sees, ByteBudget::kbps(64))); // replication
        }
    }
}

fn dress(new: Query<(Entity, &Flies), Added<Flies>>, assets: Res<AssetServer>, mut to: Commands) {
    for (body, Flies(_, radius)) in &new {
        let mesh = Mesh3d(assets.add(Sphere::new(*radius).into()));
        let color = Color::hsl(200.0 * radius, 0.6, 0.6);
        let paint = MeshMaterial3d(assets.add(StandardMaterial::from(color)));
        to.entity(body).insert((mesh, paint));
    }
}

fn end(sent: Query<(&Name, &Mailbox)>, mut exit: MessageWriter<AppExit>) {
    for (team, mail) in &sent {
        println!("{team}: {} bytes", mail.traffic.sent.bytes());
    }
    exit.write_default();
}

fn main() -> Result<AppExit> {
    let key = Key::random();
    let listener = RenetServer::listen("127.0.0.1:0", key)?; // replication
    let wait = Duration::from_millis(16);
    let headless = || MinimalPlugins.set(ScheduleRunnerPlugin::run_loop(wait));
    for number in [1, 2] {
        let (loops, token) = (headless(), key.token(listener.address(), number)?);
        let client = (protocol, ClientPlugin, RenetClient::connect(token)); // replication
        thread::spawn(|| App::new().add_plugins((loops, client)).run());
    }
    let mut app = App::new();
    if let Some(seconds) = env::args().nth(2) {
        let end = end.run_if(on_timer(Duration::from_secs(seconds.parse()?)));
        app.add_plugins(headless()).add_systems(Last, end);
    } else {
        app.add_plugins((DefaultPlugins, bevy_egui::EguiPlugin::default()))
            .add_plugins(cubewire_inspector::InspectorPlugin::default().open()) // replication
            .add_systems(Update, dress);
        let at = Transform::from_xyz(-25.0, 35.0, 60.0).looking_at(Vec3::X * -15.0, Vec3::Y);
        let camera = (Camera3d::default(), Tonemapping::None, at);
        app.world_mut().spawn(camera);
        app.world_mut().spawn((DirectionalLight::default(), at));
    }
    app.add_plugins((protocol, ServerPlugin, listener)) // replication
        .add_systems(FixedUpdate, (fly, fight, follow));
    for number in 0..120 {
        let (kind, radius) = [("boulder", 1.5), ("pebble", 0.25), ("pebble", 0.25)][number % 3];
        app.world_mut().spawn(body(kind, radius, number));
    }
    Ok(app.run())
}
