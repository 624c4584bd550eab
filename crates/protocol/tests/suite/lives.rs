//! Any scene with bodies that come and go, are hidden and frozen, over links with loss, delay, duplication and
//! silence. At every tick, the receiver has the wanted view, and never a body that was not there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::{BodyState, Coverage, Plan, QuantizedSnapshot, Stages, ladder};
use cubewire_link::{Conditions, Jitter, Loss};
use cubewire_protocol::{Interpolation, SendState, SlotTable, Visibility, apply_visibility};
use proptest::prelude::*;
use rand::RngExt;

use crate::pair::Pair;
use crate::random::{cases, schema};
use crate::world::World;

/// A schema with living slots and fields.
pub(crate) const LIVING: &str = r#"(
    name: "lives", ticks_per_second: 60, up: Y,
    position: (
        (min: -50, max: 50, steps_per_unit: 128),
        (min: 0, max: 60, steps_per_unit: 128),
        (min: -50, max: 50, steps_per_unit: 128),
    ),
    component_bits: 9, levels: Odd, anchor: None,
    kinds: [(name: "ball", shape: Ball(0.3)), (name: "crate", shape: Box((0.5, 0.3, 0.4)))],
    fields: [(name: "on", form: Flag), (name: "health", form: Int(min: 0, max: 100))],
    world: (gravity: 9.81, floor: Some(0), max_speed: 40, linear: None),
    slots: Living(max: 40), support: (floats: true, velocities: true), seats: 2,
)"#;

const FIRST: u64 = 65_536 - 200;

/// Latency of a packet, ticks.
const LATENCY: u32 = 3;

struct Scene {
    pair: Pair,
    table: SlotTable,
    /// Each body dies with a probability of one in this number per tick.
    life_ticks: u32,
    births: u64,
    /// For each slot, the generation of its last body.
    generations: BTreeMap<usize, u8>,
    /// The receiver's view, and the view of a world that differs in everything the receiver cannot see.
    views: [QuantizedSnapshot; 2],
    visibility: Vec<Visibility>,
    /// Whether changes have stopped.
    is_quiet: bool,
    /// The budget, which is sometimes suspended.
    asked_kbps: Option<u32>,
}

impl Scene {
    fn new(plan: Arc<Plan>, stages: Stages, seed: u64) -> Self {
        let world = World::new(Arc::clone(&plan), 20, seed);
        let view = QuantizedSnapshot::new(Arc::clone(&plan), stages.precision());
        Self {
            views: [view.clone(), view],
            table: SlotTable::new(world.len(), plan.schema().ticks_per_second),
            life_ticks: 200,
            births: 0,
            generations: BTreeMap::new(),
            visibility: vec![Visibility::Visible; world.len()],
            is_quiet: false,
            asked_kbps: None,
            pair: Pair::of(world, stages, FIRST, Conditions::PERFECT, seed),
        }
    }

    fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.pair.world.plan)
    }

    /// Runs for some ticks over a link on which packets take up to `jitter` ticks less or more.
    fn run(&mut self, ticks: u64, loss: f64, jitter: u32, doubled: f64) {
        let tick = tick(&self.plan());
        self.pair.set_conditions(&Conditions {
            latency: LATENCY * tick,
            jitter: Jitter::Uniform { spread: jitter * tick },
            loss: Loss::Independent { probability: loss },
            duplicate_probability: doubled,
            ..Conditions::PERFECT
        });
        for _ in 0..ticks {
            self.step();
        }
    }

    /// Runs over a bad link with a silence in the middle.
    fn run_through_a_silence(&mut self, (loss, jitter, doubled): (f64, u32, f64), silence: u64) {
        self.run(150, loss, jitter, doubled);
        self.run(silence, 1.0, 0, 0.0);
        self.run(150, loss, jitter, doubled);
    }

    fn step(&mut self) {
        let plan = self.plan();
        if !self.is_quiet {
            if plan.has_lives() {
                self.turn_over();
            }
            self.pair.world.step();
        }
        let wanted = self.wanted();
        self.pair.asked_kbps = self.asked_kbps.filter(|_| self.pair.tick % 64 < 60);
        self.pair.exchange(wanted);
        assert_eq!(self.pair.rejected, []);
        let now = self.pair.now();
        self.pair.client.receiver_mut().unwrap().advance_playout(now, Some(6 * tick(&plan)));
        self.check_shown(now);
    }

    /// Adds, removes, hides and shows bodies.
    fn turn_over(&mut self) {
        let tick = self.pair.tick + 1;
        for slot in 0..self.pair.world.len() {
            let world = &mut self.pair.world;
            if world.random.random_ratio(1, self.life_ticks) && world.remove(slot) {
                assert!(self.table.remove(slot, tick));
            }
        }
        let kinds = self.plan().schema().kinds.len();
        let kind = self.pair.world.random.random_range(0..kinds) as u8;
        if self.pair.world.random.random_ratio(1, 1 + self.life_ticks / 30)
            && let Some((slot, life)) = self.table.insert(kind, tick)
        {
            self.pair.world.add(slot, life);
            self.births += 1;
            let before = self.generations.insert(slot, life.generation);
            assert_ne!(before, Some(life.generation), "it could be taken for the one before");
        }
        if self.pair.world.random.random_ratio(1, 5) {
            let choices = [Visibility::Visible, Visibility::Frozen, Visibility::Hidden];
            let slot = self.pair.world.random.random_range(0..self.pair.world.len());
            self.visibility[slot] = choices[self.pair.world.random.random_range(0..3)];
        }
    }

    /// Returns the wanted view of the world.
    fn wanted(&mut self) -> QuantizedSnapshot {
        let world = self.pair.world.quantized(self.pair.stages);
        if !self.plan().has_lives() {
            return world;
        }
        let mut other = world.clone();
        for (slot, visibility) in self.visibility.iter().enumerate() {
            if let Some(life) = world.life(slot).filter(|_| *visibility != Visibility::Visible) {
                let values = vec![0; self.plan().schema().fields.len()];
                other.put(slot, life, &BodyState::default(), &values).unwrap();
            }
        }
        for (before, mut view) in self.views.iter_mut().zip([world.clone(), other]) {
            apply_visibility(&mut view, Some(before), &self.visibility);
            *before = view;
        }
        let [wanted, of_other] = &self.views;
        assert_eq!(wanted, of_other);
        for (slot, visibility) in self.visibility.iter().enumerate() {
            let (life, seen) = (world.life(slot), wanted.life(slot));
            match visibility {
                Visibility::Visible => assert_eq!(seen, life),
                Visibility::Hidden => assert_eq!(seen, None),
                Visibility::Frozen => assert!(seen.is_none() || seen == life),
            }
        }
        wanted.clone()
    }

    /// Checks that the display has every body and no others.
    fn check_shown(&self, now: Duration) {
        let kind = Interpolation::Linear;
        let Some(playout) = kind.playout(self.pair.receiver().playout(), now) else {
            return;
        };
        for slot in 0..self.pair.world.len() {
            let shown = kind.slot(&playout, slot);
            let age = playout.from.age(slot);
            if age == u8::MAX {
                continue;
            }
            let life = self.pair.wanted[&(playout.from_tick - u64::from(age))].life(slot);
            assert_eq!(shown.is_some(), life.is_some(), "slot {slot} at {}", playout.tick);
            if self.plan().has_lives() {
                assert_eq!(playout.from.lives[slot], life);
            }
        }
    }
}

fn tick(plan: &Plan) -> Duration {
    Duration::from_secs(1) / plan.schema().ticks_per_second.into()
}

