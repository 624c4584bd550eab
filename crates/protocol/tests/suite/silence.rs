//! Peers that go silent, leave, come back, or forget.

use std::time::Duration;

use cubewire_codec::{DecodeError, Sequence};
use cubewire_link::Conditions;
use cubewire_protocol::MAX_BASELINE_AGE_TICKS;

use crate::pair::Pair;

/// 100 ms there and back.
fn pair() -> Pair {
    let conditions = Conditions {
        latency: Duration::from_millis(50),
        ..Conditions::default()
    };
    Pair::new(conditions, 1)
}

#[test]
fn after_a_silence_of_any_length_the_two_go_on() {
    let mut pair = pair();
    pair.run(100);
    for silence in [3, 30, 250, 256, 300, 512, 600, 65_536 - 6, 65_536, 70_000] {
        pair.cut(true);
        pair.run(silence);
        pair.cut(false);
        let before = pair.decoded;
        pair.run(60);
        assert_eq!(pair.decoded - before, 57, "after {silence} ticks");
    }
    assert_eq!(pair.refused, []);
}

#[test]
fn a_silent_receiver_is_sent_what_it_can_decode_alone() {
    let mut pair = pair();
    pair.run(100);
    let small = pair.bytes;
    pair.cut(true);
    pair.run(u64::from(MAX_BASELINE_AGE_TICKS) + 10);
    assert_eq!(pair.sender.newest_acked(), None);
    pair.cut(false);
    pair.run(60);
    assert!(pair.sender.newest_acked().is_some());
    assert!(pair.bytes <= 2 * small, "{} and {small}", pair.bytes);
}

#[test]
fn a_reconnecting_viewer_catches_up() {
    let mut pair = pair();
    pair.run(70_000);
    for _ in 0..3 {
        pair.reconnect();
        let before = pair.decoded;
        pair.run(60);
        assert_eq!(pair.decoded - before, 57);
        assert_eq!(pair.sender.newest_acked(), Some(pair.tick - 6));
    }
    assert_eq!(pair.refused, []);
}

#[test]
fn a_receiver_that_forgot_says_so_and_is_helped() {
    let mut pair = pair();
    pair.run(100);
    pair.forget();
    let before = pair.decoded;
    pair.run(60);
    // Packets under way and those sent before its word arrives are refused.
    let missing = |error: &DecodeError| matches!(error, DecodeError::UnknownBaseline(Sequence(_)));
    assert!(pair.refused.iter().all(missing), "{:?}", pair.refused);
    assert!((3..=12).contains(&pair.refused.len()), "{:?}", pair.refused);
    assert!(pair.sender.missing_baselines() > 0);
    assert!(pair.decoded - before >= 45, "{}", pair.decoded - before);
}

#[test]
fn neither_end_grows_with_time() {
    let mut pair = pair();
    pair.run(2_000);
    let (sender, receiver) = (pair.sender.memory_bytes(), pair.receiver.memory_bytes());
    pair.cut(true);
    pair.run(2_000);
    pair.cut(false);
    pair.run(5_000);
    assert_eq!(pair.sender.memory_bytes(), sender);
    assert_eq!(pair.receiver.memory_bytes(), receiver);
    assert!(pair.receiver.playout().len() <= 256);
}
