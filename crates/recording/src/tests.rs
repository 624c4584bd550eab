use cubewire_codec::schema::{CUBES as CUBE_SCHEMA, Schema, Slots};
use cubewire_codec::{BodyState, Life};

use super::*;

/// Bytes of a cube and of a frame in the bare layout.
const RECORD_BYTES: usize = 32;
const FRAME_BYTES: usize = CUBES * RECORD_BYTES;

fn frame(cube_0_x: i32) -> Vec<u8> {
    let mut words = Vec::new();
    for cube in 0..CUBES {
        let x = if cube == 0 { cube_0_x } else { 5 };
        words.extend([3, 256, 256, 256, x, -7, 102, 0]);
    }
    words.into_iter().flat_map(i32::to_le_bytes).collect()
}

fn parse(bytes: &[u8]) -> Result<Recording, RecordingError> {
    Recording::parse(bytes, Path::new("some.bin"))
}

fn assert_refused(bytes: &[u8], message: &str) {
    let error = parse(bytes).unwrap_err().to_string();
    assert!(error.contains(message), "{error}\n{message}");
}

/// Asserts that the bytes are refused after overwriting `changed` at offset `at`. `@` in the message stands for the
/// offset.
fn assert_change_refused(bytes: &[u8], at: usize, changed: &[u8], message: &str) {
    let mut bytes = bytes.to_vec();
    bytes[at..][..changed.len()].copy_from_slice(changed);
    assert_refused(&bytes, &message.replace('@', &at.to_string()));
}

#[test]
fn errors_name_the_fault_and_its_offset() {
    let whole = frame(1).repeat(7);
    assert_refused(&[], "ends at offset 0 after 0 frames");
    assert_refused(&whole[..FRAME_BYTES * 6], "after 6 frames");
    let cut = &whole[..whole.len() - 1];
    assert_refused(cut, "ends inside frame 6, at offset 201823");
    for (at, number, message) in [
        (RECORD_BYTES * 2 + 4, 512_i32, "orientation_a of cube 2"),
        (16, 131_072, "position_x of cube 0"),
    ] {
        let message = format!("{message} in frame 6, at offset @, is {number}, outside ");
        assert_change_refused(&whole, FRAME_BYTES * 6 + at, &number.to_le_bytes(), &message);
    }
    let differs = [frame(1).repeat(3), frame(2).repeat(4)].concat();
    assert_refused(&differs, "frame 3, at offset 86496, differs from frame 0");
}

const LIVING: &str = r#"(
    name: "ships", ticks_per_second: 60, up: X,
    position: (
        (min: -8, max: 8, steps_per_unit: 16),
        (min: -16, max: 16, steps_per_unit: 16),
        (min: 0, max: 64, steps_per_unit: 16),
    ),
    component_bits: 11, levels: Odd, anchor: None,
    kinds: [(name: "ship", shape: Ball(1)), (name: "drone", shape: Unknown)],
    fields: [
        (name: "shielded", form: Flag),
        (name: "bank", form: Int(min: -60, max: 60)),
        (name: "target", form: Body),
    ],
    world: (gravity: 0, floor: None, max_speed: 10, linear: None),
    slots: Living(max: 3), support: (), seats: 1,
)"#;

fn schema() -> Schema {
    ron::from_str(LIVING).unwrap()
}

/// The first `count` frames of a scene. A body is born in frame 2, and another one takes its slot in frame 5.
fn living(count: usize) -> (Vec<u8>, Vec<QuantizedSnapshot>) {
    let plan = Plan::new(schema()).unwrap();
    let layout = Layout::new(Arc::clone(&plan), 3);
    let frames: Vec<_> = (0..count)
        .map(|tick| {
            let mut frame = layout.empty();
            let body = BodyState {
                position: glam::Vec3::new(-7.5, tick as f32, 3.25),
                orientation: glam::Quat::from_rotation_y(tick as f32),
                ..BodyState::default()
            };
            if tick >= 2 {
                let life =
                    Life { kind: u8::from(tick >= 5), generation: 255 * u8::from(tick >= 5) };
                frame.put(1, life, &body, &[1, 119, 0x1_0000]).unwrap();
            }
            frame
        })
        .collect();
    (written(&plan, 3, &frames), frames)
}

fn written(plan: &Arc<Plan>, slots: usize, frames: &[QuantizedSnapshot]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, Arc::clone(plan), slots).unwrap();
    for frame in frames {
        writer.frame(frame).unwrap();
    }
    bytes
}

