//! Exact sizes from the article's layouts, and sizes on recordings from another simulation.

use cubewire_codec::ladder::{self, LADDER, Rung};
use cubewire_codec::{
    Baseline, BitKind, BitLedger, BodyState, QuantizedSnapshot, Sequence, Snapshot,
};
use glam::Vec3;

use crate::lane::Lane;
use crate::recording;
use crate::replay::{AGE, Replay};

/// A grid of bodies at rest, as at the start of the demo.
fn grid() -> Snapshot {
    let bodies = (0..901).map(|index| BodyState {
        position: Vec3::new((index % 30) as f32 - 14.5, (index / 30) as f32 - 14.5, 0.2),
        ..BodyState::default()
    });
    Snapshot { bodies: bodies.collect() }
}

/// Bits without header and padding, with every body moving at `velocity`.
fn body_bits(rung: Rung, velocity: Vec3) -> f64 {
    let mut state = grid();
    for body in &mut state.bodies {
        body.linear_velocity = velocity;
    }
    let mut lane = Lane::new(&grid(), BitLedger::new());
    lane.send(Sequence(1), rung.stages, &state, None);
    lane.packet.ledger.content()
}

#[test]
fn bodies_take_the_articles_bits() {
    let (rest, moving) = (Vec3::ZERO, Vec3::new(1.0, -2.0, 0.5));
    for (rung, velocity, bits) in [
        (ladder::UNCOMPRESSED, rest, 321.0),
        (ladder::SMALLEST_THREE, rest, 222.0),
        (ladder::VELOCITY, rest, 159.0),
        (ladder::AT_REST, rest, 127.0),
        (ladder::AT_REST, moving, 160.0),
        (ladder::NO_VELOCITY, moving, 126.0),
        (ladder::POSITION, moving, 80.0),
        (ladder::AFFINE, moving, 160.0),
    ] {
        assert_eq!(body_bits(rung, velocity), 901.0 * bits, "{}", rung.name);
    }
    // 36 152.625 bytes: the article's snapshot.
    assert_eq!(body_bits(ladder::UNCOMPRESSED, rest) / 8.0, 36_152.625);
}

/// Packet of a state at rest against an equal baseline.
fn at_rest(rung: Rung) -> Lane {
    let mut lane = Lane::new(&grid(), BitLedger::new());
    for tick in [6, 12, 18] {
        let baseline = (tick > 6).then(|| Sequence(tick - 6));
        lane.send(Sequence(tick), rung.stages, &grid(), baseline);
    }
    lane
}

#[test]
fn at_rest_changed_bits_take_a_bit_a_body() {
    let lane = at_rest(ladder::DELTA);
    assert_eq!(lane.packet.ledger.kind(BitKind::Selection), 901.0);
}

#[test]
fn at_rest_indices_leave_little_but_the_header() {
    let from_index = LADDER.iter().skip_while(|rung| **rung != ladder::INDEX);
    // `simulated` without inputs takes five bits more; see the tests of simulated scenes.
    for rung in from_index.filter(|rung| **rung != ladder::SIMULATED) {
        let lane = at_rest(*rung);
        assert!(lane.packet.bytes.len() <= 7, "{}", rung.name);
        // The article's 15 kbps: 60 packets a second, with 28 bytes of IP and UDP headers.
        let kbps = (lane.packet.bytes.len() + 28) as f64 * 60.0 * 8.0 / 1000.0;
        assert!((15.0..17.0).contains(&kbps), "{}: {kbps}", rung.name);
    }
}

#[test]
fn indices_are_chosen_where_they_are_cheaper() {
    for rung in [ladder::INDEX, ladder::RELATIVE_INDEX] {
        let sizes = (0..=901).map(|changed| {
            let mut state = grid();
            for body in 0..changed {
                state.bodies[body * 901 / changed.max(1)].position.z = 1.0;
            }
            let mut lane = Lane::new(&grid(), BitLedger::new());
            lane.send(Sequence(6), rung.stages, &state, None);
            lane.packet.ledger.kind(BitKind::Selection)
        });
        let sizes: Vec<f64> = sizes.collect();
        // One bit selects the form, and the other form takes a bit per body.
        assert!(sizes.iter().all(|&bits| bits <= 902.0));
        // The article's rule of thumb, for indices of ten bits.
        assert!(sizes[..89].iter().all(|&bits| bits < 902.0));
        if rung == ladder::INDEX {
            assert!(sizes[91..].iter().all(|&bits| bits == 902.0));
        }
    }
}

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
        let (_, body) = mean_bytes(recording::frames(name), &ladder::PREDICTED_POSITION);
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
