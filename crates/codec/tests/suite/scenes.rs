//! Scenes that are unlike the demo's: other axes, steps, bits, shapes and worlds, further fields, and bodies that come and
//! go.

use std::collections::BTreeMap;
use std::sync::Arc;

use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::schema::{FieldForm, Schema, Slots};
use cubewire_codec::stages::Delta;
use cubewire_codec::{
    Baseline, Baselines, BitKind, BitLedger, BodyState, Decoder, Encoder, IllegalStages, Life,
    Limits, Packet, Plan, QuantizedSnapshot, Sequence, Snapshot, Stages,
};
use glam::{Quat, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::seed;

const SHIPS: &str = "scene ships\nticks 30\nup x\nposition x -60 60 100\nposition y -60 60 100\nposition z -60 60 100\n\
    orientation 12\nkind fighter unknown\nkind carrier unknown\nfield thrusting flag\nfield shielded flag\nfield target body\n\
    field turret angle 12\nfield fuel float 0 100 0.25\nfield bank int -60 60\ngravity 0\nmax-speed 90\nslots living 24";

const ARENA: &str = "scene arena\nticks 60\nup y\nposition x -50 50 128\nposition y -4 60 128\nposition z -50 50 128\n\
    orientation 9\nkind ball ball 0.3\nkind crate box 0.5 0.3 0.4\nkind hero capsule 0.6 0.4\nfield health int 0 100\n\
    field touched flag\ngravity 9.81\nfloor 0\nmax-speed 40\nslots living 40";

const STONES: &str = "scene stones\nticks 20\nup z\nposition x -8 8 300\nposition y -8 8 200\nposition z 0 4 500\n\
    orientation 5\nanchor 3\nkind stone box 0.2 0.2 0.2\ngravity 5\nfloor 0.5\nmax-speed 9\nslots fixed";

const TOKENS: &str = "scene tokens\nticks 10\nup y\nposition x 0 8 16\nposition y 0 1 16\nposition z 0 8 16\norientation 2\n\
    kind token ball 0.4\nfield owner int 0 7\nfield face angle 3\ngravity 0\nmax-speed 1\nslots fixed";

/// A body that moves at random.
#[derive(Clone)]
struct Mover {
    life: Life,
    state: BodyState,
    values: Vec<u32>,
    is_resting: bool,
}

/// A world of movers in the bounds of a schema.
struct Play {
    plan: Arc<Plan>,
    random: ChaCha8Rng,
    slots: Vec<Option<Mover>>,
    generations: Vec<u8>,
}

impl Play {
    fn new(schema: &str, seed: u64) -> Self {
        let plan = Plan::new(Schema::parse(schema).unwrap()).unwrap();
        let count = match plan.schema().slots {
            Slots::Living { max } => max as usize,
            Slots::Fixed => 20,
        };
        let mut play = Self {
            plan,
            random: ChaCha8Rng::seed_from_u64(seed),
            slots: vec![None; count],
            generations: vec![0; count],
        };
        if !play.has_lives() {
            play.slots = (0..count).map(|_| Some(play.newborn(0))).collect();
        }
        play
    }

    fn has_lives(&self) -> bool {
        self.plan.schema().slots != Slots::Fixed
    }

    fn newborn(&mut self, slot: usize) -> Mover {
        let (schema, random) = (self.plan.schema(), &mut self.random);
        let position = [0, 1, 2].map(|axis| {
            let range = &schema.position[axis];
            random.random_range(range.min..range.max) as f32
        });
        Mover {
            life: Life {
                kind: random.random_range(0..schema.kinds.len()) as u8,
                generation: self.generations[slot],
            },
            state: BodyState {
                position: position.into(),
                orientation: any_rotation(random),
                ..BodyState::default()
            },
            values: schema
                .fields
                .iter()
                .map(|field| random.random_range(0..=field.form.max()))
                .collect(),
            is_resting: random.random(),
        }
    }

    fn step(&mut self) {
        for slot in 0..self.slots.len() {
            if self.has_lives() && self.random.random_ratio(1, 30) {
                self.generations[slot] = self.generations[slot].wrapping_add(1);
                self.slots[slot] = self.random.random::<bool>().then(|| self.newborn(slot));
            }
            let (schema, random) = (self.plan.schema(), &mut self.random);
            let Some(mover) = &mut self.slots[slot] else {
                continue;
            };
            if random.random_ratio(1, 20) {
                mover.is_resting ^= true;
                mover.state.linear_velocity =
                    Vec3::from_array([(); 3].map(|()| random.random_range(-0.2..0.2)));
            }
            if !mover.is_resting {
                mover.state.position += mover.state.linear_velocity;
                let turn = Quat::from_scaled_axis(mover.state.linear_velocity);
                mover.state.orientation = (turn * mover.state.orientation).normalize();
            }
            if random.random_ratio(1, 10) && !schema.fields.is_empty() {
                let field = random.random_range(0..schema.fields.len());
                let max = schema.fields[field].form.max();
                let value = &mut mover.values[field];
                *value = match random.random_ratio(1, 4) {
                    true => random.random_range(0..=max),
                    false => value.wrapping_add(random.random_range(0..3)).min(max),
                };
            }
        }
    }

    fn quantized(&self, stages: Stages) -> QuantizedSnapshot {
        let mut snapshot = QuantizedSnapshot::new(Arc::clone(&self.plan), stages.precision());
        snapshot.clear_slots(self.slots.len());
        for (slot, mover) in self.slots.iter().enumerate() {
            if let Some(Mover {
                life,
                state,
                values,
                ..
            }) = mover
            {
                snapshot.put(slot, *life, state, values).unwrap();
            }
        }
        snapshot
    }

    /// The state before the first packet.
    fn initial(&self) -> Snapshot {
        let count = if self.has_lives() {
            0
        } else {
            self.slots.len()
        };
        Snapshot {
            bodies: vec![BodyState::default(); count],
        }
    }
}

fn any_rotation(random: &mut impl Rng) -> Quat {
    let parts = [(); 4].map(|()| random.random_range(-1.0_f32..1.0));
    match Quat::from_array(parts) {
        long if long.length() > 0.1 => long.normalize(),
        _ => Quat::IDENTITY,
    }
}

/// Sends a play over a lossy link on each legal rung. Returns the bytes by rung.
fn send(schema: &str, seed: u64, ticks: u16) -> BTreeMap<&'static str, usize> {
    let plan = Play::new(schema, seed).plan;
    let rungs = ladder::all().filter_map(|rung| Some((rung, plan.legal(*rung.stages).ok()?)));
    rungs
        .map(|(rung, stages)| (rung.name, send_on(schema, rung, stages, seed, ticks)))
        .collect()
}