#[test]
fn a_scene_in_which_bodies_come_and_go_comes_back() {
    let (bytes, frames) = living(9);
    let rest = bytes.strip_prefix(&header(&schema())[..]).unwrap();
    assert_eq!(rest[..6], [0; 6]);
    let read = parse(&bytes).unwrap();
    assert_eq!(read.frames, frames);
    assert_eq!(*read.plan.schema(), schema());
    assert_eq!(read.packets(), 3);
    let life = read.frames[8].life(1).unwrap();
    assert_eq!((life.kind, life.generation), (1, 255));
    // The up axis is x, which is stored last. Then follow the fields.
    assert_eq!(read.frames[8].position(1), [128, 52, -120]);
    assert_eq!([0, 1, 2].map(|field| read.frames[8].value(1, field)), [1, 119, 0x1_0000]);
    let (other, _) = living(8);
    assert_ne!(parse(&other).unwrap().hash(), read.hash());
}

#[test]
fn a_recording_of_the_cubes_is_the_same_with_and_without_a_header() {
    let mut bytes = frame(1).repeat(6);
    bytes.extend(frame(2));
    let bare = parse(&bytes).unwrap();
    assert_eq!(bare.packets(), 1);
    assert_eq!([0, 6].map(|frame| bare.frames[frame].position(0)), [[1, -7, 102], [2, -7, 102]]);
    let described = written(&bare.plan, CUBES, &bare.frames);
    let read = parse(&described).unwrap();
    assert_eq!(read.frames, bare.frames);
    assert_eq!(*read.plan.schema(), CUBE_SCHEMA);
    assert_eq!(read.hash(), bare.hash());
    let few = written(&bare.plan, CUBES, &bare.frames[..6]);
    assert_refused(&few, "after 6 frames");
    let header = few.len() - 6 * CUBES * 25;
    for (at, changed, message) in [
        (25, &[0][..], "alive of slot 1 in frame 0, at offset @, is 0, outside 1..=1"),
        (3 * CUBES * 25 + 9, &[7], "differs from frame 0"),
        (1, &[0; 8], "orientation of slot 0 in frame 0, at offset @, is not"),
    ] {
        assert_change_refused(&described, header + at, changed, message);
    }
}

/// Offset in a body, wrong bytes at it, and the expected error.
const WRONG: &str = "\
0 | 2 | alive | 2, outside 0..=1
1 | 2 | kind | 2, outside 0..=1
3 | 4 | orientation_largest | 4, outside 0..=3
9 | 255 7 | orientation_c | 2047, outside 0..=2046
11 | 0 1 | position_x | 256, outside -256..=255
19 | 128 0 0 0 | position_z | 128, outside -128..=127
23 | 2 | shielded | 2, outside 0..=1
27 | 121 | bank | 121, outside 0..=120
31 | 255 255 255 255 | target | 4294967295, outside 0..=16777216";

#[test]
fn every_number_of_a_frame_is_checked() {
    let (bytes, _) = living(9);
    // The last frame: an empty slot, a body, and an empty slot.
    let body = bytes.len() - 1 - 35;
    for row in WRONG.lines() {
        let [at, wrong, field, fault] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let wrong: Vec<u8> = wrong.split(' ').map(|byte| byte.parse().unwrap()).collect();
        let message = format!("{field} of slot 1 in frame 8, at offset @, is {fault}");
        assert_change_refused(&bytes, body + at.parse::<usize>().unwrap(), &wrong, &message);
    }
    let expected = format!("ends inside frame 8, at offset {}", body + 8);
    assert_refused(&bytes[..body + 8], &expected);
}

/// Header of a recording of a scene with births and deaths.
fn header(schema: &Schema) -> Vec<u8> {
    let schema = schema.encode();
    let start = format!("cubewire recording 3\n{}\n", schema.len());
    [start.as_bytes(), &schema].concat()
}

/// Headers with the expected error.
const HEADERS: &str = r"cubewire recording  | ends inside the header, at offset 19
cubewire recording 2\n | the version, at offset 19, must be a line with the number 3
cubewire recording 4\n | the version, at offset 19, must be a line with the number 3
cubewire recording 3\n5121\n | the length of the schema, at offset 21, must be a line with a whole number from 1 to 5120
cubewire recording 3\n+1\n | the length of the schema, at offset 21
cubewire recording 3\n\n | the length of the schema, at offset 21
cubewire recording 3\n123456\n | the length of the schema, at offset 21
cubewire recording 3\n12\nup | ends inside the header, at offset 26
cubewire recording 3\n5\nup w\n | the schema, at offset 23: schema: malformed";

#[test]
fn every_part_of_a_header_is_checked() {
    for row in HEADERS.lines() {
        let (header, message) = row.split_once(" | ").unwrap();
        assert_refused(header.replace(r"\n", "\n").as_bytes(), message);
    }
    let slow = Schema { ticks_per_second: 0, ..schema() };
    assert_refused(&header(&slow), "the schema, at offset 25: ticks: ");
    assert_refused(&header(&schema()), "after 0 frames");
    let fixed = Schema { slots: Slots::Fixed, ..schema() };
    let mut header = header(&fixed);
    let offset = header.len();
    header.extend(b"0\n");
    let message = format!("the number of bodies, at offset {offset}, must be");
    assert_refused(&header, &message);
}
