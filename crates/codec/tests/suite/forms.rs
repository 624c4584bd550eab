//! A ledger lists the form that the encoder chose, and the bits of components that the decoder reads.

use cubewire_codec::ladder::{self, LADDER, RELATIVE_ORIENTATION, SMALLEST_THREE};
use cubewire_codec::stages::{RelativeOrientation, RelativePosition};
use cubewire_codec::{
    BitItem, BitKind, BitLedger, BodyState, Form, QuantizedSnapshot, Sequence, Snapshot,
    StageOptions, Stages,
};
use glam::{Quat, Vec3};

use crate::lane::{Lane, flip};

/// Steps per metre of a position.
const STEPS: f32 = 512.0;

fn snapshot(bodies: usize, change: impl Fn(usize, &mut BodyState)) -> Snapshot {
    let body = |index: usize| {
        let mut body =
            BodyState { position: Vec3::new(index as f32, 1.0, 2.0), ..BodyState::default() };
        change(index, &mut body);
        body
    };
    Snapshot { bodies: (0..bodies).map(body).collect() }
}

fn lane(stages: Stages, before: &Snapshot, after: &Snapshot) -> Lane {
    let mut lane = Lane::new(before, BitLedger::itemized());
    lane.send(Sequence(1), stages, before, None);
    lane.send(Sequence(7), stages, after, Some(Sequence(1)));
    lane
}

/// Checks the forms of a field of the bodies 0, 1, 2 and so on.
fn assert_forms<const N: usize>(
    stages: Stages,
    kind: BitKind,
    [before, after]: [&Snapshot; 2],
    expected: [Option<Form>; N],
) {
    let lane = lane(stages, before, after);
    let items = lane.packet.ledger.items().unwrap().iter().filter(|item| item.kind == kind);
    let mut forms: Vec<_> = items.map(|item| (item.body.unwrap(), item.form)).collect();
    forms.sort_by_key(|&(body, _)| body);
    let expected: Vec<_> = (0..).zip(expected).collect();
    assert_eq!(forms, expected);
}

#[test]
fn forms_follow_the_chosen_ranges() {
    let before = snapshot(6, |_, _| ());
    let after = snapshot(6, |body, state| {
        // Ranges of −8 to 7 steps, then of −40 to 39.
        state.position.y += [0.0, -8.0, 8.0, 39.0, 40.0, 0.0][body] / STEPS;
        // Ranges of −2 to 1, then of −6 to 5. A component of 9 bits has a step every 0.0055 of a small angle.
        let turned = [0.0, 1.2, 2.2, 5.2, 6.2, 550.0][body];
        state.orientation = Quat::from_rotation_x(turned * 0.0055);
        state.interacting = true;
    });
    let options = StageOptions {
        relative_position: RelativePosition::TwoRanges { small: 4, large: 6 },
        relative_orientation: RelativeOrientation::TwoRanges { small: 2, large: 3 },
        ..*RELATIVE_ORIENTATION.stages
    };
    let (stages, snapshots) = (options.check().unwrap(), [&before, &after]);
    let [exact, small, large] = [Form::Exact, Form::Small, Form::Large].map(Some);
    let [far, other] = [Form::OutOfRange, Form::OtherLargest].map(Some);
    let expected = [exact, small, large, large, far, exact];
    assert_forms(stages, BitKind::Position, snapshots, expected);
    let expected = [exact, small, large, large, far, other];
    assert_forms(stages, BitKind::Orientation, snapshots, expected);
    let whole = [Some(Form::Whole); 6];
    assert_forms(SMALLEST_THREE.stages, BitKind::Orientation, snapshots, whole);
}

#[test]
fn arithmetically_coded_fields_have_forms_of_their_residuals() {
    let before = snapshot(4, |_, _| ());
    let after = snapshot(4, |body, state| {
        state.position.y += [0.0, 5.0, 100.0, 3000.0][body] / STEPS;
        state.orientation = Quat::from_rotation_x([0.02, 0.0, 0.3, 3.0][body]);
    });
    let [small, large, other] = [Form::Small, Form::Large, Form::OtherLargest].map(Some);
    for rung in LADDER.iter().filter(|rung| rung.stages.delta.is_arithmetic()) {
        // An unchanged field is one bin.
        let expected = [None, small, large, large];
        assert_forms(rung.stages, BitKind::Position, [&before, &after], expected);
        let expected = [small, None, large, other];
        assert_forms(rung.stages, BitKind::Orientation, [&before, &after], expected);
    }
}

