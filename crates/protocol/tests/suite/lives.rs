//! Bodies that come and go, and are hidden and frozen, over links that lose, delay, double and are silent: a receiver has at
//! every tick what it was to see, and never a body that was not there.

use std::collections::BTreeMap;
use std::time::Duration;

use cubewire_codec::glam::{Quat, Vec3};
use cubewire_codec::schema::Schema;
use cubewire_codec::{
    BodyState, Fingerprint, Life, Limits, Plan, QuantizedSnapshot, Snapshot, Stages, ladder,
};
use cubewire_link::{Conditions, Jitter, Link, Loss};
use cubewire_protocol::{
    Arrival, BaselineChoice, Interpolation, SlotTable, SnapshotReceiver, SnapshotSender, View,
    Visibility, Welcome,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SLOTS: usize = 30;

const SCHEMA: &str = "scene lives\nticks 60\nup y\nposition x -50 50 128\nposition y 0 60 128\nposition z -50 50 128\n\
    orientation 9\nkind ball ball 0.3\nkind crate box 0.5 0.3 0.4\nfield on flag\nfield health int 0 100\ngravity 9.81\n\
    floor 0\nmax-speed 40\nslots living 30";

/// A world in which bodies are born, move, change and die.
struct World {
    table: SlotTable,
    bodies: BTreeMap<usize, (Life, BodyState, [u32; 2])>,
    random: ChaCha8Rng,
}

impl World {
    fn step(&mut self, tick: u64) {
        let random = &mut self.random;
        if random.random_ratio(1, 8)
            && let Some((slot, life)) = self.table.insert(random.random_range(0..2), tick)
        {
            let at = Vec3::from_array([(); 3].map(|()| random.random_range(0.0..40.0)));
            let body = BodyState {
                position: at,
                ..BodyState::default()
            };
            self.bodies.insert(slot, (life, body, [0, 100]));
        }
        let mut gone = Vec::new();
        for (&slot, (_, body, values)) in &mut self.bodies {
            if random.random_ratio(1, 200) {
                gone.push(slot);
            }
            if slot % 3 > 0 {
                body.position.x += 0.05;
                body.orientation *= Quat::from_rotation_y(0.02);
            }
            if random.random_ratio(1, 30) {
                *values = [random.random_range(0..2), random.random_range(0..101)];
            }
        }
        for slot in gone {
            assert!(self.table.remove(slot, tick));
            self.bodies.remove(&slot);
        }
    }

    fn quantize(&self, snapshot: &mut QuantizedSnapshot) {
        snapshot.clear_slots(SLOTS);
        for (&slot, (life, body, values)) in &self.bodies {
            snapshot.put(slot, *life, body, values).unwrap();
        }
    }
}

struct Pair {
    plan: std::sync::Arc<Plan>,
    stages: Stages,
    world: World,
    sender: SnapshotSender,
    receiver: SnapshotReceiver,
    view: View,
    visibility: Vec<Visibility>,
    down: Link<Vec<u8>>,
    up: Link<Vec<u8>>,
    /// What was to be seen, by tick.
    wanted: BTreeMap<u64, QuantizedSnapshot>,
    decoded: u64,
}

const RATE: u64 = 60;
const FIRST: u64 = 65_536 - 200;

fn time(tick: u64) -> Duration {
    Duration::from_nanos((tick - FIRST) * 1_000_000_000 / RATE)
}

impl Pair {
    fn new(rung: &str, conditions: &Conditions, seed: u64) -> Self {
        let plan = Plan::new(Schema::parse(SCHEMA).unwrap()).unwrap();
        let stages = plan.legal(*ladder::rung(rung).unwrap().stages).unwrap();
        let limits = Limits::default();
        let welcome = Welcome {
            plan: plan.clone(),
            tick: FIRST,
            fingerprint: Fingerprint::shipped(),
            initial: Snapshot::default(),
        };
        let welcome = Welcome::decode(&welcome.encode().unwrap(), limits).unwrap();
        let mut empty = QuantizedSnapshot::new(plan.clone(), stages.precision());
        empty.clear_slots(SLOTS);
        Self {
            sender: SnapshotSender::new(plan.clone(), Snapshot::default(), limits).unwrap(),
            receiver: SnapshotReceiver::new(
                welcome,
                limits,
                Duration::from_millis(100),
                time(FIRST),
            )
            .unwrap(),
            view: View::new(&empty),
            plan,
            stages,
            world: World {
                table: SlotTable::new(SLOTS),
                bodies: BTreeMap::new(),
                random: ChaCha8Rng::seed_from_u64(seed),
            },
            visibility: vec![Visibility::Visible; SLOTS],
            down: Link::new(conditions.clone(), seed),
            up: Link::new(conditions.clone(), !seed),
            wanted: BTreeMap::new(),
            decoded: 0,
        }
    }

    fn set_conditions(&mut self, conditions: &Conditions) {
        self.down.set_conditions(conditions.clone());
        self.up.set_conditions(conditions.clone());
    }

    fn step(&mut self, tick: u64) {
        self.world.step(tick);
        if self.world.random.random_ratio(1, 5) {
            let choices = [Visibility::Visible, Visibility::Frozen, Visibility::Hidden];
            let slot = self.world.random.random_range(0..SLOTS);
            self.visibility[slot] = choices[self.world.random.random_range(0..3)];
        }
        let mut world = QuantizedSnapshot::new(self.plan.clone(), self.stages.precision());
        self.world.quantize(&mut world);
        let wanted = self.view.of(&world, &self.visibility);
        for (slot, visibility) in self.visibility.iter().enumerate() {
            match visibility {
                Visibility::Visible => assert_eq!(wanted.life(slot), world.life(slot)),
                Visibility::Hidden => assert_eq!(wanted.life(slot), None),
                Visibility::Frozen => assert!(
                    wanted
                        .life(slot)
                        .is_none_or(|life| Some(life) == world.life(slot))
                ),
            }
        }
        let now = time(tick);
        while let Some(message) = self.up.receive(now) {
            self.sender.on_message(&message).unwrap();
        }
        self.sender
            .send(tick, self.stages, wanted, BaselineChoice::Newest)
            .unwrap();
        self.wanted.insert(tick, wanted.clone());
        let bytes = self.sender.packet().bytes.clone();
        self.down.send(now, bytes.len(), bytes);
        while let Some(bytes) = self.down.receive(now) {
            if let Arrival::Decoded { tick, .. } = self.receiver.on_packet(now, &bytes).unwrap() {
                let received = self.receiver.get(tick).unwrap().snapshot();
                assert_eq!(received, &self.wanted[&tick], "tick {tick}");
                self.decoded += 1;
            }
        }
        while let Some(feedback) = self.receiver.poll_feedback() {
            let message = feedback.encode().to_vec();
            self.up.send(now, message.len(), message);
        }
        self.receiver
            .advance_playout(now, Duration::from_millis(100));
        self.check_shown(now);
    }

    /// No ghost is shown.
    fn check_shown(&self, now: Duration) {
        let kind = Interpolation::Linear;
        let Some(playout) = kind.playout(self.receiver.playout(), now) else {
            return;
        };
        let wanted = &self.wanted[&playout.from_tick];
        for slot in 0..SLOTS {
            let shown = kind.slot(&playout, slot);
            assert_eq!(
                shown.is_some(),
                wanted.life(slot).is_some(),
                "slot {slot} at {}",
                playout.tick
            );
        }
    }
}

fn conditions(loss: f64, jitter_ms: u64, doubled: f64) -> Conditions {
    Conditions {
        latency: Duration::from_millis(50),
        jitter: Jitter::Uniform {
            spread: Duration::from_millis(jitter_ms),
        },
        loss: Loss::Independent { probability: loss },
        duplicate_probability: doubled,
        ..Conditions::PERFECT
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_receiver_has_what_it_is_to_see_and_no_ghosts(
        seed in any::<u64>(),
        loss in prop::sample::select(vec![0.0, 0.05, 0.3]),
        jitter in prop::sample::select(vec![0, 40]),
        doubled in prop::sample::select(vec![0.0, 0.2]),
        silence in prop::sample::select(vec![60, 600]),
        rung in prop::sample::select(vec!["position", "delta", "changed-flags", "arithmetic", "predicted"]),
    ) {
        let bad = conditions(loss, jitter, doubled);
        let mut pair = Pair::new(rung, &bad, seed);
        let mut tick = FIRST + 1;
        let mut run = |pair: &mut Pair, conditions: &Conditions, ticks: u64| {
            pair.set_conditions(conditions);
            for _ in 0..ticks {
                pair.step(tick);
                tick += 1;
            }
        };
        run(&mut pair, &bad, 300);
        run(&mut pair, &Conditions { cut: true, ..Conditions::PERFECT }, silence);
        run(&mut pair, &bad, 200);
        let before = pair.decoded;
        run(&mut pair, &conditions(0.0, 0, 0.0), 60);
        prop_assert!(pair.decoded - before > 40, "{}", pair.decoded - before);
    }
}
