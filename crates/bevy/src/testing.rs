//! A server and clients for tests: apps without windows, a clock that is turned by hand, and simulated links between them.
//!
//! ```
//! # use bevy_app::App;
//! use cubewire_bevy::testing::TestNet;
//! use cubewire_bevy::{BodyKind, CubewireAppExt, CubewirePlugin, Remote, Replicated, Shape};
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
use crate::mailbox::Server;
use crate::memory::MemoryNetwork;
use crate::server::ServerPlugin;

/// A server, clients, and the network between them.
#[derive(Debug)]
pub struct TestNet {
    /// The server's app.
    pub server: App,
    /// The clients' apps, in the order in which they were added.
    pub clients: Vec<App>,
    /// The network.
    pub network: MemoryNetwork,
    protocol: fn(&mut App),
    now: Duration,
}

/// Ticks after which [`TestNet::run_until`] gives up.
const MAX_TICKS: usize = 5_000;

impl TestNet {
    /// A server without clients, over perfect links.
    #[must_use]
    pub fn new(protocol: fn(&mut App)) -> Self {
        Self::with_conditions(protocol, Conditions::PERFECT, 1)
    }

    /// A server without clients, over links with these conditions, whose chance follows from a seed.
    #[must_use]
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

    /// Adds a client, which connects, and returns its index.
    pub fn add_client(&mut self) -> usize {
        self.add_client_with(self.protocol)
    }

    /// As [`add_client`](Self::add_client), of another protocol or with more in its app.
    pub fn add_client_with(&mut self, protocol: impl FnOnce(&mut App)) -> usize {
        self.clients.push(app(|app| {
            protocol(app);
            app.add_plugins((ClientPlugin, self.network.client()));
        }));
        self.clients.len() - 1
    }

    /// Ends a client's connection, from its end.
    pub fn disconnect(&mut self, client: usize) {
        let world = self.clients[client].world_mut();
        let servers = world
            .query_filtered::<Entity, With<Server>>()
            .iter(world)
            .collect::<Vec<_>>();
        for server in servers {
            world.despawn(server);
        }
    }

    /// Connects a client again.
    pub fn reconnect(&mut self, client: usize) {
        self.disconnect(client);
        let connection = self.network.connect();
        self.clients[client].world_mut().spawn(connection);
    }

    /// A tick of all apps.
    pub fn tick(&mut self) {
        let step = self.server.world().resource::<Time<Fixed>>().timestep();
        self.now += step;
        self.network.set_time(self.now);
        self.server.update();
        for client in &mut self.clients {
            client.update();
        }
    }

    /// So many ticks.
    pub fn ticks(&mut self, ticks: usize) {
        (0..ticks).for_each(|_| self.tick());
    }

    /// Ticks until something is so.
    ///
    /// # Panics
    /// If it is not so after 5 000 ticks.
    #[track_caller]
    pub fn run_until(&mut self, mut is_so: impl FnMut(&mut Self) -> bool) {
        for _ in 0..MAX_TICKS {
            if is_so(self) {
                return;
            }
            self.tick();
        }
        panic!("it is not so after {MAX_TICKS} ticks");
    }

    /// How many entities of a client have a component.
    pub fn count<C: Component>(&mut self, client: usize) -> usize {
        let world = self.clients[client].world_mut();
        world.query_filtered::<(), With<C>>().iter(world).count()
    }
}

/// An app with time and tasks and what is added to it, and nothing to see. Each update is a tick.
pub fn app(add: impl FnOnce(&mut App)) -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    add(&mut app);
    app.finish();
    app.cleanup();
    app
}
