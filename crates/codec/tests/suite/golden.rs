//! Golden packets: a scene computed in integers, and its packets, which every machine must write and read alike. They
//! cover results that could differ between machines: the predictors' floats, and the adaptive state over many
//! packets.
//!
//! After a change of the format, this command writes them and `examples.txt` again:
//!
//! ```sh
//! cargo test -p cubewire-codec --test suite -- --ignored write_the_golden
//! ```
//!
//! To run on a big-endian machine, with Debian's `qemu-user` and `gcc-s390x-linux-gnu`, and after
//! `rustup target add s390x-unknown-linux-gnu`:
//!
//! ```sh
//! export CC_s390x_unknown_linux_gnu=s390x-linux-gnu-gcc
//! export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
//! export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER="qemu-s390x -L /usr/s390x-linux-gnu"
//! cargo test -p cubewire-codec --test suite --target s390x-unknown-linux-gnu -- golden wire_document
//! ```

use std::fs;

use cubewire_codec::ladder::{
    ARITHMETIC, CHANGED_FLAGS, PREDICTED, PREDICTED_POSITION, Rung, SIMULATED,
};
use cubewire_codec::quantize::smallest_three::SmallestThree;
use cubewire_codec::{
    BitLedger, BodyState, Coverage, Fingerprint, Inputs, Life, Origin, Plan, QuantizedBody,
    QuantizedSnapshot, Sequence, Simulated, Snapshot, Stages,
};
use glam::Vec3;

use crate::lane::Lane;
use crate::wire_document::with_examples;

const GOLDEN: &str = include_str!("../golden.txt");

/// Rungs with complete packets only, and rungs with mostly partial packets.
const RUNGS: [(Rung, Coverage); 6] = [
    (PREDICTED_POSITION, Coverage::Complete),
    (ARITHMETIC, Coverage::Complete),
    (PREDICTED, Coverage::Complete),
    (SIMULATED, Coverage::Complete),
    (CHANGED_FLAGS, Coverage::Partial),
    (PREDICTED, Coverage::Partial),
];
const BODIES: usize = 48;
const TICKS: usize = 40;

/// Sequence numbers wrap during the test.
const FIRST: Sequence = Sequence(65_520);

/// 1 in fixed-point numbers.
const ONE: i64 = 1 << 30;

/// A body: position in 1/512 m and velocity in 1/512 m per tick, both times 64; orientation x, y, z, w and
/// angular velocity in radians per tick, times [`ONE`].
struct Body {
    position: [i64; 3],
    velocity: [i64; 3],
    orientation: [i64; 4],
    spin: [i64; 3],
    half: i64,
}

impl Body {
    fn new(index: usize) -> Self {
        let number = index as i64;
        let part = |factor: i64, size: i64| number * factor % (2 * size + 1) - size;
        if index == 0 {
            // The player.
            return Self {
                position: [0, 0, 384 * 64],
                velocity: [640, 320, 0],
                orientation: [0, 0, 0, ONE],
                spin: [-ONE / 40, ONE / 20, 0],
                half: 384,
            };
        }
        let [x, y] = [number % 7 - 3, number / 7 - 3].map(|coordinate| coordinate * 260 * 64);
        // Every fourth body rests on the floor. The others start above it.
        let moves = i64::from(number % 4 != 3);
        let parts = |factors: [i64; 3], sizes: [i64; 3]| {
            [0, 1, 2].map(|axis| part(factors[axis], sizes[axis]) * moves)
        };
        Self {
            position: [x, y, 102 * 64 + moves * (number * 997 % 500) * 64],
            velocity: parts([611, 377, 211], [700, 700, 400]),
            orientation: [0, 0, 0, ONE],
            spin: parts([71, 53, 37], [90; 3]).map(|part| part * ONE / 1500),
            half: 102,
        }
    }

