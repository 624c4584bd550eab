//! Orientation components above the largest level are refused.

use std::sync::Arc;

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::schema::{CUBES, Levels, Schema, Slots};
use cubewire_codec::stages::Delta;
use cubewire_codec::{
    Baseline, Baselines, BitKind, DecodeError, Decoder, Encoder, Life, Limits, Packet, Plan,
    QuantizedBody, QuantizedSnapshot, Sequence, Snapshot, Stages, ladder,
};

use crate::scenes::legal_rungs;

fn plan(levels: Levels) -> Arc<Plan> {
    let slots = Slots::Living { max: 3 };
    let schema = Schema { levels, slots, ..CUBES };
    Plan::new(schema).unwrap()
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
        orientation: SmallestThree { largest: 0, components: [255, component, 255] },
        position: [0; 3],
    };
    let put = snapshot.put_integers(1, Life::default(), body, &[0]);
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
