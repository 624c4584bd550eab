//! A transport in memory: a server and its clients in one process, over simulated links.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bevy_app::{App, FixedPostUpdate, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::prelude::*;
use cubewire_link::{Conditions, Link};

use crate::mailbox::{self, Client, CubewireSystems, Mailbox, Server};
use crate::pipe::Pipe;
use crate::traffic::HEADER_BYTES;

/// A network of links, each of its own. Clones are the same network.
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
    seed: u64,
    /// Connections that the server has not seen yet.
    new: Vec<Arc<Mutex<Wire>>>,
    links: Vec<Arc<Mutex<Wire>>>,
    start: Instant,
    /// Instead of the time since the start.
    now: Option<Duration>,
}

/// A connection.
#[derive(Debug)]
struct Wire {
    /// To the server, and to the client.
    links: [Link<Vec<u8>>; 2],
    is_closed: bool,
}

impl Default for MemoryNetwork {
    fn default() -> Self {
        Self::new(Conditions::PERFECT, 0)
    }
}

impl MemoryNetwork {
    /// A network of links with these conditions, whose chance follows from a seed.
    #[must_use]
    pub fn new(conditions: Conditions, seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Network {
            conditions,
            seed,
            new: Vec::new(),
            links: Vec::new(),
            start: Instant::now(),
            now: None,
        })))
    }

    /// The plugin for the server's app.
    #[must_use]
    pub fn server(&self) -> impl Plugin + use<> {
        let network = self.clone();
        move |app: &mut App| {
            let network = network.clone();
            let accept = move |mut commands: Commands<'_, '_>| {
                for wire in network.lock().new.drain(..) {
                    let connection = MemoryConnection::new(&network, wire, 1);
                    commands.spawn((Client, connection, Mailbox::new(HEADER_BYTES)));
                }
            };
            let accept = accept.in_set(CubewireSystems::Receive).before(receive);
            add_transport(app);
            app.add_systems(PreUpdate, accept);
        }
    }

    /// The plugin for an app that connects when it starts.
    #[must_use]
    pub fn client(&self) -> impl Plugin + use<> {
        let network = self.clone();
        move |app: &mut App| {
            add_transport(app);
            app.world_mut().spawn(network.connect());
        }
    }

    /// Connects: the components of the entity of a client's connection.
    #[must_use]
    pub fn connect(&self) -> impl Bundle + use<> {
        let mut network = self.lock();
        network.seed += 2;
        let (conditions, seed) = (&network.conditions, network.seed);
        let wire = Arc::new(Mutex::new(Wire {
            links: [0, 1].map(|way| Link::new(conditions.clone(), seed + way)),
            is_closed: false,
        }));
        network.new.push(Arc::clone(&wire));
        network.links.push(Arc::clone(&wire));
        drop(network);
        let connection = MemoryConnection::new(self, wire, 0);
        (Server, connection, Mailbox::new(HEADER_BYTES))
    }

    /// Changes the conditions of all links.
    pub fn set_conditions(&self, conditions: Conditions) {
        let mut network = self.lock();
        for wire in &network.links {
            for link in &mut lock(wire).links {
                link.set_conditions(conditions.clone());
            }
        }
        network.conditions = conditions;
    }

    /// Sets the time of the links, which then stands still: for tests.
    pub fn set_time(&self, now: Duration) {
        self.lock().now = Some(now);
    }

    fn now(&self) -> Duration {
        let network = self.lock();
        network.now.unwrap_or_else(|| network.start.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Network> {
        lock(&self.0)
    }
}

/// What a panic elsewhere has left is still a network.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The systems of both ends, once in an app that has both.
fn add_transport(app: &mut App) {
    #[derive(Resource)]
    struct HasTransport;

    mailbox::add(app);
    if !app.world().contains_resource::<HasTransport>() {
        app.insert_resource(HasTransport)
            .add_systems(PreUpdate, receive.in_set(CubewireSystems::Receive))
            .add_systems(FixedPostUpdate, flush.in_set(CubewireSystems::Flush))
            .add_systems(PostUpdate, flush.in_set(CubewireSystems::Flush));
    }
}

/// One end of a connection.
#[derive(Component, Debug)]
struct MemoryConnection {
    network: MemoryNetwork,
    wire: Arc<Mutex<Wire>>,
    /// Index of the link that this end sends into.
    end: usize,
    pipe: Pipe,
}

impl MemoryConnection {
    fn new(network: &MemoryNetwork, wire: Arc<Mutex<Wire>>, end: usize) -> Self {
        Self {
            network: network.clone(),
            wire,
            end,
            pipe: Pipe::default(),
        }
    }
}

fn receive(
    mut connections: Query<(Entity, &mut MemoryConnection, &mut Mailbox)>,
    mut commands: Commands,
) {
    for (entity, mut connection, mut mailbox) in &mut connections {
        let connection = &mut *connection;
        let now = connection.network.now();
        let mut wire = lock(&connection.wire);
        let mut is_broken = wire.is_closed;
        while let Some(packet) = wire.links[1 - connection.end].receive(now) {
            let bytes = packet.len() + HEADER_BYTES;
            mailbox.traffic.received.count(&packet, bytes);
            is_broken |= connection.pipe.receive(now, &packet).is_err();
        }
        connection.pipe.deliver(&mut mailbox);
        if is_broken {
            commands.entity(entity).despawn();
        }
    }
}

fn flush(
    mut connections: Query<(Entity, &mut MemoryConnection, &mut Mailbox)>,
    mut commands: Commands,
) {
    for (entity, mut connection, mut mailbox) in &mut connections {
        let connection = &mut *connection;
        let now = connection.network.now();
        let packets = connection
            .pipe
            .flush(now, entity, &mut mailbox, &mut commands);
        let mut wire = lock(&connection.wire);
        for packet in packets {
            let bytes = packet.len() + HEADER_BYTES;
            mailbox.traffic.sent.count(&packet, bytes);
            wire.links[connection.end].send(now, bytes, packet);
        }
    }
}

/// The other end notices in its next frame, also if the whole app is dropped.
impl Drop for MemoryConnection {
    fn drop(&mut self) {
        lock(&self.wire).is_closed = true;
        let mut network = self.network.lock();
        network.links.retain(|wire| !Arc::ptr_eq(wire, &self.wire));
    }
}
