//! Test network: a server and clients as apps without windows, with a manual clock and simulated links.
//!
//! ```
//! # use bevy_app::App;
//! use cubewire_bevy::prelude::*;
//! use cubewire_bevy::testing::TestNet;
//!
//! fn protocol(app: &mut App) {
//!     app.add_plugins(CubewirePlugin::new("arena")).body_kind("ball", Shape::ball(0.5));
//! }
//!
//! let mut net = TestNet::new(protocol);
//! net.server.world_mut().spawn((Replicated, BodyKind::named("ball")));
//! net.add_client();
//! net.run_until(|net| net.count::<Remote>(0) == 1);
//! ```

use std::time::Duration;

use bevy_app::{App, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use cubewire_link::Conditions;

use crate::client::ClientPlugin;
use crate::memory::MemoryNetwork;
use crate::server::ServerPlugin;
use crate::transport::{LinkConditions, Server};

/// A server, its clients, and the network between them.
#[derive(Debug)]
pub struct TestNet {
    /// The server's app.
    pub server: App,
    /// The clients' apps, in order of [`add_client`](Self::add_client).
    pub clients: Vec<App>,
    /// The simulated network.
    pub network: MemoryNetwork,
    protocol: fn(&mut App),
    now: Duration,
}

/// Limit of [`TestNet::run_until`], in ticks.
const MAX_TICKS: usize = 5_000;

impl TestNet {
    /// Creates a server without clients and perfect links. `protocol` registers the protocol, at the clients as well.
    pub fn new(protocol: fn(&mut App)) -> Self {
        Self::with_conditions(protocol, Conditions::PERFECT, 1)
    }

    /// Creates a server without clients and links with these conditions. `seed` determines their random numbers.
    pub fn with_conditions(protocol: fn(&mut App), conditions: Conditions, seed: u64) -> Self {
        let network = MemoryNetwork::new(conditions, seed);
        network.set_time(Duration::ZERO);
        Self {
            server: app(|app| {
                protocol(app);
                app.add_plugins((ServerPlugin, network.server()));
            }),
            clients: Vec::new(),
            network,
            protocol,
            now: Duration::ZERO,
        }
    }

    /// Adds a client, which connects. Returns its index.
    pub fn add_client(&mut self) -> usize {
        self.add_client_with(self.protocol)
    }

    /// Adds a client with another protocol or additional plugins. Returns its index.
    pub fn add_client_with(&mut self, protocol: impl FnOnce(&mut App)) -> usize {
        self.clients.push(app(|app| {
            protocol(app);
            app.add_plugins((ClientPlugin, self.network.client()));
        }));
        self.clients.len() - 1
    }

    /// Ends a client's connection from its own end.
    pub fn disconnect(&mut self, client: usize) {
        let world = self.clients[client].world_mut();
        for server in servers(world) {
            world.despawn(server);
        }
    }

    /// Ends a client's connection, and connects it again.
    pub fn reconnect(&mut self, client: usize) {
        self.disconnect(client);
        self.clients[client].world_mut().spawn(self.network.connect());
    }

    /// Sets the conditions of current and future links.
    pub fn set_conditions(&mut self, conditions: &Conditions) {
        self.network.set_conditions(conditions.clone());
        for world in self.clients.iter_mut().map(App::world_mut) {
            for server in servers(world) {
                world.entity_mut(server).insert(LinkConditions(conditions.clone()));
            }
        }
    }

    /// Runs one tick of all apps.
    pub fn tick(&mut self) {
        self.now += self.server.world().resource::<Time<Fixed>>().timestep();
        self.network.set_time(self.now);
        self.server.update();
        for client in &mut self.clients {
            client.update();
        }
    }

    /// Runs this number of ticks.
    pub fn ticks(&mut self, ticks: usize) {
        (0..ticks).for_each(|_| self.tick());
    }

    /// Runs ticks until a condition holds.
    ///
    /// # Panics
    /// If it does not hold after 5 000 ticks.
    #[track_caller]
    pub fn run_until(&mut self, mut is_so: impl FnMut(&mut Self) -> bool) {
        for _ in 0..MAX_TICKS {
            if is_so(self) {
                return;
            }
            self.tick();
        }
        panic!("the condition is still false after {MAX_TICKS} ticks");
    }

    /// Returns the number of a client's entities with this component.
    pub fn count<C: Component>(&mut self, client: usize) -> usize {
        let world = self.clients[client].world_mut();
        world.query_filtered::<(), With<C>>().iter(world).count()
    }
}

fn servers(world: &mut World) -> Vec<Entity> {
    world.query_filtered::<Entity, With<Server>>().iter(world).collect()
}

/// Creates a headless app with time and task pools, and with whatever `add` adds. Each update is one fixed tick.
pub fn app(add: impl FnOnce(&mut App)) -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    add(&mut app);
    app.finish();
    app.cleanup();
    app
}
