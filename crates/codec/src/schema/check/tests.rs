use super::super::{CUBES, Field, Kind};
use super::*;

mod lengths;

fn refused(change: impl FnOnce(&mut Schema)) -> String {
    let mut schema = CUBES;
    change(&mut schema);
    schema.check().unwrap_err().to_string()
}

fn allowed(change: impl FnOnce(&mut Schema)) {
    let mut schema = CUBES;
    change(&mut schema);
    assert_eq!(schema.check(), Ok(()));
    assert_eq!(Schema::parse(&schema.text()), Ok(schema));
}

fn set_linear(change: impl FnOnce(&mut Linear)) -> impl FnOnce(&mut Schema) {
    move |schema| change(schema.world.linear.as_mut().unwrap())
}

#[test]
fn names_are_short_plain_and_unique() {
    const NAME: &str = "a name has 1 to 32 characters, each of a-z, 0-9, - and _";
    let long = "a".repeat(32);
    allowed(|schema| schema.name = long.clone().into());
    allowed(|schema| schema.kinds.to_mut()[0].name = "-_09az".into());
    assert_eq!(
        refused(|schema| schema.name = (long + "a").into()),
        format!("scene: {NAME}")
    );
    for (name, shown) in [
        ("", ""),
        ("Cube", "Cube"),
        ("a b", "a b"),
        ("é\n", "é\\n"),
        ("#", "#"),
    ] {
        assert_eq!(
            refused(|schema| schema.kinds.to_mut()[1].name = name.into()),
            format!("kind {shown}: {NAME}")
        );
        assert_eq!(
            refused(|schema| schema.fields.to_mut()[0].name = name.into()),
            format!("field {shown}: {NAME}")
        );
    }
    assert_eq!(
        refused(|schema| schema.kinds.to_mut()[1].name = "player".into()),
        "kind player: it is there twice"
    );
    assert_eq!(
        refused(|schema| {
            let field = schema.fields[0].clone();
            schema.fields.to_mut().push(field);
        }),
        "field interacting: it is there twice"
    );
    // A kind and a field are told apart by their words.
    allowed(|schema| schema.fields.to_mut()[0].name = "cube".into());
}

#[test]
fn whole_numbers_have_bounds() {
    for ticks in [0, 1001] {
        assert_eq!(
            refused(|schema| schema.ticks_per_second = ticks),
            format!(
                "ticks: the number per second must be a whole number from 1 to 1000, not `{ticks}`"
            )
        );
    }
    for bits in [0, 1, 16, 255] {
        assert_eq!(
            refused(|schema| schema.component_bits = bits),
            format!(
                "orientation: bits of a component must be a whole number from 2 to 15, not `{bits}`"
            )
        );
    }
    for max in [0, 65_537, u32::MAX] {
        assert_eq!(
            refused(|schema| schema.slots = Slots::Living { max }),
            format!(
                "slots: the number of bodies must be a whole number from 1 to 65536, not `{max}`"
            )
        );
    }
    let living = |anchor, max| {
        move |schema: &mut Schema| {
            schema.anchor = Some(anchor);
            schema.slots = Slots::Living { max };
        }
    };
    allowed(living(9, 10));
    allowed(living(65_535, 65_536));
    assert_eq!(
        refused(living(10, 10)),
        "anchor: it must be below the 10 bodies that can be there"
    );
}

#[test]
fn kinds_and_fields_are_few() {
    let kinds = |number: usize| {
        let kind = |index| Kind {
            name: format!("k{index}").into(),
            shape: Shape::Unknown,
        };
        move |schema: &mut Schema| schema.kinds = (0..number).map(kind).collect()
    };
    let fields = |number: usize| {
        let field = |index| Field {
            name: format!("f{index}").into(),
            form: FieldForm::Body,
        };
        move |schema: &mut Schema| schema.fields = (0..number).map(field).collect()
    };
    allowed(kinds(64));
    allowed(fields(0));
    allowed(fields(32));
    for number in [0, 65] {
        assert_eq!(
            refused(kinds(number)),
            format!(
                "kind: the number of kinds must be a whole number from 1 to 64, not `{number}`"
            )
        );
    }
    assert_eq!(
        refused(fields(33)),
        "field: the number of fields must be a whole number from 0 to 32, not `33`"
    );
}

#[test]
fn integers_of_the_linear_predictor_have_bounds() {
    allowed(|schema| schema.world.linear = None);
    allowed(set_linear(|linear| linear.gravity = (-1 << 31, 1 << 31)));
    let whole = |what, min: i64, max: i64, value: i64| {
        format!("linear: {what} must be a whole number from {min} to {max}, not `{value}`")
    };
    for numerator in [i64::MIN, (1 << 31) + 1] {
        assert_eq!(
            refused(set_linear(|linear| linear.gravity.0 = numerator)),
            whole("gravity's numerator", -1 << 31, 1 << 31, numerator)
        );
    }
    for denominator in [i64::MIN, -9, 0, (1 << 31) + 1] {
        assert_eq!(
            refused(set_linear(|linear| linear.gravity.1 = denominator)),
            whole("gravity's denominator", 1, 1 << 31, denominator)
        );
    }
    for drag in [-1, 65_537] {
        assert_eq!(
            refused(set_linear(|linear| linear.drag_per_tick = drag)),
            whole("drag", 0, 65_536, drag)
        );
    }
    for height in [i32::MIN, (1 << 21) + 1] {
        assert_eq!(
            refused(set_linear(|linear| linear.rest_height = height)),
            whole("the height at rest", -1 << 21, 1 << 21, height.into())
        );
        assert_eq!(
            refused(set_linear(|linear| linear.fall_height = height)),
            whole("the height of falls", -1 << 21, 1 << 21, height.into())
        );
    }
}
