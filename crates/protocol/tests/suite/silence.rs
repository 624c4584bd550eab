//! Peers that go silent, reconnect or lose their state.

use std::time::Duration;

use cubewire_codec::{DecodeError, Sequence};
use cubewire_link::Conditions;
use cubewire_protocol::MAX_BASELINE_AGE_TICKS;

use crate::pair::Pair;

/// Returns a pair with a round trip of 100 ms.
fn pair() -> Pair {
    let conditions = Conditions { latency: Duration::from_millis(50), ..Conditions::default() };
    Pair::new(conditions, 1)
}

#[test]
fn a_pair_recovers_from_a_silence_of_any_length() {
    let mut pair = pair();
    pair.run(100);
    let oldest = u64::from(MAX_BASELINE_AGE_TICKS);
    for silence in [3, 30, 250, 256, 300, 512, 600, 65_536 - 6, 65_536, 70_000] {
        pair.cut(true);
        pair.run(silence);
        let is_forgotten = pair.sender().newest_acked().is_none();
        assert_eq!(is_forgotten, silence > oldest, "after {silence} ticks");
        pair.cut(false);
        assert_eq!(pair.run(60), 57, "after {silence} ticks");
        assert!(pair.sender().newest_acked().is_some());
    }
    assert_eq!(pair.rejected, []);
}

#[test]
fn a_receiver_that_forgot_reports_it_and_recovers() {
    let mut pair = pair();
    pair.run(100);
    pair.forget();
    let decoded = pair.run(60);
    // Packets that were sent before the report arrived are refused.
    let missing = |error: &DecodeError| matches!(error, DecodeError::UnknownBaseline(Sequence(_)));
    assert!(pair.rejected.iter().all(missing), "{:?}", pair.rejected);
    assert!((3..=12).contains(&pair.rejected.len()), "{:?}", pair.rejected);
    assert!(decoded >= 45, "{decoded}");
}

#[test]
fn neither_end_grows_with_time() {
    let mut pair = pair();
    pair.run(2_000);
    let (sender, receiver) = (pair.sender().memory_bytes(), pair.receiver().memory_bytes());
    pair.cut(true);
    pair.run(2_000);
    pair.cut(false);
    pair.run(5_000);
    assert_eq!(pair.sender().memory_bytes(), sender);
    assert_eq!(pair.receiver().memory_bytes(), receiver);
}
