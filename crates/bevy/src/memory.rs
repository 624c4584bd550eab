//! In-memory transport: a server and its clients in one process, connected by simulated links.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bevy_app::{App, Plugin, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_platform::time::Instant;
use cubewire_link::{Conditions, Link, LinkStats};

use crate::body::disconnect_later;
use crate::renet_connection::{FROM_CLIENT_BYTES, FROM_SERVER_BYTES, RenetConnection};
use crate::traffic::HEADER_BYTES;
use crate::transport::{self, Client, CubewireSystems, MessageBuffer, OrDisabled, Server};

/// A network with one simulated link between each client and the server. Clones share the network.
///
/// ```
/// # use bevy_app::App;
/// # use cubewire_bevy::MemoryNetwork;
/// # let (mut server, mut client) = (App::new(), App::new());
/// let network = MemoryNetwork::default();
/// server.add_plugins(network.server());
/// client.add_plugins(network.client());
/// ```
#[derive(Clone, Debug)]
pub struct MemoryNetwork(Arc<Mutex<Network>>);

#[derive(Debug)]
struct Network {
    conditions: Conditions,
    /// Seed of the newest link.
    seed: u64,
    /// Seeds of connections that the server has not accepted yet.
    new: Vec<u64>,
    /// Connections that neither end has closed, by seed.
    links: BTreeMap<u64, MemoryLink>,
    start: Instant,
    /// Simulated time; `None` for the time since `start`.
    now: Option<Duration>,
}

/// Both ends of a connection, and the simulated links between them. Usable in a custom transport, because time is an
/// argument.
#[derive(Debug)]
pub struct MemoryLink {
    renet: [RenetConnection; 2],
    /// By sending end.
    links: [Link<Vec<u8>>; 2],
}

/// One end of a [`MemoryLink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The server.
    Server,
    /// The client.
    Client,
}

impl MemoryLink {
    /// Creates links with these conditions. The link from the server uses `seed` for its random numbers, the link from
    /// the client `seed + 1`.
    pub fn new(conditions: &Conditions, seed: u64) -> Self {
        Self {
            renet: [FROM_CLIENT_BYTES, FROM_SERVER_BYTES].map(RenetConnection::new),
            links: [0, 1]
                .map(|direction| Link::new(conditions.clone(), seed.wrapping_add(direction))),
        }
    }

    /// Changes the conditions in both directions. Returns whether they differ from the previous ones.
    pub fn set_conditions(&mut self, conditions: &Conditions) -> bool {
        let others = self.links.iter_mut().filter(|link| link.conditions() != conditions);
        others.map(|link| link.set_conditions(conditions.clone())).count() > 0
    }

    /// Returns the statistics of the link from an end.
    pub fn stats(&self, from: End) -> LinkStats {
        self.links[from as usize].stats()
    }

    /// Receives the packets that have arrived at an end, and fills its message buffer.
    ///
    /// # Errors
    /// A sentence, if a received packet cannot be from a [`RenetConnection`].
    pub fn receive(
        &mut self,
        end: End,
        now: Duration,
        buffer: &mut MessageBuffer,
    ) -> Result<(), String> {
        let renet = &mut self.renet[end as usize];
        let mut received = Ok(());
        while let Some(packet) = self.links[1 - end as usize].receive(now) {
            buffer.traffic.received.count(&packet, packet.len() + HEADER_BYTES);
            received = received.and_then(|()| renet.receive(now, &packet));
        }
        renet.deliver(buffer);
        received
    }

    /// Sends the contents of an end's message buffer. Call it once per tick.
    ///
    /// # Errors
    /// A sentence, if too many bytes wait for the other end. The connection must then be closed.
    pub fn flush(
        &mut self,
        end: End,
        now: Duration,
        buffer: &mut MessageBuffer,
    ) -> Result<(), &'static str> {
        for packet in self.renet[end as usize].flush(now, buffer)? {
            let bytes = packet.len() + HEADER_BYTES;
            buffer.traffic.sent.count(&packet, bytes);
            self.links[end as usize].send(now, bytes, packet);
        }
        Ok(())
    }
}

impl Default for MemoryNetwork {
    fn default() -> Self {
        Self::new(Conditions::PERFECT, 0)
    }
}

