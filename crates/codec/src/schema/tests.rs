use serde::de::DeserializeOwned;

use super::*;
use crate::quantize::bounded;

#[test]
fn the_demo_is_legal_and_has_the_codecs_positions() {
    assert_eq!(CUBES.check(), Ok(()));
    for (range, bounded) in CUBES.position.iter().zip(bounded::POSITION) {
        assert_eq!(range.integers(), i64::from(bounded.min)..=bounded.max.into());
        assert_eq!(range.steps_per_unit, bounded.steps_per_unit);
    }
}

#[test]
fn there_are_up_to_64_kinds_and_32_fields() {
    let check = |kinds: usize, fields: usize| {
        let kind = |index| Kind { name: format!("k{index}").into(), shape: Shape::Unknown };
        let field = |index| Field { name: format!("f{index}").into(), form: FieldForm::Body };
        let schema = Schema {
            kinds: (0..kinds).map(kind).collect(),
            fields: (0..fields).map(field).collect(),
            ..CUBES
        };
        schema.check().map_err(|error| error.to_string())
    };
    assert_eq!(check(64, 32), Ok(()));
    let kinds = "kind: the number of kinds must be a whole number from 1 to 64, not `65`";
    assert_eq!(check(65, 32), Err(kinds.into()));
    let fields = "field: the number of fields must be a whole number from 0 to 32, not `33`";
    assert_eq!(check(64, 33), Err(fields.into()));
}

/// Sets an item of a schema to a value in RON. Items with `+` add a kind or field.
fn set(schema: &mut Schema, item: &str) {
    fn read<T: DeserializeOwned>(value: &str) -> T {
        ron::from_str(value).unwrap_or_else(|error| panic!("{value}: {error}"))
    }
    let (item, value) = item.split_once(' ').unwrap();
    match item {
        "scene" => schema.name = read(value),
        "ticks" => schema.ticks_per_second = read(value),
        "y" => schema.position[1] = read(value),
        "bits" => schema.component_bits = read(value),
        "anchor" => schema.anchor = read(value),
        "player" => schema.kinds.to_mut()[0].shape = read(value),
        "cube" => schema.kinds.to_mut()[1].shape = read(value),
        "+kind" => schema.kinds.to_mut().push(read(value)),
        "interacting" => schema.fields.to_mut()[0].form = read(value),
        "+field" => schema.fields.to_mut().push(read(value)),
        "gravity" => schema.world.gravity = read(value),
        "floor" => schema.world.floor = read(value),
        "max-speed" => schema.world.max_speed = read(value),
        "linear" => schema.world.linear = read(value),
        "slots" => schema.slots = read(value),
        "support" => schema.support = read(value),
        "seats" => schema.seats = read(value),
        item => panic!("{item}"),
    }
}

fn changed(items: &str) -> Schema {
    let mut schema = CUBES;
    items.split("; ").for_each(|item| set(&mut schema, item));
    schema
}

/// Limits of legal values.
const LEGAL: &str = r#"
scene "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
player Ball(1); cube Ball(1); +kind (name:"-_09az",shape:Unknown); +field (name:"cube",form:Body)
y (min:-1024,max:0,steps_per_unit:1024)
y (min:0,max:1024,steps_per_unit:1024)
y (min:0,max:1e-3,steps_per_unit:1)
anchor Some(9); slots Living(max:10)
anchor Some(65535); slots Living(max:65536)
anchor None; floor None; linear None
cube Ball(1.1754944e-38)
cube Ball(2047)
interacting Int(min:-2147483648,max:2147483647)
interacting Float(min:0,max:1,step:1)
interacting Float(min:0,max:2147483520,step:1)
interacting Angle(bits:16)
gravity 0
gravity 7372800
floor Some(-2048)
max-speed 122880
linear Some((gravity:(-2147483648,2147483648),drag_per_tick:0,rest_height:-2097152,fall_height:2097152))
support (); seats 4
support (velocities:true)"#;

#[test]
fn legal_schemas_come_back_from_their_bytes() {
    for items in LEGAL.lines().skip(1) {
        let schema = changed(items);
        assert_eq!(Schema::decode(&schema.encode()), Ok(schema), "{items}");
    }
}

