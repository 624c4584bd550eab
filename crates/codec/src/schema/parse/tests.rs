use super::super::CUBES;
use super::*;

fn message(text: &str) -> String {
    Schema::parse(text).unwrap_err().to_string()
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
    let text = CUBES.text().replace("gravity 20", "gravity +2.0e1");
    let text = text.replace("anchor 0", "anchor 00");
    assert_eq!(Schema::parse(&text), Ok(CUBES));
}

#[test]
fn optional_items_can_be_left_out_and_others_not() {
    let text = CUBES.text();
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let item = match words[0] {
            "position" => words[..2].join(" "),
            word => word.into(),
        };
        let without = Schema::parse(&text.replace(&format!("{line}\n"), ""));
        match words[0] {
            "anchor" | "field" | "floor" | "linear" | "kind" => assert!(without.is_ok(), "{line}"),
            _ => assert_eq!(
                without.unwrap_err().to_string(),
                format!("{item}: it is missing")
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

#[test]
fn faults_are_named_with_their_line_and_word() {
    const POSITION_Y: &str = "position y -256 256 512";
    const CUBE: &str = "kind cube box 0.2 0.2 0.2";
    const FIELD: &str = "field interacting flag";
    for (line, changed, expected) in [
        (
            "ticks 60",
            "tacks 60",
            "line 2: tacks: unknown word `tacks`; one of scene, ticks, up, position, orientation, anchor, kind, \
             field, gravity, floor, max-speed, linear, slots",
        ),
        (
            "ticks 60",
            "ticks",
            "line 2: ticks: the number per second is missing",
        ),
        (
            "ticks 60",
            "ticks 60 61",
            "line 2: ticks: `61` is a word too many",
        ),
        (
            "ticks 60",
            "ticks 6e1",
            "line 2: ticks: the number per second must be a whole number from 1 to 1000, not `6e1`",
        ),
        (
            "ticks 60",
            "scene cubes",
            "line 2: scene: it is there twice",
        ),
        (
            "up z",
            "up w",
            "line 3: up: unknown word `w`; one of x, y, z",
        ),
        ("up z", "up", "line 3: up: the axis is missing"),
        (
            POSITION_Y,
            "position w 0 1 1",
            "line 5: position w: unknown word `w`; one of x, y, z",
        ),
        (
            POSITION_Y,
            "position x 0 1 1",
            "line 5: position x: it is there twice",
        ),
        (
            POSITION_Y,
            "position y 0 1e999 1",
            "line 5: position y: max must be a finite number, not `1e999`",
        ),
        (
            "anchor 0",
            "anchor 65536",
            "line 8: anchor: the index must be a whole number from 0 to 65535, not `65536`",
        ),
        (CUBE, "kind", "line 10: kind: the name is missing"),
        (
            CUBE,
            "kind cube",
            "line 10: kind cube: the shape is missing",
        ),
        (
            CUBE,
            "kind cube cone",
            "line 10: kind cube: unknown word `cone`; one of box, ball, capsule, unknown",
        ),
        (
            CUBE,
            "kind cube box 0.2 0.2",
            "line 10: kind cube: half of a side is missing",
        ),
        (
            CUBE,
            "kind Cube ball 1",
            "line 10: kind Cube: a name has 1 to 32 characters, each of a-z, 0-9, - and _",
        ),
        (
            CUBE,
            "kind player ball 1",
            "line 10: kind player: it is there twice",
        ),
        (
            FIELD,
            "field health int 0 2147483648",
            "line 11: field health: max must be a whole number from -2147483648 to 2147483647, not `2147483648`",
        ),
        (
            FIELD,
            "field health float 0 NaN 1",
            "line 11: field health: max must be a finite number, not `NaN`",
        ),
        (
            FIELD,
            "field health text",
            "line 11: field health: unknown word `text`; one of flag, int, float, angle, body",
        ),
        (
            "gravity 20",
            "gravity \u{7}inf",
            "line 12: gravity: it must be a finite number, not `\\u{7}inf`",
        ),
        (
            "linear 25 9 64841 102 250",
            "linear 25 9 64841 102",
            "line 15: linear: the height of falls is missing",
        ),
        (
            "slots fixed",
            "slots",
            "line 16: slots: their form is missing",
        ),
        (
            "slots fixed",
            "slots lively",
            "line 16: slots: unknown word `lively`; one of fixed, living",
        ),
        (
            "anchor 0\n",
            "anchor 9\nslots living 9 #",
            "line 8: anchor: it must be below the 9 bodies that can be there",
        ),
    ] {
        let mut text = CUBES.text();
        if changed.contains("slots living") {
            text = text.replace("slots fixed\n", "");
        }
        assert!(text.contains(line), "{line}");
        assert_eq!(message(&text.replacen(line, changed, 1)), expected);
    }
}

#[test]
fn long_texts_are_refused_early() {
    let text = CUBES.text() + "#";
    let fits = text.clone() + &" ".repeat(Schema::MAX_TEXT_BYTES - text.len());
    assert_eq!(Schema::parse(&fits), Ok(CUBES));
    assert_eq!(message(&(fits + " ")), "text: it has more than 16384 bytes");
    let kinds: String = (0..65)
        .map(|kind| format!("kind k{kind} unknown\n"))
        .collect();
    assert_eq!(
        message(&kinds),
        "line 65: kind k64: the number of kinds must be a whole number from 1 to 64, not `65`"
    );
    let fields: String = (0..33)
        .map(|field| format!("field f{field} flag\n"))
        .collect();
    assert_eq!(
        message(&fields),
        "line 33: field f32: the number of fields must be a whole number from 0 to 32, not `33`"
    );
    let long = "é".repeat(8_000);
    assert!(message(&long).len() < 300);
    assert!(message(&format!("kind {long} {long}")).len() < 300);
}
