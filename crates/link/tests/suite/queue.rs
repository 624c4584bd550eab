//! Rate, queueing delay and drops of a bottleneck.

use std::time::Duration;

use cubewire_link::{Bandwidth, Conditions, Loss};

use crate::{arrivals, assert_near, ms, sorted_delays_ms};

/// 1 Mbit/s and 25 kB, which take 200 ms to send.
fn bottleneck() -> Conditions {
    Conditions {
        latency: ms(20),
        bandwidth: Some(Bandwidth { bits_per_second: 1_000_000, queue_bytes: 25_000 }),
        ..Conditions::PERFECT
    }
}

#[test]
fn below_its_capacity_a_link_adds_only_the_time_to_send() {
    // 100 bytes every 16 ms are 50 kbit/s. Each packet takes 0.8 ms.
    let delays = sorted_delays_ms(&arrivals(&bottleneck(), 1, 1_000, ms(16)));
    assert_eq!(delays.len(), 1_000);
    assert!(delays.iter().all(|delay| (delay - 20.8).abs() < 1e-6));
}

#[test]
fn above_its_capacity_a_link_runs_at_its_rate_with_a_full_queue() {
    // 2 Mbit/s for ten seconds.
    let packets = 25_000;
    let arrivals = arrivals(&bottleneck(), 2, packets, Duration::from_micros(400));
    // Half of the packets, and the packets in the queue at the end.
    assert_near(arrivals.len() as f64, 12_500.0 + 250.0, 0.001);
    assert!(arrivals.is_sorted_by_key(|arrival| arrival.number));
    let steady = &arrivals[1_000..];
    let [first, last] = [steady[0], steady[steady.len() - 1]];
    let at_ms = |arrival: crate::Arrival| 0.4 * arrival.number as f64 + arrival.delay_ms;
    let bits = 800.0 * (steady.len() - 1) as f64;
    assert_near(bits / (at_ms(last) - at_ms(first)), 1_000.0, 1e-6);
    // 20 ms of latency, 200 ms of queue, and the rest of the packet that is being sent.
    for arrival in steady {
        assert!((219.9..221.7).contains(&arrival.delay_ms), "{arrival:?}");
    }
}

#[test]
fn lost_packets_take_time_in_the_queue() {
    let mut conditions = bottleneck();
    conditions.loss = Loss::Independent { probability: 0.5 };
    let arrivals = arrivals(&conditions, 4, 10, ms(0));
    assert!((1..10).contains(&arrivals.len()));
    for arrival in arrivals {
        let expected = 20.0 + 0.8 * (arrival.number + 1) as f64;
        assert!((arrival.delay_ms - expected).abs() < 1e-6, "{arrival:?}");
    }
}