/// Illegal items, each with its message.
const FAULTS: &str = r##"
+kind (name:"",shape:Unknown) | kind : a name must have 1 to 32 characters from a-z, 0-9, - and _
+kind (name:"a b",shape:Unknown) | kind a b: a name must have 1 to 32 characters from a-z, 0-9, - and _
+field (name:"a b",form:Body) | field a b: a name must have 1 to 32 characters from a-z, 0-9, - and _
+kind (name:"é\n",shape:Unknown) | kind é\n: a name must have 1 to 32 characters from a-z, 0-9, - and _
+kind (name:"#",shape:Unknown) | kind #: a name must have 1 to 32 characters from a-z, 0-9, - and _
y (min:NaN,max:1,steps_per_unit:1) | position Y: min must be a finite number, not `NaN`
y (min:0,max:inf,steps_per_unit:1) | position Y: max must be a finite number, not `inf`
cube Ball(inf) | kind cube: the radius must be a finite number, not `inf`
gravity NaN | gravity: it must be a finite number, not `NaN`
floor Some(inf) | floor: it must be a finite number, not `inf`
max-speed NaN | max-speed: it must be a finite number, not `NaN`
ticks 0 | ticks: the number per second must be a whole number from 1 to 240, not `0`
ticks 241 | ticks: the number per second must be a whole number from 1 to 240, not `241`
scene "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" | scene: a name must have 1 to 32 characters from a-z, 0-9, - and _
y (min:-0.0,max:1,steps_per_unit:1) | position Y: min must be 0, not -0
y (min:-1,max:-0.0,steps_per_unit:1) | position Y: max must be 0, not -0
y (min:0,max:1,steps_per_unit:0) | position Y: the number of steps per unit must be above 0
y (min:0,max:0,steps_per_unit:1) | position Y: min must be below max
y (min:0.25,max:0.75,steps_per_unit:1) | position Y: the range from min to max contains no whole step
y (min:-1024.5,max:-1024,steps_per_unit:1024) | position Y: steps must be from -1048576 to 1048575
y (min:1024,max:1024.5,steps_per_unit:1024) | position Y: steps must be from -1048576 to 1048575
y (min:0,max:1e300,steps_per_unit:1e300) | position Y: steps must be from -1048576 to 1048575
y (min:-0.01,max:1024,steps_per_unit:1024) | position Y: there must be at most 1048576 steps from min to max
bits 1 | orientation: bits of a component must be a whole number from 2 to 15, not `1`
bits 16 | orientation: bits of a component must be a whole number from 2 to 15, not `16`
anchor Some(10); slots Living(max:10) | anchor: it must be below 10, the maximum number of bodies
+kind (name:"player",shape:Ball(1)) | kind player: it is defined twice
cube Box((1,0,1)) | kind cube: half of a side must be above 0
cube Ball(-1) | kind cube: the radius must be above 0
cube Ball(-0.0) | kind cube: the radius must be 0, not -0
cube Ball(2048) | kind cube: the radius must be below 1048576 steps
cube Capsule(half:0,radius:1) | kind cube: half of the length must be above 0
cube Capsule(half:1,radius:0) | kind cube: the radius must be above 0
+field (name:"health",form:Float(min:0,max:NaN,step:1)) | field health: max must be a finite number, not `NaN`
+field (name:"interacting",form:Body) | field interacting: it is defined twice
interacting Int(min:7,max:7) | field interacting: min must be below max: a field of one value needs no bits
interacting Float(min:-0.0,max:1,step:1) | field interacting: min must be 0, not -0
interacting Float(min:1,max:1,step:1) | field interacting: min must be below max
interacting Float(min:0,max:1,step:0) | field interacting: the step must be above 0
interacting Float(min:0,max:1,step:2.5) | field interacting: there must be 1 to 2147483647 steps from min to max
interacting Float(min:0,max:2147483648,step:1) | field interacting: there must be 1 to 2147483647 steps from min to max
interacting Float(min:-3e38,max:3e38,step:1e-38) | field interacting: there must be 1 to 2147483647 steps from min to max
interacting Angle(bits:0) | field interacting: bits must be a whole number from 1 to 16, not `0`
interacting Angle(bits:17) | field interacting: bits must be a whole number from 1 to 16, not `17`
gravity -1 | gravity: it must be at least 0
gravity -0.0 | gravity: it must be 0, not -0
gravity 7372801 | gravity: it must be at most 1048576 steps per tick²
floor Some(2048.5) | floor: it must be from -1048576 to 1048576 steps
max-speed 0 | max-speed: it must be above 0
max-speed 122881 | max-speed: it must be at most 1048576 steps per tick
linear Some((gravity:(-9223372036854775808,9),drag_per_tick:0,rest_height:0,fall_height:0)) | linear: gravity's numerator must be a whole number from -2147483648 to 2147483648, not `-9223372036854775808`
linear Some((gravity:(2147483649,9),drag_per_tick:0,rest_height:0,fall_height:0)) | linear: gravity's numerator must be a whole number from -2147483648 to 2147483648, not `2147483649`
linear Some((gravity:(25,0),drag_per_tick:0,rest_height:0,fall_height:0)) | linear: gravity's denominator must be a whole number from 1 to 2147483648, not `0`
linear Some((gravity:(25,2147483649),drag_per_tick:0,rest_height:0,fall_height:0)) | linear: gravity's denominator must be a whole number from 1 to 2147483648, not `2147483649`
linear Some((gravity:(25,9),drag_per_tick:-1,rest_height:0,fall_height:0)) | linear: drag must be a whole number from 0 to 65536, not `-1`
linear Some((gravity:(25,9),drag_per_tick:65537,rest_height:0,fall_height:0)) | linear: drag must be a whole number from 0 to 65536, not `65537`
linear Some((gravity:(25,9),drag_per_tick:0,rest_height:-2147483648,fall_height:0)) | linear: the height at rest must be a whole number from -2097152 to 2097152, not `-2147483648`
linear Some((gravity:(25,9),drag_per_tick:0,rest_height:2097153,fall_height:0)) | linear: the height at rest must be a whole number from -2097152 to 2097152, not `2097153`
linear Some((gravity:(25,9),drag_per_tick:0,rest_height:0,fall_height:-2147483648)) | linear: the height of falls must be a whole number from -2097152 to 2097152, not `-2147483648`
linear Some((gravity:(25,9),drag_per_tick:0,rest_height:0,fall_height:2097153)) | linear: the height of falls must be a whole number from -2097152 to 2097152, not `2097153`
slots Living(max:0) | slots: the number of bodies must be a whole number from 1 to 65536, not `0`
slots Living(max:65537) | slots: the number of bodies must be a whole number from 1 to 65536, not `65537`
seats 0 | seats: the number of players must be a whole number from 1 to 4, not `0`
seats 5 | seats: the number of players must be a whole number from 1 to 4, not `5`"##;

