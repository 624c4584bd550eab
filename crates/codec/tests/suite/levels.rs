//! Levels of orientation components: an odd number makes the identity exact, and integers above the largest are
//! refused.

use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::schema::{Levels, Schema};
use cubewire_codec::stages::Delta;
use cubewire_codec::{
    Baseline, Baselines, BitKind, BodyState, DecodeError, Decoder, Encoder, Life, Limits, Packet,
    Plan, QuantizedBody, QuantizedSnapshot, Sequence, Snapshot, Stages, ladder,
};
use glam::Quat;
use proptest::prelude::*;

use crate::random::{cases, schema};
use crate::scenes::legal_rungs;

const SCENE: &str = r#"(
    name: "crates", ticks_per_second: 60, up: Y,
    position: (
        (min: -8, max: 8, steps_per_unit: 64),
        (min: 0, max: 8, steps_per_unit: 64),
        (min: -8, max: 8, steps_per_unit: 64),
    ),
    component_bits: 9, levels: Odd, anchor: None,
    kinds: [(name: "crate", shape: Box((0.5, 0.5, 0.5)))],
    fields: [],
    world: (gravity: 9.81, floor: Some(0), max_speed: 20, linear: None),
    slots: Living(max: 3),
)"#;

fn plan(levels: Levels) -> Arc<Plan> {
    let schema = ron::from_str(SCENE).unwrap();
    Plan::new(Schema { levels, ..schema }).unwrap()
}

/// A scene with one body. One component of its orientation is `component`.
fn with_component(
    plan: &Arc<Plan>,
    stages: Stages,
    component: u16,
) -> Result<QuantizedSnapshot, String> {
    let mut snapshot = QuantizedSnapshot::new(Arc::clone(plan), stages.precision());
    snapshot.clear_slots(3);
    let body = QuantizedBody {
        orientation: SmallestThree {
            largest: 0,
            components: [255, component, 255],
        },
        position: [0; 3],
        interacting: false,
    };
    let put = snapshot.put_integers(1, Life::default(), body, &[]);
    put.map(|()| snapshot).map_err(|error| error.to_string())
}

/// Encodes scenes with even levels, each relative to the one before, and decodes them with odd levels.
fn decoded_with_odd_levels(stages: Stages, components: &[u16]) -> Result<(), DecodeError> {
    let [even, odd] = [Levels::Even, Levels::Odd].map(plan);
    let (empty, limits) = (Snapshot::default(), Limits::default());
    let mut encoder = Encoder::new(Arc::clone(&even), empty.clone(), limits).unwrap();
    let mut decoder = Decoder::new(odd, empty, limits).unwrap();
    let mut packet = Packet::default();
    let (mut sent, mut received) = (Vec::<Baseline>::new(), Vec::<Baseline>::new());
    for (sequence, &component) in (0..).zip(components) {
        let current = with_component(&even, stages, component).unwrap();
        let names = Baselines::from(sent.last());
        let mut kept = Baseline::default();
        let out = (&mut packet, Some(&mut kept));
        let encoded = encoder.encode(Sequence(sequence), stages, &current, names, out.0, out.1);
        encoded.unwrap();
        sent.push(kept);
        let mut decoded = Baseline::default();
        let held = |sequence: Sequence| received.get(usize::from(sequence.0));
        decoder.decode(&packet.bytes, held, &mut decoded)?;
        received.push(decoded);
    }
    Ok(())
}

#[test]
fn a_component_above_the_largest_is_refused_in_every_form() {
    let refused = |result| {
        let is_expected = matches!(
            result,
            Err(DecodeError::OutOfRange {
                field: BitKind::Orientation,
                body: Some(1),
                value: 511,
                min: 0,
                max: 510,
                ..
            })
        );
        assert!(is_expected, "{result:?}");
    };
    for stages in legal_rungs(&plan(Levels::Odd)) {
        // Whole values.
        assert_eq!(decoded_with_odd_levels(stages, &[510]), Ok(()));
        refused(decoded_with_odd_levels(stages, &[511]));
        // Differences. Predictions of arithmetic coding depend on the levels, so it is left out.
        if stages.delta != Delta::Off && !stages.delta.is_arithmetic() {
            refused(decoded_with_odd_levels(stages, &[510, 511]));
        }
    }
    let stages = plan(Levels::Odd).legal(*ladder::POSITION.stages).unwrap();
    assert!(with_component(&plan(Levels::Odd), stages, 510).is_ok());
    assert_eq!(
        with_component(&plan(Levels::Odd), stages, 511),
        Err("body 1: orientation 511 is outside 0..=510".into())
    );
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_body_that_is_not_turned_is_shown_not_turned_in_any_scene(schema in schema(3)) {
        for component_bits in 2..=15 {
            let levels = Levels::Odd;
            let plan = Plan::new(Schema { component_bits, levels, ..schema.clone() }).unwrap();
            let stages = plan.legal(*ladder::POSITION.stages).unwrap();
            let mut snapshot = QuantizedSnapshot::new(Arc::clone(&plan), stages.precision());
            snapshot.clear_slots(1);
            let values = vec![0; schema.fields.len()];
            let mut shown = |orientation: Quat| {
                let body = BodyState { orientation, ..BodyState::default() };
                snapshot.put(0, Life::default(), &body, &values).unwrap();
                snapshot.body(0).orientation
            };
            prop_assert_eq!(shown(Quat::IDENTITY), Quat::IDENTITY);
            for of in [Quat::from_rotation_x, Quat::from_rotation_y, Quat::from_rotation_z] {
                for quarters in [-1.0, 1.0, 2.0] {
                    let turned = of(quarters * FRAC_PI_2);
                    let shown = shown(turned);
                    let off = (shown - turned).length().min((shown + turned).length());
                    prop_assert!(off < 1e-6, "{shown} of {turned}");
                }
            }
        }
    }
}
