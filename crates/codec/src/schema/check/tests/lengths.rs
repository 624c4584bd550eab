use super::*;

fn set_form(form: FieldForm) -> impl FnOnce(&mut Schema) {
    move |schema| schema.fields.to_mut()[0].form = form
}

fn set_shape(shape: Shape) -> impl FnOnce(&mut Schema) {
    move |schema| schema.kinds.to_mut()[1].shape = shape
}

#[test]
fn ranges_hold_whole_steps_near_0() {
    let range = |min, max, steps| {
        move |schema: &mut Schema| schema.position[1] = Range::new(min, max, steps)
    };
    allowed(range(-1024.0, 0.0, 1024.0));
    allowed(range(0.0, 1024.0, 1024.0));
    allowed(range(0.0, 1e-3, 1.0));
    for (min, max, steps, message) in [
        (f64::NAN, 1.0, 1.0, "min must be a finite number, not `NaN`"),
        (
            0.0,
            f64::INFINITY,
            1.0,
            "max must be a finite number, not `inf`",
        ),
        (-0.0, 1.0, 1.0, "min is -0, which must be 0"),
        (-1.0, -0.0, 1.0, "max is -0, which must be 0"),
        (
            0.0,
            1.0,
            0.0,
            "the number of steps per unit must be above 0",
        ),
        (
            0.0,
            1.0,
            -1.0,
            "the number of steps per unit must be above 0",
        ),
        (0.0, 0.0, 1.0, "min must be below max"),
        (1.0, 0.0, 1.0, "min must be below max"),
        (0.25, 0.75, 1.0, "there is no whole step from min to max"),
        (
            -1024.5,
            -1024.0,
            1024.0,
            "steps must be from -1048576 to 1048575",
        ),
        (
            1024.0,
            1024.5,
            1024.0,
            "steps must be from -1048576 to 1048575",
        ),
        (0.0, 1e300, 1e300, "steps must be from -1048576 to 1048575"),
        (
            -0.01,
            1024.0,
            1024.0,
            "there must be at most 1048576 steps from min to max",
        ),
    ] {
        assert_eq!(
            refused(range(min, max, steps)),
            format!("position y: {message}")
        );
    }
}

#[test]
fn shapes_have_lengths() {
    allowed(set_shape(Shape::Ball(f32::MIN_POSITIVE)));
    allowed(set_shape(Shape::Ball(2047.0)));
    let capsule = |half, radius| Shape::Capsule { half, radius };
    for (shape, message) in [
        (
            Shape::Box([1.0, 0.0, 1.0]),
            "half of a side must be above 0",
        ),
        (Shape::Ball(-1.0), "the radius must be above 0"),
        (Shape::Ball(-0.0), "the radius is -0, which must be 0"),
        (
            Shape::Ball(f32::INFINITY),
            "the radius must be a finite number, not `inf`",
        ),
        (
            Shape::Ball(2048.0),
            "the radius must be below 1048576 steps",
        ),
        (capsule(0.0, 1.0), "half of the length must be above 0"),
        (capsule(1.0, 0.0), "the radius must be above 0"),
    ] {
        assert_eq!(refused(set_shape(shape)), format!("kind cube: {message}"));
    }
}

#[test]
fn fields_have_at_least_two_values() {
    let int = |min, max| FieldForm::Int { min, max };
    let float = |min, max, step| FieldForm::Float { min, max, step };
    allowed(set_form(int(i32::MIN, i32::MAX)));
    allowed(set_form(float(0.0, 1.0, 1.0)));
    allowed(set_form(float(0.0, 2_147_483_520.0, 1.0)));
    allowed(set_form(FieldForm::Angle { bits: 16 }));
    const STEPS: &str = "there must be 1 to 2147483647 steps from min to max";
    const BITS: &str = "bits must be a whole number from 1 to 16, not";
    for (form, message) in [
        (
            int(7, 7),
            "min must be below max: a field of one value needs no bits",
        ),
        (
            int(8, 7),
            "min must be below max: a field of one value needs no bits",
        ),
        (
            float(f32::NAN, 1.0, 1.0),
            "min must be a finite number, not `NaN`",
        ),
        (float(-0.0, 1.0, 1.0), "min is -0, which must be 0"),
        (float(1.0, 1.0, 1.0), "min must be below max"),
        (float(0.0, 1.0, 0.0), "the step must be above 0"),
        (float(0.0, 1.0, 2.5), STEPS),
        (float(0.0, 2_147_483_648.0, 1.0), STEPS),
        (float(f32::MIN, f32::MAX, f32::MIN_POSITIVE), STEPS),
        (FieldForm::Angle { bits: 0 }, &format!("{BITS} `0`")),
        (FieldForm::Angle { bits: 17 }, &format!("{BITS} `17`")),
    ] {
        assert_eq!(
            refused(set_form(form)),
            format!("field interacting: {message}")
        );
    }
}

#[test]
fn the_world_stays_within_the_steps() {
    allowed(|schema| schema.world.gravity = 0.0);
    allowed(|schema| schema.world.gravity = 7_372_800.0);
    allowed(|schema| schema.world.floor = None);
    allowed(|schema| schema.world.floor = Some(-2048.0));
    allowed(|schema| schema.world.max_speed = 122_880.0);
    let gravity = |gravity| refused(|schema| schema.world.gravity = gravity);
    let floor = |floor| refused(|schema| schema.world.floor = Some(floor));
    let max_speed = |speed| refused(|schema| schema.world.max_speed = speed);
    for (message, expected) in [
        (gravity(-1.0), "gravity: it must be at least 0"),
        (gravity(-0.0), "gravity: it is -0, which must be 0"),
        (
            gravity(f32::NAN),
            "gravity: it must be a finite number, not `NaN`",
        ),
        (
            gravity(7_372_801.0),
            "gravity: it must be at most 1048576 steps per tick²",
        ),
        (
            floor(f32::INFINITY),
            "floor: it must be a finite number, not `inf`",
        ),
        (
            floor(2048.5),
            "floor: it must be from -1048576 to 1048576 steps",
        ),
        (max_speed(0.0), "max-speed: it must be above 0"),
        (
            max_speed(f32::NAN),
            "max-speed: it must be a finite number, not `NaN`",
        ),
        (
            max_speed(122_881.0),
            "max-speed: it must be at most 1048576 steps per tick",
        ),
    ] {
        assert_eq!(message, expected);
    }
}
