//! Errors name what cannot be quantized or encoded, and leave the output unchanged.

use std::sync::Arc;

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::schema::{CUBES, Levels, Schema, Slots, Support};
use cubewire_codec::simulation::MAX_STATE_CHUNK_BYTES;
use cubewire_codec::stages::{Delta, IllegalStages, Orientation, Position};
use cubewire_codec::{
    Baseline, Baselines, BitKind, BitLedger, DecodeError, Decoder, EncodeError, Encoder, Life,
    Limits, Packet, Plan, Precision, QuantizedBody, QuantizedSnapshot, Sequence, Simulated,
    Snapshot, Stages, ladder,
};
use glam::Quat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::lane::{Lane, quantized};
use crate::scenes::legal_rungs;

fn bodies(count: usize) -> Snapshot {
    Snapshot { bodies: vec![Default::default(); count] }
}

/// Bodies of the demo's scene.
fn cubes(count: usize, stages: Stages) -> QuantizedSnapshot {
    quantized(&Plan::cubes(), &bodies(count), stages)
}

#[test]
fn a_number_that_is_none_is_named_with_body_and_field() {
    type Spoil = fn(&mut Snapshot);
    let spoil: [(Spoil, &str); 4] = [
        (
            |state| state.bodies[2].position.y = f32::NAN,
            "body 2: position has the component NaN, which is not a finite number",
        ),
        (
            |state| state.bodies[1].linear_velocity.x = f32::NEG_INFINITY,
            "body 1: velocity has the component -inf, which is not a finite number",
        ),
        (
            |state| state.bodies[0].orientation = Quat::from_xyzw(0.0, f32::NAN, 0.0, 1.0),
            "body 0: orientation has the component NaN, which is not a finite number",
        ),
        (
            |state| state.bodies[2].orientation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            "body 2: the orientation is a quaternion of length zero",
        ),
    ];
    for (spoil, message) in spoil {
        let mut state = bodies(3);
        spoil(&mut state);
        // The check does not depend on whether the rung sends the field.
        for rung in ladder::LADDER {
            let precision = rung.stages.precision();
            let mut snapshot = cubes(3, rung.stages);
            let error = snapshot.quantize(&state, precision).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(snapshot.is_empty());
        }
        let error = Encoder::new(Plan::cubes(), state, Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn integers_out_of_range_and_illegal_precisions_are_refused() {
    let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), ladder::POSITION.stages.precision());
    let body = QuantizedBody {
        orientation: SmallestThree { largest: 3, components: [256; 3] },
        position: [0, 0, 102],
    };
    snapshot.clear_slots(2);
    let mut put = |body| {
        snapshot.put_integers(1, Life::default(), body, &[0]).map_err(|error| error.to_string())
    };
    assert_eq!(put(body), Ok(()));
    let far = QuantizedBody { position: [0, 131_072, 0], ..body };
    let message = "body 1: position 131072 is outside -131072..=131071";
    assert_eq!(put(far), Err(message.into()));
    let mut wide = body;
    wide.orientation.components[2] = 512;
    let message = "body 1: orientation 512 is outside 0..=511";
    assert_eq!(put(wide), Err(message.into()));
    let usual = snapshot.precision();
    let bits = [0, 1, 16, 255].map(|bits| {
        let orientation = Orientation::SmallestThree { bits };
        let message = format!("a smallest-three component has 2 to 15 bits, not {bits}");
        (Precision { orientation, ..usual }, message)
    });
    let steps = [0, 16, 500, 8192].map(|steps_per_metre| {
        let position = Position::Quantized { steps_per_metre };
        let message =
            "quantized positions have a power of two from 32 to 4096 steps per metre, not";
        (Precision { position, ..usual }, format!("{message} {steps_per_metre}"))
    });
    for (precision, message) in bits.into_iter().chain(steps) {
        let error = snapshot.quantize(&bodies(1), precision).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(snapshot.is_empty());
    }
}

#[test]
fn everything_readable_is_encoded_or_refused_with_the_reason_that_the_plan_gives() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let readable: Vec<_> = Stages::every_readable(|most| random.random_range(0..most)).collect();
    // Other bits per orientation component, and other steps along z.
    let mut other = CUBES;
    (other.component_bits, other.position[2].steps_per_unit) = (10, 256.0);
    let other = Plan::new(other).unwrap();
    for plan in [Plan::cubes(), other] {
        let scene = || Arc::clone(&plan);
        let mut encoder = Encoder::new(scene(), bodies(3), Limits::default()).unwrap();
        let (mut packet, mut kept) = (Packet::default(), Baseline::default());
        let mut current = QuantizedSnapshot::new(scene(), ladder::POSITION.stages.precision());
        let mut refused = 0;
        for &stages in &readable {
            current.quantize(&bodies(3), stages.precision()).unwrap();
            let out = (&mut packet, Some(&mut kept));
            let encoded = encoder.encode(Sequence(2), stages, &current, None, out.0, out.1);
            match plan.check_complete(stages) {
                Ok(()) => assert!(encoded.is_ok(), "{stages:?}: {encoded:?}"),
                // A partial packet needs the list of bodies to carry.
                Err(IllegalStages::PartialWanted) => {
                    assert!(matches!(encoded, Err(EncodeError::Carried { .. })));
                }
                Err(reason) => {
                    refused += 1;
                    assert_eq!(encoded, Err(EncodeError::Stages(reason)));
                }
            }
        }
        assert!(refused > 0);
    }
}

