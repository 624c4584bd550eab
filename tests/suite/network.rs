//! Lanes over networks that lose, delay, repeat and reorder.

use std::time::Duration;

use bevy::prelude::*;
use cubewire::commands::network::{Crossing, measure};
use cubewire::commands::soak::SoakTest;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::{
    Accounting, Divergence, HEADER_BYTES, LaneCheck, LaneMeter, LaneSettings, LinkSettings,
    PlayoutDelay, SEND_INTERVALS,
};
use cubewire_codec::ladder::{self, Rung};
use cubewire_link::{Bandwidth, Loss, PRESETS, Preset};
use cubewire_protocol::{BaselineChoice, Interpolation};
use cubewire_scene::TICKS_PER_SECOND;

use crate::common::{lane, script};

fn preset(name: &str) -> LinkSettings {
    LinkSettings {
        conditions: Preset::by_name(name).unwrap().conditions.clone(),
        ..LinkSettings::default()
    }
}

/// A play with several lanes.
struct Play {
    game: HeadlessGame,
    lanes: Vec<Entity>,
}

impl Play {
    /// After so many ticks.
    fn new(lanes: impl IntoIterator<Item = LaneSettings>, ticks: usize) -> Self {
        let mut game = HeadlessGame::new(Some(script("katamari")));
        let lanes = lanes.into_iter().map(|settings| {
            let lane = game.spawn_lane(settings).unwrap();
            let checks = (LaneCheck::default(), Divergence::default());
            game.app.world_mut().entity_mut(lane).insert(checks);
            lane
        });
        let lanes = lanes.collect();
        for _ in 0..ticks {
            game.step();
        }
        Self { game, lanes }
    }

    /// Plays on: each lane's mean position error over these ticks, metres.
    fn mean_errors(&mut self, ticks: usize) -> Vec<f32> {
        let mut sums = vec![0.0; self.lanes.len()];
        for _ in 0..ticks {
            self.game.step();
            for (sum, divergence) in sums.iter_mut().zip(self.each::<Divergence>()) {
                *sum += divergence.mean_m;
            }
        }
        sums.into_iter().map(|sum| sum / ticks as f32).collect()
    }

    /// A component of each lane.
    fn each<T: Component>(&self) -> impl Iterator<Item = &T> {
        let world = self.game.app.world();
        self.lanes.iter().map(|&lane| world.get(lane).unwrap())
    }

    /// Every snapshot that was decoded is what was sent.
    fn assert_faultless(&self) {
        for (check, meter) in self.each::<LaneCheck>().zip(self.each::<LaneMeter>()) {
            assert!(check.compared > 0);
            assert_eq!((check.wrong, meter.refused), (0, 0), "{check:?}");
        }
    }
}

