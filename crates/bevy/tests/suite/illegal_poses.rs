//! Bodies with illegal poses: their fields are still replicated.

use log::Level;

use super::events::{collect, has_record};
use super::*;

/// Position and health of the client's only body.
fn seen(net: &mut TestNet) -> (Vec3, u8) {
    let remote = only::<Health>(net, 0);
    let body = net.clients[0].world().entity(remote);
    let at = body.get::<Transform>().unwrap().translation;
    (at, body.get::<Health>().unwrap().0)
}

#[test]
fn the_fields_of_a_body_without_a_legal_pose_go_on() {
    collect();
    let mut net = TestNet::new(protocol);
    net.add_client();
    let body = spawn(&mut net, "crate", Vec3::X, Health(1));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    put(&mut net, body, Vec3::splat(f32::NAN));
    insert(&mut net, body, Health(2));
    net.run_until(|net| seen(net) == (Vec3::X, 2));
    let rotation = Quat::from_rotation_x(1.0);
    insert(&mut net, body, Transform::from_xyz(2.0, 0.0, 0.0).with_rotation(rotation));
    net.run_until(|net| seen(net) == (Vec3::X * 2.0, 2));
    // A body with an invalid rotation still moves. It keeps its last valid rotation.
    let turned = |rotation| Transform::from_xyz(3.0, 0.0, 0.0).with_rotation(rotation);
    insert(&mut net, body, (turned(Quat::from_array([0.0; 4])), Health(3)));
    net.run_until(|net| seen(net) == (Vec3::X * 3.0, 3));
    insert(&mut net, body, (turned(Quat::from_array([f32::NAN; 4])), Health(4)));
    net.run_until(|net| seen(net) == (Vec3::X * 3.0, 4));
    insert(&mut net, body, Health(5));
    net.run_until(|net| seen(net).1 == 5);
    let nowhere = turned(Quat::from_array([f32::INFINITY; 4])).with_scale(Vec3::ZERO);
    let nowhere = Transform { translation: Vec3::NAN, ..nowhere };
    insert(&mut net, body, (nowhere, Health(6)));
    net.run_until(|net| seen(net) == (Vec3::X * 3.0, 6));
    let remote = only::<Health>(&mut net, 0);
    let shown = net.clients[0].world().get::<Transform>(remote).unwrap();
    assert!(shown.rotation.angle_between(rotation) < 0.02);
    assert_eq!((stats(&net).bodies, stats(&net).waiting), (1, 0));
    for what in ["translation is not finite", "rotation is a quaternion of length zero"] {
        let start = format!("cubewire_bevy::server::capture: entity {body}: the {what}");
        assert!(has_record(Level::Warn, &start, ""), "{what}");
    }
}
