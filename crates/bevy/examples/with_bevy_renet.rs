//! Adds replication to a game that uses `bevy_renet`. The game's server and client exchange their own messages, and
//! replicate balls over the same connection. Both run in this program and talk over UDP. There are no graphics and no
//! keys; the program ends when the client has received everything.
//!
//! `cargo run -p cubewire-bevy --example with_bevy_renet --features bevy_renet`

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, SystemTime, SystemTimeError, UNIX_EPOCH};

use bevy_app::{App, TaskPoolPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_log::LogPlugin;
use bevy_math::{Quat, Vec3};
use bevy_renet::netcode::{
    ClientAuthentication, NetcodeClientPlugin, NetcodeClientTransport, NetcodeServerPlugin,
    NetcodeServerTransport, ServerAuthentication, ServerConfig,
};
use bevy_renet::renet::{ConnectionConfig, DefaultChannel, ServerEvent};
use bevy_renet::{
    RenetClient, RenetClientPlugin, RenetServer, RenetServerEvent, RenetServerPlugin,
};
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use cubewire_bevy::game_renet::{BevyRenet, NoChannelLeft};
use cubewire_bevy::prelude::*;

const BALLS: usize = 12;

/// Distinguishes the game's datagrams from other games' datagrams.
const PROTOCOL_ID: u64 = 7;

fn protocol(app: &mut App) {
    app.add_plugins(CubewirePlugin::new("wheel"))
        .replicate_pose(Pose::within(-16.0..16.0, 0.0..16.0, -16.0..16.0))
        .body_kind("ball", Shape::ball(0.5));
}

/// The game's connection configuration: renet's default channels for the game, plus two for replication.
fn connections() -> Result<(ConnectionConfig, BevyRenet), NoChannelLeft> {
    let mut config = ConnectionConfig::default();
    let transport = BevyRenet::add_channels(&mut config)?;
    Ok((config, transport))
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, protocol));
    app
}

#[allow(clippy::disallowed_methods, reason = "a browser has no UDP")]
fn since_1970() -> Result<Duration, SystemTimeError> {
    SystemTime::now().duration_since(UNIX_EPOCH)
}

fn server() -> Result<(App, SocketAddr), Box<dyn Error>> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let address = socket.local_addr()?;
    let netcode = ServerConfig {
        current_time: since_1970()?,
        max_clients: 64,
        protocol_id: PROTOCOL_ID,
        public_addresses: vec![address],
        authentication: ServerAuthentication::Unsecure,
    };
    let (config, transport) = connections()?;
    let mut app = app();
    // The first line is for replication, the second for the game.
    app.add_plugins((ServerPlugin, transport))
        .add_plugins((RenetServerPlugin, NetcodeServerPlugin, LogPlugin::default()))
        .insert_resource(RenetServer::new(config))
        .insert_resource(NetcodeServerTransport::new(netcode, socket)?)
        .add_observer(greet);
    for ball in 0..BALLS {
        let angle = ball as f32 / BALLS as f32 * std::f32::consts::TAU;
        let at = Quat::from_rotation_y(angle) * Vec3::X * 8.0 + Vec3::Y;
        let at = Transform::from_translation(at);
        app.world_mut().spawn((Replicated, BodyKind::named("ball"), at));
    }
    Ok((app, address))
}

/// Sends the game's message to a new client.
fn greet(event: On<RenetServerEvent>, mut server: ResMut<RenetServer>) {
    if let ServerEvent::ClientConnected { client_id } = event.0 {
        let greeting = format!("welcome, client {client_id}");
        server.send_message(client_id, DefaultChannel::ReliableOrdered, greeting);
    }
}

fn client(server_addr: SocketAddr) -> Result<App, Box<dyn Error>> {
    let authentication = ClientAuthentication::Unsecure {
        protocol_id: PROTOCOL_ID,
        client_id: 1,
        server_addr,
        user_data: None,
    };
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let netcode = NetcodeClientTransport::new(since_1970()?, authentication, socket)?;
    let (config, transport) = connections()?;
    let mut app = app();
    app.add_plugins((ClientPlugin, transport))
        .add_plugins((RenetClientPlugin, NetcodeClientPlugin))
        .insert_resource(RenetClient::new(config))
        .insert_resource(netcode)
        .init_resource::<Seen>()
        .add_systems(Update, look);
    Ok(app)
}

/// Values that the client has received.
#[derive(Resource, Default)]
struct Seen {
    greeting: Option<String>,
    balls: usize,
}

fn look(mut client: ResMut<RenetClient>, balls: Query<(), With<Remote>>, mut seen: ResMut<Seen>) {
    if let Some(bytes) = client.receive_message(DefaultChannel::ReliableOrdered) {
        seen.greeting = Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    seen.balls = balls.iter().len();
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut server, address) = server()?;
    let mut client = client(address)?;
    for app in [&mut server, &mut client] {
        // Bevy's runner would call this.
        app.finish();
        app.cleanup();
    }
    println!("the game's server listens on {address}");
    // A minute at most.
    for _ in 0..60 * 60 {
        server.update();
        client.update();
        let seen = client.world().resource::<Seen>();
        if let Some(greeting) = &seen.greeting
            && seen.balls == BALLS
        {
            println!("the game's own message has arrived: \"{greeting}\"");
            println!("{BALLS} balls are replicated");
            return Ok(());
        }
        sleep(Duration::from_secs(1) / 60);
    }
    Err("the client has not seen all".into())
}
