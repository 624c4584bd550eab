//! In-memory transport: a server and its clients in one process, connected by simulated links.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bevy_app::{App, Plugin, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_platform::time::Instant;
use cubewire_link::{Conditions, Link, LinkStats};

use crate::body::disconnect_later;
use crate::renet_connection::{FROM_CLIENT_BYTES, FROM_SERVER_BYTES, RenetConnection};
use crate::traffic::HEADER_BYTES;
use crate::transport::{
    self, Client, CubewireSystems, LinkConditions, MessageBuffer, OrDisabled, Server,
};

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
    /// Conditions of the next links.
    conditions: Conditions,
    /// Seed of the newest link.
    seed: u64,
    /// Links of connections that the server has not accepted yet.
    new: Vec<SharedLink>,
    start: Instant,
    /// Simulated time; `None` for the time since `start`.
    now: Option<Duration>,
}

/// Has an owner at each end, until that end closes the connection.
type SharedLink = Arc<Mutex<MemoryLink>>;

/// Both ends of a connection, and the simulated links between them. Usable in a custom transport, because time is an
/// argument.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
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

    /// Changes the conditions in both directions.
    pub fn set_conditions(&mut self, conditions: &Conditions) {
        self.links.iter_mut().for_each(|link| link.set_conditions(conditions.clone()));
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
    /// Creates a network of links with these conditions. `seed` determines their random numbers. A client's
    /// [`LinkConditions`] change the conditions of its link.
    #[allow(clippy::disallowed_methods, reason = "Bevy's clock works in a browser, too")]
    pub fn new(conditions: Conditions, seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Network {
            conditions,
            seed,
            new: Vec::new(),
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
                for link in new {
                    commands.spawn((Client, network.connection(link, End::Server)));
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
        let conditions = network.conditions.clone();
        let link = Arc::new(Mutex::new(MemoryLink::new(&conditions, network.seed)));
        network.new.push(Arc::clone(&link));
        (Server, LinkConditions(conditions), self.connection(link, End::Client))
    }

    fn connection(&self, link: SharedLink, end: End) -> impl Bundle + use<> {
        (Handle { network: self.clone(), link, end }, MessageBuffer::new(HEADER_BYTES))
    }

    /// Sets the conditions of links that are created from now on.
    pub fn set_conditions(&self, conditions: Conditions) {
        self.lock().conditions = conditions;
    }

    /// Sets the time of the links, which no longer advances by itself. For tests.
    pub fn set_time(&self, now: Duration) {
        self.lock().now = Some(now);
    }

    fn now(&self) -> Duration {
        let network = self.lock();
        network.now.unwrap_or_else(|| network.start.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Network> {
        transport::lock(&self.0)
    }
}

fn add_transport(app: &mut App) {
    #[derive(Resource)]
    struct HasTransport;

    if !app.world().contains_resource::<HasTransport>() {
        app.insert_resource(HasTransport).add_observer(follow);
        transport::add_systems::<Handle, _, _>(app, receive, flush);
    }
}

#[derive(Component, Clone, Debug)]
#[component(clone_behavior = Ignore)]
struct Handle {
    network: MemoryNetwork,
    link: SharedLink,
    end: End,
}

fn receive(mut connections: Query<(&Handle, &mut MessageBuffer), OrDisabled>) {
    for (Handle { network, link, end }, mut buffer) in &mut connections {
        let received = match Arc::strong_count(link) {
            1 => Err("the other end has left".to_owned()),
            _ => transport::lock(link).receive(*end, network.now(), &mut buffer),
        };
        if let Err(reason) = received {
            buffer.ended = Some(reason);
        }
    }
}

fn flush(
    mut connections: Query<(Entity, &Handle, &mut MessageBuffer), OrDisabled>,
    mut commands: Commands,
) {
    for (entity, Handle { network, link, end }, mut buffer) in &mut connections {
        let sent = transport::lock(link).flush(*end, network.now(), &mut buffer);
        if let Err(reason) = sent {
            disconnect_later(&mut commands, entity, reason);
        }
    }
}

fn follow(
    inserted: On<Insert, LinkConditions>,
    connections: Query<(&LinkConditions, &Handle), OrDisabled>,
) {
    if let Ok((LinkConditions(conditions), handle)) = connections.get(inserted.entity) {
        transport::lock(&handle.link).set_conditions(conditions);
    }
}
