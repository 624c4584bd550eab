//! What play costs.

use std::fs;
use std::path::Path;

use cubewire::commands::ladder::{RungCost, measure};
use cubewire::commands::network;
use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::replication::{Accounting, LaneCheck, LaneMeter, LaneSettings, ShadowRung, Totals};
use cubewire_codec::ladder::{self, LADDER};
use cubewire_link::Preset;

use crate::common::{game, lane, script};
use crate::play::{check_baseline, check_liveliness, check_world};

#[test]
fn a_world_at_rest_costs_fifteen_to_seventeen_kbps_from_index_on() {
    let mut game = HeadlessGame::new(Some(script("calm")));
    let rungs = LADDER.iter().skip_while(|rung| rung.name != "index");
    let lanes = rungs.map(|rung| {
        let lane = game.spawn_lane(lane(rung.name)).unwrap();
        let mut lane = game.app.world_mut().entity_mut(lane);
        (rung.name, lane.insert(LaneCheck::default()).id())
    });
    let lanes: Vec<_> = lanes.collect();
    assert!(lanes.len() > 5);
    for _ in 0..900 {
        game.step();
    }
    for (rung, lane) in lanes {
        let lane = game.app.world().entity(lane);
        assert_eq!(lane.get::<LaneCheck>().unwrap().wrong, 0);
        let newest = lane.get::<LaneMeter>().unwrap().newest(300);
        let kbps = Totals::of(newest).kbps(Accounting::Article);
        println!("{rung}: {kbps:.2} kbps");
        assert!((15.0..=17.0).contains(&kbps), "{rung}: {kbps}");
    }
}

#[test]
fn uncompressed_costs_what_the_article_says() {
    let mut game = game("rolling", "uncompressed");
    for _ in 0..300 {
        game.step();
    }
    assert_eq!(game.check().wrong, 0);
    let kbps = Totals::of(game.meter().newest(300)).kbps(Accounting::Article);
    assert!((17_270.0..=17_470.0).contains(&kbps), "{kbps}");
}

#[test]
fn five_minutes_of_play_are_lively_and_stay_below_the_target() {
    let mut game = game("mix", "changed-flags");
    let mut totals = Totals::default();
    for tick in 0..script("mix").ticks {
        game.step();
        totals.add(game.meter().samples().back().unwrap());
        check_baseline(&game);
        check_world(&game, &format_args!("mix, tick {tick}"));
    }
    assert_eq!(game.check().wrong, 0);
    check_liveliness("mix", &totals, 45.0);
    let kbps = totals.kbps(Accounting::Article);
    println!("mix at changed-flags: {kbps:.1} kbps");
    assert!(kbps < 256.0, "{kbps}");
    let documented = documented(BANDWIDTH, "changed-flags", "mix");
    assert!(agree(kbps, documented), "{kbps} {documented}");
}

/// The document with what play costs.
const BANDWIDTH: &str = "src/replication/BANDWIDTH.md";

/// The document with what rungs cost over networks.
const NETWORKS: &str = "crates/link/README.md";

/// A figure of a document's table that has this column.
fn documented(document: &str, rung: &str, column: &str) -> f64 {
    let name = column.to_owned();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join(document)).unwrap();
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = document.lines();
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

/// What every rung costs, of which none from `position` to `relative-orientation` costs more than the
/// one before.
fn ladder_of(name: &str, ticks: u64, skip: usize) -> Vec<RungCost> {
    let game = LaneGame::new(Some(script(name)), LaneSettings::default()).unwrap();
    let costs = measure(game, ticks as usize, skip).unwrap();
    let place = |wanted: &str| costs.iter().position(|cost| cost.rung == wanted).unwrap();
    let rungs = &costs[place("position")..=place("relative-orientation")];
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
    costs
}

#[test]
fn the_documented_figures_are_what_play_costs() {
    for (name, skip) in [("katamari", 0), ("blow", 0), ("rolling", 0), ("calm", 600)] {
        for cost in ladder_of(name, script(name).ticks, skip) {
            let documented = documented(BANDWIDTH, cost.rung, name);
            let place = format!("{name} {}: {} {documented}", cost.rung, cost.mean_kbps);
            assert!(agree(cost.mean_kbps, documented), "{place}");
        }
    }
}

#[test]
fn no_rung_from_position_to_relative_orientation_costs_more_than_the_one_before() {
    // The other scripts, and the rest of `calm`, are played for the documented figures.
    ladder_of("mix", 1_800, 0);
    ladder_of("calm", 600, 0);
}

#[test]
fn the_documented_figures_are_what_networks_cost() {
    let networks = ["perfect", "article", "3g"].map(|name| Preset::by_name(name).unwrap());
    let rungs = ["relative-index", "changed-flags", "predicted-position"];
    let rungs = rungs.map(|name| ladder::rung(name).unwrap());
    let game = HeadlessGame::new(Some(script("katamari")));
    let ticks = script("katamari").ticks as usize;
    for crossing in network::measure(game, ticks, &networks, &rungs).unwrap() {
        let title = Preset::by_name(crossing.network).unwrap().title;
        let documented = documented(NETWORKS, crossing.rung, title);
        assert!(agree(crossing.article_kbps, documented), "{crossing:?}");
    }
}

#[test]
fn the_shadow_of_the_lanes_own_rung_costs_what_the_lane_does() {
    for name in ["changed-flags", "simulated"] {
        let mut game = game("katamari", name);
        game.add_shadow().unwrap();
        for _ in 0..600 {
            game.step();
        }
        let lane = Totals::of(game.meter().samples()).kbps(Accounting::Article);
        let shadow = game.shadow().unwrap().unwrap();
        let is_own = |rung: &&ShadowRung| rung.rung().name == name;
        let shadow = shadow.rungs().iter().find(is_own).unwrap().mean_kbps();
        println!("{name}: {lane:.1} kbps");
        assert!((lane - shadow).abs() < 1e-9, "{name}: {lane} {shadow}");
    }
}
