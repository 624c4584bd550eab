//! A scene that is not the demo's, with bodies that come and go: floats, velocities, and a receiver that simulates.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::glam::Vec3;
use cubewire_codec::stages::{IllegalStages, Velocity};
use cubewire_codec::{
    BodyState, Inputs, Life, Origin, Plan, Precision, QuantizedSnapshot, Snapshot, Stages, ladder,
};
use cubewire_protocol::{
    BaselineChoice, Engine, InputHistory, PacketOutcome, SnapshotReceiver, SnapshotSender,
};

use crate::play::ends;

const SCHEMA: &str = r#"(
    name: "balls", ticks_per_second: 50, up: Y,
    position: (
        (min: -64, max: 64, steps_per_unit: 64),
        (min: 0, max: 64, steps_per_unit: 64),
        (min: -64, max: 64, steps_per_unit: 64),
    ),
    component_bits: 10, levels: Odd, anchor: None,
    kinds: [(name: "ball", shape: Ball(0.5))], fields: [],
    world: (gravity: 40, floor: Some(0), max_speed: 20, linear: None),
    slots: Living(max: 8), support: (floats: true, velocities: true, simulation: true), seats: 2,
)"#;

/// Input that adds a ball. Other bits of an input push a ball.
const ADD: u8 = 1 << 7;

/// Position of each ball in steps, and its velocity in steps per tick.
#[derive(Clone, Debug, Default, PartialEq)]
struct Balls(Vec<[[i32; 3]; 2]>);

impl Balls {
    fn step(&mut self, input: u8) {
        if input == ADD {
            self.0.push([[0, 150, 0], [3, 0, -(self.0.len() as i32)]]);
        }
        for (index, [position, velocity]) in self.0.iter_mut().enumerate() {
            velocity[1] -= 1;
            if input & 1 << index != 0 && input != ADD {
                velocity[1] += 6;
            }
            for axis in 0..3 {
                position[axis] += velocity[axis];
            }
            if position[1] < 32 {
                position[1] = 64 - position[1];
                velocity[1] = velocity[1].abs() * 3 / 4;
            }
        }
    }

    fn body(&self, index: usize) -> BodyState {
        let [position, velocity] = self.0[index].map(|axes| axes.map(|steps| steps as f32 / 64.0));
        BodyState {
            position: position.into(),
            linear_velocity: Vec3::from_array(velocity) * 50.0,
            ..BodyState::default()
        }
    }

    fn quantized(&self, plan: &Arc<Plan>, precision: Precision) -> QuantizedSnapshot {
        let mut snapshot = QuantizedSnapshot::new(Arc::clone(plan), precision);
        snapshot.clear_slots(8);
        for index in 0..self.0.len() {
            snapshot.put(index, Life::default(), &self.body(index), &[]).unwrap();
        }
        snapshot
    }

    /// The velocities, which a snapshot for simulation does not have.
    fn state(&self) -> Arc<[u8]> {
        self.0.iter().flat_map(|[_, velocity]| velocity.map(|axis| axis as u8)).collect()
    }
}

/// Tick of the receiver's loss of its worlds. A packet cannot carry all inputs since the start of the scene.
const LOST: u64 = 300;

/// The receiver's worlds by tick.
#[derive(Debug)]
struct BallEngine {
    stages: Stages,
    worlds: BTreeMap<u64, Balls>,
    snapshot: QuantizedSnapshot,
    ticks: u64,
}

impl Engine for BallEngine {
    fn simulate(&mut self, tick: u64, inputs: &Inputs) -> Option<&QuantizedSnapshot> {
        if tick == LOST {
            self.worlds.clear();
        }
        let from = tick - u64::from(inputs.origin().age());
        let mut world = match inputs.origin() {
            Origin::FromSceneStart(_) => Balls::default(),
            Origin::Continued(_) | Origin::Restored(_) => self.worlds.get(&from)?.clone(),
        };
        let ticks = inputs.bytes().chunks(inputs.seats());
        self.ticks += ticks.len() as u64;
        ticks.for_each(|inputs| world.step(inputs[0] | inputs[1]));
        self.snapshot = world.quantized(self.snapshot.plan(), self.stages.precision());
        self.worlds.insert(tick, world);
        Some(&self.snapshot)
    }

    fn restore(&mut self, tick: u64, snapshot: &QuantizedSnapshot, state: &[u8]) -> bool {
        let balls = state.chunks(3).enumerate().map(|(index, velocity)| {
            let [z, x, y] = snapshot.position(index);
            [[x, y, z], [0, 1, 2].map(|axis| i32::from(velocity[axis].cast_signed()))]
        });
        self.worlds.insert(tick, Balls(balls.collect()));
        true
    }

    fn simulated_ticks(&self) -> u64 {
        self.ticks
    }
}

/// Both ends of the scene, with a link that loses every seventh packet.
struct Game {
    plan: Arc<Plan>,
    world: Balls,
    inputs: InputHistory,
    sender: SnapshotSender,
    receiver: SnapshotReceiver,
}