/// Sends with each rung over each network, and checks what arrives, and that it does.
fn cross(ticks: usize, presets: &[&'static Preset], rungs: &[Rung]) {
    let game = HeadlessGame::new(Some(script("mix")));
    let crossings = measure(game, ticks, presets, rungs).unwrap();
    assert_eq!(crossings.len(), presets.len() * rungs.len());
    for crossing in &crossings {
        assert_eq!(crossing.wrong, 0, "{crossing:?}");
        assert_eq!(crossing.refused, 0, "{crossing:?}");
        assert_eq!(crossing.compared, crossing.decoded, "{crossing:?}");
        assert_eq!(crossing.sent, ticks, "{crossing:?}");
        let expected = expected_whole(crossing);
        println!(
            "{} over {}: {} of {ticks} arrived whole, {expected:.1} expected",
            crossing.rung, crossing.network, crossing.decoded
        );
        assert!(crossing.decoded as f64 > 0.8 * expected, "{crossing:?}");
    }
}

/// How many of the snapshots should arrive whole: a lower bound, by what their network loses.
fn expected_whole(crossing: &Crossing) -> f64 {
    let conditions = &Preset::by_name(crossing.network).unwrap().conditions;
    let bytes_per_tick = |kbps: f64| kbps * 1000.0 / 8.0 / f64::from(TICKS_PER_SECOND);
    let payload = bytes_per_tick(crossing.article_kbps) - HEADER_BYTES as f64;
    let packets = (payload / FRAGMENT_BYTES).ceil();
    let all_survive = match conditions.loss {
        Loss::None => 1.0,
        Loss::Independent { probability } => (1.0 - probability).powf(packets),
        // Every packet of a burst is lost: the first must miss the bursts, and none begin after it.
        Loss::GilbertElliott { to_bad, .. } => {
            (1.0 - conditions.loss.mean_fraction()) * (1.0 - to_bad).powf(packets - 1.0)
        }
    };
    let wire = bytes_per_tick(crossing.wire_kbps);
    let sent = crossing.sent as f64;
    let fitting = match conditions.bandwidth {
        // Once the queue is full, hardly a snapshot finds room for all of its packets.
        Some(Bandwidth {
            bits_per_second,
            queue_bytes,
        }) if wire > bytes_per_tick(bits_per_second as f64 / 1000.0) => queue_bytes as f64 / wire,
        _ => sent,
    };
    fitting.min(sent) * all_survive
}

/// Longer messages are fragmented.
const FRAGMENT_BYTES: f64 = 1200.0;

#[test]
fn rungs_cross_networks_for_ten_seconds() {
    let networks = ["article", "3g", "hostile"].map(|name| Preset::by_name(name).unwrap());
    let rungs = ["uncompressed", "delta", "changed-flags", "predicted"];
    cross(
        600,
        &networks,
        &rungs.map(|name| ladder::rung(name).unwrap()),
    );
}

#[test]
#[ignore = "the whole matrix: minutes"]
fn the_whole_matrix_of_rungs_and_networks_is_crossed_for_a_minute() {
    let rungs: Vec<_> = ladder::all().collect();
    // One network at a time, as every lane keeps some 30 MB of snapshots.
    for preset in &PRESETS {
        cross(3_600, &[preset], &rungs);
    }
}

#[test]
fn viewers_come_and_go_across_the_wrap_and_no_cube_is_ever_wrong() {
    const TICKS: u64 = 3_600;
    let game = HeadlessGame::new(Some(script("mix")));
    let mut soaking = SoakTest::new(game, 65_536 - 600, 1);
    for _ in 0..TICKS {
        soaking.step().unwrap();
    }
    let soak = soaking.finish();
    assert_eq!(soak.wraps, 1, "{soak:?}");
    assert_eq!(soak.wrong, 0, "{soak:?}");
    assert_eq!(soak.refused, 0, "{soak:?}");
    assert_eq!(soak.compared, soak.decoded, "{soak:?}");
    assert!(soak.decoded > TICKS, "{soak:?}");
    assert!(soak.joined > 4 && soak.switches > 50, "{soak:?}");
}

#[test]
fn a_still_picture_of_moving_cubes_is_off() {
    let mut jerky = lane("changed-flags");
    jerky.sender.send_interval_ticks = 6;
    jerky.playout.interpolation = Interpolation::None;
    let mut play = Play::new([jerky, lane("changed-flags")], 300);
    let errors = play.mean_errors(300);
    assert!(errors[0] > 10.0 * errors[1], "{errors:?} m");
}

#[test]
fn with_more_loss_the_picture_gets_worse_and_the_data_does_not() {
    let percents = [0, 50, 80, 95];
    let lanes = percents.map(|percent| {
        let mut settings = lane("changed-flags");
        settings.link.conditions.loss = match percent {
            0 => Loss::None,
            _ => Loss::Independent {
                probability: f64::from(percent) / 100.0,
            },
        };
        settings
    });
    let mut play = Play::new(lanes, 300);
    let mut last = 0.0;
    for (percent, error) in percents.into_iter().zip(play.mean_errors(600)) {
        println!("{percent} % lost: {:.1} mm off on average", error * 1000.0);
        assert!(error > last, "{error} m at {percent} %");
        last = error;
    }
    play.assert_faultless();
}

#[test]
fn fewer_snapshots_a_second_cost_less_and_show_less() {
    let lanes = SEND_INTERVALS.map(|ticks| {
        let mut settings = lane("changed-flags");
        settings.sender.send_interval_ticks = ticks;
        settings
    });
    let mut play = Play::new(lanes, 300);
    let errors = play.mean_errors(300);
    let mut last = (f64::INFINITY, 0.0);
    let meters = play.each::<LaneMeter>().zip(SEND_INTERVALS);
    for ((meter, ticks), error) in meters.zip(errors) {
        let newest = meter.newest(600);
        let sent: usize = newest.map(|sample| sample.snapshots.len()).sum();
        assert_eq!(sent, 600 / ticks as usize);
        let kbps = meter.kbps(Accounting::Article);
        assert!(kbps < last.0 && error > last.1, "{kbps} kbps, {error} m");
        last = (kbps, error);
    }
    play.assert_faultless();
}

#[test]
fn a_curve_through_velocities_beats_the_line_at_ten_a_second() {
    let interpolations = [
        Interpolation::Linear,
        Interpolation::Hermite,
        Interpolation::Extrapolate,
    ];
    let lanes = interpolations.map(|interpolation| {
        let mut settings = lane("at-rest");
        settings.sender.send_interval_ticks = 6;
        settings.playout.interpolation = interpolation;
        settings
    });
    let errors = Play::new(lanes, 200).mean_errors(300);
    let [line, curve, beyond] = errors[..] else {
        unreachable!("three lanes")
    };
    println!("linear {line} m, hermite {curve} m, extrapolate {beyond} m");
    assert!(curve < 0.9 * line, "{curve} and {line}");
    assert!(beyond > curve, "{beyond} and {curve}");
}

#[test]
fn the_playout_delay_is_by_rule_by_hand_or_adaptive() {
    let lane = |delay, network: &str, interval| {
        let mut settings = LaneSettings::default();
        settings.sender.send_interval_ticks = interval;
        settings.link = preset(network);
        settings.playout.delay = delay;
        settings
    };
    let ruled = SEND_INTERVALS.map(|ticks| lane(PlayoutDelay::Rule, "perfect", ticks));
    let fixed = PlayoutDelay::Fixed(Duration::from_millis(120));
    let others = [
        lane(fixed, "perfect", 1),
        lane(PlayoutDelay::Adaptive, "perfect", 1),
        lane(PlayoutDelay::Adaptive, "article", 1),
    ];
    let play = Play::new(ruled.into_iter().chain(others), 1_200);
    let delays = play.each::<LaneMeter>().map(|meter| {
        let sample = meter.samples().back().unwrap();
        sample.playout_delay.as_millis()
    });
    let delays: Vec<_> = delays.collect();
    assert_eq!(delays[..5], [85, 150, 200, 350, 120]);
    let (calm, rough) = (delays[5], delays[6]);
    assert!(calm < 60, "{calm} ms");
    assert!(rough > calm + 30, "{rough} ms and {calm} ms");
}

#[test]
fn enough_delay_spares_hitches() {
    let lanes = [20, 250].map(|ms| {
        let mut settings = lane("changed-flags");
        settings.link = preset("article");
        settings.playout.delay = PlayoutDelay::Fixed(Duration::from_millis(ms));
        settings
    });
    let play = Play::new(lanes, 1_200);
    let hitches: Vec<_> = play
        .each::<LaneMeter>()
        .map(|meter| meter.hitches)
        .collect();
    assert!(hitches[0] > 50, "{hitches:?} hitches");
    assert_eq!(hitches[1], 0);
}

#[test]
fn the_smallest_baseline_is_nearly_always_the_newest() {
    let lanes = [BaselineChoice::Newest, BaselineChoice::Smallest].map(|baseline| {
        let mut settings = lane("predicted-position");
        settings.sender.baseline = baseline;
        settings.link = preset("article");
        settings
    });
    let play = Play::new(lanes, 900);
    play.assert_faultless();
    let bytes = play.each::<LaneMeter>().map(|meter| {
        let bytes = meter.samples().iter();
        bytes.map(|sample| sample.bytes(Accounting::Article)).sum()
    });
    let bytes: Vec<usize> = bytes.collect();
    let (newest, smallest) = (bytes[0], bytes[1]);
    println!("{newest} bytes against the newest, {smallest} against the smallest");
    assert!(smallest.abs_diff(newest) < newest / 100);
}
