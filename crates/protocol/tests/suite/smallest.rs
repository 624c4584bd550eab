//! The sender chooses the smallest packet.

use cubewire_codec::ladder::PREDICTED;
use cubewire_codec::{
    Baselines, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence, Snapshot,
};
use cubewire_protocol::{BaselineChoice, CANDIDATES};

use crate::play::Play;
use crate::recording;

/// Returns the size of the packet of `current` for each of the newest acked baselines, with their ticks.
/// `with_additional` adds the two references before each baseline.
fn sizes(
    play: &Play,
    encoder: &mut Encoder,
    tick: u64,
    current: &QuantizedSnapshot,
    with_additional: bool,
) -> Vec<(u64, usize)> {
    let mut sizes = Vec::new();
    let mut next = play.sender.newest_acked();
    while let Some(baseline) = next.filter(|_| sizes.len() < CANDIDATES) {
        let before = play.sender.acked_before(baseline);
        let held = |tick: Option<u64>| play.sender.get(tick?).filter(|_| with_additional);
        let references = Baselines {
            baseline: play.sender.get(baseline),
            additional: before.map(held),
            ..Baselines::default()
        };
        let mut packet = Packet::default();
        let sequence = Sequence(tick as u16);
        encoder.encode(sequence, play.stages, current, references, &mut packet, None).unwrap();
        sizes.push((baseline, packet.bytes.len()));
        next = before[0];
    }
    sizes
}

/// Returns the smallest size, and the newest of equal ones.
fn smallest(sizes: &[(u64, usize)]) -> Option<(u64, usize)> {
    sizes.iter().copied().min_by_key(|&(_, bytes)| bytes)
}

#[test]
fn the_smallest_packet_is_chosen_with_the_references_that_it_is_sent_with() {
    let frames = recording::frames("dev-mix");
    let mut initial = Snapshot::default();
    frames[0].dequantize(&mut initial);
    let mut encoder = Encoder::new(Plan::cubes(), initial, Limits::default()).unwrap();
    let mut play = Play::new(&frames[0], PREDICTED.stages);
    let mut others = 0;
    for (tick, frame) in (1..).zip(&frames[..500]) {
        let with = smallest(&sizes(&play, &mut encoder, tick, frame, true));
        let without = smallest(&sizes(&play, &mut encoder, tick, frame, false));
        let sent = play.send(frame, BaselineChoice::Smallest);
        if let Some((baseline, bytes)) = with {
            assert_eq!(sent.baseline_age().map(u64::from), Some(tick - baseline), "tick {tick}");
            assert_eq!(play.sender.packet().bytes.len(), bytes, "tick {tick}");
        }
        others += usize::from(with.map(|(tick, _)| tick) != without.map(|(tick, _)| tick));
        // Some packets are lost, so that the references differ in age.
        play.deliver(tick * tick % 11 % 3 == 1 || tick % 16 < 3);
    }
    assert!(others > 10, "without the others it would be another: {others}");
}
