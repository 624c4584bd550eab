//! Delays, duplication and reordering.

use cubewire_link::{Conditions, Jitter, Reordering};

use crate::{arrivals, assert_near, mean, ms, quantile, sorted_delays_ms};

const PACKETS: usize = 100_000;

fn jitter(jitter: Jitter) -> Conditions {
    Conditions { latency: ms(50), jitter, ..Conditions::PERFECT }
}

#[test]
fn uniform_jitter_is_uniform_around_the_latency() {
    let conditions = jitter(Jitter::Uniform { spread: ms(30) });
    let delays = sorted_delays_ms(&arrivals(&conditions, 1, PACKETS, ms(16)));
    assert_eq!(delays.len(), PACKETS);
    assert!(delays[0] >= 20.0 && delays[PACKETS - 1] <= 80.0);
    assert_near(mean(&delays), 50.0, 0.005);
    for tenth in 1..10 {
        let fraction = f64::from(tenth) / 10.0;
        assert_near(quantile(&delays, fraction), 20.0 + 60.0 * fraction, 0.01);
    }
}

#[test]
fn no_delay_falls_below_zero() {
    let conditions = jitter(Jitter::Uniform { spread: ms(100) });
    let delays = sorted_delays_ms(&arrivals(&conditions, 2, PACKETS, ms(16)));
    // A quarter of −50..150 is below zero, which becomes zero.
    let at_once = delays.iter().filter(|delay| **delay == 0.0).count();
    assert_near(at_once as f64, 25_000.0, 0.02);
    assert_near(quantile(&delays, 0.75), 100.0, 0.01);
}

#[test]
fn log_normal_jitter_has_its_median_mean_and_tail() {
    let conditions = jitter(Jitter::LogNormal { median: ms(10), sigma: 0.8 });
    let delays: Vec<f64> = sorted_delays_ms(&arrivals(&conditions, 3, PACKETS, ms(16)))
        .iter()
        .map(|delay| delay - 50.0)
        .collect();
    assert!(delays[0] > 0.0);
    // The quantile of a log-normal distribution is the median × e^(sigma × the quantile of the normal distribution),
    // and its mean is the median × e^(sigma² / 2).
    for (fraction, normal) in [
        (0.01, -2.326_348),
        (0.1, -1.281_552),
        (0.5, 0.0),
        (0.9, 1.281_552),
        (0.99, 2.326_348),
        (0.999, 3.090_232),
    ] {
        let expected = 10.0 * (0.8_f64 * normal).exp();
        assert_near(quantile(&delays, fraction), expected, 0.06);
    }
    assert_near(mean(&delays), 10.0 * 0.32_f64.exp(), 0.02);
}

#[test]
fn log_normal_jitter_is_cut_off_at_a_minute() {
    let conditions = jitter(Jitter::LogNormal { median: ms(60_000), sigma: 3.0 });
    let delays = sorted_delays_ms(&arrivals(&conditions, 4, 1_000, ms(16)));
    assert_eq!(delays[999], 60_050.0);
}

#[test]
fn packets_are_held_back_with_the_given_probability_and_delay() {
    let conditions = Conditions {
        reordering: Some(Reordering { probability: 0.1, min_delay: ms(20), max_delay: ms(60) }),
        ..jitter(Jitter::None)
    };
    let arrivals = arrivals(&conditions, 5, PACKETS, ms(16));
    let delays = sorted_delays_ms(&arrivals);
    let held_back = &delays[delays.partition_point(|delay| *delay <= 50.0)..];
    assert_near(held_back.len() as f64, 10_000.0, 0.03);
    assert!(held_back[0] >= 70.0 && *held_back.last().unwrap() <= 110.0);
    assert_near(mean(held_back), 90.0, 0.01);
    assert_near(quantile(held_back, 0.25), 80.0, 0.01);
    // A packet that is held back is overtaken by the next, 16 ms later, unless the next is also held back
    // (1 in 10) and this one not long enough for a third to overtake it (3 in 10, rarely otherwise).
    let overtaken = arrivals
        .iter()
        .scan(0, |newest, arrival| {
            let is_overtaken = arrival.number < *newest;
            *newest = arrival.number.max(*newest);
            Some(usize::from(is_overtaken))
        })
        .sum::<usize>();
    assert_near(overtaken as f64, 0.967 * held_back.len() as f64, 0.005);
}

#[test]
fn copies_have_the_given_probability_and_their_own_jitter() {
    let conditions =
        Conditions { duplicate_probability: 0.2, ..jitter(Jitter::Uniform { spread: ms(30) }) };
    let mut arrivals = arrivals(&conditions, 6, PACKETS, ms(16));
    assert_near(arrivals.len() as f64, 120_000.0, 0.01);
    arrivals.sort_by_key(|arrival| arrival.number);
    let differences: Vec<f64> = arrivals
        .windows(2)
        .filter(|pair| pair[0].number == pair[1].number)
        .map(|pair| (pair[0].delay_ms - pair[1].delay_ms).abs())
        .collect();
    // The mean distance of two random points of a line is a third of its length.
    assert_near(mean(&differences), 20.0, 0.02);
}
