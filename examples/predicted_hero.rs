//! A hero that runs, jumps and pushes boxes at once, although its server is 75 ms away in each direction: the client predicts it.
//! Arrow keys run, Space jumps, P switches the prediction, and the inspector (F9) shows what it does. With `--seconds 10` there is no
//! window: the hero runs to and fro, and the corrections are printed.

use std::time::Duration;

use bevy::app::ScheduleRunnerPlugin;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy::time::common_conditions::on_timer;
use bevy_egui::EguiPlugin;
use cubewire_bevy::cubewire_link::{Conditions, Jitter, Loss};
use cubewire_bevy::prelude::*;
use cubewire_bevy::{LinkConditions, PredictsBodies, ReplicationReceiver};
use cubewire_inspector::InspectorPlugin;
use serde::{Deserialize, Serialize};

/// What the player wants in a tick: −1 to 1 along x and z, and to jump.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Walk {
    way: [i8; 2],
    jumps: bool,
}

/// Units per second. Decides how a body moves on, so the client is sent its own.
#[derive(Component, Clone, Copy, Default, Serialize, Deserialize)]
struct Speed([f32; 3]);

#[derive(Component)]
struct Crate;

const KEY: Key = Key::LOOPBACK;
const RUN: f32 = 7.0;
const JUMP: f32 = 9.0;
const GRAVITY: f32 = 25.0;
/// Height of the hero's middle on the ground, and half the edge of a box.
const HERO: f32 = 1.0;
const HALF: f32 = 0.6;

fn protocol(app: &mut App) {
    app.add_plugins(CubewirePlugin::new("predicted-hero").floor(0.0))
        .replicate_pose(Pose::within(-64.0..64.0, -1.0..31.0, -64.0..64.0))
        .body_kind("hero", Shape::capsule(0.6, 0.4))
        .body_kind("crate", Shape::cuboid(Vec3::splat(HALF)))
        .add_predicted_input::<Walk>()
        .predict_component::<Speed>()
        .add_systems(PredictTick, (walk, push).chain());
}

/// Moves heroes. The same at both ends.
fn walk(time: Res<Time>, mut heroes: Query<(&TickInput<Walk>, &mut Transform, &mut Speed)>) {
    let seconds = time.delta_secs();
    for (TickInput(Walk { way, jumps }), mut at, mut speed) in &mut heroes {
        // More than the rounding of a position, which may be above the ground.
        let is_down = at.translation.y < HERO + 0.02;
        let [x, z] = way.map(f32::from);
        let run = Vec2::new(x, z).clamp_length_max(1.0) * RUN;
        let rise = match (is_down, jumps) {
            (true, true) => JUMP,
            (true, false) => 0.0,
            (false, _) => speed.0[1] - GRAVITY * seconds,
        };
        speed.0 = [run.x, rise, run.y];
        at.translation += Vec3::from_array(speed.0) * seconds;
        at.translation.y = at.translation.y.max(HERO);
        at.translation = at.translation.clamp(Vec3::new(-20.0, HERO, -20.0), Vec3::splat(20.0));
    }
}

/// Pushes boxes out of the way of heroes. The same at both ends.
fn push(
    heroes: Query<&Transform, (With<TickInput<Walk>>, Without<Crate>)>,
    mut crates: Query<&mut Transform, With<Crate>>,
) {
    for mut pushed in &mut crates {
        for hero in &heroes {
            let off = pushed.translation - hero.translation;
            let gap = Vec2::new(off.x, off.z);
            let reach = 0.4 + HALF;
            if off.y.abs() < HERO + HALF && gap.length() < reach {
                let out = gap.normalize_or(Vec2::X) * reach;
                pushed.translation.x = hero.translation.x + out.x;
                pushed.translation.z = hero.translation.z + out.y;
            }
        }
    }
}

fn serve(listener: UdpServer) {
    let ticks = ScheduleRunnerPlugin::run_loop(Duration::from_millis(4));
    let mut app = App::new();
    app.add_plugins((MinimalPlugins.set(ticks), TransformPlugin, protocol, ServerPlugin, listener))
        .add_observer(welcome)
        .add_observer(leave);
    for number in 0..25_u8 {
        let [x, z] = [number % 5, number / 5].map(|it| 3.0 * f32::from(it) - 6.0);
        let at = Transform::from_xyz(x, HALF, z - 8.0);
        app.world_mut().spawn((Replicated, BodyKind::named("crate"), Crate, at));
    }
    app.run();
}

/// Gives each client a hero.
fn welcome(come: On<Add, Connected>, mut commands: Commands) {
    let at = Transform::from_xyz(0.0, HERO, 4.0);
    let hero = (Replicated, BodyKind::named("hero"), Speed::default(), at);
    commands.spawn((hero, ControlledBy(come.entity)));
}

fn leave(gone: On<Disconnected>, heroes: Query<(Entity, &ControlledBy)>, mut commands: Commands) {
    for (hero, _) in heroes.iter().filter(|(_, by)| by.0 == gone.entity) {
        commands.entity(hero).despawn();
    }
}

/// A round trip of 150 ms with jitter and loss.
fn far_away() -> LinkConditions {
    LinkConditions(Conditions {
        latency: Duration::from_millis(75),
        jitter: Jitter::Uniform { spread: Duration::from_millis(10) },
        loss: Loss::Independent { probability: 0.02 },
        ..Conditions::PERFECT
    })
}

#[derive(clap::Parser)]
struct Arguments {
    #[arg(long, help = "Plays for that long, without a window")]
    seconds: Option<u64>,
}