#[test]
fn what_does_not_fit_together_is_not_encoded() {
    let mut encoder = Encoder::new(Plan::cubes(), bodies(3), Limits::default()).unwrap();
    let (mut packet, mut kept) = (Packet::default(), Baseline::default());
    let mut encode = |stages, snapshot: &QuantizedSnapshot, references: Baselines<'_>| {
        let out = (&mut packet, Some(&mut kept));
        let encoded = encoder.encode(Sequence(2), stages, snapshot, references, out.0, out.1);
        (encoded.map(|_| ()), packet.bytes.clone(), kept.clone())
    };
    let (delta, none) = (ladder::DELTA.stages, Baselines::default());
    let current = cubes(3, delta);
    let (encoded, bytes, kept) = encode(delta, &current, none);
    assert_eq!(encoded, Ok(()));

    let mut other_count = Baseline::default();
    other_count.record(Sequence(1), delta, &cubes(2, delta), None);
    let too_long = Baselines {
        simulated: Simulated { inputs: None, state_chunk: &[0; MAX_STATE_CHUNK_BYTES + 1] },
        ..none
    };
    let count = |bodies| EncodeError::BodyCount { bodies, initial: 3 };
    let (simulated, other) = (ladder::SIMULATED.stages, ladder::NO_VELOCITY.stages);
    let (snapshot, stages) = (delta.precision(), other.precision());
    let precision = EncodeError::Precision { snapshot, stages };
    for (stages, snapshot, references, error) in [
        (other, &current, none, precision),
        (delta, &cubes(4, delta), none, count(4)),
        (delta, &current, Some(&other_count).into(), count(2)),
        (simulated, &cubes(3, simulated), too_long, EncodeError::StateChunk(1_024)),
    ] {
        let (encoded, bytes_now, kept_now) = encode(stages, snapshot, references);
        assert_eq!(encoded, Err(error));
        assert_eq!((bytes_now, kept_now), (bytes.clone(), kept.clone()));
    }
    // Stages without a baseline ignore it.
    let position = ladder::POSITION.stages;
    let snapshot = cubes(3, position);
    assert_eq!(encode(position, &snapshot, Some(&other_count).into()).0, Ok(()));
}

fn plan(levels: Levels) -> Arc<Plan> {
    let (slots, support) = (Slots::Living { max: 3 }, Support::NONE);
    Plan::new(Schema { levels, slots, support, ..CUBES }).unwrap()
}

/// A scene with one body. One component of its orientation is `component`.
fn with_component(
    levels: Levels,
    stages: Stages,
    component: u16,
) -> Result<QuantizedSnapshot, String> {
    let mut snapshot = QuantizedSnapshot::new(plan(levels), stages.precision());
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
    let empty = Snapshot::default();
    let mut lane = Lane::of(plan(Levels::Even), &empty, BitLedger::new());
    lane.decoder = Decoder::new(plan(Levels::Odd), empty, Limits::default()).unwrap();
    for (sequence, &component) in (0_u16..).zip(components) {
        let current = with_component(Levels::Even, stages, component).unwrap();
        let names = [sequence.checked_sub(1).map(Sequence), None, None];
        let numbered = (Sequence(sequence), stages);
        let kept = lane.encode(numbered, &current, names, Simulated::default());
        lane.sent.insert(sequence, kept);
        let bytes = lane.packet.bytes.clone();
        let received = lane.decode(&bytes, None)?;
        lane.received.insert(sequence, received);
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
    assert!(with_component(Levels::Odd, stages, 510).is_ok());
    let message = "body 1: orientation 511 is outside 0..=510";
    assert_eq!(with_component(Levels::Odd, stages, 511), Err(message.into()));
}
