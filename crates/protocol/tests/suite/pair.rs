//! A sender and a receiver of a random world, with a link in each direction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::{
    Baseline, Coverage, DecodeError, Plan, QuantizedSnapshot, Snapshot, Stages, ladder,
};
use cubewire_link::{Conditions, Link};
use cubewire_protocol::renet_guard::SLICE_BYTES;
use cubewire_protocol::{
    AllowedSnapshot, BaselineChoice, PacketOutcome, SendBudget, SnapshotReceiver, SnapshotSender,
    TransportState,
};

use crate::play::ends;
use crate::world::World;

/// Bytes of headers per datagram.
const HEADER_BYTES: usize = 64;

/// Both ends. Compares every decoded snapshot with the sent one.
pub(crate) struct Pair {
    seed: u64,
    pub(crate) tick: u64,
    pub(crate) world: World,
    pub(crate) sender: SnapshotSender,
    pub(crate) receiver: SnapshotReceiver,
    pub(crate) stages: Stages,
    pub(crate) choice: BaselineChoice,
    pub(crate) send_interval_ticks: u64,
    pub(crate) budget: SendBudget,
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
    pub(crate) wanted: BTreeMap<u64, QuantizedSnapshot>,
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
        let (sender, receiver) = new_ends(&world.plan, tick, tick, &initial);
        let ticks_per_second = world.plan.schema().ticks_per_second;
        Self {
            seed,
            tick,
            world,
            sender,
            receiver,
            stages,
            choice: BaselineChoice::Newest,
            send_interval_ticks: 1,
            budget: SendBudget::new(ticks_per_second),
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
        (self.sender, self.receiver) = self.new_ends();
        let now = self.now() + Duration::from_secs(3600);
        while self.down.receive(now).is_some() {}
        while self.up.receive(now).is_some() {}
    }

    /// Replaces the receiver only. The sender does not know that the new one has no snapshots.
    pub(crate) fn forget(&mut self) {
        self.receiver = self.new_ends().1;
    }

    fn new_ends(&self) -> (SnapshotSender, SnapshotReceiver) {
        new_ends(&self.world.plan, self.tick, self.tick - self.asleep, &self.initial)
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
        while let Some(message) = self.up.receive(now) {
            let feedback = self.sender.on_message(&message).unwrap();
            self.budget.on_feedback(self.tick, &feedback);
        }
        if self.tick.is_multiple_of(self.send_interval_ticks) && self.send(&wanted) {
            let packet = self.sender.packet().bytes.clone();
            let bytes = packet.len() + packet.len().div_ceil(SLICE_BYTES) * HEADER_BYTES;
            self.sent_bytes += bytes as u64;
            self.budget.on_sent(self.tick, packet.len());
            self.down.send(now, bytes, packet);
        }
        self.wanted.insert(self.tick, wanted);
        if self.wanted.len() > 6000 {
            self.wanted.pop_first();
        }
        while let Some(packet) = self.down.receive(now) {
            self.receive(now, &packet);
        }
        while let Some(feedback) = self.receiver.poll_feedback() {
            let message = feedback.encode();
            self.up.send(now, message.len() + HEADER_BYTES, message);
        }
    }

    /// Sends a snapshot within the budget. Returns whether a packet was produced.
    fn send(&mut self, wanted: &QuantizedSnapshot) -> bool {
        let (tick, stages) = (self.tick, self.stages);
        let outbound = TransportState {
            sent_bytes: self.sent_bytes,
            overhead_bytes: HEADER_BYTES,
            ..TransportState::default()
        };
        let (allowed, _) = self.budget.allow(tick, self.now(), self.asked_kbps, true, &outbound);
        let AllowedSnapshot::Partial(packet_budget) = allowed else {
            return self.sender.send(tick, stages, wanted, self.choice).is_ok();
        };
        let sent = self.sender.send_within(tick, stages, wanted, packet_budget);
        let is_sent = sent.unwrap().is_some();
        let size = self.sender.packet().bytes.len();
        assert!(!is_sent || size <= packet_budget.bytes, "{size} of {}", packet_budget.bytes);
        is_sent
    }

    fn receive(&mut self, now: Duration, packet: &[u8]) {
        match self.receiver.on_packet(now, packet) {
            Ok(PacketOutcome::Decoded { tick, .. }) => {
                self.decoded += 1;
                let held = self.receiver.get(tick).expect("it was just decoded");
                match held.stages().coverage() {
                    Coverage::Complete => {
                        assert_eq!(held.snapshot(), &self.wanted[&tick], "tick {tick}");
                    }
                    Coverage::Partial => self.check_partial(tick, held),
                }
                // The state that later packets depend on must be equal too.
                assert!(self.sender.get(tick).is_none_or(|sent| sent == held), "tick {tick}");
            }
            Ok(PacketOutcome::Duplicate { .. } | PacketOutcome::OutOfWindow { .. }) => {}
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

fn new_ends(
    plan: &Arc<Plan>,
    tick: u64,
    now: u64,
    initial: &Snapshot,
) -> (SnapshotSender, SnapshotReceiver) {
    ends(plan, tick, initial, Duration::from_millis(85), time(plan, now))
}
