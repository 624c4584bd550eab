//! Poses and fields arrive with the documented precision. Illegal poses do not stop a body's fields.

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

/// A client that sees a body, which is not turned.
fn with_body(protocol: fn(&mut App), more: impl Bundle) -> (TestNet, Entity) {
    let mut net = TestNet::new(protocol);
    net.add_client();
    let body = spawn(&mut net, "crate", Vec3::ZERO, more);
    net.run_until(|net| net.count::<Remote>(0) == 1);
    (net, body)
}

#[test]
fn poses_arrive_within_a_step_5_units_from_the_centre() {
    let (mut net, body) = with_body(protocol, ());
    let shown = *only_value::<Transform>(&mut net);
    assert_eq!(shown.rotation, Quat::IDENTITY);
    let end = shown.transform_point(Vec3::new(50.0, 0.0, 0.0));
    assert!(end.y.abs() < 1.0 / 128.0, "the end of a floor of 100 units is at {end}");
    let mut chance = Chance(1);
    for _ in 0..30 {
        let mut part = || chance.below(2001) as f32 / 1000.0 - 1.0;
        let rotation = Quat::from_xyzw(part(), part(), part(), 1.1).normalize();
        let sent = Transform::from_rotation(rotation);
        insert(&mut net, body, sent);
        let shown = |net: &mut TestNet| *only_value::<Transform>(net);
        net.run_until(|net| shown(net).rotation.angle_between(rotation) < 0.02);
        net.ticks(30);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let [shown, sent] =
                [shown(&mut net), sent].map(|pose| pose.transform_point(5.0 * axis));
            assert!(shown.distance(sent) < 1.0 / 128.0, "{shown} and {sent}");
        }
    }
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