    fn step(&mut self) {
        let floor = self.half * 64;
        if self.position[2] > floor || self.velocity[2] > 0 {
            // 20 m/s².
            self.velocity[2] -= 182;
        }
        for (position, velocity) in self.position.iter_mut().zip(self.velocity) {
            *position += velocity;
        }
        if self.position[2] < floor {
            // It bounces a little and loses some speed.
            self.position[2] = floor;
            self.velocity = [
                self.velocity[0] * 3 / 4,
                self.velocity[1] * 3 / 4,
                (-self.velocity[2] / 4).max(0),
            ];
            self.spin = self.spin.map(|spin| spin * 3 / 4);
        }
        let [x, y, z, w] = self.orientation;
        let [a, b, c] = self.spin;
        let turned = [
            x + (a * w + b * z - c * y) / (2 * ONE),
            y + (b * w + c * x - a * z) / (2 * ONE),
            z + (c * w + a * y - b * x) / (2 * ONE),
            w - (a * x + b * y + c * z) / (2 * ONE),
        ];
        let length: i64 = turned.iter().map(|part| part * part).sum::<i64>().isqrt();
        self.orientation = turned.map(|part| part * ONE / length);
    }

    fn body(&self) -> QuantizedBody {
        let size = |index: &usize| (self.orientation[*index].abs(), 3 - *index);
        let largest = (0..4).max_by_key(size).expect("there are four");
        let sign = self.orientation[largest].signum();
        let others = (0..4).filter(|index| *index != largest);
        let mut components = [0; 3];
        for (component, index) in components.iter_mut().zip(others) {
            // c √2, from −1 to 1.
            let scaled = self.orientation[index] * sign * 46_341 / 32_768;
            *component = ((scaled + ONE) * 511 / (2 * ONE)).clamp(0, 511) as u16;
        }
        QuantizedBody {
            orientation: SmallestThree { largest: largest as u8, components },
            position: self.position.map(|axis| (axis / 64) as i32),
        }
    }
}

/// Returns the initial state, and a snapshot for each tick.
pub(crate) fn play() -> (Snapshot, Vec<QuantizedSnapshot>) {
    let mut bodies: Vec<_> = (0..BODIES).map(Body::new).collect();
    let initial = bodies.iter().map(|body| BodyState {
        position: Vec3::from_array(body.position.map(|axis| (axis / 64) as f32 / 512.0)),
        ..BodyState::default()
    });
    let initial = Snapshot { bodies: initial.collect() };
    let mut frames = Vec::new();
    for tick in 0..TICKS {
        for body in &mut bodies {
            body.step();
        }
        // One body is thrown across the world, and a resting one is set in motion.
        if tick == 25 {
            bodies[5].position = [-9_000 * 64, 9_000 * 64, 600 * 64];
            bodies[7].velocity = [500, -300, 900];
        }
        let mut frame = QuantizedSnapshot::new(Plan::cubes(), PREDICTED.stages.precision());
        frame.clear_slots(BODIES);
        for (slot, body) in bodies.iter().enumerate() {
            let interacting = (slot + tick / 8) % 5 == 0;
            frame.put_integers(slot, Life::default(), body.body(), &[interacting.into()]).unwrap();
        }
        frames.push(frame);
    }
    (initial, frames)
}

/// Ages of the baseline and of two additional references at a tick: usually for a round trip of 100 ms, at
/// times for a bad network.
fn ages(tick: usize) -> [Option<usize>; 3] {
    match tick {
        0..6 => [None; 3],
        _ if tick % 7 == 3 => [Some(6), Some(9), None],
        _ if tick % 11 == 4 => [Some(8), None, None],
        _ => [Some(6), Some(7), Some(8)],
    }
    .map(|age| age.filter(|&age| age <= tick))
}

const fn sequence(tick: usize) -> Sequence {
    Sequence(FIRST.0.wrapping_add(tick as u16))
}

