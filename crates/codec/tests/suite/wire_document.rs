//! WIRE.md and the code say the same: its tables, and its examples in both directions.

use cubewire_codec::ladder::{AFFINE, LADDER};
use cubewire_codec::motion::{FALL_HEIGHT, GRAVITY, MAX_TICKS};
use cubewire_codec::predict::{CLASSES, DRAG_PER_TICK, REST_HEIGHT};
use cubewire_codec::quantize::affine::{
    AFFINE_POSITION_XY, AFFINE_POSITION_Z, AFFINE_VELOCITY, DIFFERENCE_BITS, DIFFERENCE_ZERO_POINT,
};
use cubewire_codec::quantize::bounded::{Bounded, POSITION_XY, POSITION_Z, VELOCITY};
use cubewire_codec::{
    BitLedger, CubeState, GROWING_ORIENTATION_RANGES, MAX_CUBES, ORIENTATION_RANGES,
    POSITION_RANGES, PREDICTED_INDEX_BITS, PREDICTED_POSITION_RANGES, RELATIVE_INDEX_BITS,
    Sequence, Snapshot,
};
use glam::{Quat, Vec3};

use crate::scene::Lane;

const DOCUMENT: &str = include_str!("../../WIRE.md");

/// Cells of the table rows that start with `first`.
fn row(first: &str) -> Vec<&'static str> {
    let start = format!("| {first} |");
    let mut rows = DOCUMENT.lines().filter(|line| line.starts_with(&start));
    let row = rows.next().unwrap_or_else(|| panic!("no row {first}"));
    assert_eq!(rows.next(), None, "two rows {first}");
    row.trim_matches('|').split('|').map(str::trim).collect()
}

fn widths(bits: &[u8]) -> String {
    let bits: Vec<String> = bits.iter().map(u8::to_string).collect();
    bits.join(" ")
}

#[test]
fn the_constants_are_those_of_the_code() {
    let range = |bounded: Bounded| format!("{}..={}", bounded.min, bounded.max);
    for (constant, value) in [
        ("most cubes", MAX_CUBES.to_string()),
        (
            "position, quantized: steps a metre",
            POSITION_XY.steps_per_unit.to_string(),
        ),
        ("position, quantized: x and y", range(POSITION_XY)),
        ("position, quantized: z", range(POSITION_Z)),
        ("position, affine: x and y", range(AFFINE_POSITION_XY)),
        ("position, affine: z", range(AFFINE_POSITION_Z)),
        (
            "velocity, quantized: steps per m/s",
            VELOCITY.steps_per_unit.to_string(),
        ),
        ("velocity, quantized", range(VELOCITY)),
        ("velocity, affine", range(AFFINE_VELOCITY)),
        ("affine difference: bits", DIFFERENCE_BITS.to_string()),
        (
            "affine difference: zero point",
            DIFFERENCE_ZERO_POINT.to_string(),
        ),
        ("relative index: ranges", widths(&RELATIVE_INDEX_BITS)),
        ("predicted index: ranges", widths(&PREDICTED_INDEX_BITS)),
        ("relative position: ranges", widths(&POSITION_RANGES.bits)),
        (
            "relative orientation: ranges at 9 bits",
            widths(&ORIENTATION_RANGES.bits),
        ),
        ("longest known motion: ticks", MAX_TICKS.to_string()),
        (
            "drag: velocity kept a tick, in 1/65536",
            DRAG_PER_TICK.to_string(),
        ),
        (
            "gravity: 1/512 m per tick²",
            format!("{}/{}", GRAVITY.0, GRAVITY.1),
        ),
        ("least height of a falling cube: z", FALL_HEIGHT.to_string()),
        ("height of a cube at rest: z", REST_HEIGHT.to_string()),
    ] {
        assert_eq!(row(constant), [constant, &value]);
    }
}

#[test]
fn the_ranges_of_each_class_are_those_of_the_code() {
    let start = DOCUMENT.find("| class | position | orientation |").unwrap();
    let rows = DOCUMENT[start..].lines().skip(2).take(CLASSES);
    for (class, row) in rows.enumerate() {
        let position = widths(&PREDICTED_POSITION_RANGES[class].bits);
        let orientation = widths(&GROWING_ORIENTATION_RANGES[class].bits);
        assert_eq!(row, format!("| {class} | {position} | {orientation} |"));
    }
}

/// The three states of section 13.
pub(crate) fn example_states() -> [Snapshot; 3] {
    let initial = Snapshot {
        cubes: [0.0, 2.0, 4.0]
            .map(|x| CubeState {
                position: Vec3::new(x, 0.0, 0.5),
                ..CubeState::default()
            })
            .into(),
    };
    let mut first = initial.clone();
    first.cubes[0] = CubeState {
        position: Vec3::new(0.25, -0.5, 1.0),
        orientation: Quat::from_xyzw(0.6, 0.0, 0.0, 0.8),
        linear_velocity: Vec3::new(2.5, -5.0, 5.0),
        interacting: true,
    };
    first.cubes[2].interacting = true;
    let mut second = first.clone();
    second.cubes[0] = CubeState {
        position: Vec3::new(0.5, -1.0, 1.25),
        orientation: Quat::from_xyzw(0.48, 0.36, 0.0, 0.8),
        linear_velocity: Vec3::new(2.5, -5.0, 2.5),
        interacting: true,
    };
    second.cubes[1].position.x += 1.0 / 64.0;
    second.cubes[1].interacting = true;
    [initial, first, second]
}

/// The packets of section 13, by rung.
pub(crate) fn example_packets() -> Vec<(&'static str, [Vec<u8>; 2])> {
    LADDER
        .into_iter()
        .chain([AFFINE])
        .map(|rung| {
            let title = format!("\n**{}**\n\n```text\n", rung.name);
            let start = DOCUMENT
                .find(&title)
                .unwrap_or_else(|| panic!("no example of {}", rung.name));
            let block = &DOCUMENT[start + title.len()..];
            let block = &block[..block.find("```").unwrap()];
            let mut packets = block.split("#1006").map(from_hex);
            (
                rung.name,
                [packets.next().unwrap(), packets.next().unwrap()],
            )
        })
        .collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .trim_start_matches("#1000")
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).expect("hexadecimal digits") as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn to_hex(label: &str, bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    format!("{label} {}\n", lines.join("\n      "))
}

#[test]
fn the_examples_are_what_the_code_writes_and_reads() {
    let [initial, first, second] = example_states();
    let mut examples = String::new();
    for rung in LADDER.into_iter().chain([AFFINE]) {
        let mut lane = Lane::new(&initial, BitLedger::new());
        lane.send(Sequence(1000), rung.stages, &first, None);
        let first = to_hex("#1000", &lane.packet.bytes);
        // Decoded, too: the lane checks what arrives.
        lane.send(Sequence(1006), rung.stages, &second, Some(Sequence(1000)));
        let second = to_hex("#1006", &lane.packet.bytes);
        let name = rung.name;
        examples += &format!("\n**{name}**\n\n```text\n{first}{second}```\n");
    }
    assert!(
        DOCUMENT.ends_with(&examples),
        "the examples should be:\n{examples}"
    );
    assert_eq!(example_packets().len(), LADDER.len() + 1);
}
