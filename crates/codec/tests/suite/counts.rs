//! A packet counts the cubes that changed and the cubes that it carries.

use cubewire_codec::ladder::{CHANGED_FLAGS, LADDER, POSITION, UNCOMPRESSED};
use cubewire_codec::stages::Delta;
use cubewire_codec::{
    Baseline, Encoder, Limits, Packet, QuantizedSnapshot, Sequence, Snapshot, Stages,
};

const CUBES: usize = 20;

fn cubes(count: usize) -> Snapshot {
    Snapshot {
        cubes: vec![Default::default(); count],
    }
}

/// Cubes 0 to `count` raised by a metre.
fn with_raised(count: usize) -> Snapshot {
    let mut snapshot = cubes(CUBES);
    for cube in &mut snapshot.cubes[..count] {
        cube.position.z += 1.0;
    }
    snapshot
}

fn quantized(snapshot: &Snapshot, stages: Stages) -> QuantizedSnapshot {
    let mut quantized = QuantizedSnapshot::new(stages.precision());
    quantized.quantize(snapshot, stages.precision()).unwrap();
    quantized
}

fn baseline(snapshot: &Snapshot, stages: Stages) -> Baseline {
    let mut baseline = Baseline::default();
    baseline.record(Sequence(1), stages, &quantized(snapshot, stages), None);
    baseline
}

/// Changed and sent cubes of a packet with seven cubes raised.
fn counts(stages: Stages, baseline: Option<&Baseline>) -> [usize; 2] {
    let mut encoder = Encoder::new(cubes(CUBES), Limits::default()).unwrap();
    let mut packet = Packet::default();
    let current = quantized(&with_raised(7), stages);
    encoder
        .encode(Sequence(2), stages, &current, baseline, &mut packet, None)
        .unwrap();
    [packet.changed_cubes, packet.sent_cubes]
}

#[test]
fn changes_are_counted_from_the_given_baseline_or_the_initial_state() {
    for rung in LADDER {
        let stages = rung.stages;
        let all = |changed| match stages.delta {
            Delta::Off => CUBES,
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
    assert_eq!(counts(POSITION.stages, Some(&near)), [7, CUBES]);
    assert_eq!(counts(CHANGED_FLAGS.stages, Some(&near)), [7, 7]);
}

#[test]
fn a_baseline_that_the_stages_ignore_may_have_other_cubes() {
    let smaller = baseline(&cubes(3), POSITION.stages);
    assert_eq!(counts(POSITION.stages, Some(&smaller)), [7, CUBES]);
}
