//! Random conditions, from ranges that a test chooses.

use std::sync::Arc;
use std::time::Duration;

use cubewire_link::{
    Bandwidth, Conditions, Jitter, Loss, MAX_DELAY, MAX_SIGMA, MIN_BITS_PER_SECOND, Reordering,
    Trace,
};
use proptest::prelude::*;

/// Distributions of the values that conditions are made of.
struct Values {
    delay: BoxedStrategy<Duration>,
    probability: BoxedStrategy<f64>,
    sigma: BoxedStrategy<f64>,
    /// Mean loss fraction and mean length of bursts.
    bursts: BoxedStrategy<(f64, f64)>,
    /// Minimum and maximum delay of reordering.
    reordering_delays: BoxedStrategy<(Duration, Duration)>,
    bandwidth: BoxedStrategy<(u64, usize)>,
    cut: BoxedStrategy<bool>,
    trace: BoxedStrategy<Option<Arc<Trace>>>,
}

/// Conditions in range, over the whole range of every value, without a trace.
pub(crate) fn legal_conditions() -> impl Strategy<Value = Conditions> {
    let delay = exact_delay().boxed();
    conditions(Values {
        probability: up_to(1.0).boxed(),
        sigma: up_to(MAX_SIGMA).boxed(),
        bursts: (0.0..0.5, 1.0..9.0).boxed(),
        reordering_delays: (delay.clone(), delay.clone())
            .prop_map(|(one, other)| (one.min(other), one.max(other)))
            .boxed(),
        bandwidth: (MIN_BITS_PER_SECOND..=u64::MAX, 1..=usize::MAX).boxed(),
        cut: any::<bool>().boxed(),
        trace: Just(None).boxed(),
        delay,
    })
}

/// Conditions with moderate values, some of them out of range, and traces.
pub(crate) fn any_conditions() -> impl Strategy<Value = Conditions> {
    let delay = prop_oneof![
        9 => (0_u64..500_000).prop_map(Duration::from_micros),
        1 => Just(Duration::MAX),
    ]
    .boxed();
    let probability = prop_oneof![
        2 => Just(0.0),
        8 => 0.0..1.0_f64,
        1 => prop_oneof![Just(1.0), Just(-1.0), Just(2.0), Just(f64::NAN), Just(f64::INFINITY)],
    ]
    .boxed();
    conditions(Values {
        sigma: (-1.0..5.0_f64).boxed(),
        bursts: (probability.clone(), -1.0..9.0_f64).boxed(),
        reordering_delays: (delay.clone(), delay.clone()).boxed(),
        bandwidth: (0_u64..1_000_000, 0_usize..10_000).boxed(),
        cut: prop::bool::weighted(0.1).boxed(),
        trace: prop::option::weighted(0.2, trace()).boxed(),
        delay,
        probability,
    })
}

fn conditions(values: Values) -> impl Strategy<Value = Conditions> {
    let reordering = (values.probability.clone(), values.reordering_delays).prop_map(
        |(probability, (min_delay, max_delay))| Reordering {
            probability,
            min_delay,
            max_delay,
        },
    );
    let bandwidth = values
        .bandwidth
        .prop_map(|(bits_per_second, queue_bytes)| Bandwidth {
            bits_per_second,
            queue_bytes,
        });
    (
        values.delay.clone(),
        jitter(values.delay, values.sigma),
        loss(values.probability.clone(), values.bursts),
        values.probability,
        prop::option::of(reordering),
        prop::option::of(bandwidth),
        values.cut,
        values.trace,
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

fn jitter(
    delay: BoxedStrategy<Duration>,
    sigma: BoxedStrategy<f64>,
) -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::None),
        delay.clone().prop_map(|spread| Jitter::Uniform { spread }),
        (delay, sigma).prop_map(|(median, sigma)| Jitter::LogNormal { median, sigma }),
    ]
}

fn loss(
    probability: BoxedStrategy<f64>,
    bursts: BoxedStrategy<(f64, f64)>,
) -> impl Strategy<Value = Loss> {
    let four = std::array::from_fn::<_, 4, _>(|_| probability.clone());
    prop_oneof![
        Just(Loss::None),
        probability.prop_map(|probability| Loss::Independent { probability }),
        bursts.prop_map(|(fraction, packets)| Loss::bursts(fraction, packets)),
        four.prop_map(
            |[to_bad, to_good, loss_in_good, loss_in_bad]| Loss::GilbertElliott {
                to_bad,
                to_good,
                loss_in_good,
                loss_in_bad,
            }
        ),
    ]
}

/// Any delay in range, to the nanosecond; a third of them whole milliseconds.
fn exact_delay() -> impl Strategy<Value = Duration> {
    let max = MAX_DELAY.as_nanos() as u64;
    prop_oneof![
        Just(0),
        0..=max,
        (0..=max / 1_000_000).prop_map(|millis| millis * 1_000_000),
    ]
    .prop_map(Duration::from_nanos)
}

/// Any number in `0..=max`, with both ends and tiny numbers among them.
fn up_to(max: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(max),
        0.0..=max,
        (0..=max.to_bits()).prop_map(f64::from_bits),
    ]
}

fn trace() -> impl Strategy<Value = Arc<Trace>> {
    prop::collection::vec(prop::option::of(0_u32..500), 1..20).prop_map(|delays| {
        let mut text = String::from("sent_ms,delay_ms\n");
        for (entry, delay) in delays.into_iter().enumerate() {
            let delay = delay.map_or(String::new(), |delay| delay.to_string());
            text.push_str(&format!("{},{delay}\n", 10 * entry));
        }
        Arc::new(Trace::from_csv(text.as_bytes()).unwrap())
    })
}
