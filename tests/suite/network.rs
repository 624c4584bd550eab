//! Lanes over networks that lose, delay, repeat and reorder.

use std::time::Duration;

use cubewire::commands::network::{Crossing, measure};
use cubewire::commands::soak::SoakTest;
use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::replication::{
    Accounting, Divergence, HEADER_BYTES, LaneSettings, LinkSettings, PlayoutDelay,
    PlayoutSettings, SEND_INTERVALS, SenderSettings,
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

fn play(settings: LaneSettings, ticks: usize) -> LaneGame {
    let mut game = LaneGame::new(Some(script("katamari")), settings).unwrap();
    let lane = game.lane;
    let error = Divergence::default();
    game.app.world_mut().entity_mut(lane).insert(error);
    for _ in 0..ticks {
        game.step();
    }
    game
}

/// Means over the newest second of play: position error in metres.
fn mean_error(game: &mut LaneGame, ticks: usize) -> f32 {
    let mut sum = 0.0;
    for _ in 0..ticks {
        game.step();
        sum += game
            .app
            .world()
            .get::<Divergence>(game.lane)
            .unwrap()
            .mean_m;
    }
    sum / ticks as f32
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
        assert!(crossing.decoded as f64 > 0.7 * expected, "{crossing:?}");
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
    let presets: Vec<_> = PRESETS.iter().collect();
    // Every lane keeps some 30 MB of snapshots.
    for presets in presets.chunks(2) {
        cross(3_600, presets, &rungs);
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
    let mut settings = lane("changed-flags");
    settings.sender.send_interval_ticks = 6;
    settings.playout.interpolation = Interpolation::None;
    let mut jerky = play(settings, 300);
    let mut smooth = play(lane("changed-flags"), 300);
    let (jerky, smooth) = (mean_error(&mut jerky, 300), mean_error(&mut smooth, 300));
    assert!(jerky > 10.0 * smooth, "{jerky} m and {smooth} m");
}

#[test]
fn with_more_loss_the_picture_gets_worse_and_the_data_does_not() {
    let mut last = 0.0;
    for percent in [0, 50, 80, 95] {
        let mut settings = lane("changed-flags");
        settings.link.conditions.loss = match percent {
            0 => Loss::None,
            _ => Loss::Independent {
                probability: f64::from(percent) / 100.0,
            },
        };
        let mut game = play(settings, 300);
        let error = mean_error(&mut game, 600);
        println!("{percent} % lost: {:.1} mm off on average", error * 1000.0);
        assert!(error > last, "{error} m at {percent} %");
        last = error;
        assert_eq!(game.check().wrong, 0);
        assert_eq!(game.meter().refused, 0);
    }
}

#[test]
fn fewer_snapshots_a_second_cost_less_and_show_less() {
    let mut last = (f64::INFINITY, 0.0);
    for ticks in SEND_INTERVALS {
        let mut settings = lane("changed-flags");
        settings.sender.send_interval_ticks = ticks;
        let mut game = play(settings, 300);
        let error = mean_error(&mut game, 300);
        let newest = game.meter().newest(600);
        let sent: usize = newest.map(|sample| sample.snapshots.len()).sum();
        assert_eq!(sent, 600 / ticks as usize);
        let kbps = game.meter().kbps(Accounting::Article);
        assert!(kbps < last.0 && error > last.1, "{kbps} kbps, {error} m");
        last = (kbps, error);
        assert_eq!(game.check().wrong, 0);
    }
}

#[test]
fn a_curve_through_velocities_beats_the_line_at_ten_a_second() {
    let error = |interpolation| {
        let mut settings = lane("at-rest");
        settings.sender.send_interval_ticks = 6;
        settings.playout.interpolation = interpolation;
        let mut game = play(settings, 200);
        mean_error(&mut game, 300)
    };
    let line = error(Interpolation::Linear);
    let curve = error(Interpolation::Hermite);
    let beyond = error(Interpolation::Extrapolate);
    println!("linear {line} m, hermite {curve} m, extrapolate {beyond} m");
    assert!(curve < 0.9 * line, "{curve} and {line}");
    assert!(beyond > curve, "{beyond} and {curve}");
}

#[test]
fn the_playout_delay_is_by_rule_by_hand_or_adaptive() {
    let delay = |delay, network: &str, interval| {
        let settings = LaneSettings {
            sender: SenderSettings {
                send_interval_ticks: interval,
                ..SenderSettings::default()
            },
            link: preset(network),
            playout: PlayoutSettings {
                delay,
                ..PlayoutSettings::default()
            },
        };
        let game = play(settings, 1_200);
        let sample = game.meter().samples().back().unwrap();
        sample.playout_delay.as_millis()
    };
    let ruled = SEND_INTERVALS.map(|ticks| delay(PlayoutDelay::Rule, "perfect", ticks));
    assert_eq!(ruled, [85, 150, 200, 350]);
    let fixed = PlayoutDelay::Fixed(Duration::from_millis(120));
    assert_eq!(delay(fixed, "perfect", 1), 120);
    let calm = delay(PlayoutDelay::Adaptive, "perfect", 1);
    let rough = delay(PlayoutDelay::Adaptive, "article", 1);
    assert!(calm < 60, "{calm} ms");
    assert!(rough > calm + 30, "{rough} ms and {calm} ms");
}

#[test]
fn enough_delay_spares_hitches() {
    let hitches = |ms| {
        let settings = LaneSettings {
            link: preset("article"),
            playout: PlayoutSettings {
                delay: PlayoutDelay::Fixed(Duration::from_millis(ms)),
                ..PlayoutSettings::default()
            },
            ..LaneSettings::default()
        };
        play(settings, 1_200).meter().hitches
    };
    let (short, long) = (hitches(20), hitches(250));
    assert!(short > 50, "{short} hitches");
    assert_eq!(long, 0);
}

#[test]
fn the_smallest_baseline_is_nearly_always_the_newest() {
    let bytes = |baseline| {
        let mut settings = lane("predicted-position");
        settings.sender.baseline = baseline;
        settings.link = preset("article");
        let game = play(settings, 900);
        assert_eq!(game.check().wrong, 0);
        let samples = game.meter().samples().iter();
        samples
            .map(|sample| sample.bytes(Accounting::Article))
            .sum::<usize>()
    };
    let (newest, smallest) = (
        bytes(BaselineChoice::Newest),
        bytes(BaselineChoice::Smallest),
    );
    println!("{newest} bytes against the newest, {smallest} against the smallest");
    assert!(smallest.abs_diff(newest) < newest / 100);
}
