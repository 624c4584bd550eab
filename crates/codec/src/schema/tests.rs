use super::*;
use crate::quantize::bounded;

#[test]
fn the_demo_is_legal_and_has_the_codecs_positions() {
    assert_eq!(CUBES.check(), Ok(()));
    for (range, bounded) in CUBES.position.iter().zip(bounded::POSITION) {
        assert_eq!(
            range.integers(),
            i64::from(bounded.min)..=bounded.max.into()
        );
        assert_eq!(range.steps_per_unit, bounded.steps_per_unit);
    }
}

#[test]
fn whole_steps_of_a_range_are_those_inside() {
    assert_eq!(Range::new(-1.0, 1.0, 2.0).integers(), -2..=1);
    assert_eq!(Range::new(-0.9, 0.9, 2.0).integers(), -1..=1);
    assert_eq!(Range::new(0.0, 1.0, 0.5).integers(), 0..=0);
    assert!(Range::new(0.25, 0.75, 1.0).integers().is_empty());
    for end in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let _ = Range::new(end, end, 1e300).integers();
    }
}

#[test]
fn a_field_has_as_many_bits_as_its_largest_value() {
    let int = |min, max| FieldForm::Int { min, max }.bits();
    assert_eq!([int(0, 1), int(0, 100), int(-1, 2)], [1, 7, 2]);
    assert_eq!(int(i32::MIN, i32::MAX), 32);
    let float = |min, max, step| FieldForm::Float { min, max, step }.bits();
    assert_eq!(float(0.0, 100.0, 0.25), 9);
    assert_eq!(float(0.0, 102.3, 0.1), 10);
    assert_eq!(float(0.0, 102.4, 0.1), 11);
    assert_eq!(FieldForm::Flag.bits(), 1);
    assert_eq!(FieldForm::Angle { bits: 12 }.bits(), 12);
    assert_eq!(FieldForm::Body.bits(), 17);
}

#[test]
fn hashes_tell_scenes_apart() {
    let mut faster = CUBES;
    faster.ticks_per_second = 61;
    let mut other = CUBES;
    other.name = "cubed".into();
    assert_eq!(CUBES.hash(), CUBES.clone().hash());
    assert_ne!(CUBES.hash(), faster.hash());
    assert_ne!(CUBES.hash(), other.hash());
}

type Change<'a> = &'a dyn Fn(&mut Schema);

/// Faults that no text has.
#[test]
fn what_is_not_read_from_a_text_is_checked_too() {
    let kinds = |number: usize| {
        let kind = |index| Kind {
            name: format!("k{index}").into(),
            shape: Shape::Unknown,
        };
        (0..number).map(kind).collect::<Cow<_>>()
    };
    let fields = |number: usize| {
        let field = |index| Field {
            name: format!("f{index}").into(),
            form: FieldForm::Body,
        };
        (0..number).map(field).collect::<Cow<_>>()
    };
    let nan = FieldForm::Float {
        min: f32::NAN,
        max: 1.0,
        step: 1.0,
    };
    let with = |change: Change<'_>| {
        let mut schema = CUBES;
        change(&mut schema);
        schema.check().map_err(|error| error.to_string())
    };
    assert_eq!(with(&|schema| schema.kinds = kinds(64)), Ok(()));
    assert_eq!(with(&|schema| schema.fields = fields(32)), Ok(()));
    for name in ["", "a b", "é\n", "#"] {
        let shown = name.escape_debug();
        let expected = format!("{shown}: a name has 1 to 32 characters, each of a-z, 0-9, - and _");
        let of_kind = with(&|schema| schema.kinds.to_mut()[1].name = name.into());
        let of_field = with(&|schema| schema.fields.to_mut()[0].name = name.into());
        assert_eq!(of_kind, Err(format!("kind {expected}")));
        assert_eq!(of_field, Err(format!("field {expected}")));
    }
    let changes: [(Change<'_>, &str); 9] = [
        (
            &|schema| schema.kinds = kinds(65),
            "kind: the number of kinds must be a whole number from 1 to 64, not `65`",
        ),
        (
            &|schema| schema.fields = fields(33),
            "field: the number of fields must be a whole number from 0 to 32, not `33`",
        ),
        (
            &|schema| schema.position[1].min = f64::NAN,
            "position y: min must be a finite number, not `NaN`",
        ),
        (
            &|schema| schema.position[1].max = f64::INFINITY,
            "position y: max must be a finite number, not `inf`",
        ),
        (
            &|schema| schema.kinds.to_mut()[1].shape = Shape::Ball(f32::INFINITY),
            "kind cube: the radius must be a finite number, not `inf`",
        ),
        (
            &|schema| schema.fields.to_mut()[0].form = nan,
            "field interacting: min must be a finite number, not `NaN`",
        ),
        (
            &|schema| schema.world.gravity = f32::NAN,
            "gravity: it must be a finite number, not `NaN`",
        ),
        (
            &|schema| schema.world.floor = Some(f32::INFINITY),
            "floor: it must be a finite number, not `inf`",
        ),
        (
            &|schema| schema.world.max_speed = f32::NAN,
            "max-speed: it must be a finite number, not `NaN`",
        ),
    ];
    for (change, expected) in changes {
        assert_eq!(with(change), Err(expected.into()));
    }
}
