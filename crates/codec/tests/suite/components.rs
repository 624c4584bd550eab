//! The bits of components that a ledger lists are the bits that the decoder reads.

use cubewire_codec::{
    Baseline, BitItem, BitKind, BodyState, QuantizedSnapshot, Sequence, Stages, ladder,
};
use glam::{Quat, Vec3};

use crate::forms::{self, snapshot};
use crate::scene::Lane;

/// A lane after two packets of twelve bodies. In the second, the bodies moved along each axis by zero, a little,
/// more, and too far for any range.
fn lane(stages: Stages) -> Lane {
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
    forms::lane(stages, &snapshot(12, turned), &after)
}

/// The three numbers of a body that an item describes.
fn numbers(snapshot: &QuantizedSnapshot, item: &BitItem) -> [i32; 3] {
    let body = usize::from(item.body.unwrap());
    match item.kind {
        BitKind::Position => snapshot.position(body),
        BitKind::Velocity => snapshot.velocities()[body],
        _ => snapshot.smallest_three(body).components.map(i32::from),
    }
}

/// A wrong last bit of a component changes this component of the decoded body, and no other.
#[test]
fn components_end_where_the_decoder_reads_them() {
    for rung in ladder::all().filter(|rung| !rung.stages.delta.is_arithmetic()) {
        let mut lane = lane(rung.stages);
        let sent = lane.sent[&7].snapshot().clone();
        let held = |sequence: Sequence| lane.received.get(&sequence.0);
        let mut at = 0;
        let mut checked = 0;
        for item in lane.packet.ledger.items().unwrap() {
            let mut end = at + item.prefix() as usize;
            at += item.bits as usize;
            let Some(components) = item.components else {
                continue;
            };
            for (component, bits) in components.into_iter().enumerate() {
                end += bits as usize;
                let mut bytes = lane.packet.bytes.clone();
                bytes[(end - 1) / 8] ^= 0x80 >> ((end - 1) % 8);
                let mut decoded = Baseline::default();
                // The changed number may be out of range.
                if lane.decoder.decode(&bytes, held, &mut decoded).is_err() {
                    continue;
                }
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
        let lane = lane(rung.stages);
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

#[test]
fn components_have_the_widths_of_the_wire_format() {
    let widths = |stages: Stages, kind: BitKind| -> Vec<_> {
        let lane = lane(stages);
        let items = lane.packet.ledger.items().unwrap().iter();
        items
            .filter(|item| item.kind == kind)
            .map(|item| (item.prefix(), item.components.unwrap()))
            .collect()
    };
    let of = |rung: ladder::Rung, kind| widths(rung.stages, kind);
    let full = of(ladder::UNCOMPRESSED, BitKind::Position);
    assert_eq!(full, vec![(0.0, [32.0; 3]); 12]);
    let whole = of(ladder::SMALLEST_THREE, BitKind::Orientation);
    assert_eq!(whole, vec![(2.0, [9.0; 3]); 12]);
    // Bodies in order: no change, and 5, 51 and 3584 steps along x, in ranges of 5 and 9 bits.
    let relative = of(ladder::RELATIVE_ORIENTATION, BitKind::Position);
    let expected = [
        (1.0, [6.0, 6.0, 6.0]),
        (1.0, [6.0, 6.0, 6.0]),
        (1.0, [10.0, 6.0, 6.0]),
        (1.0, [18.0, 18.0, 14.0]),
    ];
    assert_eq!(relative[..4], expected);
    assert_eq!(relative[6], (1.0, [6.0, 10.0, 6.0]));
    assert_eq!(relative[10], (1.0, [6.0, 6.0, 10.0]));
}