fn main() -> Result<AppExit> {
    let Arguments { seconds } = clap::Parser::parse();
    let listener = UdpServer::listen("127.0.0.1:0", KEY)?;
    let token = KEY.token(&*listener.address().to_string(), 1)?;
    std::thread::spawn(|| serve(listener));
    let mut app = App::new();
    match seconds {
        None => window(&mut app),
        Some(seconds) => {
            let ticks = ScheduleRunnerPlugin::run_loop(Duration::from_millis(4));
            let end = end.run_if(on_timer(Duration::from_secs(seconds)));
            app.add_plugins((MinimalPlugins.set(ticks), TransformPlugin))
                .add_systems(PreUpdate, run_to_and_fro)
                .add_systems(Last, end);
        }
    }
    app.add_plugins((protocol, ClientPlugin, UdpClient::connect(token)))
        .init_resource::<NextInput<Walk>>()
        .add_observer(predict)
        .add_observer(|come: On<Add, Server>, mut commands: Commands| {
            commands.entity(come.entity).insert(far_away());
        });
    Ok(app.run())
}

/// Predicts the boxes, too, because the hero pushes them.
fn predict(born: On<Add, BodyKind>, kinds: Query<&BodyKind>, mut commands: Commands) {
    if kinds.get(born.entity).is_ok_and(|kind| kind.name() == "crate") {
        commands.entity(born.entity).insert((Crate, Predicted));
    }
}

fn run_to_and_fro(time: Res<Time>, mut next: ResMut<NextInput<Walk>>) {
    let now = time.elapsed_secs();
    let way = [if now % 3.0 < 1.5 { 1 } else { -1 }, if now % 8.0 < 4.0 { -1 } else { 1 }];
    next.0 = Walk { way, jumps: now % 2.0 < 0.3 };
}

fn end(client: Single<&ReplicationReceiver>, mut exit: MessageWriter<AppExit>) {
    let stats = client.prediction();
    let delay = stats.input_delay.unwrap_or_default().as_secs_f32() * 1000.0;
    let micros = stats.time.as_secs_f64() * 1e6 / stats.ticks.max(1) as f64;
    println!("{} ticks, {delay:.0} ms from an input to its effect", stats.ticks);
    let cm = 100.0 * stats.corrected_units / stats.corrections.max(1) as f64;
    println!(
        "{} corrections, {cm:.1} cm on average, {} ticks again",
        stats.corrections, stats.ticks_again
    );
    println!("{micros:.0} µs a tick");
    exit.write_default();
}

/// The mesh of a body, which `VisualOffset` moves.
#[derive(Component)]
struct Look;

fn window(app: &mut App) {
    let at = Transform::from_xyz(0.0, 14.0, 20.0).looking_at(Vec3::ZERO, Vec3::Y);
    app.add_plugins((DefaultPlugins, EguiPlugin::default(), InspectorPlugin::default()))
        .add_systems(PreUpdate, read)
        .add_systems(PostUpdate, smooth.before(TransformSystems::Propagate))
        .add_observer(dress);
    let (mut meshes, ground) = (app.world_mut().resource_mut::<Assets<Mesh>>(), 40.0);
    let ground = Mesh3d(meshes.add(Plane3d::default().mesh().size(ground, ground)));
    let mut paints = app.world_mut().resource_mut::<Assets<StandardMaterial>>();
    let paint = MeshMaterial3d(paints.add(StandardMaterial::from(Color::hsl(100.0, 0.2, 0.4))));
    app.world_mut().spawn((ground, paint));
    app.world_mut().spawn((Camera3d::default(), Tonemapping::None, at));
    app.world_mut().spawn((DirectionalLight::default(), at));
}

fn read(
    keys: Res<ButtonInput<KeyCode>>,
    mut next: ResMut<NextInput<Walk>>,
    mut predicts: ResMut<PredictsBodies>,
) {
    let axis = |minus, plus| i8::from(keys.pressed(plus)) - i8::from(keys.pressed(minus));
    let way =
        [axis(KeyCode::ArrowLeft, KeyCode::ArrowRight), axis(KeyCode::ArrowUp, KeyCode::ArrowDown)];
    next.0 = Walk { way, jumps: keys.pressed(KeyCode::Space) };
    if keys.just_pressed(KeyCode::KeyP) {
        predicts.0 = !predicts.0;
    }
}

fn dress(
    born: On<Add, BodyKind>,
    kinds: Query<&BodyKind>,
    assets: Res<AssetServer>,
    mut commands: Commands,
) -> Result {
    let (mesh, hue) = match kinds.get(born.entity)?.name() {
        "hero" => (Mesh::from(Capsule3d::new(0.4, 1.2)), 210.0),
        _ => (Cuboid::from_length(2.0 * HALF).into(), 30.0),
    };
    let paint = assets.add(StandardMaterial::from(Color::hsl(hue, 0.7, 0.6)));
    let look = (Look, Mesh3d(assets.add(mesh)), MeshMaterial3d(paint));
    commands.entity(born.entity).insert(Visibility::default()).with_child(look);
    Ok(())
}

fn smooth(
    bodies: Query<(&Transform, &VisualOffset), Without<Look>>,
    mut looks: Query<(&ChildOf, &mut Transform), With<Look>>,
) {
    for (body, mut look) in &mut looks {
        if let Ok((at, offset)) = bodies.get(body.parent()) {
            let back = at.rotation.inverse();
            look.translation = back * offset.translation;
            look.rotation = back * offset.rotation * at.rotation;
        }
    }
}