/// Fraction of lost packets, jitter in ticks, and fraction of duplicated packets.
fn bad_link() -> impl Strategy<Value = (f64, u32, f64)> {
    let loss = prop::sample::select(vec![0.0, 0.05, 0.3]);
    (loss, 0..13u32, prop::sample::select(vec![0.0, 0.2]))
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_receiver_has_what_it_is_to_see_and_no_ghosts(
        schema in schema(40),
        seed in any::<u64>(),
        (loss, jitter, doubled) in bad_link(),
        silence in prop::sample::select(vec![60, 600]),
    ) {
        let plan = Plan::new(schema).unwrap();
        let rungs = ladder::all().filter_map(|rung| plan.legal(*rung.stages).ok());
        let rungs: Vec<_> = rungs.collect();
        let mut scene = Scene::new(plan, rungs[seed as usize % rungs.len()], seed);
        scene.run_through_a_silence((loss, jitter, doubled), silence);
        let before = scene.pair.decoded;
        scene.run(60, 0.0, 0, 0.0);
        prop_assert!(scene.pair.decoded - before >= 60 - u64::from(LATENCY));
        prop_assert_eq!(scene.pair.receiver().newest(), Some(scene.pair.tick - u64::from(LATENCY)));
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn within_a_budget_all_that_is_seen_was_so_and_after_quiet_all_is_equal(
        schema in schema(40),
        seed in any::<u64>(),
        (loss, jitter, doubled) in bad_link(),
        silence in prop::sample::select(vec![60, 600]),
        bytes_per_tick in 20..200_u32,
    ) {
        let plan = Plan::new(schema).unwrap();
        let rungs = ladder::all().filter_map(|rung| plan.legal(*rung.stages).ok());
        let rungs = rungs.filter(|stages| stages.with_coverage(Coverage::Partial).is_ok());
        let rungs: Vec<_> = rungs.collect();
        let rate = plan.schema().ticks_per_second;
        let mut scene = Scene::new(plan, rungs[seed as usize % rungs.len()], seed);
        let bytes = (bytes_per_tick * u32::from(rate)).max(MIN_RATE);
        scene.asked_kbps = Some(bytes / 125);
        scene.run_through_a_silence((loss, jitter, doubled), silence);
        scene.is_quiet = true;
        scene.run(150, loss, jitter, doubled);
        scene.run(400, 0.0, 0, 0.0);
        let newest = scene.pair.receiver().newest().and_then(|tick| scene.pair.receiver().playout().before(tick + 1));
        let (_, newest) = newest.unwrap();
        let wanted = &scene.pair.wanted[&scene.pair.tick];
        for slot in 0..scene.pair.world.len() {
            if scene.plan().has_lives() {
                prop_assert_eq!(newest.lives[slot], wanted.life(slot));
            }
            if wanted.life(slot).is_some() {
                prop_assert_eq!(newest.snapshot.bodies[slot], wanted.body(slot), "slot {}", slot);
            }
        }
        let mut send_states = Vec::new();
        scene.pair.sender().send_states(scene.pair.tick, &mut send_states);
        prop_assert_eq!(send_states.len(), scene.pair.world.len());
        for send_state in send_states {
            prop_assert!(matches!(send_state, SendState::UpToDate { .. }), "{:?}", send_state);
        }
    }
}

/// Budget that is enough for a scene of 40 resting bodies to be complete within the test, bytes a second.
const MIN_RATE: u32 = 2500;

#[test]
fn generations_of_a_slot_come_around() {
    let plan = Plan::new(ron::from_str(&LIVING.replace("max: 40)", "max: 2)")).unwrap()).unwrap();
    let stages = plan.legal(*ladder::PREDICTED.stages).unwrap();
    let mut scene = Scene::new(plan, stages, 1);
    scene.life_ticks = 2;
    while scene.births < 2 * 260 {
        scene.run(300, 0.05, 2, 0.05);
        scene.run(40, 1.0, 0, 0.0);
    }
    assert!(scene.pair.decoded > 10_000, "{}", scene.pair.decoded);
}
