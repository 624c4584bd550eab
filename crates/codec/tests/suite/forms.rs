//! A ledger lists the form that the encoder chose.

use cubewire_codec::ladder::{AFFINE, LADDER, RELATIVE_ORIENTATION, SMALLEST_THREE};
use cubewire_codec::stages::{RelativeOrientation, RelativePosition};
use cubewire_codec::{
    BitItem, BitKind, BitLedger, BodyState, Form, Sequence, Snapshot, StageOptions, Stages,
};
use glam::{Quat, Vec3};

use crate::scene::Lane;

/// Steps per metre of a position.
const STEPS: f32 = 512.0;

/// A row of changed bodies.
pub(crate) fn snapshot(bodies: usize, change: impl Fn(usize, &mut BodyState)) -> Snapshot {
    let body = |index: usize| {
        let mut body = BodyState {
            position: Vec3::new(index as f32, 1.0, 2.0),
            ..BodyState::default()
        };
        change(index, &mut body);
        body
    };
    Snapshot {
        bodies: (0..bodies).map(body).collect(),
    }
}

/// A lane after two packets.
pub(crate) fn lane(stages: Stages, before: &Snapshot, after: &Snapshot) -> Lane {
    let mut lane = Lane::new(before, BitLedger::itemized());
    lane.send(Sequence(1), stages, before, None);
    lane.send(Sequence(7), stages, after, Some(Sequence(1)));
    lane
}

/// Form of a field of each body that has one.
fn forms(
    stages: Stages,
    kind: BitKind,
    before: &Snapshot,
    after: &Snapshot,
) -> Vec<(u16, Option<Form>)> {
    let lane = lane(stages, before, after);
    let items = lane.packet.ledger.items().unwrap().iter();
    let mut forms: Vec<_> = items
        .filter(|item| item.kind == kind)
        .map(|item: &BitItem| (item.body.unwrap(), item.form))
        .collect();
    forms.sort_by_key(|&(body, _)| body);
    forms
}

#[test]
fn the_form_of_an_orientation_is_other_if_it_omits_another_component() {
    let before = snapshot(4, |_, _| ());
    let after = snapshot(4, |body, state| {
        let angle = [0.0, 0.02, 0.3, 3.0][body];
        state.orientation = Quat::from_rotation_x(angle);
        state.interacting = true;
    });
    let expected = [Form::Exact, Form::Small, Form::Large, Form::OtherLargest];
    let expected: Vec<_> = (0..).zip(expected.map(Some)).collect();
    let stages = RELATIVE_ORIENTATION.stages;
    assert_eq!(
        forms(stages, BitKind::Orientation, &before, &after),
        expected
    );
}

#[test]
fn forms_follow_the_chosen_ranges() {
    let before = snapshot(5, |_, _| ());
    let after = snapshot(5, |body, state| {
        // Ranges of −8 to 7 steps, then of −40 to 39.
        state.position.y += [0.0, -8.0, 8.0, 39.0, 40.0][body] / STEPS;
        // Ranges of −2 to 1, then of −6 to 5. A component of 9 bits has a step every 0.0055 of a small angle.
        let turned = [0.0, 1.2, 2.2, 5.2, 6.2][body];
        state.orientation = Quat::from_rotation_x(turned * 0.0055);
        state.interacting = true;
    });
    let options = StageOptions {
        relative_position: RelativePosition::TwoRanges { small: 4, large: 6 },
        relative_orientation: RelativeOrientation::TwoRanges { small: 2, large: 3 },
        ..*RELATIVE_ORIENTATION.stages
    };
    let stages = options.check().unwrap();
    let expected = [
        Form::Exact,
        Form::Small,
        Form::Large,
        Form::Large,
        Form::OutOfRange,
    ];
    let expected: Vec<_> = (0..).zip(expected.map(Some)).collect();
    let of = |kind| forms(stages, kind, &before, &after);
    assert_eq!(of(BitKind::Position), expected);
    assert_eq!(of(BitKind::Orientation), expected);
}

#[test]
fn every_sent_field_of_a_bit_packed_rung_has_a_form() {
    let before = snapshot(3, |_, _| ());
    let after = snapshot(3, |body, state| state.position.x += body as f32 / STEPS);
    let rungs = LADDER.into_iter().chain([AFFINE]);
    for rung in rungs.filter(|rung| !rung.stages.delta.is_arithmetic()) {
        for kind in [BitKind::Position, BitKind::Orientation] {
            let forms = forms(rung.stages, kind, &before, &after);
            assert!(forms.iter().all(|(_, form)| form.is_some()));
        }
    }
    let whole = forms(SMALLEST_THREE.stages, BitKind::Orientation, &before, &after);
    assert_eq!(whole, [0, 1, 2].map(|body| (body, Some(Form::Whole))));
}

#[test]
fn arithmetically_coded_fields_have_forms_of_their_residuals() {
    let before = snapshot(4, |_, _| ());
    let after = snapshot(4, |body, state| {
        state.position.y += [0.0, 5.0, 100.0, 3000.0][body] / STEPS;
        state.orientation = Quat::from_rotation_x([0.02, 0.0, 0.3, 3.0][body]);
    });
    for rung in LADDER
        .into_iter()
        .filter(|rung| rung.stages.delta.is_arithmetic())
    {
        let of = |kind| forms(rung.stages, kind, &before, &after);
        // An unchanged field is one bin.
        let expected = [
            None,
            Some(Form::Small),
            Some(Form::Large),
            Some(Form::Large),
        ];
        let expected: Vec<_> = (0..).zip(expected).collect();
        assert_eq!(of(BitKind::Position), expected, "{}", rung.name);
        let expected = [
            Some(Form::Small),
            None,
            Some(Form::Large),
            Some(Form::OtherLargest),
        ];
        let expected: Vec<_> = (0..).zip(expected).collect();
        assert_eq!(of(BitKind::Orientation), expected, "{}", rung.name);
    }
}
