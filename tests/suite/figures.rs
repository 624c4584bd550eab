//! What play costs.

use std::fs;
use std::path::Path;

use cubewire::commands::ladder::{RungCost, measure};
use cubewire::commands::network;
use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::replication::{Accounting, LaneSettings, kbps};
use cubewire_codec::ladder;
use cubewire_link::Preset;

use crate::common::{game, script};

/// Mean kbps of the ticks from `skip` on, in article accounting.
fn mean_kbps(mut game: LaneGame, ticks: usize, skip: usize) -> f64 {
    let mut bytes = 0;
    for tick in 0..ticks {
        game.step();
        if tick >= skip {
            let sample = game.meter().newest(1).next().unwrap();
            bytes += sample.bytes(Accounting::Article);
        }
    }
    assert_eq!(game.check().wrong, 0);
    kbps(bytes, ticks - skip)
}

#[test]
fn a_world_at_rest_costs_fifteen_to_seventeen_kbps_from_index_on() {
    let from_index = ladder::LADDER
        .iter()
        .skip_while(|rung| rung.name != "index");
    for rung in from_index {
        let kbps = mean_kbps(game("calm", rung.name), 900, 600);
        println!("{}: {kbps:.2} kbps", rung.name);
        assert!((15.0..=17.0).contains(&kbps), "{}: {kbps}", rung.name);
    }
}

#[test]
fn uncompressed_costs_what_the_article_says() {
    let kbps = mean_kbps(game("rolling", "uncompressed"), 300, 0);
    assert!((17_270.0..=17_470.0).contains(&kbps), "{kbps}");
}

#[test]
fn five_minutes_of_play_stay_below_the_target() {
    let ticks = script("mix").ticks as usize;
    let kbps = mean_kbps(game("mix", "changed-flags"), ticks, 0);
    println!("mix at changed-flags: {kbps:.1} kbps");
    assert!(kbps < 256.0, "{kbps}");
    let documented = documented("changed-flags", "mix");
    assert!(agree(kbps, documented), "{kbps} {documented}");
}

/// A figure of the README's table that has this column.
fn documented(rung: &str, column: &str) -> f64 {
    let name = column.to_owned();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = readme.lines();
    let is_header = |line: &str| line.starts_with("| rung") && cells(line).contains(&name);
    let header = lines.find(|line| is_header(line)).unwrap();
    let column = cells(header).iter().position(|cell| *cell == name).unwrap();
    let row = lines.find(|line| cells(line)[0] == rung).unwrap();
    cells(row)[column].parse().unwrap()
}

/// Play is the same bit for bit on one machine and build, and nearly so on others.
fn agree(measured: f64, documented: f64) -> bool {
    (measured / documented - 1.0).abs() < 0.05
}

#[test]
fn the_readmes_figures_are_what_play_costs() {
    for (name, skip) in [("katamari", 0), ("blow", 0), ("rolling", 0), ("calm", 600)] {
        let game = LaneGame::new(Some(script(name)), LaneSettings::default()).unwrap();
        for cost in measure(game, script(name).ticks as usize, skip).unwrap() {
            let documented = documented(cost.rung, name);
            let place = format!("{name} {}: {} {documented}", cost.rung, cost.mean_kbps);
            assert!(agree(cost.mean_kbps, documented), "{place}");
        }
    }
}

#[test]
fn the_readmes_figures_are_what_networks_cost() {
    let networks = ["perfect", "article", "3g"].map(|name| Preset::by_name(name).unwrap());
    let rungs = ["relative-index", "changed-flags", "predicted-position"];
    let rungs = rungs.map(|name| ladder::rung(name).unwrap());
    let game = HeadlessGame::new(Some(script("katamari")));
    let ticks = script("katamari").ticks as usize;
    for crossing in network::measure(game, ticks, &networks, &rungs).unwrap() {
        let title = Preset::by_name(crossing.network).unwrap().title;
        let documented = documented(crossing.rung, title);
        assert!(agree(crossing.article_kbps, documented), "{crossing:?}");
    }
}

#[test]
fn no_rung_from_position_to_relative_orientation_costs_more_than_the_one_before() {
    for name in ["mix", "katamari", "rolling", "calm"] {
        let game = LaneGame::new(Some(script(name)), LaneSettings::default()).unwrap();
        let costs = measure(game, 1800, 0).unwrap();
        let place = |wanted: &str| costs.iter().position(|cost| cost.rung == wanted).unwrap();
        let rungs: &[RungCost] = &costs[place("position")..=place("relative-orientation")];
        for pair in rungs.windows(2) {
            let [below, above] = pair else {
                unreachable!("windows of two")
            };
            assert!(
                above.mean_kbps <= below.mean_kbps * 1.01,
                "{name}: {} {:.2}, {} {:.2}",
                below.rung,
                below.mean_kbps,
                above.rung,
                above.mean_kbps
            );
        }
    }
}

#[test]
fn the_shadow_of_the_lanes_own_rung_costs_what_the_lane_does() {
    let lane = mean_kbps(game("katamari", "changed-flags"), 600, 0);
    let shadow = measure(game("katamari", "changed-flags"), 600, 0).unwrap();
    let shadow = shadow
        .iter()
        .find(|cost| cost.rung == "changed-flags")
        .unwrap();
    assert!(
        (lane - shadow.mean_kbps).abs() < 1e-9,
        "{lane} {}",
        shadow.mean_kbps
    );
}
