//! A sender and a receiver over a simulated link, each with separate worlds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::{BitKind, DecodeError, Limits, Plan, QuantizedSnapshot, ladder};
use cubewire_link::{Conditions, Jitter, Link, Loss};
use cubewire_protocol::{
    BaselineChoice, InputHistory, PacketOutcome, SnapshotReceiver, SnapshotSender, SyncStatus,
    Welcome,
};

use super::{input, played, played_by};
use crate::{Input, ReceiverWorld, World};

const HEADER_BYTES: usize = 28;

/// Compares every decoded snapshot with the sent one.
struct Lane {
    tick: u64,
    world: World,
    history: InputHistory,
    sender: SnapshotSender,
    receiver: SnapshotReceiver,
    rebuilds: bool,
    down: Link<Vec<u8>>,
    up: Link<Vec<u8>>,
    sent: HashMap<u64, QuantizedSnapshot>,
    decoded: u64,
    rejected: Vec<(u64, DecodeError)>,
    packets: u64,
    bytes: usize,
    state_bits: f64,
    synced: u64,
    states: u64,
}

impl Lane {
    /// A receiver joins a scene that has been simulated up to `tick`.
    fn new(tick: u64, world: World, started: bool, conditions: &Conditions, seed: u64) -> Self {
        let initial = world.snapshot();
        let limits = Limits::default();
        let seats = world.players() as u8;
        let plan = Plan::cubes().with_seats(seats).unwrap();
        let welcome = Welcome { plan: plan.clone(), tick, initial: initial.clone() };
        let sender = SnapshotSender::new(plan, initial, limits).unwrap();
        let delay = Duration::from_millis(85);
        let receiver = SnapshotReceiver::new(welcome, limits, delay, time(tick))
            .unwrap()
            .with_engine(Box::new(ReceiverWorld::default()));
        Self {
            tick,
            world,
            history: InputHistory::new(tick, started).with_seats(seats),
            sender,
            receiver,
            rebuilds: false,
            down: Link::new(conditions.clone(), 2 * seed),
            up: Link::new(conditions.clone(), 2 * seed + 1),
            sent: HashMap::new(),
            decoded: 0,
            rejected: Vec::new(),
            packets: 0,
            bytes: 0,
            state_bits: 0.0,
            synced: 0,
            states: 0,
        }
    }

    fn step(&mut self, input: Input) {
        let rebuilds = std::mem::take(&mut self.rebuilds);
        if rebuilds {
            let state: Arc<[u8]> = self.world.state().to_bytes().into();
            self.sender.offer_state(self.tick, &state);
            self.states += 1;
        }
        let input = Input { rebuilds, ..input };
        self.world.advance(input);
        self.tick += 1;
        self.history.push(&input.to_bytes()[..self.world.players()], input.resets);
        let now = time(self.tick);
        while let Some(message) = self.up.receive(now) {
            self.sender.on_message(&message).unwrap();
        }
        let (stages, snapshot) = (ladder::SIMULATED.stages, self.world.quantized().unwrap());
        let history = Some(&self.history);
        self.sender
            .send_simulated(self.tick, stages, &snapshot, BaselineChoice::Newest, history)
            .unwrap();
        self.rebuilds = self.sender.wants_state().is_some();
        self.synced += u64::from(self.sender.sync() != SyncStatus::Desynced);
        self.sent.insert(self.tick, snapshot);
        let packet = self.sender.packet();
        self.packets += 1;
        self.bytes += packet.bytes.len();
        self.state_bits += packet.ledger.kind(BitKind::State);
        let bytes = packet.bytes.clone();
        self.down.send(now, bytes.len() + HEADER_BYTES, bytes);
        while let Some(packet) = self.down.receive(now) {
            match self.receiver.on_packet(now, &packet) {
                Ok(PacketOutcome::Decoded { tick, .. }) => {
                    self.decoded += 1;
                    let held = self.receiver.get(tick).expect("it was just decoded");
                    assert_eq!(held.snapshot(), &self.sent[&tick], "tick {tick}");
                }
                Ok(_) => {}
                Err(error) => self.rejected.push((self.tick, error)),
            }
        }
        while let Some(feedback) = self.receiver.poll_feedback() {
            let message = feedback.encode();
            self.up.send(now, message.len() + HEADER_BYTES, message);
        }
    }

    fn play(&mut self, ticks: std::ops::Range<u64>) {
        ticks.for_each(|tick| self.step(input(tick)));
    }

    /// Bandwidth without states. Each packet has 28 bytes of IP and UDP headers.
    fn kbps(&self) -> f64 {
        let bits =
            (self.bytes + HEADER_BYTES * self.packets as usize) as f64 * 8.0 - self.state_bits;
        bits / self.packets as f64 * 60.0 / 1000.0
    }
}

fn time(tick: u64) -> Duration {
    Duration::from_secs_f64(tick as f64 / 60.0)
}

fn round_trip(loss: f64) -> Conditions {
    Conditions {
        latency: Duration::from_millis(50),
        loss: Loss::Independent { probability: loss },
        ..Conditions::PERFECT
    }
}

