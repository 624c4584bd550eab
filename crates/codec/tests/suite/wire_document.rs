//! The tables of WIRE.md, and its examples in `examples.txt`, match the code.

use cubewire_codec::ladder::SIMULATED;
use cubewire_codec::motion::MAX_TICKS;
use cubewire_codec::predict::CLASSES;
use cubewire_codec::quantize::affine::{
    AFFINE_POSITION, AFFINE_VELOCITY, DIFFERENCE_BITS, DIFFERENCE_ZERO_POINT,
};
use cubewire_codec::quantize::bounded::{Bounded, POSITION, VELOCITY};
use cubewire_codec::simulation::{MAX_SIMULATED_TICKS, MAX_STATE_CHUNK_BYTES};
use cubewire_codec::stages::{Delta, Position, RelativeOrientation, RelativePosition, Stages};
use cubewire_codec::{
    BodyState, GROWING_ORIENTATION_RANGES, Inputs, MAX_BODIES, Origin, PREDICTED_INDEX_BITS,
    PREDICTED_POSITION_RANGES, Plan, Sequence, Simulated, Snapshot, encode_initial, ladder,
};
use glam::{Quat, Vec3};

use crate::conformance::{Course, Pair};
use crate::lane::{Lane, quantized};
use crate::second::{Bits, STAGE_BITS};

const DOCUMENT: &str = include_str!("../../WIRE.md");
const EXAMPLES: &str = include_str!("../examples.txt");

/// Value of a constant in the document's list.
fn documented(constant: &str) -> &'static str {
    let start = format!("{constant}  ");
    let mut lines = DOCUMENT.lines().filter(|line| line.starts_with(&start));
    let line = lines.next().unwrap_or_else(|| panic!("no {constant}"));
    assert_eq!(lines.next(), None, "two lines {constant}");
    line[start.len()..].trim()
}

fn widths(bits: &[u8]) -> String {
    let bits: Vec<String> = bits.iter().map(u8::to_string).collect();
    bits.join(" ")
}

#[test]
fn the_constants_are_those_of_the_code() {
    let is = |constant: &str, value: &dyn ToString| {
        assert_eq!(documented(constant), value.to_string(), "{constant}");
    };
    let range = |bounded: Bounded| format!("{}..={}", bounded.min, bounded.max);
    let usual = |range_bits: Option<[u8; 2]>| widths(&range_bits.unwrap());
    let steps = format!("{} {}", Position::MIN_STEPS, Position::MAX_STEPS);
    is("position, quantized: usual steps per metre", &POSITION[0].steps_per_unit);
    is("position, quantized: least and most steps per metre", &steps);
    is("position, quantized with s = 512: x and y", &range(POSITION[0]));
    is("position, quantized with s = 512: z", &range(POSITION[2]));
    is("position, affine: x and y", &range(AFFINE_POSITION[0]));
    is("position, affine: z", &range(AFFINE_POSITION[2]));
    is("velocity, quantized: steps per m/s", &VELOCITY.steps_per_unit);
    is("velocity, quantized", &range(VELOCITY));
    is("velocity, affine", &range(AFFINE_VELOCITY));
    is("affine difference: bits", &DIFFERENCE_BITS);
    is("affine difference: zero point", &DIFFERENCE_ZERO_POINT);

    let (index, position) = (Delta::RELATIVE_INDICES, RelativePosition::TWO_RANGES);
    let orientation = RelativeOrientation::TWO_RANGES.range_bits();
    is("relative index: usual ranges", &usual(index.range_bits()));
    is("relative index: most bits of a range", &Delta::MAX_RANGE_BITS);
    is("predicted index: ranges", &widths(&PREDICTED_INDEX_BITS));
    is("relative position: usual ranges", &usual(position.range_bits()));
    is("relative position: most bits of a range", &RelativePosition::MAX_RANGE_BITS);
    is("relative orientation: usual ranges at 9 bits", &usual(orientation));
    let most = RelativeOrientation::MAX_RANGE_BITS;
    is("relative orientation: most bits of a range at 9 bits", &most);

    let linear = cubewire_codec::schema::CUBES.world.linear.unwrap();
    let gravity = format!("{}/{}", linear.gravity.0, linear.gravity.1);
    is("maximum number of bodies", &MAX_BODIES);
    is("maximum ticks of a known motion", &MAX_TICKS);
    is("simulated scene: most inputs", &MAX_SIMULATED_TICKS);
    is("simulated scene: most bytes of a state chunk", &MAX_STATE_CHUNK_BYTES);
    is("drag: velocity kept per tick, in 1/65536", &linear.drag_per_tick);
    is("gravity: 1/512 m per tick²", &gravity);
    is("minimum height of a falling body: z", &linear.fall_height);
    is("height of a body at rest: z", &linear.rest_height);
}

#[test]
fn the_ranges_of_each_class_are_those_of_the_code() {
    let start = DOCUMENT.find("class  position   orientation (b = 9)").unwrap();
    let rows = DOCUMENT[start..].lines().skip(1).take(CLASSES);
    for (class, row) in rows.enumerate() {
        let position = widths(&PREDICTED_POSITION_RANGES[class].bits());
        let orientation = widths(&GROWING_ORIENTATION_RANGES[class].bits());
        assert_eq!(row, format!("{class:<7}{position:<11}{orientation}"));
    }
}

fn to_hex(label: Sequence, bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    format!("{label} {}\n", lines.join("\n      "))
}

