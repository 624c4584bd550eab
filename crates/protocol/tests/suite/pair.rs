//! Both ends of a connection with a random world, and a link in each direction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::{
    Baseline, Coverage, DecodeError, Plan, QuantizedSnapshot, Snapshot, Stages, ladder,
};
use cubewire_link::{Conditions, Link};
use cubewire_protocol::renet_guard::SLICE_BYTES;
use cubewire_protocol::{
    BaselineChoice, ClientConnection, Contract, Extras, PacketOutcome, RateControl, SendJob,
    ServerConnection, Settings, SnapshotReceiver, SnapshotSender, TransportState, connect,
    encode_jobs,
};

use crate::world::World;

/// Bytes of headers per datagram.
const HEADER_BYTES: usize = 64;

/// Both ends of a connection. Compares every decoded snapshot with the sent one.
pub(crate) struct Pair {
    seed: u64,
    pub(crate) tick: u64,
    pub(crate) world: World,
    contract: Arc<Contract>,
    rate_control: RateControl,
    pub(crate) server: ServerConnection,
    pub(crate) client: ClientConnection,
    pub(crate) stages: Stages,
    pub(crate) choice: BaselineChoice,
    pub(crate) send_interval_ticks: u8,
    pub(crate) asked_kbps: Option<u32>,
    /// Bytes that were sent to the receiver, with headers.
    pub(crate) sent_bytes: u64,
    pub(crate) down: Link<Vec<u8>>,
    pub(crate) up: Link<Vec<u8>>,
    pub(crate) decoded: u64,
    pub(crate) rejected: Vec<DecodeError>,
    /// Number of ticks that the receiver's clock stood still.
    asleep: u64,
    initial: Snapshot,
    /// Wanted snapshots by tick, as far back as a packet can be in flight.
    pub(crate) wanted: BTreeMap<u64, Arc<QuantizedSnapshot>>,
}

/// Prints the seed if a test fails.
impl Drop for Pair {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}, failed at tick {}", self.seed, self.tick);
        }
    }
}

impl Pair {
    /// Creates a pair with twelve cubes.
    pub(crate) fn new(conditions: Conditions, seed: u64) -> Self {
        Self::starting_at(0, conditions, seed)
    }

    pub(crate) fn starting_at(tick: u64, conditions: Conditions, seed: u64) -> Self {
        let world = World::new(Plan::cubes(), 12, seed);
        Self::of(world, ladder::CHANGED_FLAGS.stages, tick, conditions, seed)
    }

    pub(crate) fn of(
        world: World,
        stages: Stages,
        tick: u64,
        conditions: Conditions,
        seed: u64,
    ) -> Self {
        let initial = world.snapshot();
        let contract = Arc::new(Contract::new(Arc::clone(&world.plan), String::new()));
        let rate_control = RateControl::Off;
        let now = time(&world.plan, tick);
        let (server, client) = ends(&contract, rate_control, now, tick, &initial);
        Self {
            seed,
            tick,
            world,
            contract,
            rate_control,
            server,
            client,
            stages,
            choice: BaselineChoice::Newest,
            send_interval_ticks: 1,
            asked_kbps: None,
            sent_bytes: 0,
            down: Link::new(conditions.clone(), seed.wrapping_mul(2)),
            up: Link::new(conditions, seed.wrapping_mul(2) + 1),
            decoded: 0,
            rejected: Vec::new(),
            asleep: 0,
            initial,
            wanted: BTreeMap::new(),
        }
    }

    pub(crate) fn with_rate_control(mut self, rate_control: RateControl) -> Self {
        self.rate_control = rate_control;
        (self.server, self.client) = self.new_ends();
        self
    }

    pub(crate) fn sender(&self) -> &SnapshotSender {
        self.server.sender().expect("the client is welcomed")
    }

    pub(crate) fn receiver(&self) -> &SnapshotReceiver {
        self.client.receiver().expect("the client is welcomed")
    }

    pub(crate) fn now(&self) -> Duration {
        time(&self.world.plan, self.tick - self.asleep)
    }

    pub(crate) fn set_conditions(&mut self, conditions: &Conditions) {
        self.down.set_conditions(conditions.clone());
        self.up.set_conditions(conditions.clone());
    }

    pub(crate) fn cut(&mut self, cut: bool) {
        let conditions = Conditions { cut, ..self.down.conditions().clone() };
        self.set_conditions(&conditions);
    }

    /// Replaces both ends, like a viewer that leaves and another that connects.
    pub(crate) fn reconnect(&mut self) {
        (self.server, self.client) = self.new_ends();
        let now = self.now() + Duration::from_secs(3600);
        while self.down.receive(now).is_some() {}
        while self.up.receive(now).is_some() {}
    }

    /// Replaces the client only. The server does not know that the new one has no snapshots.
    pub(crate) fn forget(&mut self) {
        self.client = self.new_ends().1;
    }

