//! The data rate adapts to links that are too narrow, lose packets, and recover.

use std::time::Duration;

use cubewire_codec::{Plan, ladder};
use cubewire_link::{Bandwidth, Conditions, Link, Loss, PRESETS, Preset};
use cubewire_protocol::RateControl;

use crate::pair::Pair;
use crate::world::World;

/// Number of bodies that need more than any budget of these tests.
const BODIES: usize = 200;

const TICKS_PER_SECOND: u16 = 60;

/// A server's stream to a receiver.
struct Stream {
    pair: Pair,
    /// Last tick when a packet arrived and was decoded.
    arrived_at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Second {
    /// Highest budget; `u32::MAX` without a limit.
    most_kbps: u32,
    /// Lowest budget.
    least_kbps: u32,
    sent_kbps: u64,
    /// Longest time without a decoded packet.
    gap_ticks: u64,
}

impl Stream {
    fn new(asked_kbps: Option<u32>, conditions: Conditions) -> Self {
        Self::with_seed(asked_kbps, conditions, 0)
    }

    fn with_seed(asked_kbps: Option<u32>, conditions: Conditions, seed: u64) -> Self {
        let world = World::new(Plan::cubes(), BODIES, 1 + seed);
        let stages = ladder::CHANGED_FLAGS.stages;
        let pair = Pair::of(world, stages, 0, Conditions::PERFECT, seed);
        let mut pair = pair.with_rate_control(RateControl::Always);
        pair.asked_kbps = asked_kbps;
        let upstream = Conditions { bandwidth: None, ..conditions.clone() };
        pair.down = Link::new(conditions, 2 * seed + 1);
        pair.up = Link::new(upstream, 2 * seed + 2);
        Self { pair, arrived_at: 0 }
    }

    fn seconds(&mut self, count: usize) -> Vec<Second> {
        let seconds: Vec<_> = (0..count).map(|_| self.second()).collect();
        println!("{:?} asked, then", self.pair.asked_kbps);
        for second in &seconds {
            println!("  {second:?}");
        }
        seconds
    }

