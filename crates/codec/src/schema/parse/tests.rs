use super::super::CUBES;
use super::*;

fn message(text: &str) -> String {
    Schema::parse(text).unwrap_err().to_string()
}

/// What the item of a line is told apart by.
fn key(line: &str) -> String {
    let words = match line.split(' ').next() {
        Some("position" | "kind" | "field") => 2,
        _ => 1,
    };
    line.split(' ').take(words).collect::<Vec<_>>().join(" ")
}

/// The text of the demo's scene with other lines for some items, or, after a `+`, further lines; and the number of the first
/// of these.
fn changed(lines: &str) -> (String, usize) {
    let mut text: Vec<String> = CUBES.text().lines().map(str::to_owned).collect();
    let mut numbers = Vec::new();
    for line in lines.split("; ") {
        if let Some(more) = line.strip_prefix('+') {
            text.push(more.into());
            numbers.push(text.len());
            continue;
        }
        let index = text.iter().position(|known| key(known) == key(line));
        let index = index.unwrap_or_else(|| panic!("{line}"));
        text[index] = line.into();
        numbers.push(index + 1);
    }
    (text.join("\n"), numbers[0])
}

#[test]
fn lines_can_be_spaced_commented_and_out_of_order() {
    let mut lines: Vec<_> = CUBES.text().lines().map(str::to_owned).collect();
    // The kinds come first.
    lines.rotate_left(8);
    for line in &mut lines {
        *line = format!(" \t{}  # as ever\r", line.replace(' ', "   "));
    }
    lines.insert(3, String::new());
    lines.insert(5, "# kind none".into());
    assert_eq!(Schema::parse(&lines.join("\n")), Ok(CUBES));
}

#[test]
fn numbers_can_be_written_otherwise() {
    let (text, _) = changed("gravity +2.0e1; anchor 00");
    assert_eq!(Schema::parse(&text), Ok(CUBES));
}

#[test]
fn optional_items_can_be_left_out_and_others_not() {
    let text = CUBES.text();
    for line in text.lines() {
        let without = Schema::parse(&text.replace(&format!("{line}\n"), ""));
        match line.split(' ').next().unwrap() {
            "anchor" | "field" | "floor" | "linear" | "kind" => assert!(without.is_ok(), "{line}"),
            _ => assert_eq!(
                without.unwrap_err().to_string(),
                format!("{}: it is missing", key(line))
            ),
        }
    }
    let kinds = text.lines().filter(|line| !line.starts_with("kind"));
    assert_eq!(
        message(&kinds.collect::<Vec<_>>().join("\n")),
        "kind: the number of kinds must be a whole number from 1 to 64, not `0`"
    );
    assert_eq!(message(""), "scene: it is missing");
}

/// The ends of what is legal.
const LEGAL: &str = "\
scene aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
kind player ball 1; kind cube ball 1; +kind -_09az unknown; +field cube body
position y -1024 0 1024
position y 0 1024 1024
position y 0 1e-3 1
anchor 9; slots living 10
anchor 65535; slots living 65536
kind cube ball 1.1754944e-38
kind cube ball 2047
field interacting int -2147483648 2147483647
field interacting float 0 1 1
field interacting float 0 2147483520 1
field interacting angle 16
gravity 0
gravity 7372800
floor -2048
max-speed 122880
linear -2147483648 2147483648 0 -2097152 2097152";

#[test]
fn what_is_legal_is_read_and_comes_back_from_its_text() {
    for lines in LEGAL.lines() {
        let read = Schema::parse(&changed(lines).0).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Schema::parse(&read.text()), Ok(read), "{lines}");
    }
}

