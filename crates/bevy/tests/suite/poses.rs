//! Poses and fields arrive with the documented precision.

use super::*;

/// Lean angle of a body.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Lean(f64);

fn with_lean(app: &mut App) {
    protocol(app);
    app.replicate_field("lean", Field::int(-60..=60), |lean: &Lean| lean.0, Lean);
}

/// Pose of a client's only body.
fn pose(net: &mut TestNet) -> Transform {
    let body = only::<Transform>(net, 0);
    *net.clients[0].world().get(body).unwrap()
}

#[test]
fn a_body_that_is_not_turned_arrives_not_turned() {
    let mut net = TestNet::new(protocol);
    net.add_client();
    spawn(&mut net, "crate", Vec3::ZERO, ());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let shown = pose(&mut net);
    assert_eq!(shown.rotation, Quat::IDENTITY);
    let end = shown.transform_point(Vec3::new(50.0, 0.0, 0.0));
    assert!(end.y.abs() < 1.0 / 128.0, "the end of a floor of 100 units is at {end}");
}

#[test]
fn a_point_5_units_from_a_centre_arrives_within_a_step() {
    let mut net = TestNet::new(protocol);
    net.add_client();
    let body = spawn(&mut net, "crate", Vec3::ZERO, ());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let mut chance = Chance(1);
    for _ in 0..30 {
        let mut part = || chance.below(2001) as f32 / 1000.0 - 1.0;
        let rotation = Quat::from_xyzw(part(), part(), part(), 1.1).normalize();
        let sent = Transform::from_rotation(rotation);
        insert(&mut net, body, sent);
        net.run_until(|net| pose(net).rotation.angle_between(rotation) < 0.02);
        net.ticks(30);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let [shown, sent] = [pose(&mut net), sent].map(|pose| pose.transform_point(5.0 * axis));
            assert!(shown.distance(sent) < 1.0 / 128.0, "{shown} and {sent}");
        }
    }
}

#[test]
fn a_field_that_is_not_a_number_arrives_as_0() {
    let mut net = TestNet::new(with_lean);
    net.add_client();
    let lean = |net: &mut TestNet| {
        let body = only::<Lean>(net, 0);
        *net.clients[0].world().get::<Lean>(body).unwrap()
    };
    let body = spawn(&mut net, "crate", Vec3::ZERO, Lean(17.0));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    assert_eq!(lean(&mut net), Lean(17.0));
    insert(&mut net, body, Lean(f64::NAN));
    net.run_until(|net| lean(net) != Lean(17.0));
    assert_eq!(lean(&mut net), Lean(0.0));
}