impl Game {
    fn new(plan: Arc<Plan>) -> Self {
        let initial = Snapshot::default();
        let delay = Duration::from_millis(85);
        let (sender, receiver) = ends(&plan, 0, &initial, delay, Duration::ZERO);
        let stages = plan.legal(*ladder::SIMULATED.stages).unwrap();
        let engine = BallEngine {
            stages,
            worlds: BTreeMap::new(),
            snapshot: QuantizedSnapshot::new(Arc::clone(&plan), stages.precision()),
            ticks: 0,
        };
        Self {
            world: Balls::default(),
            inputs: InputHistory::new(0, true).with_seats(2),
            sender,
            receiver: receiver.with_engine(Box::new(engine)),
            plan,
        }
    }

    /// Sends a tick. Returns the snapshot that arrives.
    fn tick(&mut self, stages: Stages) -> Option<&QuantizedSnapshot> {
        let tick = self.inputs.tick() + 1;
        let input = match tick % 60 {
            1 if tick < 400 => ADD,
            20 => 1,
            40 => 6,
            _ => 0,
        };
        self.world.step(input);
        self.inputs.push(&[input & ADD, input & !ADD], false);
        let snapshot = self.world.quantized(&self.plan, stages.precision());
        let (choice, inputs) = (BaselineChoice::Newest, Some(&self.inputs));
        self.sender.send_simulated(tick, stages, &snapshot, choice, inputs).unwrap();
        if self.sender.wants_state() == Some(tick) {
            self.sender.offer_state(tick, &self.world.state());
        }
        if tick.is_multiple_of(7) {
            return None;
        }
        let now = Duration::from_secs_f64(tick as f64 / 50.0);
        let arrived = self.receiver.on_packet(now, &self.sender.packet().bytes);
        while let Some(feedback) = self.receiver.poll_feedback() {
            self.sender.on_message(&feedback.encode()).unwrap();
        }
        assert_eq!(arrived.is_err(), tick == LOST && self.is_simulated(), "{arrived:?}");
        matches!(arrived.ok()?, PacketOutcome::Decoded { late: false, .. })
            .then(|| self.receiver.get(tick).unwrap().snapshot())
    }

    /// Whether the last packet carried inputs instead of bodies.
    fn is_simulated(&self) -> bool {
        self.sender.get(self.inputs.tick()).unwrap().origin().is_some()
    }
}

fn plan() -> Arc<Plan> {
    Plan::new(ron::from_str(SCHEMA).unwrap()).unwrap()
}

#[test]
fn floats_and_velocities_of_another_scene_arrive() {
    let plan = plan();
    let refused = plan.legal(*ladder::AFFINE.stages);
    assert_eq!(refused, Err(IllegalStages::Unsupported("other steps")));
    let mut game = Game::new(Arc::clone(&plan));
    let rungs = ladder::LADDER.map(|rung| plan.legal(*rung.stages).unwrap());
    let with_delta = ["delta=indices", "velocity=at-rest-flag+position=quantized+delta=indices"];
    let with_delta = with_delta.map(|text| text.parse().unwrap());
    for stages in rungs.into_iter().chain(with_delta) {
        for _ in 0..30 {
            let Some(arrived) = game.tick(stages).cloned() else {
                continue;
            };
            for index in 0..8 {
                assert_eq!(arrived.life(index).is_some(), index < game.world.0.len());
            }
            for index in 0..game.world.0.len() {
                let (exact, body) = (game.world.body(index), arrived.body(index));
                assert_eq!(body.position, exact.position);
                // 1024 steps up to the maximum speed.
                let most = match stages.velocity {
                    Velocity::Full => 0.0,
                    Velocity::Omitted => exact.linear_velocity.abs().max_element(),
                    _ => 0.501 * 20.0 / 1024.0,
                };
                let error = (body.linear_velocity - exact.linear_velocity).abs();
                assert!(error.max_element() <= most, "{stages}: {error}");
            }
        }
    }
}

#[test]
fn another_scene_is_simulated_and_restored() {
    let plan = plan();
    let stages = plan.legal(*ladder::SIMULATED.stages).unwrap();
    let mut game = Game::new(plan);
    let mut simulated = [0; 2];
    for tick in 1..=2 * LOST {
        let expected = |game: &Game| game.world.quantized(&game.plan, stages.precision());
        if let Some(arrived) = game.tick(stages).cloned() {
            assert_eq!(arrived, expected(&game));
            simulated[usize::from(tick > LOST)] += u64::from(game.is_simulated());
        }
    }
    assert!(simulated.iter().all(|&packets| packets > LOST / 2), "{simulated:?}");
    assert!(game.receiver.engine().simulated_ticks() > LOST);
    assert_eq!(game.sender.desyncs(), 1);
    assert!(game.is_simulated() && game.sender.packet().bytes.len() < 12);
}