/// Lines, and the message about the first of them.
const FAULTS: &str = "\
+tacks 60 | tacks: unknown word `tacks`; one of scene, ticks, up, position, orientation, anchor, kind, field, gravity, floor, max-speed, linear, slots
ticks | ticks: the number per second is missing
ticks 60 61 | ticks: `61` is a word too many
ticks 6e1 | ticks: the number per second must be a whole number from 1 to 240, not `6e1`
ticks 0 | ticks: the number per second must be a whole number from 1 to 240, not `0`
ticks 241 | ticks: the number per second must be a whole number from 1 to 240, not `241`
ticks 65537 | ticks: the number per second must be a whole number from 1 to 240, not `65537`
+scene cubes | scene: it is there twice
scene aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | scene: a name has 1 to 32 characters, each of a-z, 0-9, - and _
up w | up: unknown word `w`; one of x, y, z
up | up: the axis is missing
+position w 0 1 1 | position w: unknown word `w`; one of x, y, z
+position x 0 1 1 | position x: it is there twice
position y 0 1e999 1 | position y: max must be a finite number, not `1e999`
position y -0 1 1 | position y: min is -0, which must be 0
position y -1 -0 1 | position y: max is -0, which must be 0
position y 0 1 0 | position y: the number of steps per unit must be above 0
position y 0 1 -1 | position y: the number of steps per unit must be above 0
position y 0 0 1 | position y: min must be below max
position y 1 0 1 | position y: min must be below max
position y 0.25 0.75 1 | position y: there is no whole step from min to max
position y -1024.5 -1024 1024 | position y: steps must be from -1048576 to 1048575
position y 1024 1024.5 1024 | position y: steps must be from -1048576 to 1048575
position y 0 1e300 1e300 | position y: steps must be from -1048576 to 1048575
position y -0.01 1024 1024 | position y: there must be at most 1048576 steps from min to max
orientation 1 | orientation: bits of a component must be a whole number from 2 to 15, not `1`
orientation 16 | orientation: bits of a component must be a whole number from 2 to 15, not `16`
orientation 9 odd | orientation: unknown word `odd`; one of even
orientation 9 even 9 | orientation: `9` is a word too many
orientation 256 | orientation: bits of a component must be a whole number from 2 to 15, not `256`
anchor 65536 | anchor: the index must be a whole number from 0 to 65535, not `65536`
anchor 10; slots living 10 | anchor: it must be below the 10 bodies that can be there
+kind | kind: the name is missing
kind cube | kind cube: the shape is missing
kind cube cone | kind cube: unknown word `cone`; one of box, ball, capsule, unknown
kind cube box 0.2 0.2 | kind cube: half of a side is missing
+kind Cube ball 1 | kind Cube: a name has 1 to 32 characters, each of a-z, 0-9, - and _
+kind player ball 1 | kind player: it is there twice
kind cube box 1 0 1 | kind cube: half of a side must be above 0
kind cube ball -1 | kind cube: the radius must be above 0
kind cube ball -0 | kind cube: the radius is -0, which must be 0
kind cube ball 2048 | kind cube: the radius must be below 1048576 steps
kind cube capsule 0 1 | kind cube: half of the length must be above 0
kind cube capsule 1 0 | kind cube: the radius must be above 0
+field health int 0 2147483648 | field health: max must be a whole number from -2147483648 to 2147483647, not `2147483648`
+field health float 0 NaN 1 | field health: max must be a finite number, not `NaN`
+field health text | field health: unknown word `text`; one of flag, int, float, angle, body
+field interacting body | field interacting: it is there twice
field interacting int 7 7 | field interacting: min must be below max: a field of one value needs no bits
field interacting int 8 7 | field interacting: min must be below max: a field of one value needs no bits
field interacting float -0 1 1 | field interacting: min is -0, which must be 0
field interacting float 1 1 1 | field interacting: min must be below max
field interacting float 0 1 0 | field interacting: the step must be above 0
field interacting float 0 1 2.5 | field interacting: there must be 1 to 2147483647 steps from min to max
field interacting float 0 2147483648 1 | field interacting: there must be 1 to 2147483647 steps from min to max
field interacting float -3e38 3e38 1e-38 | field interacting: there must be 1 to 2147483647 steps from min to max
field interacting angle 0 | field interacting: bits must be a whole number from 1 to 16, not `0`
field interacting angle 17 | field interacting: bits must be a whole number from 1 to 16, not `17`
gravity \u{7}inf | gravity: it must be a finite number, not `\\u{7}inf`
gravity -1 | gravity: it must be at least 0
gravity -0 | gravity: it is -0, which must be 0
gravity 7372801 | gravity: it must be at most 1048576 steps per tick²
floor 2048.5 | floor: it must be from -1048576 to 1048576 steps
max-speed 0 | max-speed: it must be above 0
max-speed 122881 | max-speed: it must be at most 1048576 steps per tick
linear 25 9 64841 102 | linear: the height of falls is missing
linear -9223372036854775808 9 0 0 0 | linear: gravity's numerator must be a whole number from -2147483648 to 2147483648, not `-9223372036854775808`
linear 2147483649 9 0 0 0 | linear: gravity's numerator must be a whole number from -2147483648 to 2147483648, not `2147483649`
linear 25 0 0 0 0 | linear: gravity's denominator must be a whole number from 1 to 2147483648, not `0`
linear 25 2147483649 0 0 0 | linear: gravity's denominator must be a whole number from 1 to 2147483648, not `2147483649`
linear 25 9 -1 0 0 | linear: drag must be a whole number from 0 to 65536, not `-1`
linear 25 9 65537 0 0 | linear: drag must be a whole number from 0 to 65536, not `65537`
linear 25 9 0 -2147483648 0 | linear: the height at rest must be a whole number from -2097152 to 2097152, not `-2147483648`
linear 25 9 0 2097153 0 | linear: the height at rest must be a whole number from -2097152 to 2097152, not `2097153`
linear 25 9 0 0 -2147483648 | linear: the height of falls must be a whole number from -2097152 to 2097152, not `-2147483648`
linear 25 9 0 0 2097153 | linear: the height of falls must be a whole number from -2097152 to 2097152, not `2097153`
slots | slots: their form is missing
slots lively | slots: unknown word `lively`; one of fixed, living
slots living 0 | slots: the number of bodies must be a whole number from 1 to 65536, not `0`
slots living 65537 | slots: the number of bodies must be a whole number from 1 to 65536, not `65537`
slots living 4294967296 | slots: the number of bodies must be a whole number from 1 to 65536, not `4294967296`";

#[test]
fn faults_are_named_with_their_line_and_item() {
    for row in FAULTS.lines() {
        let (lines, expected) = row.split_once(" | ").unwrap();
        let (text, number) = changed(lines);
        assert_eq!(message(&text), format!("line {number}: {expected}"));
    }
}

#[test]
fn long_texts_are_refused_early() {
    let text = CUBES.text() + "#";
    let fits = text.clone() + &" ".repeat(Schema::MAX_TEXT_BYTES - text.len());
    assert_eq!(Schema::parse(&fits), Ok(CUBES));
    assert_eq!(message(&(fits + " ")), "text: it has more than 16384 bytes");
    let many = |line: &dyn Fn(usize) -> String, count| (0..count).map(line).collect::<String>();
    assert_eq!(
        message(&many(&|kind| format!("kind k{kind} unknown\n"), 65)),
        "line 65: kind k64: the number of kinds must be a whole number from 1 to 64, not `65`"
    );
    assert_eq!(
        message(&many(&|field| format!("field f{field} flag\n"), 33)),
        "line 33: field f32: the number of fields must be a whole number from 0 to 32, not `33`"
    );
    let long = "é".repeat(8_000);
    assert!(message(&long).len() < 300);
    assert!(message(&format!("kind {long} {long}")).len() < 300);
}
