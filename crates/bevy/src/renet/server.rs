//! The server's socket and its clients.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use bevy_app::{App, FixedPostUpdate, Plugin, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use cubewire_protocol::netcode::is_from_client;
use renetcode::{
    NETCODE_MAX_PACKET_BYTES, NetcodeServer, ServerAuthentication, ServerConfig, ServerResult,
};

use super::{Key, MAX_DATAGRAMS, OVERHEAD_BYTES, PROTOCOL_ID, read, since_1970};
use crate::mailbox::{Client, CubewireSystems, Mailbox};
use crate::pipe::Pipe;

/// Listens for clients whose tokens were made with the server's key.
#[derive(Clone, Debug)]
pub struct RenetServer {
    socket: Arc<UdpSocket>,
    key: Key,
    public: Vec<SocketAddr>,
    max_clients: usize,
}

impl RenetServer {
    /// Listens at an address: port 0 for one that is free, 0.0.0.0 for all of the machine's addresses. Up to 64 clients.
    ///
    /// # Errors
    /// If the address is none of this machine, or in use.
    pub fn listen(address: impl ToSocketAddrs, key: Key) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        let mut own = socket.local_addr()?;
        if own.ip().is_unspecified() {
            own.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        Ok(Self {
            socket: Arc::new(socket),
            key,
            public: vec![own],
            max_clients: 64,
        })
    }

    /// Another address under which clients know the server, as their tokens have it.
    #[must_use]
    pub fn public(mut self, address: SocketAddr) -> Self {
        self.public.push(address);
        self
    }

    /// Most clients at a time, `1..=1024`.
    #[must_use]
    pub fn max_clients(mut self, clients: usize) -> Self {
        self.max_clients = clients.clamp(1, 1024);
        self
    }

    /// The address for clients on this machine.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.public[0]
    }
}

impl Plugin for RenetServer {
    fn build(&self, app: &mut App) {
        app.insert_resource(Host {
            socket: Arc::clone(&self.socket),
            netcode: NetcodeServer::new(ServerConfig {
                current_time: since_1970(),
                max_clients: self.max_clients,
                protocol_id: PROTOCOL_ID,
                public_addresses: self.public.clone(),
                authentication: ServerAuthentication::Secure {
                    private_key: self.key.0,
                },
            }),
            clients: HashMap::new(),
        })
        .add_observer(disconnect)
        .add_systems(PreUpdate, receive.in_set(CubewireSystems::Receive))
        .add_systems(FixedPostUpdate, flush.in_set(CubewireSystems::Flush));
    }
}

#[derive(Resource)]
struct Host {
    socket: Arc<UdpSocket>,
    netcode: NetcodeServer,
    /// By netcode's number.
    clients: HashMap<u64, Entity>,
}

/// The derived implementation would show keys.
impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("clients", &self.clients)
            .finish_non_exhaustive()
    }
}

/// At a server: the number for which a client's [token](Key::token) was made, on the entity of its connection.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[component(immutable)]
pub struct ClientId(pub u64);

#[derive(Component, Debug)]
struct RenetPeer {
    id: u64,
    pipe: Pipe,
}

fn receive(world: &mut World) {
    let time = world.resource::<Time<Real>>();
    let (now, delta) = (time.elapsed(), time.delta());
    world.resource_scope(|world, mut host: Mut<'_, Host>| {
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        for _ in 0..MAX_DATAGRAMS {
            let Some((length, from)) = read(&host.socket, &mut buffer) else {
                break;
            };
            if is_from_client(&buffer[..length], since_1970()) {
                host.on_datagram(world, now, from, &mut buffer[..length]);
            }
        }
        host.netcode.update(delta);
        for id in host.netcode.clients_id() {
            host.update(world, id);
        }
    });
}

impl Host {
    fn on_datagram(
        &mut self,
        world: &mut World,
        now: Duration,
        from: SocketAddr,
        bytes: &mut [u8],
    ) {
        let result = self.netcode.process_packet(from, bytes);
        answer(&self.socket, &result);
        match result {
            ServerResult::None | ServerResult::PacketToSend { .. } => {}
            ServerResult::ClientConnected { client_id: id, .. } => {
                let pipe = Pipe::default();
                let mailbox = Mailbox::new(OVERHEAD_BYTES);
                let peer = (Client, ClientId(id), mailbox, RenetPeer { id, pipe });
                if let Some(before) = self.clients.insert(id, world.spawn(peer).id()) {
                    world.despawn(before);
                }
            }
            ServerResult::ClientDisconnected { client_id, .. } => self.forget(world, client_id),
            ServerResult::Payload { client_id, payload } => {
                let Some(&client) = self.clients.get(&client_id) else {
                    return;
                };
                let mut client = world.get_entity_mut(client);
                let parts = client.as_mut().ok().and_then(|client| {
                    client
                        .get_components_mut::<(&mut RenetPeer, &mut Mailbox)>()
                        .ok()
                });
                let outcome = parts
                    .map(|(mut peer, mut mailbox)| peer.pipe.receive(now, payload, &mut mailbox));
                if outcome.is_none_or(|outcome| outcome.is_err()) {
                    self.disconnect(client_id);
                    self.forget(world, client_id);
                }
            }
        }
    }

    /// Keeps a connection alive, or ends it.
    fn update(&mut self, world: &mut World, id: u64) {
        let result = self.netcode.update_client(id);
        answer(&self.socket, &result);
        if matches!(result, ServerResult::ClientDisconnected { .. }) {
            self.forget(world, id);
        }
    }

    fn disconnect(&mut self, id: u64) {
        answer(&self.socket, &self.netcode.disconnect(id));
    }

    fn forget(&mut self, world: &mut World, id: u64) {
        if let Some(client) = self.clients.remove(&id)
            && let Ok(client) = world.get_entity_mut(client)
        {
            client.despawn();
        }
    }
}

/// Sends what netcode has to send.
fn answer(socket: &UdpSocket, result: &ServerResult<'_, '_>) {
    let answer = match result {
        ServerResult::PacketToSend { addr, payload }
        | ServerResult::ClientConnected { addr, payload, .. } => Some((addr, &**payload)),
        ServerResult::ClientDisconnected { addr, payload, .. } => {
            payload.as_ref().map(|payload| (addr, &**payload))
        }
        ServerResult::None | ServerResult::Payload { .. } => None,
    };
    if let Some((to, payload)) = answer {
        // One that cannot be sent is lost.
        let _ = socket.send_to(payload, to);
    }
}

fn flush(
    mut host: ResMut<Host>,
    time: Res<Time<Real>>,
    mut clients: Query<(Entity, &mut RenetPeer, &mut Mailbox)>,
    mut commands: Commands,
) {
    for (client, mut peer, mut mailbox) in &mut clients {
        let now = time.elapsed();
        let datagrams = peer.pipe.flush(now, client, &mut mailbox, &mut commands);
        for datagram in datagrams {
            let host = &mut *host;
            if let Ok((to, packet)) = host.netcode.generate_payload_packet(peer.id, &datagram) {
                let _ = host.socket.send_to(packet, to);
            }
        }
    }
}

/// Tells a client whose entity somebody has despawned.
fn disconnect(
    removed: On<Remove, RenetPeer>,
    clients: Query<&RenetPeer>,
    host: Option<ResMut<Host>>,
) {
    if let Some(mut host) = host
        && let Ok(peer) = clients.get(removed.entity)
        && host.clients.remove(&peer.id).is_some()
    {
        host.disconnect(peer.id);
    }
}
