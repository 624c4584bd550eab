//! Sizes on recordings from another simulation.

use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Baseline, QuantizedSnapshot};

use crate::recording;
use crate::replay::{AGE, Replay};

/// Mean bytes of a packet with and without the header, in whole bytes, frame n against frame n − 6.
fn mean_bytes(frames: &[QuantizedSnapshot], rung: &Rung) -> (f64, f64) {
    let mut replay = Replay::new(*rung, frames);
    let (mut bytes, mut body_bytes) = (0.0, 0.0);
    while !replay.is_over() {
        replay.step();
        let ledger = &replay.packet.ledger;
        assert_eq!(ledger.total(), replay.packet.bytes.len() as f64 * 8.0);
        bytes += ledger.total() / 8.0;
        body_bytes += (ledger.content() / 8.0).ceil();
    }
    let packets = (frames.len() - AGE) as f64;
    (bytes / packets, body_bytes / packets)
}

/// Sizes counted from the article's layouts alone, independently of any codec, for a header of 26 bits and a first index
/// of 10 bits, and body sizes of the contest's bit-packed reference encoder.
const EXPECTED: [(&str, [f64; 6], f64); 3] = [
    ("dev-mix", [549.2, 489.3, 467.6, 368.7, 344.8, 337.3], 301.3),
    ("dev-push", [498.5, 433.0, 412.2, 310.6, 285.8, 272.8], 236.1),
    ("dev-pull", [1293.6, 1286.6, 1249.9, 1036.5, 969.6, 993.6], 837.1),
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
            let (bytes, _) = mean_bytes(frames, rung);
            let off = bytes / expected - 1.0;
            assert!(off.abs() < 0.005, "{name}, {}: {bytes:.1}", rung.name);
        }
    }
}

#[test]
fn prediction_beats_the_bit_packed_reference() {
    for (name, _, reference) in EXPECTED {
        let frames = recording::frames(name);
        let (_, body) = mean_bytes(frames, &ladder::PREDICTED_POSITION);
        assert!(body < reference * 0.91, "{name}: {body:.1}");
    }
}

#[test]
fn a_ring_of_snapshots_is_small() {
    const RING: usize = 256;
    let frames = recording::frames("dev-mix");
    let bytes = |rung, start: usize| {
        let mut replay = Replay::with_ring(rung, &frames[start..][..RING + 30], RING);
        while !replay.is_over() {
            replay.step();
        }
        Baseline::memory_bytes_of(&replay.sent)
    };
    // Position 8 bytes, orientation 4, moved 1, falling 1/8. Six references are no longer in the ring.
    let flags = RING * (901 + 901_usize.div_ceil(64) * 8);
    let expected = (RING + 6) * 901 * 12 + flags;
    assert_eq!(bytes(ladder::PREDICTED_POSITION, 600), expected);
    for start in [0, 300, 600, 900] {
        let bytes = bytes(ladder::PREDICTED, start);
        println!("{bytes} bytes from frame {start}");
        assert!(bytes < 8_000_000, "{bytes} bytes from frame {start}");
    }
}
