//! Sizes on play that this project did not simulate.

use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{
    Baseline, BitKind, Encoder, Limits, Packet, QuantizedSnapshot, Sequence, Snapshot,
};

use crate::recording;

/// Mean whole bytes a packet with and without the header, frame n against frame n − 6.
fn mean_bytes(frames: &[QuantizedSnapshot], rung: &Rung) -> (f64, f64) {
    let mut initial = Snapshot::default();
    frames[0].dequantize(&mut initial);
    let mut encoder = Encoder::new(initial, Limits::default()).unwrap();
    let mut packet = Packet::default();
    let mut ring: Vec<Option<Baseline>> = vec![None; 6];
    let (mut bytes, mut body_bytes) = (0, 0.0);
    for (index, current) in frames.iter().enumerate().skip(6) {
        let (sequence, slot) = (Sequence(index as u16), index % 6);
        let baseline = ring[slot].as_ref();
        encoder
            .encode(sequence, rung.stages, current, baseline, &mut packet)
            .unwrap();
        let mut kept = Baseline::new(rung.stages);
        kept.record(sequence, rung.stages, current, baseline);
        ring[slot] = Some(kept);
        let ledger = &packet.ledger;
        let body = ledger.total() - ledger.kind(BitKind::Header) - ledger.kind(BitKind::Padding);
        bytes += packet.bytes.len();
        body_bytes += (body / 8.0).ceil();
    }
    let packets = (frames.len() - 6) as f64;
    (bytes as f64 / packets, body_bytes / packets)
}

/// Sizes counted from the article's layouts alone, independently of any codec, and the body sizes
/// of the contest's bit-packed reference encoder.
const EXPECTED: [(&str, [f64; 6], f64); 3] = [
    ("dev-mix", [550.2, 490.3, 468.6, 369.7, 345.8, 338.3], 301.3),
    (
        "dev-push",
        [499.5, 434.0, 413.2, 311.6, 286.8, 273.8],
        236.1,
    ),
    (
        "dev-pull",
        [1294.6, 1287.6, 1250.9, 1037.5, 970.6, 994.6],
        837.1,
    ),
];

#[test]
fn the_articles_rungs_cost_what_their_layouts_say() {
    let rungs = [
        ladder::DELTA,
        ladder::INDEX,
        ladder::RELATIVE_INDEX,
        ladder::RELATIVE_POSITION,
        ladder::RELATIVE_ORIENTATION,
        ladder::CHANGED_FLAGS,
    ];
    for (name, expected, _) in EXPECTED {
        let frames = recording::frames(name);
        for (rung, expected) in rungs.iter().zip(expected) {
            let (bytes, _) = mean_bytes(&frames, rung);
            let off = bytes / expected - 1.0;
            assert!(off.abs() < 0.015, "{name}, {}: {bytes:.1}", rung.name);
        }
    }
}

#[test]
fn prediction_beats_the_bit_packed_reference() {
    for (name, _, reference) in EXPECTED {
        let frames = recording::frames(name);
        let (_, body) = mean_bytes(&frames, &ladder::PREDICTED_POSITION);
        assert!(body < reference * 0.91, "{name}: {body:.1}");
    }
}
