//! Random runs against a model of the server's history. A client must show only states that the server had while the client
//! could see the body, in their order. After the last change, all clients must equal the server, and get a message. A seed
//! determines the network, the settings, and all changes. The model reads only the components that the test inserts, `InSlot`,
//! and `Connected`.

mod history;
mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy_time::{Time, Virtual};
use cubewire_bevy::cubewire_codec::ladder::{LADDER, PREDICTED, Rung};
use cubewire_bevy::cubewire_protocol::{BaselineChoice, Interpolation};

use self::history::History;
use self::watch::{Fault, Watch};
use super::*;

const CLIENTS: usize = 3;

/// Kinds of the bodies with even and odd numbers.
const KINDS: [&str; 2] = ["crate", "hero"];

/// Number of times that a run stops changing anything until all clients equal the server.
const ROUNDS: usize = 3;

/// Limit of the ticks until then. Within a low budget, it takes seconds.
const MAX_SETTLING_TICKS: usize = 3_000;

/// Identifies the body. Never changes, and is never 0.
#[derive(Component, Clone, Copy)]
struct Number(u16);

#[derive(Component, Clone, Copy)]
struct Target(Option<Entity>);

/// On the server's entity of a connection: index of the client.
#[derive(Component, Clone, Copy)]
struct Viewer(usize);

/// Bit by client: whether the body is hidden from it.
#[derive(Component, Clone, Copy)]
#[component(immutable)]
struct HiddenFrom(u8);

/// Bit by client: whether the body is frozen for it.
#[derive(Component, Clone, Copy)]
#[component(immutable)]
struct FrozenFor(u8);

impl VisibilityFilter for HiddenFrom {
    type Client = Viewer;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Despawn;

    fn is_visible(&self, client: Option<&Viewer>) -> bool {
        client.is_none_or(|client| self.0 >> client.0 & 1 == 0)
    }
}

impl VisibilityFilter for FrozenFor {
    type Client = Viewer;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Freeze;

    fn is_visible(&self, client: Option<&Viewer>) -> bool {
        client.is_none_or(|client| self.0 >> client.0 & 1 == 0)
    }
}

/// Clients and settings of the connections that the server has not accepted yet.
#[derive(Resource, Default)]
struct Joining(VecDeque<(Viewer, ConnectionSettings, Option<ByteBudget>)>);

fn register<const HZ: u32, const SLOTS: usize>(app: &mut App) {
    // By default, a tick at 1 Hz takes four frames.
    app.world_mut().resource_mut::<Time<Virtual>>().set_max_delta(Duration::from_secs(2));
    app.add_plugins(CubewirePlugin::new("model").hz(HZ.into()).floor(0.0).max_bodies(SLOTS as u32))
        .replicate_pose(Pose::within(-100.0..100.0, -10.0..50.0, -100.0..100.0))
        .body_kind(KINDS[0], Shape::cuboid(Vec3::splat(0.5)))
        .body_kind(KINDS[1], Shape::capsule(0.6, 0.4))
        .replicate_field(
            "number",
            Field::int(0..=4_095),
            |number: &Number| number.0.into(),
            |value| Number(value as u16),
        )
        .replicate_field(
            "health",
            Field::int(0..=100),
            |health: &Health| health.0.into(),
            |value| Health(value as u8),
        )
        .replicate_reference("target", |target: &Target| target.0, Target)
        .replicate_teleports()
        .replicate::<PlayerName>()
        .replicate::<Follows>()
        .add_message_to_client::<Chat>();
}

type Register = fn(&mut App);

/// Tick rates and numbers of slots, with the protocol of each.
const PROTOCOLS: [(u32, usize, Register); 7] = [
    (1, 6, register::<1, 6>),
    (5, 6, register::<5, 6>),
    (20, 6, register::<20, 6>),
    (60, 6, register::<60, 6>),
    (60, 100, register::<60, 100>),
    (120, 6, register::<120, 6>),
    (240, 6, register::<240, 6>),
];

fn conditions(chance: &mut Chance) -> Conditions {
    let ms = |ms: u64| Duration::from_millis(ms);
    let loss = [0.0, 0.02, 0.1, 0.2, 0.3][chance.below(5)];
    Conditions {
        latency: ms([0, 20, 60, 150][chance.below(4)]),
        jitter: Jitter::Uniform { spread: ms([0, 10, 50][chance.below(3)]) },
        loss: Loss::bursts(loss, 1.0 + chance.below(21) as f64 / 10.0),
        duplicate_probability: [0.0, 0.05][chance.below(2)],
        ..Conditions::PERFECT
    }
}

