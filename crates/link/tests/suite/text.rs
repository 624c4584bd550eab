//! Conditions come back from their text, and any text is conditions or an error.

use std::time::Duration;

use cubewire_link::{
    Bandwidth, Conditions, Jitter, LONGEST_DELAY, Loss, MAX_SIGMA, MIN_BITS_PER_SECOND, Reordering,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn conditions_come_back_from_their_text(conditions in conditions()) {
        let text = conditions.to_text().unwrap();
        prop_assert!(!text.contains([',', ':', ' ']), "{}", text);
        prop_assert_eq!(text.parse(), Ok(conditions));
    }

    #[test]
    fn any_text_is_conditions_or_an_error(text: String) {
        let _ = text.parse::<Conditions>();
    }

    #[test]
    fn any_pieces_are_conditions_in_range_or_an_error(
        pieces in prop::collection::vec(piece(), 0..12),
    ) {
        if let Ok(conditions) = pieces.concat().parse::<Conditions>() {
            prop_assert_eq!(conditions.check(), Ok(()));
            prop_assert_eq!(conditions.to_text().unwrap().parse(), Ok(conditions));
        }
    }
}

/// What texts are made of, each right or nearly so in some place.
fn piece() -> impl Strategy<Value = String> {
    let known = "+ + + = / / cut 4g latency=20ms jitter=uniform/1ms loss=bursts/0.1/2 reordering=none \
                 latency= jitter= loss= duplicate= reordering= bandwidth= none uniform/ log-normal/ \
                 bursts/ ms 0 1 0.5 20ms - . nan inf e9 é";
    prop_oneof![
        9 => prop::sample::select(known.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| number.to_string()),
    ]
}

/// In range, without a trace.
fn conditions() -> impl Strategy<Value = Conditions> {
    (
        (time(), jitter(), loss(), up_to(1.0)),
        prop::option::of(reordering()),
        prop::option::of(bandwidth()),
        any::<bool>(),
    )
        .prop_map(|(simple, reordering, bandwidth, cut)| Conditions {
            latency: simple.0,
            jitter: simple.1,
            loss: simple.2,
            duplicate_probability: simple.3,
            reordering,
            bandwidth,
            cut,
            trace: None,
        })
}

/// To the nanosecond.
fn time() -> impl Strategy<Value = Duration> {
    let longest = LONGEST_DELAY.as_nanos() as u64;
    prop_oneof![
        Just(0),
        0..=longest,
        (0..=longest / 1_000_000).prop_map(|millis| millis * 1_000_000),
    ]
    .prop_map(Duration::from_nanos)
}

/// Any number from 0 to the most, tiny ones too.
fn up_to(most: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(most),
        0.0..=most,
        (0..=most.to_bits()).prop_map(f64::from_bits),
    ]
}

fn jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::None),
        time().prop_map(|spread| Jitter::Uniform { spread }),
        (time(), up_to(MAX_SIGMA)).prop_map(|(median, sigma)| Jitter::LogNormal { median, sigma }),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::None),
        up_to(1.0).prop_map(|probability| Loss::Independent { probability }),
        (0.0..0.5, 1.0..9.0).prop_map(|(fraction, packets)| Loss::bursts(fraction, packets)),
        [up_to(1.0), up_to(1.0), up_to(1.0), up_to(1.0)].prop_map(
            |[to_bad, to_good, loss_in_good, loss_in_bad]| Loss::GilbertElliott {
                to_bad,
                to_good,
                loss_in_good,
                loss_in_bad,
            }
        ),
    ]
}

fn reordering() -> impl Strategy<Value = Reordering> {
    (up_to(1.0), time(), time()).prop_map(|(probability, one, other)| Reordering {
        probability,
        min_delay: one.min(other),
        max_delay: one.max(other),
    })
}

fn bandwidth() -> impl Strategy<Value = Bandwidth> {
    (MIN_BITS_PER_SECOND..=u64::MAX, 1..=usize::MAX).prop_map(|(bits_per_second, queue_bytes)| {
        Bandwidth {
            bits_per_second,
            queue_bytes,
        }
    })
}
