//! Random conditions.

use std::sync::Arc;
use std::time::Duration;

use cubewire_link::{Bandwidth, Conditions, Jitter, Loss, MAX_DELAY, MAX_SIGMA, Reordering, Trace};
use proptest::prelude::*;

/// Conditions in range, without a trace.
pub(crate) fn legal_conditions() -> impl Strategy<Value = Conditions> {
    any_conditions().prop_map(|conditions| Conditions { trace: None, ..conditions.clamped() })
}

/// Arbitrary conditions: moderate values, extreme values, values out of range, and traces.
pub(crate) fn any_conditions() -> impl Strategy<Value = Conditions> {
    let reordering =
        (number(1.0), delay(), delay()).prop_map(|(probability, min_delay, max_delay)| {
            Reordering { probability, min_delay, max_delay }
        });
    let moderate = (0_u64..1_000_000, 0_usize..10_000);
    let bandwidth = prop_oneof![3 => moderate, 1 => any::<(u64, usize)>()];
    let bandwidth = bandwidth
        .prop_map(|(bits_per_second, queue_bytes)| Bandwidth { bits_per_second, queue_bytes });
    (
        delay(),
        jitter(),
        loss(),
        number(1.0),
        prop::option::of(reordering),
        prop::option::of(bandwidth),
        prop::bool::weighted(0.1),
        prop::option::weighted(0.2, trace()),
    )
        .prop_map(
            |(latency, jitter, loss, duplicate_probability, reordering, bandwidth, cut, trace)| {
                Conditions {
                    latency,
                    jitter,
                    loss,
                    duplicate_probability,
                    reordering,
                    bandwidth,
                    cut,
                    trace,
                }
            },
        )
}

fn jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::None),
        delay().prop_map(|spread| Jitter::Uniform { spread }),
        (delay(), number(MAX_SIGMA))
            .prop_map(|(median, sigma)| Jitter::LogNormal { median, sigma }),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    let four = [(); 4].map(|()| number(1.0));
    prop_oneof![
        Just(Loss::None),
        number(1.0).prop_map(|probability| Loss::Independent { probability }),
        (number(1.0), -1.0..9.0_f64)
            .prop_map(|(fraction, packets)| Loss::bursts(fraction, packets)),
        four.prop_map(|[to_bad, to_good, loss_in_good, loss_in_bad]| Loss::GilbertElliott {
            to_bad,
            to_good,
            loss_in_good,
            loss_in_bad,
        }),
    ]
}

/// Mostly below half a second; otherwise any delay in range to the nanosecond, a whole number of milliseconds, or far
/// too long.
fn delay() -> impl Strategy<Value = Duration> {
    let max = MAX_DELAY.as_nanos() as u64;
    prop_oneof![
        6 => (0_u64..500_000).prop_map(Duration::from_micros),
        1 => (0..=max).prop_map(Duration::from_nanos),
        2 => (0..=max / 1_000_000).prop_map(Duration::from_millis),
        1 => Just(Duration::MAX),
    ]
}

/// A number in `0..=max`, both ends and tiny numbers included, and sometimes a number out of range.
fn number(max: f64) -> impl Strategy<Value = f64> + Clone {
    let others = [-1.0, 2.0 * max, f64::NAN, f64::INFINITY];
    prop_oneof![
        2 => Just(0.0),
        1 => Just(max),
        6 => 0.0..=max,
        2 => (0..=max.to_bits()).prop_map(f64::from_bits),
        1 => prop::sample::select(others.to_vec()),
    ]
}

fn trace() -> impl Strategy<Value = Arc<Trace>> {
    prop::collection::vec(prop::option::of(0_u32..500), 1..20).prop_map(|delays| {
        let mut text = String::from("sent_ms,delay_ms\n");
        for (entry, delay) in delays.into_iter().enumerate() {
            let delay = delay.map_or(String::new(), |delay| delay.to_string());
            text.push_str(&format!("{},{delay}\n", 10 * entry));
        }
        Arc::new(Trace::from_csv(&text).unwrap())
    })
}