/// The players do something else at other times, and a packet has the inputs of all.
#[test]
fn receivers_simulate_the_scene_of_several_players() {
    for (players, limit_kbps) in [(2, 18.0), (4, 22.0)] {
        let conditions = round_trip(0.05);
        let mut lane = Lane::new(7, World::with_players(players), true, &conditions, 1);
        lane.play(0..660);
        assert_eq!((lane.synced, lane.rejected.len()), (660, 0));
        assert!(lane.kbps() < limit_kbps, "{players} players: {}", lane.kbps());
        let world = played_by(players, JOINED);
        let mut lane = Lane::new(JOINED, world, false, &conditions, 2);
        lane.play(JOINED..JOINED + 240);
        assert!(lane.synced > 100 && lane.rejected.is_empty(), "{}", lane.synced);
    }
}

/// A lane that exists from the start, shortly before sequence numbers wrap.
fn from_start(conditions: &Conditions) -> Lane {
    Lane::new(65_000, World::new(), true, conditions, 1)
}

/// A lane with a receiver that joins while the player rolls a ball.
fn from_middle(conditions: &Conditions, seed: u64) -> Lane {
    Lane::new(JOINED, played(JOINED), false, conditions, seed)
}

const JOINED: u64 = 250;

/// The test covers a reset and a wrap of the sequence numbers.
#[test]
fn a_receiver_that_is_there_from_the_start_is_in_sync_whatever_is_lost() {
    let [none, some] = [0, 45].map(Duration::from_millis);
    for (loss, spread, limit_kbps) in [
        (0.0, none, 16.6),
        (0.05, none, 16.6),
        (0.3, none, 16.6),
        (0.8, none, 17.4),
        // Packets overtake each other. A late packet belongs to a tick that was simulated before.
        (0.1, some, 16.6),
    ] {
        let mut lane = from_start(&Conditions {
            jitter: Jitter::Uniform { spread },
            duplicate_probability: if spread == none { 0.0 } else { 0.1 },
            ..round_trip(loss)
        });
        lane.play(0..660);
        assert_eq!((lane.synced, lane.packets), (660, 660), "loss {loss}");
        assert_eq!(lane.rejected, []);
        assert_eq!(lane.states, 0);
        let kbps = lane.kbps();
        assert!(kbps < limit_kbps, "{kbps} at loss {loss}");
        assert!(lane.decoded as f64 > 650.0 * (1.0 - loss) * 0.9, "{}", lane.decoded);
    }
}

#[test]
fn a_receiver_that_joins_is_sent_a_state_and_is_in_sync() {
    for (loss, limit_ticks, seeds) in [(0.0, 14, 1), (0.05, 80, 3), (0.3, 80, 3), (0.8, 600, 2)] {
        for seed in 1..=seeds {
            let mut lane = from_middle(&round_trip(loss), seed);
            lane.play(JOINED..JOINED + limit_ticks + 60);
            assert_eq!(lane.rejected, []);
            let without = lane.packets - lane.synced;
            assert!(without < limit_ticks, "{without} packets at loss {loss}");
            let state_bytes = lane.state_bits / 8.0;
            println!("loss {loss}: {state_bytes} bytes, {without} packets, {} states", lane.states);
            // The snapshot of the state's tick may be lost.
            assert!((1..=4).contains(&lane.states), "{} states", lane.states);
            assert!(state_bytes < 20_000.0, "{state_bytes} at loss {loss}");
        }
    }
}

/// Each time it gets packets without a simulation for a round trip or two, and a state.
#[test]
fn a_receiver_that_loses_its_world_every_second_is_soon_in_sync_again() {
    let mut lane = from_start(&round_trip(0.0));
    for tick in 0..600 {
        if tick % 60 == 30 {
            lane.sender.force_desync();
        }
        lane.step(input(tick));
    }
    assert_eq!(lane.rejected, []);
    assert_eq!(lane.states, 10);
    assert!(lane.synced > 600 - 10 * 10, "{}", lane.synced);
    let state_bytes = lane.state_bits / 8.0 / 10.0;
    assert!(state_bytes < 1000.0, "{state_bytes}");
    let kbps = lane.kbps();
    assert!(kbps < 32.0, "{kbps}");
}

/// While the receiver is silent, the scene is not rebuilt repeatedly.
#[test]
fn states_are_not_made_for_a_receiver_that_is_not_heard() {
    let mut lane = from_middle(&round_trip(1.0), 1);
    lane.play(JOINED..JOINED + 600);
    assert_eq!(lane.states, 0);
    // From then on, the receiver was there since the reset.
    lane.down.set_conditions(round_trip(0.0));
    lane.up.set_conditions(round_trip(0.0));
    lane.play(JOINED + 600..JOINED + 700);
    assert!(lane.states <= 1, "{}", lane.states);
    assert!(lane.synced > 40, "{}", lane.synced);
}

#[test]
fn a_receiver_without_an_engine_is_sent_other_packets_and_asked_again_ever_more_seldom() {
    let mut lane = from_start(&round_trip(0.0));
    lane.receiver = lane.receiver.with_engine(Box::new(()));
    lane.play(0..500);
    let failures = lane.sender.desyncs();
    assert!((1..=4).contains(&failures), "{failures}");
    // Each time, as many as fit a round trip.
    let rejected = lane.rejected.len() as u64;
    assert!(rejected <= failures * 10, "{rejected}");
    assert!(lane.decoded + rejected + 10 > lane.packets);
}
