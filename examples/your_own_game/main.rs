//! A game independent of the demo: two teams of heroes fight among jumping pebbles and boulders. Heroes lose health, die and
//! respawn. Each client sees the surroundings of its team's captain, over UDP; red has a budget of 64 kbit/s. The server's window
//! has the inspector (F9), in which rungs can be chosen; with `--seconds 10` there is no window, only statistics at the end. A
//! client's window connects after `--serve 127.0.0.1:5000`: `cargo run --example your_own_game -- --connect localhost:5000`

mod look;

use bevy::prelude::*;
use cubewire_bevy::prelude::*; // replication
use serde::{Deserialize, Serialize};

#[derive(Component)]
struct Health(f64);
#[derive(Component, Clone, Serialize, Deserialize)]
struct Team(String);

/// Shared by server and client: see "Keys and tokens" in the README of `cubewire-bevy`.
const KEY: Key = Key::new([7; 32]);

fn protocol(app: &mut App) {
    app.add_plugins(CubewirePlugin::new("own-game").floor(0.0)) // replication
        .replicate_pose(Pose::within(-64.0..64.0, -1.0..31.0, -64.0..64.0)) // replication
        .body_kind("hero", Shape::capsule(0.6, 0.4)) // replication
        .replicate_field("health", Field::int(0..=9), |h: &Health| h.0, Health) // replication
        .replicate::<Team>(); // replication
    for (kind, radius) in [("pebble", 0.25), ("boulder", 1.5)] {
        app.body_kind(kind, Shape::ball(radius)); // replication
    }
}

fn body(kind: &'static str) -> impl Bundle {
    (Replicated, BodyKind::named(kind)) // replication
}

fn jump(mut bodies: Query<(Entity, &mut Transform), With<BodyKind>>, time: Res<Time>) {
    for (entity, mut body) in &mut bodies {
        let (number, now) = (entity.index_u32() as f32, time.elapsed_secs());
        let ground = Vec3::new(number * 7.0 % 50.0, 1.5, 0.0);
        let circle = Quat::from_rotation_y(number * 2.4 + now / (ground.x + 5.0));
        let fall = (now + number * 0.1) % 2.0 - 1.0;
        body.translation = circle * ground + Vec3::Y * 4.9 * (1.0 - fall * fall);
        body.rotation = Quat::from_rotation_x(now * 2.0);
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
        commands.spawn((body("hero"), team, Health(9.0)));
    }
}

/// Each client follows a captain of its team, and another one after the captain's death.
fn follow(see: Query<(Entity, &ClientId)>, all: Query<(Entity, &Team)>, mut to: Commands) {
    for (client, number) in &see {
        let team = ["red", "blue"][number.0 as usize % 2];
        if let Some((captain, _)) = all.iter().find(|hero| hero.1.0 == team) {
            let sees = Interest::around(captain, 20.0, 25.0); // replication
            let mut client = to.entity(client);
            client.insert((sees, Name::new(team)));
            client.insert_if(ByteBudget::kbps(64), || team == "red"); // replication
        }
    }
}

#[derive(clap::Parser, Default)]
struct Arguments {
    #[arg(long, help = "Plays for that long, without a window")]
    seconds: Option<u64>,
    #[arg(long, value_name = "ADDRESS", help = "Waits for clients there")]
    serve: Option<String>,
    #[arg(long, value_name = "ADDRESS", help = "Is a client of the server there")]
    connect: Option<String>,
    #[arg(long, default_value_t = 2, help = "The client's: it is red if even")]
    number: u64,
}

fn play(arguments: Arguments) -> Result<AppExit> {
    let mut app = App::new();
    match arguments.seconds {
        None => look::window(&mut app),
        Some(seconds) => look::headless(&mut app, seconds),
    }
    if let Some(server) = arguments.connect {
        let token = KEY.token(&*server, arguments.number)?;
        app.add_plugins((protocol, ClientPlugin, UdpClient::connect(token))); // replication
        return Ok(app.run());
    }
    let address = arguments.serve.as_deref().unwrap_or("127.0.0.1:0");
    let listener = UdpServer::listen(address, KEY)?; // replication
    for number in [0, 1] {
        let client = Arguments {
            seconds: Some(u64::MAX),
            connect: Some(listener.address().to_string()),
            number,
            ..default()
        };
        std::thread::spawn(|| play(client));
    }
    app.add_plugins((protocol, ServerPlugin, listener)) // replication
        .add_systems(FixedUpdate, (jump, fight, follow));
    for kind in ["boulder", "pebble", "pebble"].repeat(40) {
        app.world_mut().spawn(body(kind));
    }
    Ok(app.run())
}

fn main() -> AppExit {
    play(clap::Parser::parse()).unwrap_or_else(|why| {
        eprintln!("error: {why}");
        AppExit::from_code(2)
    })
}