    fn second(&mut self) -> Second {
        let mut second = Second { least_kbps: u32::MAX, ..Second::default() };
        let before = self.pair.sent_bytes;
        for _ in 0..TICKS_PER_SECOND {
            if self.pair.run(1) > 0 {
                self.arrived_at = self.pair.tick;
            }
            let settings = self.pair.server.settings();
            let given = settings.and_then(|settings| settings.budget_kbps).unwrap_or(u32::MAX);
            second.most_kbps = second.most_kbps.max(given);
            second.least_kbps = second.least_kbps.min(given);
            second.gap_ticks = second.gap_ticks.max(self.pair.tick - self.arrived_at);
        }
        second.sent_kbps = (self.pair.sent_bytes - before) * 8 / 1000;
        second
    }
}

fn lossy(probability: f64) -> Conditions {
    Conditions {
        latency: Duration::from_millis(50),
        loss: Loss::Independent { probability },
        ..Conditions::PERFECT
    }
}

fn narrow(kbps: u64, queue_bytes: usize) -> Conditions {
    Conditions {
        latency: Duration::from_millis(50),
        bandwidth: Some(Bandwidth { bits_per_second: kbps * 1000, queue_bytes }),
        ..Conditions::PERFECT
    }
}

fn mean(seconds: &[Second], of: impl Fn(&Second) -> u64) -> f64 {
    seconds.iter().map(of).sum::<u64>() as f64 / seconds.len() as f64
}

#[test]
fn loss_that_does_not_come_of_sending_changes_nothing() {
    let seconds = Stream::new(Some(256), lossy(0.05)).seconds(60);
    assert!(seconds.iter().all(|second| second.least_kbps == 256));
    // A loss of a third looks like congestion at first, but not for long.
    let seconds = Stream::new(Some(256), lossy(0.3)).seconds(60);
    assert!(mean(&seconds[5..], |second| second.least_kbps.into()) > 220.0);
}

#[test]
fn a_budget_that_is_the_lowest_grows_though_a_third_is_lost() {
    let mut stream = Stream::new(Some(256), lossy(0.3));
    stream.pair.cut(true);
    stream.seconds(3);
    stream.pair.cut(false);
    let seconds = stream.seconds(40);
    assert!(mean(&seconds[25..], |second| second.least_kbps.into()) > 200.0);
}

#[test]
fn over_every_preset_the_budget_is_nearly_what_is_asked_for() {
    for preset in &PRESETS {
        let mut stream = Stream::new(Some(256), preset.conditions.clone());
        let seconds = stream.seconds(60);
        let given = mean(&seconds[5..], |second| second.least_kbps.into());
        println!("{}: {given:.0} kbps given", preset.name);
        assert!(given > 225.0, "{}: {given:.0} kbps given", preset.name);
    }
}

/// A fifth of the packets is lost in bursts, and the delay varies by more than a queue's. Random loss and delay must
/// not reduce the rate with any seed.
#[test]
fn over_a_hostile_link_nearly_all_is_given_whatever_chance_brings() {
    let hostile = Preset::by_name("hostile").unwrap();
    let given = (0..8).map(|seed| {
        let mut stream = Stream::with_seed(Some(256), hostile.conditions.clone(), seed);
        mean(&stream.seconds(60)[5..], |second| second.least_kbps.into())
    });
    let given: Vec<f64> = given.collect();
    println!("{given:.0?} kbps given");
    assert!(given.iter().all(|&kbps| kbps > 200.0), "{given:.0?}");
    assert!(given.iter().sum::<f64>() / 8.0 > 230.0, "{given:.0?}");
}

#[test]
fn a_narrow_link_that_also_loses_in_bursts_is_not_taken_for_a_wide_one() {
    for (kbps, queue_bytes) in [(128, 16_000), (200, 6_000)] {
        let mut conditions = narrow(kbps, queue_bytes);
        conditions.loss = Loss::bursts(0.1, 4.0);
        let mut stream = Stream::new(Some(256), conditions);
        let seconds = stream.seconds(60);
        let given = mean(&seconds[10..], |second| second.most_kbps.into());
        println!("{given:.0} kbps given over {kbps}");
        assert!(given < 1.1 * kbps as f64, "{given:.0} kbps given over {kbps}");
    }
}

#[test]
fn over_a_narrow_link_the_budget_stays_below_what_it_carries() {
    for asked in [Some(256), None] {
        for (kbps, queue_bytes) in [(128, 16_000), (200, 6_000), (200, 1_500)] {
            let (mut all, mut lost, mut sent) = (Vec::new(), 0, 0);
            for seed in 0..4 {
                let mut stream = Stream::with_seed(asked, narrow(kbps, queue_bytes), seed);
                stream.seconds(10);
                let before = stream.pair.down.stats();
                all.extend(stream.seconds(30));
                lost += stream.pair.down.stats().queue_dropped - before.queue_dropped;
                sent += stream.pair.down.stats().sent - before.sent;
            }
            let case = format!("{asked:?} kbps over {kbps} kbps, {queue_bytes} bytes");
            let below = all.iter().filter(|second| u64::from(second.most_kbps) < kbps);
            let below = below.count();
            let used = mean(&all, |second| second.sent_kbps) / kbps as f64;
            let used = used * (sent - lost) as f64 / sent as f64;
            println!("{case}: below in {below} of 120 s, {used:.2} used, {lost} of {sent} lost");
            // A queue for one packet overflows before the delay grows.
            let most_lost = match queue_bytes {
                1_500 => 6,
                _ => 20,
            };
            assert!(below > 60 && used > 0.8, "{case}");
            assert!(lost * most_lost < sent, "{case}: {lost} of {sent} lost");
            for second in all {
                assert!(second.gap_ticks < 15, "{case}: {second:?}");
            }
        }
    }
}

#[test]
fn once_a_link_is_wide_again_the_budget_is_what_is_asked_for() {
    let mut stream = Stream::new(Some(256), narrow(64, 6_000));
    let before = stream.seconds(20);
    let given = mean(&before[10..], |second| second.most_kbps.into());
    assert!(given < 80.0, "{given:.0} kbps given");
    let wide = Conditions { bandwidth: None, ..narrow(64, 6_000) };
    stream.pair.set_conditions(&wide);
    let wide = stream.seconds(40);
    assert!(wide[30..].iter().all(|second| second.least_kbps == 256));
}

#[test]
fn after_silence_the_budget_is_the_lowest_and_grows_soon() {
    let mut stream = Stream::new(Some(256), lossy(0.05));
    stream.seconds(5);
    stream.pair.cut(true);
    // Two seconds if packets are few, plus the time for packets in flight.
    assert_eq!(stream.seconds(4)[3].most_kbps, 16);
    stream.pair.cut(false);
    let seconds = stream.seconds(12);
    assert!(seconds[10..].iter().all(|second| second.least_kbps == 256));
}

#[test]
fn a_longer_way_is_not_taken_for_a_queue() {
    let mut stream = Stream::new(Some(256), lossy(0.0));
    stream.seconds(10);
    let longer = Conditions { latency: Duration::from_millis(150), ..lossy(0.0) };
    stream.pair.set_conditions(&longer);
    let seconds = stream.seconds(20);
    assert!(seconds[5..].iter().all(|second| second.least_kbps == 256));
}