/// The rungs of `examples.txt`, and stages with unusual parameters only.
fn example_stages() -> impl Iterator<Item = (&'static str, Stages)> {
    let unusual = "orientation=smallest-three-9+velocity=omitted+position=quantized-1024\
                   +delta=relative-indices-2-4+relative-position=two-ranges-7-10\
                   +relative-orientation=two-ranges-3-9+changed-flags=separate";
    let unusual = unusual.parse().unwrap();
    let rungs = ladder::all().map(|rung| (rung.name, rung.stages));
    rungs.chain([("changed-flags, other parameters", unusual)])
}

/// The seven codes of section 5 in a packet that names no baseline, and their parameters.
fn codes(packet: &[u8]) -> String {
    let mut bits = Bits { bytes: packet, at: 17 };
    let mut number = |width: usize| bits.number(width as u32).unwrap();
    let codes = STAGE_BITS.map(&mut number);
    let mut text = codes.map(|code| code.to_string()).join(" ");
    if codes[2] == 3 {
        text += &format!(", steps {}", number(3));
    }
    for (stage, with_ranges) in [(3, 7), (4, 3), (5, 3)] {
        if codes[stage] == with_ranges {
            text += &format!(", ranges {} {}", number(5), number(5));
        }
    }
    if codes[3] == 6 {
        text += &format!(", simulated {}", number(1));
    }
    text
}

/// `examples.txt` from the first packet on.
fn examples() -> String {
    let (initial, states) = example_states();
    let mut examples = String::new();
    for (name, stages) in example_stages() {
        let mut pair = Pair::new(&initial);
        let mut before = None;
        for (sequence, state) in &states {
            // The lane also decodes the packet and checks the result. Both decoders read the bit-packed rungs.
            let lane = &mut pair.lane;
            match stages.delta {
                Delta::ArithmeticSimulated => send_example(lane, *sequence, state, before),
                delta if delta.is_arithmetic() => lane.send(*sequence, stages, state, before),
                _ => pair.send(&(*sequence, state.clone()), stages, Course::complete(1)),
            }
            let packet = &pair.lane.packet.bytes;
            if before.is_none() {
                examples += &format!("\n[{name}] {}\n", codes(packet));
            }
            examples += &to_hex(*sequence, packet);
            before = Some(*sequence);
        }
    }
    let mut block = Vec::new();
    encode_initial(&initial, &mut block).unwrap();
    examples += "\nThe initial state as a block:\n";
    examples + &to_hex(Sequence(0), &block).replace("#0", "block")
}

#[test]
fn the_examples_are_what_the_code_writes_and_reads() {
    assert!(
        EXAMPLES.ends_with(&examples()),
        "the examples should be those of write_the_golden_packets_and_the_examples"
    );
}

/// `examples.txt` with packets written by the current code.
pub(crate) fn with_examples() -> String {
    let start = EXAMPLES.find("\n[uncompressed]").unwrap();
    EXAMPLES[..start].to_owned() + &examples()
}

/// The initial state and the four other states.
pub(crate) fn example_states() -> (Snapshot, [(Sequence, Snapshot); 4]) {
    let bodies = [Vec3::new(0.0, 0.0, 4.0), Vec3::new(2.0, 0.0, 0.5), Vec3::new(4.0, 0.0, 0.5)];
    let initial = Snapshot {
        bodies: bodies.map(|position| BodyState { position, ..BodyState::default() }).into(),
    };
    let mut states = [1000, 1006, 1012, 1018].map(|tick| (Sequence(tick), initial.clone()));
    let flown = [
        (Vec3::new(0.25, -0.5, 4.0), 0.0),
        (Vec3::new(0.5, -1.0, 3.875), -2.0),
        (Vec3::new(0.75, -1.5, 3.5), -4.0),
        (Vec3::new(1.0, -2.0, 2.9375), -6.0),
    ];
    for (turn, ((_, state), (position, fall))) in states.iter_mut().zip(flown).enumerate() {
        state.bodies[0] = BodyState {
            position,
            orientation: match turn {
                0 => Quat::from_xyzw(0.6, 0.0, 0.0, 0.8),
                _ => Quat::from_xyzw(0.48, 0.36, 0.0, 0.8),
            },
            linear_velocity: Vec3::new(2.5, -5.0, fall),
            interacting: true,
        };
        state.bodies[1].position.x = [2.0, 2.25, 2.5, 2.5][turn];
        state.bodies[1].linear_velocity.x = [0.0, 2.5, 2.5, 0.0][turn];
        state.bodies[1].interacting = turn > 0;
        state.bodies[2].interacting = true;
    }
    (initial, states)
}

pub(crate) fn send_example(
    lane: &mut Lane,
    sequence: Sequence,
    state: &Snapshot,
    baseline: Option<Sequence>,
) {
    let inputs = match sequence.0 {
        1000 => Inputs::new(Origin::FromSceneStart(3), &[0, 1, 1]),
        1006 => Inputs::new(Origin::Continued(6), &[1; 6]),
        1012 => Inputs::new(Origin::Continued(6), &[1, 1, 1, 1, 9, 9]),
        _ => None,
    };
    let simulated = Simulated {
        inputs: inputs.as_ref(),
        state_chunk: match sequence.0 {
            1018 => &[0xC0, 0xDE],
            _ => &[],
        },
    };
    let current = quantized(&Plan::cubes(), state, SIMULATED.stages);
    let numbered = (sequence, SIMULATED.stages);
    lane.send_simulated(numbered, &current, [baseline, None, None], simulated);
}