/// Inputs and state chunk of a tick. The origins take turns, some ticks have no inputs, and some have a state chunk.
/// Packets have the longer check at the ticks 0 and 16.
fn scene(tick: usize) -> (Option<Inputs>, Vec<u8>) {
    let [baseline, ..] = ages(tick);
    let age = baseline.unwrap_or(tick + 1);
    // Origins can be older than the baseline.
    let earlier = (age + tick % 3) as u8;
    let origin = match tick % 6 {
        0 | 1 => Some(Origin::Continued(age as u8)),
        2 => Some(Origin::FromSceneStart(earlier)),
        3 => Some(Origin::Restored(earlier)),
        4 => Some(Origin::Continued(earlier)),
        _ => None,
    };
    // A key is pressed or released every five ticks.
    let input = |back: u8| [0x00, 0x01, 0x11, 0x82][(tick + 300 - usize::from(back)) / 5 % 4];
    let inputs = origin.and_then(|origin| {
        let inputs: Vec<u8> = (0..origin.age()).rev().map(input).collect();
        Inputs::new(origin, &inputs)
    });
    let state_chunk = match tick % 9 {
        4 => (0..tick as u8).map(|byte| byte.wrapping_mul(37)).collect(),
        _ => Vec::new(),
    };
    (inputs, state_chunk)
}

fn name((rung, coverage): (Rung, Coverage)) -> String {
    let suffix = match coverage {
        Coverage::Complete => "",
        Coverage::Partial => ", partial",
    };
    rung.name.to_owned() + suffix
}

fn stages((rung, coverage): (Rung, Coverage), tick: usize) -> Stages {
    // Complete packets have partial baselines, and partial packets have complete ones.
    match coverage {
        Coverage::Partial if tick % 5 != 4 => rung.stages.with_coverage(coverage).unwrap(),
        _ => rung.stages,
    }
}

/// Packets of the scene on a rung. Each packet is also decoded.
fn packets(rung: (Rung, Coverage)) -> Vec<Vec<u8>> {
    let (initial, frames) = play();
    let mut lane = Lane::new(&initial, BitLedger::new());
    let mut packets = Vec::new();
    for (tick, frame) in frames.iter().enumerate() {
        let ages = ages(tick);
        let names = ages.map(|age| Some(sequence(tick - age?)));
        let (inputs, state_chunk) = scene(tick);
        // A third of the acked packets did not arrive in time to be merged.
        let acked = (0..ages[0].map_or(0, |age| tick - age)).map(sequence);
        lane.merged = acked.filter(|packet| packet.0 % 3 > 0).collect();
        lane.carried = (0..BODIES).map(|body| (body + tick) % 4 == 0).collect();
        // Other rungs ignore the inputs.
        let simulated = Simulated { inputs: inputs.as_ref(), state_chunk: &state_chunk };
        lane.send_simulated((sequence(tick), stages(rung, tick)), frame, names, simulated);
        packets.push(lane.packet.bytes.clone());
    }
    packets
}

fn document() -> String {
    let Fingerprint { model, arithmetic } = Fingerprint::shipped();
    let mut text = format!(
        "Packets that every machine must write and read alike: see tests/suite/golden.rs.\n\n\
         fingerprint of the model       {model:016x}\n\
         fingerprint of the arithmetic  {arithmetic:016x}\n"
    );
    for rung in RUNGS {
        text += &format!("\n{}\n", name(rung));
        for (tick, packet) in packets(rung).iter().enumerate() {
            let hex: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
            text += &format!("{} {hex}\n", sequence(tick));
        }
    }
    text
}

#[test]
fn packets_are_written_and_read_as_on_every_other_machine() {
    for (line, (now, golden)) in document().lines().zip(GOLDEN.lines()).enumerate() {
        assert_eq!(now, golden, "line {}", line + 1);
    }
    assert_eq!(document().len(), GOLDEN.len());
}

#[test]
#[ignore = "writes what the others compare with"]
fn write_the_golden_packets_and_the_examples() {
    let folder = env!("CARGO_MANIFEST_DIR");
    fs::write(format!("{folder}/tests/golden.txt"), document()).unwrap();
    fs::write(format!("{folder}/tests/examples.txt"), with_examples()).unwrap();
}