struct Run {
    net: TestNet,
    chance: Chance,
    history: History,
    watches: [Watch; CLIENTS],
    /// Bodies of the server.
    bodies: Vec<(u16, Entity)>,
    /// More bodies than there are slots: some wait.
    max_bodies: usize,
    /// Index of the body with half of the changes.
    focus: usize,
    changes: usize,
    /// A body that blinks, and the number of ticks until it is enabled and visible to all clients again.
    blinking: Option<(Entity, usize)>,
    /// Ticks with changes in a round.
    ticks: u32,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut chance = Chance((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (hz, slots, protocol) = PROTOCOLS[chance.below(PROTOCOLS.len())];
        let mut net = TestNet::with_conditions(protocol, Conditions::PERFECT, seed);
        net.server.add_visibility_filter::<HiddenFrom>().add_visibility_filter::<FrozenFor>();
        net.server.init_resource::<Joining>().add_observer(
            |new: On<Add, Client>, mut joining: ResMut<Joining>, mut commands: Commands| {
                let (viewer, settings, budget) = joining.0.pop_front().expect("it was announced");
                let mut client = commands.entity(new.entity);
                client.insert((viewer, settings));
                budget.into_iter().for_each(|budget| _ = client.insert(budget));
            },
        );
        let mut run = Self {
            net,
            chance,
            history: History::default(),
            watches: std::array::from_fn(|client| Watch::new(client, 0)),
            bodies: Vec::new(),
            max_bodies: slots * 3 / 2,
            focus: 0,
            changes: 0,
            blinking: None,
            // At a high rate, bodies wait longer for slots to cool down.
            ticks: 60 + hz / 2,
        };
        for client in 0..CLIENTS {
            run.announce(client);
            run.net.add_client();
        }
        (6..slots).for_each(|_| run.spawn());
        // In apps as small as these, threads take more time than they save.
        for app in std::iter::once(&mut run.net.server).chain(&mut run.net.clients) {
            let mut schedules = app.world_mut().resource_mut::<Schedules>();
            for (_, schedule) in schedules.iter_mut() {
                schedule.set_executor(SingleThreadedExecutor::new());
            }
        }
        run
    }

    /// Chooses the settings of a client's next connection.
    fn announce(&mut self, client: usize) {
        let settings = self.settings(PREDICTED);
        let budget = self.budget();
        let budget = Some(budget).filter(|_| self.chance.below(4) == 0);
        let mut joining = self.net.server.world_mut().resource_mut::<Joining>();
        joining.0.push_back((Viewer(client), settings, budget));
    }

    fn settings(&mut self, rung: Rung) -> ConnectionSettings {
        let chance = &mut self.chance;
        let baselines = [BaselineChoice::Newest, BaselineChoice::Newest, BaselineChoice::Smallest];
        ConnectionSettings {
            stages: *rung.stages,
            send_interval_ticks: 1 + chance.below(6) as u8,
            baseline: baselines[chance.below(3)],
            interpolation: Interpolation::ALL[chance.below(2)],
        }
    }

    fn budget(&mut self) -> ByteBudget {
        ByteBudget::kbps(16 + 16 * self.chance.below(5) as u32)
    }

    /// Changes the budget, the interest or the settings of a client. Illegal settings have no effect.
    fn change_connection(&mut self) {
        let clients = all::<Connected>(&mut self.net.server);
        if clients.is_empty() || self.bodies.is_empty() {
            return;
        }
        let client = clients[self.chance.below(clients.len())];
        let center = self.any_body();
        let interest = Interest::around(self.bodies[center].1, 60.0, 80.0);
        let rung = LADDER[self.chance.below(LADDER.len())];
        let (settings, budget) = (self.settings(rung), self.budget());
        let choice = self.chance.below(5);
        let mut client = server(&mut self.net).entity_mut(client);
        match choice {
            0 => _ = client.insert(budget),
            1 => _ = client.remove::<ByteBudget>(),
            2 => _ = client.insert(interest),
            3 => _ = client.remove::<Interest>(),
            _ => _ = client.insert(settings),
        }
    }

    fn spawn(&mut self) {
        self.changes += 1;
        let (number, at) = (self.changes as u16, self.place());
        let kind = KINDS[self.changes % 2];
        let body = spawn(&mut self.net, kind, at, (Number(number), Health(0)));
        if self.chance.below(2) == 0 {
            insert(&mut self.net, body, PlayerName(format!("{number} of {number}")));
        }
        self.bodies.push((number, body));
        self.history.spawn(number, body);
    }

    /// Returns a place in whole units, which is sent exactly.
    fn place(&mut self) -> Vec3 {
        let [x, y, z] = [180, 40, 180].map(|end| self.chance.below(end) as f32);
        Vec3::new(x - 90.0, y, z - 90.0)
    }

    /// Returns a bit for each client, most of them 0.
    fn some_clients(&mut self) -> u8 {
        let bits = [self.chance.below(8), self.chance.below(8), self.chance.below(2) * 7];
        (bits[0] & bits[1] & bits[2]) as u8 | [0, 0, 0, 7][self.chance.below(4)]
    }

    fn any_body(&mut self) -> usize {
        let count = self.bodies.len();
        match self.chance.below(2) {
            0 => self.focus % count,
            _ => self.chance.below(count),
        }
    }

    /// Changes one body of the server.
    fn change(&mut self) {
        let count = self.bodies.len();
        if count == 0 || count < self.max_bodies && self.chance.below(10) == 0 {
            return self.spawn();
        }
        if self.chance.below(8) == 0 {
            self.focus = self.chance.below(count);
        }
        self.changes += 1;
        let index = self.any_body();
        let other = self.any_body();
        let ((number, body), other) = (self.bodies[index], self.bodies[other].1);
        let (place, clients) = (self.place(), self.some_clients());
        let (choice, health) = (self.chance.below(25), self.chance.below(101) as u8);
        if matches!(choice, 1 | 2 | 11 | 12) && self.chance.below(2) == 0 {
            self.blinking.get_or_insert((body, 1 + self.chance.below(8)));
        }
        let mut body = server(&mut self.net).entity_mut(body);
        match choice {
            0 => {
                body.despawn();
                self.bodies.swap_remove(index);
            }
            1 | 2 => _ = body.insert(Disabled),
            3..=6 => _ = body.remove::<Disabled>(),
            7..=10 => _ = body.insert((Transform::from_translation(place), Teleport)),
            11 | 12 => _ = body.insert(HiddenFrom(clients)),
            13 | 14 => _ = body.insert(FrozenFor(clients)),
            15 | 16 => _ = body.insert(PlayerName(format!("{} of {number}", self.changes))),
            17 => _ = body.remove::<PlayerName>(),
            18 => _ = body.insert(Health(health)),
            19..=21 => _ = body.insert(Target(Some(other))),
            22 => _ = body.insert(Target(None)),
            23 => _ = body.insert(Follows(other)),
            _ => _ = body.remove::<Follows>(),
        }
    }

    /// Ends the blinking of a body when it is due.
    fn end_blinking(&mut self) {
        let Some((body, ticks)) = &mut self.blinking else {
            return;
        };
        *ticks -= 1;
        if *ticks == 0 {
            if let Ok(mut body) = self.net.server.world_mut().get_entity_mut(*body) {
                body.remove::<(Disabled, HiddenFrom)>();
            }
            self.blinking = None;
        }
    }

    /// Lets a client despawn one of its bodies.
    fn despawn_at_client(&mut self) {
        let client = self.chance.below(CLIENTS);
        let remote = all::<Remote>(&mut self.net.clients[client]);
        if !remote.is_empty() {
            let body = remote[self.chance.below(remote.len())];
            self.watches[client].on_own_despawn(body);
            self.net.clients[client].world_mut().despawn(body);
        }
    }

    fn reconnect(&mut self, client: usize) {
        // The server ends the old connection only when the farewell has arrived.
        let world = self.net.server.world_mut();
        let mut viewers = world.query::<(Entity, &Viewer)>();
        let of_client = viewers.iter(world).filter(|(_, viewer)| viewer.0 == client);
        for connection in of_client.map(|(connection, _)| connection).collect::<Vec<_>>() {
            world.entity_mut(connection).remove::<Viewer>();
        }
        self.announce(client);
        self.net.reconnect(client);
        self.watches[client].on_reconnection(self.history.tick());
    }

    /// Runs a tick, and compares all clients with the model.
    fn tick(&mut self) {
        self.net.tick();
        if stats(&self.net).tick > self.history.tick() {
            self.history.record(self.net.server.world_mut(), &self.bodies);
        }
        for (watch, client) in self.watches.iter_mut().zip(&mut self.net.clients) {
            watch.look(client.world_mut(), &self.history);
        }
        for client in 0..CLIENTS {
            // With loss, few packets per second may not be enough for a handshake within its time limit.
            if all::<Server>(&mut self.net.clients[client]).is_empty() {
                self.reconnect(client);
            }
        }
    }

    /// Plays a round of changes of bodies and connections.
    fn play(&mut self) {
        let pace = 1 + self.chance.below(4);
        for _ in 0..self.ticks {
            self.end_blinking();
            if self.chance.below(pace) == 0 {
                (0..=self.chance.below(3)).for_each(|_| self.change());
            }
            match self.chance.below(300) {
                0 => {
                    let client = self.chance.below(CLIENTS);
                    self.reconnect(client);
                }
                1..=3 => self.despawn_at_client(),
                4..=7 => self.change_connection(),
                _ => {}
            }
            self.tick();
        }
    }

    /// Runs until all clients equal the server. Returns whether they do.
    fn settle(&mut self) -> bool {
        let mut is_equal = || {
            self.tick();
            self.differences().is_empty()
        };
        (0..MAX_SETTLING_TICKS).any(|_| is_equal())
    }

    /// Returns whether all clients get a message.
    fn is_heard(&mut self) -> bool {
        server(&mut self.net).write_message(ToClient::all(Chat("over".into())));
        let mut has_heard = [false; CLIENTS];
        (0..MAX_SETTLING_TICKS).any(|_| {
            self.tick();
            for (has_heard, client) in has_heard.iter_mut().zip(&mut self.net.clients) {
                *has_heard |= !taken::<FromServer<Chat>>(client).is_empty();
            }
            has_heard == [true; CLIENTS]
        })
    }

    /// Returns the differences between the server and what its clients show.
    fn differences(&self) -> Vec<Fault> {
        self.watches.iter().flat_map(|watch| watch.differences(&self.history)).collect()
    }
}

/// Runs a seed. Returns the first fault of each kind.
fn faults(seed: u64) -> BTreeMap<String, String> {
    let mut run = Run::new(seed);
    let bad = conditions(&mut run.chance);
    for _ in 0..ROUNDS {
        run.net.set_conditions(&bad);
        run.play();
        run.net.set_conditions(&Conditions::PERFECT);
        if !run.settle() {
            break;
        }
    }
    let mut faults = BTreeMap::from_iter(run.differences());
    run.net.set_conditions(&bad);
    if !run.is_heard() {
        faults.insert("end: no message".to_owned(), String::new());
    }
    faults.extend(run.watches.iter_mut().flat_map(|watch| std::mem::take(&mut watch.faults)));
    faults
}

/// Prints the seed of a run that panics.
struct Announced(u64);

impl Drop for Announced {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("panic in the run with seed {}", self.0);
        }
    }
}

