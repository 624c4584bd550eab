//! The client's socket.

use std::fmt;
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use bevy_app::{App, FixedPostUpdate, Plugin, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use cubewire_protocol::netcode::is_from_server;
use renetcode::{
    ClientAuthentication, ConnectToken, DisconnectReason, NETCODE_MAX_PACKET_BYTES, NetcodeClient,
};

use super::{MAX_DATAGRAMS, OVERHEAD_BYTES, read, since_1970};
use crate::body::refuse;
use crate::mailbox::{CubewireSystems, Mailbox, Server};
use crate::pipe::Pipe;

/// Connects to a server when the app starts. If that fails, [`Refused`](crate::Refused) says why.
#[derive(Debug)]
pub struct RenetClient(ConnectToken);

impl RenetClient {
    /// Connects to the server for which a token was made.
    #[must_use]
    pub const fn connect(token: ConnectToken) -> Self {
        Self(token)
    }
}

impl Plugin for RenetClient {
    /// # Panics
    /// If the operating system gives no socket.
    fn build(&self, app: &mut App) {
        let connection = RenetConnection::new(self.0.clone()).expect("there is a free port");
        app.add_systems(PreUpdate, receive.in_set(CubewireSystems::Receive))
            .add_systems(FixedPostUpdate, flush.in_set(CubewireSystems::Flush))
            .world_mut()
            .spawn(connection);
    }
}

/// A connection to a server: spawn one to connect again. Its entity becomes a [`Server`] once the server answers, and is
/// despawned when the connection has ended.
#[derive(Component)]
pub struct RenetConnection {
    socket: UdpSocket,
    netcode: NetcodeClient,
    pipe: Pipe,
}

/// The derived implementation would show keys.
impl fmt::Debug for RenetConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenetConnection")
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}

impl RenetConnection {
    /// Connects to the server for which a token was made.
    ///
    /// # Errors
    /// If the operating system gives no socket, or the token is for no address.
    pub fn new(token: ConnectToken) -> io::Result<Self> {
        let server = token.server_addresses.iter().flatten().next().copied();
        let server = server.ok_or(io::ErrorKind::AddrNotAvailable)?;
        let any = match server.is_ipv4() {
            true => "0.0.0.0:0",
            false => "[::]:0",
        };
        let socket = UdpSocket::bind(any)?;
        // A connected socket discards datagrams from other addresses.
        socket.connect(server)?;
        socket.set_nonblocking(true)?;
        let authentication = ClientAuthentication::Secure {
            connect_token: token,
        };
        let netcode = NetcodeClient::new(since_1970(), authentication);
        Ok(Self {
            socket,
            netcode: netcode.map_err(|error| io::Error::other(error.to_string()))?,
            pipe: Pipe::default(),
        })
    }

    /// Takes a datagram, and returns its payload.
    fn read(&mut self, buffer: &mut [u8; NETCODE_MAX_PACKET_BYTES]) -> Option<Option<Vec<u8>>> {
        let (length, _) = read(&self.socket, buffer)?;
        let datagram = &mut buffer[..length];
        let payload = match is_from_server(datagram) {
            true => self.netcode.process_packet(datagram),
            false => None,
        };
        Some(payload.map(<[u8]>::to_vec))
    }
}

fn receive(world: &mut World, connections: &mut QueryState<Entity, With<RenetConnection>>) {
    let time = world.resource::<Time<Real>>();
    let (now, delta) = (time.elapsed(), time.delta());
    for server in connections.iter(world).collect::<Vec<_>>() {
        if let Err(reason) = serve(world, server, now, delta) {
            refuse(world, server, reason);
        }
    }
}

/// Reads what has arrived.
fn serve(
    world: &mut World,
    server: Entity,
    now: Duration,
    delta: Duration,
) -> Result<(), &'static str> {
    let mut server = world.entity_mut(server);
    let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
    for _ in 0..MAX_DATAGRAMS {
        let connection = server.get_mut::<RenetConnection>();
        let mut connection = connection.ok_or("the connection has ended")?;
        let Some(payload) = connection.read(&mut buffer) else {
            break;
        };
        if connection.netcode.is_connected() && !server.contains::<Server>() {
            server.insert((Server, Mailbox::new(OVERHEAD_BYTES)));
        }
        let parts = server.get_components_mut::<(&mut RenetConnection, &mut Mailbox)>();
        if let Some(payload) = payload
            && let Ok((mut connection, mut mailbox)) = parts
        {
            let outcome = connection.pipe.receive(now, &payload, &mut mailbox);
            outcome.map_err(|_| "the server sent a datagram that is none")?;
        }
    }
    let connection = server.get_mut::<RenetConnection>();
    let connection = connection.ok_or("the connection has ended")?.into_inner();
    if let Some((packet, _)) = connection.netcode.update(delta) {
        // One that cannot be sent is lost.
        let _ = connection.socket.send(packet);
    }
    use DisconnectReason as Reason;
    match connection.netcode.disconnect_reason() {
        None => Ok(()),
        Some(Reason::ConnectionDenied) => Err("the server is full"),
        Some(Reason::ConnectTokenExpired) => Err("the token has expired"),
        Some(Reason::ConnectionTimedOut) => Err("nothing was heard of the server for ten seconds"),
        Some(Reason::DisconnectedByServer) => Err("the server has ended the connection"),
        Some(Reason::DisconnectedByClient) => Err("the connection has ended"),
        Some(Reason::ConnectionRequestTimedOut | Reason::ConnectionResponseTimedOut) => Err(
            "no answer: the server is not running, has another key or another address, or a client with this number is \
             still connected",
        ),
    }
}

fn flush(
    time: Res<Time<Real>>,
    mut connections: Query<(Entity, &mut RenetConnection, &mut Mailbox)>,
    mut commands: Commands,
) {
    for (server, mut connection, mut mailbox) in &mut connections {
        let connection = &mut *connection;
        let now = time.elapsed();
        let datagrams = connection
            .pipe
            .flush(now, server, &mut mailbox, &mut commands);
        for datagram in datagrams {
            if let Ok((_, packet)) = connection.netcode.generate_payload_packet(&datagram) {
                let _ = connection.socket.send(packet);
            }
        }
    }
}

/// Tells the server, whoever has despawned the entity or dropped the app.
impl Drop for RenetConnection {
    fn drop(&mut self) {
        if let Ok((_, packet)) = self.netcode.disconnect() {
            let _ = self.socket.send(packet);
        }
    }
}
