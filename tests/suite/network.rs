//! Lanes over networks that lose, delay, repeat and reorder.

use std::time::Duration;

use cubewire::headless::HeadlessGame;
use cubewire::headless::network::measure;
use cubewire::headless::soak::Soaking;
use cubewire::replication::{LaneSettings, PictureError, PlayoutChoice, SEND_INTERVALS};
use cubewire_codec::ladder;
use cubewire_link::{Conditions, Loss, PRESETS, Preset};
use cubewire_protocol::{BaselineChoice, Interpolation};

use crate::common::script;

fn preset(name: &str) -> Conditions {
    Preset::by_name(name).unwrap().conditions.clone()
}

fn lane(rung: &str) -> LaneSettings {
    LaneSettings {
        stages: ladder::rung(rung).unwrap().stages,
        ..LaneSettings::default()
    }
}

fn play(settings: LaneSettings, ticks: usize) -> HeadlessGame {
    let mut game = HeadlessGame::new(Some(script("katamari")), settings).unwrap();
    let lane = game.lane;
    let error = PictureError::default();
    game.app.world_mut().entity_mut(lane).insert(error);
    for _ in 0..ticks {
        game.step();
    }
    game
}

/// Means over the newest second of play: position error in metres.
fn mean_error(game: &mut HeadlessGame, ticks: usize) -> f32 {
    let mut sum = 0.0;
    for _ in 0..ticks {
        game.step();
        sum += game
            .app
            .world()
            .get::<PictureError>(game.lane)
            .unwrap()
            .mean_m;
    }
    sum / ticks as f32
}

#[test]
fn every_rung_crosses_every_network_for_a_minute() {
    const TICKS: usize = 3_600;
    let presets: Vec<&Preset> = PRESETS.iter().collect();
    let rungs: Vec<_> = ladder::all().collect();
    // Every lane keeps some 30 MB of snapshots: half of them at a time.
    let crossings: Vec<_> = presets
        .chunks(5)
        .flat_map(|presets| {
            let game = HeadlessGame::new(Some(script("mix")), LaneSettings::default()).unwrap();
            measure(game, TICKS, presets, &rungs).unwrap()
        })
        .collect();
    assert_eq!(crossings.len(), PRESETS.len() * rungs.len());
    for crossing in &crossings {
        assert_eq!(crossing.wrong, 0, "{crossing:?}");
        assert_eq!(crossing.refused, 0, "{crossing:?}");
        assert_eq!(crossing.compared, crossing.decoded, "{crossing:?}");
        assert_eq!(crossing.sent, TICKS, "{crossing:?}");
        // A snapshot of one packet arrives as often as a packet.
        if crossing.rung == "changed-flags" {
            assert!(crossing.decoded > 2_000, "{crossing:?}");
        }
    }
}

#[test]
fn viewers_come_and_go_across_the_wrap_and_no_cube_is_ever_wrong() {
    const TICKS: u64 = 3_600;
    let game = HeadlessGame::new(Some(script("mix")), LaneSettings::default()).unwrap();
    let mut soaking = Soaking::new(game, 65_536 - 600, 1);
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
    settings.send_interval_ticks = 6;
    settings.interpolation = Interpolation::None;
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
        settings.link.loss = match percent {
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
        settings.send_interval_ticks = ticks;
        let mut game = play(settings, 300);
        let error = mean_error(&mut game, 300);
        let newest = game.meter().newest(600);
        let sent: usize = newest.map(|sample| sample.snapshots).sum();
        assert_eq!(sent, 600 / ticks as usize);
        let kbps = game
            .meter()
            .kbps(cubewire::replication::Accounting::Article);
        assert!(kbps < last.0 && error > last.1, "{kbps} kbps, {error} m");
        last = (kbps, error);
        assert_eq!(game.check().wrong, 0);
    }
}

#[test]
fn a_curve_through_velocities_beats_the_line_at_ten_a_second() {
    let error = |interpolation| {
        let mut settings = lane("at-rest");
        settings.send_interval_ticks = 6;
        settings.interpolation = interpolation;
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
    let delay = |playout, network: &str, interval| {
        let settings = LaneSettings {
            playout,
            link: preset(network),
            send_interval_ticks: interval,
            ..LaneSettings::default()
        };
        let game = play(settings, 1_200);
        let sample = game.meter().samples().back().unwrap();
        sample.playout_delay.as_millis()
    };
    let ruled = SEND_INTERVALS.map(|ticks| delay(PlayoutChoice::Rule, "perfect", ticks));
    assert_eq!(ruled, [85, 150, 200, 350]);
    let fixed = PlayoutChoice::Fixed(Duration::from_millis(120));
    assert_eq!(delay(fixed, "perfect", 1), 120);
    let calm = delay(PlayoutChoice::Adaptive, "perfect", 1);
    let rough = delay(PlayoutChoice::Adaptive, "article", 1);
    assert!(calm < 60, "{calm} ms");
    assert!(rough > calm + 30, "{rough} ms and {calm} ms");
}

#[test]
fn enough_delay_spares_hitches() {
    let hitches = |ms| {
        let settings = LaneSettings {
            playout: PlayoutChoice::Fixed(Duration::from_millis(ms)),
            link: preset("article"),
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
        let settings = LaneSettings {
            baseline,
            link: preset("article"),
            ..lane("predicted-position")
        };
        let game = play(settings, 900);
        assert_eq!(game.check().wrong, 0);
        let samples = game.meter().samples().iter();
        samples.map(|sample| sample.article_bytes).sum::<usize>()
    };
    let (newest, smallest) = (
        bytes(BaselineChoice::Newest),
        bytes(BaselineChoice::Smallest),
    );
    println!("{newest} bytes against the newest, {smallest} against the smallest");
    assert!(smallest.abs_diff(newest) < newest / 100);
}