/// A lane after two packets of twelve bodies. In the second, the bodies moved along each axis by zero, a little,
/// more, and too far for any range.
fn lane_of_twelve(stages: Stages) -> Lane {
    let turned = |_, body: &mut BodyState| body.orientation = Quat::from_rotation_z(0.1);
    let after = snapshot(12, |index, body| {
        turned(index, body);
        let (axis, size) = (index / 4, index % 4);
        // A flag changes, so that every rung sends every body.
        body.interacting = true;
        body.position[axis] += [0.0, 0.01, 0.1, 7.0][size];
        body.linear_velocity[axis] = [0.0, 0.1, 1.0, 7.0][size];
        let turn = Quat::from_axis_angle(Vec3::AXES[axis], [0.0, 0.02, 0.1, 0.5][size]);
        body.orientation = (turn * body.orientation).normalize();
    });
    lane(stages, &snapshot(12, turned), &after)
}

/// The three numbers of a body that an item describes.
fn numbers(snapshot: &QuantizedSnapshot, item: &BitItem) -> [i32; 3] {
    let body = usize::from(item.body.unwrap());
    match item.kind {
        BitKind::Position => snapshot.position(body),
        BitKind::Velocity => snapshot.velocity(body),
        _ => snapshot.smallest_three(body).components.map(i32::from),
    }
}

/// A wrong last bit of a component changes this component of the decoded body, and no other.
#[test]
fn components_end_where_the_decoder_reads_them() {
    for rung in ladder::all().filter(|rung| !rung.stages.delta.is_arithmetic()) {
        let mut lane = lane_of_twelve(rung.stages);
        let sent = lane.sent[&7].snapshot().clone();
        let mut at = 0;
        let mut checked = 0;
        for item in lane.packet.ledger.clone().items().unwrap() {
            let mut end = at + item.prefix() as usize;
            at += item.bits as usize;
            let Some(components) = item.components else { continue };
            for (component, bits) in components.into_iter().enumerate() {
                end += bits as usize;
                let mut bytes = lane.packet.bytes.clone();
                flip(&mut bytes, end - 1);
                // The changed number may be out of range.
                let Ok(decoded) = lane.decode(&bytes, None) else { continue };
                let [sent_numbers, numbers] =
                    [&sent, decoded.snapshot()].map(|snapshot| numbers(snapshot, item));
                for other in 0..3 {
                    assert_eq!(
                        sent_numbers[other] != numbers[other],
                        other == component,
                        "{}: {item:?}",
                        rung.name
                    );
                }
                let mut changed = Vec::new();
                decoded.snapshot().compare(&sent, &mut changed);
                assert_eq!(changed.iter().filter(|&&changed| changed).count(), 1);
                checked += 1;
            }
            assert_eq!(end, at, "{}: {item:?}", rung.name);
        }
        assert!(checked > 50, "{}: {checked}", rung.name);
    }
}

/// Also if they are coded in another order.
#[test]
fn the_dearest_component_of_a_position_is_that_of_the_axis_that_the_body_moved_along() {
    for rung in ladder::all().filter(|rung| rung.stages.delta.is_arithmetic()) {
        let lane = lane_of_twelve(rung.stages);
        let items = lane.packet.ledger.items().unwrap().iter();
        let mut moved = 0;
        for item in items.filter(|item| item.kind == BitKind::Position) {
            let (axis, size) = (item.body.unwrap() / 4, item.body.unwrap() % 4);
            // After a short distance, a component that does not move costs about as much.
            if size < 3 {
                continue;
            }
            let components = item.components.unwrap();
            for other in (0..3).filter(|&other| other != usize::from(axis)) {
                let (dearest, bits) = (components[usize::from(axis)], components[other]);
                assert!(dearest > bits + 4.0, "{}: {item:?}", rung.name);
            }
            moved += 1;
        }
        assert_eq!(moved, 3, "{}", rung.name);
    }
}