#[test]
fn faults_are_named_with_their_item() {
    for row in FAULTS.lines().skip(1) {
        let (items, expected) = row.split_once(" | ").unwrap();
        let bytes = changed(items).encode();
        let error = Schema::decode(&bytes).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn bytes_that_are_not_written_for_a_schema_are_refused() {
    let bytes = CUBES.encode();
    let refused = |bytes: &[u8]| Schema::decode(bytes).unwrap_err().to_string();
    for length in 0..bytes.len() {
        assert_eq!(refused(&bytes[..length]), "schema: malformed");
    }
    assert_eq!(refused(&[&bytes[..], &[0]].concat()), "schema: malformed");
    // A capability that is neither true nor false.
    let support = bytes.len() - 5;
    assert_eq!(bytes[support..], [1, 1, 1, 1, 1]);
    for at in support..bytes.len() - 1 {
        let mut bytes = bytes.clone();
        bytes[at] = 2;
        assert_eq!(refused(&bytes), "schema: malformed");
    }
    // The length of the name as two bytes instead of one.
    let longer = [&[bytes[0] | 0x80, 0], &bytes[1..]].concat();
    assert_eq!(postcard::from_bytes(&longer), Ok(CUBES));
    assert_eq!(refused(&longer), "schema: malformed");
    let most = vec![0xFF; Schema::MAX_BYTES];
    assert_eq!(refused(&most), "schema: malformed");
    let more = vec![0xFF; Schema::MAX_BYTES + 1];
    assert_eq!(refused(&more), "schema: it is longer than 5120 bytes");
}