    fn new_ends(&self) -> (ServerConnection, ClientConnection) {
        ends(&self.contract, self.rate_control, self.now(), self.tick, &self.initial)
    }

    /// Advances the sender by `ticks` while the receiver's clock stands still.
    pub(crate) fn skip(&mut self, ticks: u64) {
        self.tick += ticks;
        self.asleep += ticks;
    }

    /// Runs for some ticks and returns the number of snapshots that were decoded.
    pub(crate) fn run(&mut self, ticks: u64) -> u64 {
        let before = self.decoded;
        for _ in 0..ticks {
            self.step();
        }
        self.decoded - before
    }

    pub(crate) fn step(&mut self) {
        self.world.step();
        let wanted = self.world.quantized(self.stages);
        self.exchange(wanted);
    }

    /// Advances by a tick with this snapshot.
    pub(crate) fn exchange(&mut self, wanted: QuantizedSnapshot) {
        self.tick += 1;
        let now = self.now();
        while let Some(datagram) = self.up.receive(now) {
            self.server.on_datagram(self.tick, &datagram).unwrap();
        }
        self.server.check(now, 0, 0).unwrap();
        let wanted = Arc::new(wanted);
        if let Some(packet) = self.send(now, &wanted) {
            let bytes = packet.len() + packet.len().div_ceil(SLICE_BYTES) * HEADER_BYTES;
            self.sent_bytes += bytes as u64;
            self.down.send(now, bytes, packet);
        }
        self.wanted.insert(self.tick, wanted);
        if self.wanted.len() > 6000 {
            self.wanted.pop_first();
        }
        while let Some(packet) = self.down.receive(now) {
            self.receive(now, &packet);
        }
        for datagram in self.client.datagrams() {
            self.up.send(now, datagram.len() + HEADER_BYTES, datagram);
        }
    }

    /// Returns the packet of this tick, if one is sent.
    fn send(&mut self, now: Duration, wanted: &Arc<QuantizedSnapshot>) -> Option<Vec<u8>> {
        let transport = TransportState {
            sent_bytes: self.sent_bytes,
            overhead_bytes: HEADER_BYTES,
            ..TransportState::default()
        };
        self.server.set_settings(Settings {
            stages: self.stages,
            send_interval_ticks: self.send_interval_ticks,
            baseline: self.choice,
            budget_kbps: self.asked_kbps,
        });
        self.server.allow(now, self.tick, &transport);
        if !self.server.is_due(self.tick) {
            return None;
        }
        let mut jobs =
            [self.server.prepare(self.tick, Arc::clone(wanted), Extras::default()).unwrap()];
        encode_jobs(&mut jobs, |due| due.into_iter().for_each(SendJob::encode));
        let [job] = jobs;
        let max_bytes = job.max_bytes();
        let bytes = job.finish(None).unwrap()?.bytes;
        let size = bytes.len();
        assert!(max_bytes.is_none_or(|most| size <= most), "{size} of {max_bytes:?}");
        Some(bytes)
    }

    fn receive(&mut self, now: Duration, packet: &[u8]) {
        match self.client.on_datagram(now, packet) {
            Ok(Some(PacketOutcome::Decoded { tick, .. })) => {
                self.decoded += 1;
                let held = self.receiver().get(tick).expect("it was just decoded");
                match held.stages().coverage() {
                    Coverage::Complete => {
                        assert_eq!(held.snapshot(), &*self.wanted[&tick], "tick {tick}");
                    }
                    Coverage::Partial => self.check_partial(tick, held),
                }
                // The state that later packets depend on must be equal too.
                assert!(self.sender().get(tick).is_none_or(|sent| sent == held), "tick {tick}");
            }
            Ok(_) => {}
            Err(error) => self.rejected.push(error),
        }
    }

    /// Checks that each body is as it was wanted when a packet carried it.
    fn check_partial(&self, tick: u64, received: &Baseline) {
        let mut then = received.snapshot().clone();
        for (slot, age) in received.ages().enumerate().filter(|&(_, age)| age < u8::MAX) {
            then.copy_slot(slot, &self.wanted[&(tick - u64::from(age))]);
        }
        assert_eq!(received.snapshot(), &then, "tick {tick}");
    }
}

/// Returns the time of a tick, exact to the nanosecond at any tick.
fn time(plan: &Plan, tick: u64) -> Duration {
    Duration::from_nanos(tick * 1_000_000_000 / u64::from(plan.schema().ticks_per_second))
}

/// Returns both ends after the welcome.
pub(crate) fn ends(
    contract: &Arc<Contract>,
    rate_control: RateControl,
    now: Duration,
    tick: u64,
    initial: &Snapshot,
) -> (ServerConnection, ClientConnection) {
    let mut server = ServerConnection::new(Arc::clone(contract), rate_control, now);
    let mut client = ClientConnection::new(Arc::clone(contract));
    connect(&mut client, &mut server, now, tick, initial).unwrap();
    (server, client)
}