impl MemoryNetwork {
    /// Creates a network of links with these conditions. `seed` determines their random numbers.
    #[allow(clippy::disallowed_methods, reason = "Bevy's clock works in a browser, too")]
    pub fn new(conditions: Conditions, seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Network {
            conditions,
            seed,
            new: Vec::new(),
            links: BTreeMap::new(),
            start: Instant::now(),
            now: None,
        })))
    }

    /// Returns the plugin for the server's app.
    pub fn server(&self) -> impl Plugin + use<> {
        let network = self.clone();
        move |app: &mut App| {
            let network = network.clone();
            let accept = move |mut commands: Commands<'_, '_>| {
                let new = std::mem::take(&mut network.lock().new);
                for seed in new {
                    commands.spawn((Client, network.connection(seed, End::Server)));
                }
            };
            add_transport(app);
            app.add_systems(PreUpdate, accept.in_set(CubewireSystems::Receive).before(receive));
        }
    }

    /// Returns the plugin for a client's app, which connects when the app is built.
    pub fn client(&self) -> impl Plugin + use<> {
        let network = self.clone();
        move |app: &mut App| {
            add_transport(app);
            app.world_mut().spawn(network.connect());
        }
    }

    /// Connects a client. Returns the components of the connection's entity.
    #[must_use]
    pub fn connect(&self) -> impl Bundle + use<> {
        let mut network = self.lock();
        network.seed += 2;
        let seed = network.seed;
        let link = MemoryLink::new(&network.conditions, seed);
        network.links.insert(seed, link);
        network.new.push(seed);
        (Server, self.connection(seed, End::Client))
    }

    fn connection(&self, seed: u64, end: End) -> impl Bundle + use<> {
        let connection = Connection { network: self.clone(), seed, end };
        (MemoryConnection(Arc::new(connection)), MessageBuffer::new(HEADER_BYTES))
    }

    /// Changes the conditions of all links.
    pub fn set_conditions(&self, conditions: Conditions) {
        let mut network = self.lock();
        for link in network.links.values_mut() {
            link.set_conditions(&conditions);
        }
        network.conditions = conditions;
    }

    /// Sets the time of the links, which no longer advances by itself. For tests.
    pub fn set_time(&self, now: Duration) {
        self.lock().now = Some(now);
    }

    /// Ignores poisoning: a panic in another app leaves the data valid.
    fn lock(&self) -> MutexGuard<'_, Network> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add_transport(app: &mut App) {
    #[derive(Resource)]
    struct HasTransport;

    if !app.world().contains_resource::<HasTransport>() {
        app.insert_resource(HasTransport).add_observer(go_on);
        transport::add_systems(app, receive, flush);
    }
}

/// Shared with the entity that continues the connection.
#[derive(Component, Clone, Debug)]
#[component(clone_behavior = Ignore)]
struct MemoryConnection(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    network: MemoryNetwork,
    seed: u64,
    end: End,
}

impl MemoryConnection {
    /// Calls a function with the link, this end, and the time. Returns `None` if the other end has closed the
    /// connection.
    fn with_link<T>(
        &self,
        exchange: impl FnOnce(&mut MemoryLink, End, Duration) -> T,
    ) -> Option<T> {
        let Connection { network, seed, end } = &*self.0;
        let mut network = network.lock();
        let now = network.now.unwrap_or_else(|| network.start.elapsed());
        Some(exchange(network.links.get_mut(seed)?, *end, now))
    }
}

fn receive(mut connections: Query<(&MemoryConnection, &mut MessageBuffer), OrDisabled>) {
    for (connection, mut buffer) in &mut connections {
        let received = connection.with_link(|link, end, now| link.receive(end, now, &mut buffer));
        let ended = received.unwrap_or_else(|| Err("the other end has left".to_owned())).err();
        if ended.is_some() {
            buffer.ended = ended;
        }
    }
}

type Connections = (Entity, &'static MemoryConnection, &'static mut MessageBuffer);

fn flush(mut connections: Query<Connections, OrDisabled>, mut commands: Commands) {
    for (entity, connection, mut buffer) in &mut connections {
        let sent = connection.with_link(|link, end, now| link.flush(end, now, &mut buffer));
        if let Some(Err(reason)) = sent {
            disconnect_later(&mut commands, entity, reason);
        }
    }
}

/// Moves the connection of a despawned entity to its successor.
fn go_on(removed: On<Remove, MessageBuffer>, mut world: DeferredWorld) {
    if let Some(successor) = transport::successor(&mut world, removed.entity)
        && let Some(connection) = world.get::<MemoryConnection>(removed.entity).cloned()
    {
        world.commands().entity(successor).try_insert(connection);
    }
}

/// Closes the connection, also if the whole app is dropped. The other end notices in its next frame.
impl Drop for Connection {
    fn drop(&mut self) {
        self.network.lock().links.remove(&self.seed);
    }
}
