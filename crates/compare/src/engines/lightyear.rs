//! `lightyear` with its own transport. Channels carry its packets to the link.

use std::marker::PhantomData;
use std::time::Duration;

use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use crossbeam_channel::{Receiver, Sender, unbounded};
use lightyear::crossbeam::CrossbeamIo;
use lightyear::prelude::client::{ClientPlugins, Connect, RawClient};
use lightyear::prelude::server::{RawServer, ServerPlugins};
use lightyear::prelude::*;
use mock_instant::global::MockClock;

use crate::apps::{Apps, Bits, End, Form, Library, Plain, Slot};
use crate::engine::{Engine, Variant};
use crate::scene::{Body, Frame, Grid, Scene};
use crate::wire::RawMessage;

pub const VARIANTS: &[Variant] = &[
    Variant { library: "lightyear", name: "as it comes", start: start::<Plain> },
    Variant { library: "lightyear", name: "bit-packed", start: start::<Bits> },
];

type Packet = bytes::Bytes;

struct Lightyear<F> {
    tick: Duration,
    /// For the server and the client, the packets to send and the packets to receive.
    ends: [(Receiver<Packet>, Sender<Packet>); 2],
    grid: Grid,
    form: PhantomData<F>,
}

fn io() -> (CrossbeamIo, (Receiver<Packet>, Sender<Packet>)) {
    let ((to_wire, sent), (received, from_wire)) = (unbounded(), unbounded());
    (CrossbeamIo::new(to_wire, from_wire), (sent, received))
}

fn start<F: Form>(scene: &Scene) -> Box<dyn Engine> {
    let tick_duration = Duration::from_secs(1) / u32::from(scene.schema.ticks_per_second);
    let app = |add_plugins: &dyn Fn(&mut App)| {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, StatesPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(tick_duration));
        add_plugins(&mut app);
        app.component::<Slot>().replicate_once();
        app.component::<F>().replicate();
        app.finish();
        app.cleanup();
        app
    };
    let mut server = app(&|app| _ = app.add_plugins(ServerPlugins { tick_duration }));
    let mut client = app(&|app| _ = app.add_plugins(ClientPlugins { tick_duration }));
    let (server_io, server_end) = io();
    let world = server.world_mut();
    let entity = world.spawn((RawServer, Linked)).id();
    let peer = (LinkOf { server: entity }, Link::default(), ReplicationSender, server_io);
    let entity = world.spawn(peer).id();
    world.trigger(LinkStart { entity });
    world.flush();
    let (client_io, client_end) = io();
    let world = client.world_mut();
    let entity =
        world.spawn((Client, RawClient, ReplicationReceiver, Link::default(), client_io)).id();
    world.trigger(Connect { entity });
    world.flush();
    let ends = [server_end, client_end];
    let (grid, form) = (scene.grid.clone(), PhantomData::<F>);
    let library = Lightyear { tick: tick_duration, ends, grid, form };
    Box::new(Apps { server, client, library })
}

impl<F: Form> Library for Lightyear<F> {
    fn spawn(&self, world: &mut World, slot: Slot, body: &Body) {
        let to_all = Replicate::to_clients(NetworkTarget::All);
        world.spawn((to_all, slot, F::of(&self.grid, body)));
    }

    fn change(&self, entity: &mut EntityWorldMut, body: &Body) {
        F::change(entity, F::of(&self.grid, body));
    }

    fn deliver(&mut self, end: End, _: &mut App, message: RawMessage) {
        let sent = self.ends[end as usize].1.send(message.bytes.into());
        sent.expect("both ends listen");
    }

    fn collect(&mut self, end: End, _: &mut App) -> Vec<RawMessage> {
        if end == End::Server {
            // lightyear times its pings with this clock.
            MockClock::advance(self.tick);
        }
        let packets = self.ends[end as usize].0.try_iter();
        let message =
            packets.map(|bytes| RawMessage { is_reliable: false, channel: 0, bytes: bytes.into() });
        message.collect()
    }

    fn shown(&self, client: &mut App, frame: &mut Frame) {
        F::shown(client, &self.grid, frame);
    }
}
