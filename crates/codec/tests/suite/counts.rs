//! A packet counts the bodies that changed and the bodies that it carries.

use cubewire_codec::ladder::{CHANGED_FLAGS, LADDER, POSITION, UNCOMPRESSED};
use cubewire_codec::stages::Delta;
use cubewire_codec::{
    Baseline, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence, Snapshot, Stages,
};

const BODIES: usize = 20;

fn bodies(count: usize) -> Snapshot {
    Snapshot {
        bodies: vec![Default::default(); count],
    }
}

/// Bodies 0 to `count` raised by a metre.
fn with_raised(count: usize) -> Snapshot {
    let mut snapshot = bodies(BODIES);
    for body in &mut snapshot.bodies[..count] {
        body.position.z += 1.0;
    }
    snapshot
}

fn quantized(snapshot: &Snapshot, stages: Stages) -> QuantizedSnapshot {
    let mut quantized = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    quantized.quantize(snapshot, stages.precision()).unwrap();
    quantized
}

fn baseline(snapshot: &Snapshot, stages: Stages) -> Baseline {
    let mut baseline = Baseline::default();
    baseline.record(Sequence(1), stages, &quantized(snapshot, stages), None);
    baseline
}

/// Changed and sent bodies of a packet with seven bodies raised.
fn counts(stages: Stages, baseline: Option<&Baseline>) -> [usize; 2] {
    let mut encoder = Encoder::new(Plan::cubes(), bodies(BODIES), Limits::default()).unwrap();
    let mut packet = Packet::default();
    let current = quantized(&with_raised(7), stages);
    encoder
        .encode(Sequence(2), stages, &current, baseline, &mut packet, None)
        .unwrap();
    [packet.changed_bodies, packet.sent_bodies]
}

#[test]
fn changes_are_counted_from_the_given_baseline_or_the_initial_state() {
    for rung in LADDER {
        let stages = rung.stages;
        let all = |changed| match stages.delta {
            Delta::Off => BODIES,
            _ => changed,
        };
        let near = baseline(&with_raised(4), stages);
        assert_eq!(counts(stages, None), [7, all(7)], "{}", rung.name);
        assert_eq!(counts(stages, Some(&near)), [3, all(3)], "{}", rung.name);
    }
}

#[test]
fn a_baseline_of_another_precision_does_not_count() {
    let near = baseline(&with_raised(4), UNCOMPRESSED.stages);
    assert_eq!(counts(POSITION.stages, Some(&near)), [7, BODIES]);
    assert_eq!(counts(CHANGED_FLAGS.stages, Some(&near)), [7, 7]);
}

#[test]
fn a_baseline_that_the_stages_ignore_may_have_other_bodies() {
    let smaller = baseline(&bodies(3), POSITION.stages);
    assert_eq!(counts(POSITION.stages, Some(&smaller)), [7, BODIES]);
}
