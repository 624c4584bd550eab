//! Poses and fields. Illegal poses do not stop a body's fields. A unit test of `Pose` checks the precision of orientations.

use log::Level;

use super::log_records::{assert_record, collect};
use super::*;

/// Lean angle of a body.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Lean(f64);

fn with_lean(app: &mut App) {
    protocol(app);
    app.replicate_field("lean", Field::int(-60..=60), |lean: &Lean| lean.0, Lean);
}

#[test]
fn a_body_that_is_not_turned_arrives_without_a_turn() {
    let (mut net, _) = with_body(protocol, ());
    let shown = *only_value::<Transform>(&mut net);
    assert_eq!(shown.rotation, Quat::IDENTITY);
    let end = shown.transform_point(Vec3::new(50.0, 0.0, 0.0));
    assert!(end.y.abs() < 1.0 / 128.0, "the end of a floor of 100 units is at {end}");
}

#[test]
fn a_field_that_is_not_a_number_arrives_as_0() {
    let (mut net, body) = with_body(with_lean, Lean(17.0));
    assert_eq!(*only_value::<Lean>(&mut net), Lean(17.0));
    insert(&mut net, body, Lean(f64::NAN));
    net.run_until(|net| *only_value::<Lean>(net) != Lean(17.0));
    assert_eq!(*only_value::<Lean>(&mut net), Lean(0.0));
}

#[test]
fn the_fields_of_a_body_without_a_legal_pose_go_on() {
    collect();
    let (mut net, body) = with_body(protocol, Health(1));
    let seen = |net: &mut TestNet| {
        let at = only_value::<Transform>(net).translation;
        (at, only_value::<Health>(net).0)
    };
    insert(&mut net, body, (Transform::from_translation(Vec3::NAN), Health(2)));
    net.run_until(|net| seen(net) == (Vec3::ZERO, 2));
    let rotation = Quat::from_rotation_x(1.0);
    insert(&mut net, body, Transform::from_xyz(2.0, 0.0, 0.0).with_rotation(rotation));
    net.run_until(|net| seen(net) == (Vec3::X * 2.0, 2));
    // A body with an invalid rotation still moves. It keeps its last valid rotation.
    let turned = |rotation| Transform::from_xyz(3.0, 0.0, 0.0).with_rotation(rotation);
    let nowhere = turned(Quat::from_array([f32::INFINITY; 4])).with_scale(Vec3::ZERO);
    for (health, pose) in [
        (3, turned(Quat::from_array([0.0; 4]))),
        (4, turned(Quat::from_array([f32::NAN; 4]))),
        (6, Transform { translation: Vec3::NAN, ..nowhere }),
    ] {
        insert(&mut net, body, (pose, Health(health)));
        net.run_until(|net| seen(net) == (Vec3::X * 3.0, health));
        insert(&mut net, body, Health(health + 10));
        net.run_until(|net| seen(net).1 == health + 10);
    }
    let shown = only_value::<Transform>(&mut net);
    assert!(shown.rotation.angle_between(rotation) < 0.02);
    assert_eq!((stats(&net).bodies, stats(&net).waiting), (1, 0));
    for what in ["translation is not finite", "rotation is a quaternion of length zero"] {
        let start = format!("cubewire_bevy::server::capture: entity {body}: the {what}");
        assert_record(Level::Warn, &start, "");
    }
}
