//! Public behaviour of a link. Statistical tests have fixed seeds, so the measured values are the
//! same in every run. Each test prints its seed if it fails.

mod delays;
mod losses;
mod operations;
mod queue;
mod strategies;
mod text;

use std::time::Duration;

use cubewire_link::{Conditions, Link};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arrival {
    number: usize,
    delay_ms: f64,
}

/// Sends packets of 100 bytes at an interval. Returns them in the order of arrival.
fn arrivals(
    conditions: &Conditions,
    seed: u64,
    packets: usize,
    interval: Duration,
) -> Vec<Arrival> {
    println!("seed {seed}: {conditions:?}");
    conditions.check().unwrap();
    let mut link = Link::new(conditions.clone(), seed);
    for number in 0..packets {
        link.send(interval * number as u32, 100, number);
    }
    std::iter::from_fn(|| link.receive_timed(Duration::MAX))
        .map(|(at, number)| Arrival {
            number,
            delay_ms: (at - interval * number as u32).as_secs_f64() * 1e3,
        })
        .collect()
}

/// Asserts that a measured value is near the expected one, within a relative tolerance.
fn assert_near(measured: f64, expected: f64, tolerance: f64) {
    assert!(
        (measured - expected).abs() <= tolerance * expected.abs(),
        "{measured}, not {expected}"
    );
}

/// Delays in ascending order.
fn sorted_delays_ms(arrivals: &[Arrival]) -> Vec<f64> {
    let mut delays: Vec<f64> = arrivals.iter().map(|arrival| arrival.delay_ms).collect();
    delays.sort_by(f64::total_cmp);
    delays
}

fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    sorted[(fraction * sorted.len() as f64) as usize]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
