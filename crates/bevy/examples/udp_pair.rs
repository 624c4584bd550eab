//! A server and a client as two programs, over UDP. The server turns a wheel of balls. The client prints where it sees
//! them, and sends the direction to turn. There are no graphics and no keys; Ctrl-C ends either program. In two
//! terminals:
//!
//! `cargo run -p cubewire-bevy --example udp_pair -- serve 127.0.0.1:5000`
//! `cargo run -p cubewire-bevy --example udp_pair -- connect localhost:5000`

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use bevy_app::{
    App, AppExit, FixedUpdate, ScheduleRunnerPlugin, TaskPoolPlugin, TerminalCtrlCHandlerPlugin,
};
use bevy_ecs::prelude::*;
use bevy_log::{DEFAULT_FILTER, LogPlugin, tracing_subscriber::fmt};
use bevy_math::{Quat, Vec3};
use bevy_time::{TimePlugin, common_conditions::on_timer};
use bevy_transform::components::Transform;
use cubewire_bevy::prelude::*;
use serde::{Deserialize, Serialize};

/// Direction and speed of the wheel.
#[derive(Serialize, Deserialize)]
struct Turn(f32);

fn protocol(app: &mut App) {
    app.add_plugins(CubewirePlugin::new("wheel"))
        .replicate_pose(Pose::within(-16.0..16.0, 0.0..16.0, -16.0..16.0))
        .body_kind("ball", Shape::ball(0.5))
        .add_input::<Turn>();
}

/// Both programs share this key: see "Keys and tokens" in the README.
const KEY: Key = Key::new([7; 32]);

fn app() -> App {
    let mut app = App::new();
    let log = LogPlugin {
        filter: format!("{DEFAULT_FILTER},renet=off"),
        // Files get no colours.
        fmt_layer: |_| {
            let layer = fmt::layer().with_writer(io::stderr);
            Some(Box::new(layer.with_ansi(io::stderr().is_terminal())))
        },
        ..LogPlugin::default()
    };
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, log, protocol))
        .add_plugins(TerminalCtrlCHandlerPlugin)
        .add_plugins(ScheduleRunnerPlugin::run_loop(Duration::from_secs(1) / 60));
    app
}

fn serve(address: &str) -> Result<AppExit, Box<dyn Error>> {
    let listener = UdpServer::listen(address, KEY)?;
    println!("listening on {}", listener.address());
    let mut app = app();
    app.add_plugins((ServerPlugin, listener))
        .add_observer(|_: On<Add, Connected>| println!("a client has connected"))
        .add_observer(|_: On<Remove, Connected>| println!("a client has gone"))
        .add_systems(FixedUpdate, turn);
    for ball in 0..12 {
        let at = Quat::from_rotation_y(ball as f32 / 12.0 * std::f32::consts::TAU) * Vec3::X * 8.0;
        let transform = Transform::from_translation(at + Vec3::Y);
        app.world_mut().spawn((Replicated, BodyKind::named("ball"), transform));
    }
    Ok(app.run())
}

/// Turns the balls by the last input.
fn turn(
    mut inputs: MessageReader<FromClient<Turn>>,
    mut speed: Local<f32>,
    mut balls: Query<&mut Transform, With<Replicated>>,
) {
    if let Some(turn) = inputs.read().last() {
        *speed = turn.message.0.clamp(-2.0, 2.0);
    }
    for mut ball in &mut balls {
        ball.rotate_around(Vec3::Y, Quat::from_rotation_y(*speed / 60.0));
    }
}

fn connect(server: &str) -> Result<AppExit, Box<dyn Error>> {
    let token = KEY.token(server, 1)?;
    let mut app = app();
    app.add_plugins((ClientPlugin, UdpClient::connect(token)))
        .add_observer(|ended: On<Disconnected>, mut exit: MessageWriter<AppExit>| {
            eprintln!("{}", ended.reason);
            exit.write(AppExit::error());
        })
        .add_systems(FixedUpdate, (steer, report.run_if(on_timer(Duration::from_secs(1)))));
    Ok(app.run())
}

/// Two seconds in one direction, two in the other.
fn steer(mut inputs: MessageWriter<ToServer<Turn>>, mut ticks: Local<u32>) {
    *ticks += 1;
    let direction = if (*ticks / 120).is_multiple_of(2) { 1.0 } else { -1.0 };
    inputs.write(ToServer(Turn(direction)));
}

/// Ends the program if its output pipe is closed.
fn report(balls: Query<&Transform, With<Remote>>, mut exit: MessageWriter<AppExit>) {
    let line = match balls.iter().next() {
        Some(first) => format!("{} balls; one is at {:.2}", balls.iter().len(), first.translation),
        None => "no ball yet".to_owned(),
    };
    if writeln!(io::stdout(), "{line}").is_err() {
        exit.write(AppExit::Success);
    }
}

fn main() -> Result<AppExit, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address] => serve(address),
        ["connect", server] => connect(server),
        _ => {
            eprintln!("usage: udp_pair serve ADDRESS | connect ADDRESS");
            Ok(AppExit::from_code(2))
        }
    }
}