/// Runs seeds in two threads, or only the one in the environment variable `CUBEWIRE_MODEL_SEED`.
///
/// # Panics
/// If there are faults. The message has the seeds and the first fault of each kind.
fn run_all(seeds: Range<u64>) {
    let seeds: Vec<_> = match std::env::var("CUBEWIRE_MODEL_SEED") {
        Ok(seed) => vec![seed.parse().expect("CUBEWIRE_MODEL_SEED is a number")],
        Err(_) => seeds.collect(),
    };
    let run_some = |first: usize| {
        let found = seeds.iter().skip(first).step_by(2).map(|&seed| {
            let _announced = Announced(seed);
            (seed, faults(seed))
        });
        found.filter(|(_, faults)| !faults.is_empty()).collect::<Vec<_>>()
    };
    let mut found = std::thread::scope(|scope| {
        let other = scope.spawn(|| run_some(1));
        [run_some(0), other.join().expect("the other thread panicked")].concat()
    });
    found.sort();
    let mut kinds = BTreeMap::<_, (Vec<u64>, String)>::new();
    for (seed, faults) in &found {
        for (kind, text) in faults {
            kinds.entry(kind).or_insert_with(|| (Vec::new(), text.clone())).0.push(*seed);
        }
    }
    let kinds = kinds.iter().map(|(kind, (seeds, text))| {
        format!("{kind}: {} seeds: {:?}\n  {text}\n", seeds.len(), &seeds[..seeds.len().min(8)])
    });
    assert!(found.is_empty(), "{} seeds have faults\n{}", found.len(), kinds.collect::<String>());
}

#[test]
fn clients_show_what_the_server_had() {
    run_all(0..200);
}

#[test]
#[ignore = "5 000 seeds; takes 4 minutes"]
fn clients_show_what_the_server_had_with_many_seeds() {
    run_all(0..5_000);
}
