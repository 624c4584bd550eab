//! A receiver handles any packets one after another, and its memory stays bounded.

#![no_main]

use std::time::Duration;

use cubewire_fuzz::{PAIR_CUBES, TICK, messages, pair};
use cubewire_protocol::{Feedback, PacketOutcome, RECEIVER_RING};
use libfuzzer_sys::fuzz_target;

/// Upper bound of a baseline's memory: the cubes and an adaptive state.
const MAX_BASELINE_BYTES: usize = PAIR_CUBES * 100 + 20_000;

fuzz_target!(|bytes: &[u8]| {
    let (_, mut receiver) = pair();
    let mut now = Duration::ZERO;
    for (before, packet) in messages(bytes) {
        now += u32::from(before) * TICK;
        let newest = receiver.newest();
        let arrival = receiver.on_packet(now, packet);
        if !matches!(arrival, Ok(PacketOutcome::Decoded { .. })) {
            assert_eq!(receiver.newest(), newest);
        }
        // At most three: a missing baseline, and acks of the newest snapshot and of a late one.
        for _ in 0..3 {
            let Some(feedback) = receiver.poll_feedback() else {
                break;
            };
            assert_eq!(Feedback::decode(&feedback.encode()), Ok(feedback));
        }
        assert_eq!(receiver.poll_feedback(), None);
        receiver.advance_playout(now, Some(6 * TICK));
    }
    assert!(receiver.memory_bytes() <= RECEIVER_RING * MAX_BASELINE_BYTES);
});