fn send_on(schema: &str, rung: Rung, stages: Stages, seed: u64, ticks: u16) -> usize {
    let mut play = Play::new(schema, seed);
    let mut random = ChaCha8Rng::seed_from_u64(!seed);
    let limits = Limits::default();
    let plan = || Arc::clone(&play.plan);
    let mut encoder = Encoder::new(plan(), play.initial(), limits).unwrap();
    let mut decoder = Decoder::new(plan(), play.initial(), limits).unwrap();
    decoder.set_ledger(Some(BitLedger::new()));
    let mut fields = BitLedger::new();
    // Baselines that both ends have.
    let mut held: BTreeMap<u16, [Baseline; 2]> = BTreeMap::new();
    let (mut packet, mut bytes) = (Packet::default(), 0);
    // Sequence numbers wrap.
    let start = 65_500_u16;
    for tick in 0..ticks {
        play.step();
        let current = play.quantized(stages);
        let sequence = Sequence(start.wrapping_add(tick));
        let acked: Vec<u16> = held
            .keys()
            .copied()
            .filter(|&age| age + 6 <= tick)
            .collect();
        let newest = acked.last().filter(|_| random.random_ratio(19, 20));
        let of = |tick: &u16| &held[tick][0];
        let older = |back: usize| acked.len().checked_sub(back).map(|index| of(&acked[index]));
        let references = Baselines {
            baseline: newest.map(of),
            additional: [older(2), older(3)],
            ..Baselines::default()
        };
        let mut sent = Baseline::default();
        encoder
            .encode(
                sequence,
                stages,
                &current,
                references,
                &mut packet,
                Some(&mut sent),
            )
            .unwrap();
        bytes += packet.bytes.len();
        let bits = packet.bytes.len() as f64 * 8.0;
        assert!((packet.ledger.total() - bits).abs() < 1e-6, "{}", rung.name);
        fields.add(&packet.ledger);
        if stages.delta == Delta::Off {
            let bodies = play.slots.iter().flatten().count() as f64;
            for (kind, form) in fields_of(&play.plan) {
                assert_eq!(packet.ledger.kind(kind), bodies * f64::from(form.bits()));
            }
        }
        if random.random_ratio(1, 5) {
            continue;
        }
        let find = |sequence: Sequence| {
            let tick = sequence.0.wrapping_sub(start);
            held.get(&tick).map(|[_, received]| received)
        };
        let mut received = Baseline::default();
        decoder
            .decode(&packet.bytes, find, &mut received)
            .unwrap_or_else(|error| panic!("{} at {tick}: {error}", rung.name));
        assert_eq!(received.snapshot(), &current, "{} at {tick}", rung.name);
        assert_eq!(received, sent, "{} at {tick}", rung.name);
        assert_eq!(decoder.ledger(), Some(&packet.ledger), "{}", rung.name);
        held.insert(tick, [sent, received]);
        held.retain(|&age, _| age + 60 > tick);
    }
    for (kind, _) in fields_of(&play.plan) {
        assert!(fields.kind(kind) > 0.0, "{}: {kind}", rung.name);
    }
    bytes
}

/// The kinds that the fields of a schema are accounted as.
fn fields_of(plan: &Plan) -> impl Iterator<Item = (BitKind, FieldForm)> {
    let fields = plan.schema().fields.iter().enumerate();
    fields.map(|(index, field)| match (index, field.form) {
        (0, FieldForm::Flag) => (BitKind::Interacting, field.form),
        _ => (BitKind::field(index), field.form),
    })
}

#[test]
fn every_legal_rung_is_exact_in_every_scene() {
    let seed = seed();
    for schema in [SHIPS, ARENA, STONES, TOKENS] {
        let sizes = send(schema, seed, 240);
        println!("{sizes:?}");
        assert!(sizes.contains_key("changed-flags"));
        assert!(!sizes.contains_key("uncompressed"), "floats are the demo's");
    }
}

#[test]
fn predictions_need_equal_steps_and_arithmetic_coding_takes_few_bits() {
    let rungs = |schema| send(schema, 1, 8).into_keys().collect::<Vec<_>>();
    assert!(rungs(SHIPS).contains(&"predicted"));
    assert!(rungs(STONES).contains(&"arithmetic"));
    assert!(!rungs(STONES).contains(&"predicted"));
    let unequal = Plan::new(Schema::parse(STONES).unwrap()).unwrap();
    let illegal = unequal.legal(*ladder::PREDICTED.stages).unwrap_err();
    assert_eq!(illegal, IllegalStages::UnequalSteps);
}
