//! A sender and a receiver with a link in each direction.

use std::collections::BTreeMap;
use std::time::Duration;

use cubewire_codec::glam::{Quat, Vec3};
use cubewire_codec::{BodyState, DecodeError, Plan, QuantizedSnapshot, Snapshot, Stages, ladder};
use cubewire_link::{Conditions, Link};
use cubewire_protocol::{BaselineChoice, PacketOutcome, SnapshotReceiver, SnapshotSender};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::play::ends;

pub(crate) const TICKS_PER_SECOND: u32 = 60;

/// Bytes of the IPv4 and UDP headers.
const HEADER_BYTES: usize = 28;

/// Both ends. Compares every decoded snapshot with the sent one.
pub(crate) struct Pair {
    seed: u64,
    pub(crate) tick: u64,
    pub(crate) sender: SnapshotSender,
    pub(crate) receiver: SnapshotReceiver,
    pub(crate) stages: Stages,
    pub(crate) choice: BaselineChoice,
    pub(crate) send_interval_ticks: u64,
    pub(crate) down: Link<Vec<u8>>,
    pub(crate) up: Link<Vec<u8>>,
    pub(crate) decoded: u64,
    pub(crate) rejected: Vec<DecodeError>,
    /// Size of the newest packet, bytes.
    pub(crate) bytes: usize,
    /// Number of ticks that the receiver's clock stood still.
    asleep: u64,
    initial: Snapshot,
    bodies: Snapshot,
    random: ChaCha8Rng,
    /// Sent snapshots by tick, as far back as a packet can be in flight.
    sent: BTreeMap<u64, QuantizedSnapshot>,
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
    pub(crate) fn new(conditions: Conditions, seed: u64) -> Self {
        Self::starting_at(0, conditions, seed)
    }

    pub(crate) fn starting_at(tick: u64, conditions: Conditions, seed: u64) -> Self {
        let initial = Snapshot { bodies: vec![BodyState::default(); 12] };
        let (sender, receiver) = new_ends(tick, time(tick), &initial);
        Self {
            seed,
            tick,
            sender,
            receiver,
            stages: ladder::CHANGED_FLAGS.stages,
            choice: BaselineChoice::Newest,
            send_interval_ticks: 1,
            down: Link::new(conditions.clone(), 2 * seed),
            up: Link::new(conditions, 2 * seed + 1),
            decoded: 0,
            rejected: Vec::new(),
            bytes: 0,
            asleep: 0,
            bodies: initial.clone(),
            initial,
            random: ChaCha8Rng::seed_from_u64(seed),
            sent: BTreeMap::new(),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        time(self.tick - self.asleep)
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
        (self.sender, self.receiver) = new_ends(self.tick, self.now(), &self.initial);
        let now = self.now() + Duration::from_secs(3600);
        while self.down.receive(now).is_some() {}
        while self.up.receive(now).is_some() {}
    }

    /// Replaces the receiver only. The sender does not know that the new one has no snapshots.
    pub(crate) fn forget(&mut self) {
        self.receiver = new_ends(self.tick, self.now(), &self.initial).1;
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
        self.tick += 1;
        self.move_bodies();
        let now = self.now();
        while let Some(message) = self.up.receive(now) {
            self.sender.on_message(&message).unwrap();
        }
        if self.tick.is_multiple_of(self.send_interval_ticks) {
            let precision = self.stages.precision();
            let mut quantized = QuantizedSnapshot::new(Plan::cubes(), precision);
            quantized.quantize(&self.bodies, precision).unwrap();
            let sent = self.sender.send(self.tick, self.stages, &quantized, self.choice);
            sent.unwrap();
            self.sent.insert(self.tick, quantized);
            let oldest = self.tick.saturating_sub(6000);
            self.sent = self.sent.split_off(&oldest);
            let packet = self.sender.packet().bytes.clone();
            self.bytes = packet.len();
            self.down.send(now, packet.len() + HEADER_BYTES, packet);
        }
        while let Some(packet) = self.down.receive(now) {
            self.receive(now, &packet);
        }
        while let Some(feedback) = self.receiver.poll_feedback() {
            let message = feedback.encode();
            self.up.send(now, message.len() + HEADER_BYTES, message);
        }
    }

    fn receive(&mut self, now: Duration, packet: &[u8]) {
        match self.receiver.on_packet(now, packet) {
            Ok(PacketOutcome::Decoded { tick, .. }) => {
                self.decoded += 1;
                let held = self.receiver.get(tick).expect("it was just decoded");
                let sent = self.sent.get(&tick).expect("only what was sent arrives");
                assert_eq!(held.snapshot(), sent, "tick {tick}");
            }
            Ok(PacketOutcome::Duplicate { .. } | PacketOutcome::OutOfWindow { .. }) => {}
            Err(error) => self.rejected.push(error),
        }
    }

    /// Moves a third of the bodies randomly. In every fifth period of 100 ticks, every body rests.
    fn move_bodies(&mut self) {
        if self.tick / 100 % 5 == 4 {
            return;
        }
        for body in self.bodies.bodies.iter_mut().step_by(3) {
            let mut step = || self.random.random_range(-0.05..0.05_f32);
            let (shift, turn) =
                (Vec3::new(step(), step(), step()), Vec3::new(step(), step(), step()));
            let bounds = Vec3::new(200.0, 200.0, 16.0);
            body.position = (body.position + shift).clamp(-bounds.with_z(0.0), bounds);
            body.orientation = (Quat::from_scaled_axis(turn) * body.orientation).normalize();
            body.linear_velocity = shift * TICKS_PER_SECOND as f32;
            body.interacting = self.tick % 50 < 25;
        }
    }
}

fn time(tick: u64) -> Duration {
    Duration::from_secs_f64(tick as f64 / f64::from(TICKS_PER_SECOND))
}

fn new_ends(tick: u64, now: Duration, initial: &Snapshot) -> (SnapshotSender, SnapshotReceiver) {
    let delay = Duration::from_millis(85);
    ends(&Plan::cubes(), tick, initial, delay, now)
}
