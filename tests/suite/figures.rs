//! Bandwidth and errors of scripted games.

use cubewire::commands::ladder::measure;
use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::replication::{Accounting, LaneCheck, LaneMeter, LaneSettings, ShadowRung, Totals};
use cubewire_codec::ladder::LADDER;

use crate::common::{game, lane, script, steps};
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
    steps(&mut game, 720);
    for (rung, lane) in lanes {
        let lane = game.app.world().entity(lane);
        assert_eq!(lane.get::<LaneCheck>().unwrap().wrong, 0);
        let newest = lane.get::<LaneMeter>().unwrap().newest(120);
        let kbps = Totals::of(newest).kbps(Accounting::PayloadAndUdp);
        println!("{rung}: {kbps:.2} kbps");
        assert!((15.0..=17.0).contains(&kbps), "{rung}: {kbps}");
    }
}

#[test]
fn uncompressed_costs_what_the_article_says() {
    let mut game = game("rolling", "uncompressed");
    steps(&mut game, 300);
    assert_eq!(game.check().wrong, 0);
    let kbps = Totals::of(game.meter().newest(300)).kbps(Accounting::PayloadAndUdp);
    assert!((17_270.0..=17_470.0).contains(&kbps), "{kbps}");
}

#[test]
fn a_minute_of_play_is_lively_and_stays_below_the_target() {
    let mut game = game("mix", "changed-flags");
    let mut totals = Totals::default();
    for tick in 0..3_600 {
        game.step();
        totals.add(game.meter().samples().back().unwrap());
        check_baseline(&game);
        check_world(&game, &format_args!("mix, tick {tick}"));
    }
    assert_eq!(game.check().wrong, 0);
    check_liveliness("mix", &totals, 45.0);
    let kbps = totals.kbps(Accounting::PayloadAndUdp);
    println!("mix at changed-flags: {kbps:.1} kbps");
    assert!(kbps < 256.0, "{kbps}");
}

#[test]
fn no_rung_from_position_to_relative_orientation_costs_more_than_the_one_before() {
    for (name, ticks, skip) in [
        ("mix", 900, 0),
        ("katamari", 900, 0),
        ("blow", 500, 0),
        ("rolling", 500, 0),
        ("calm", 300, 0),
        ("calm", 720, 600),
    ] {
        let game = LaneGame::new(Some(script(name)), LaneSettings::default()).unwrap();
        let costs = measure(game, ticks, skip).unwrap();
        let index = |wanted: &str| costs.iter().position(|cost| cost.rung == wanted).unwrap();
        for pair in costs[index("position")..=index("relative-orientation")].windows(2) {
            let [below, above] = pair else { unreachable!("windows of two") };
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
    for name in ["changed-flags", "simulated"] {
        let mut game = game("katamari", name);
        game.add_shadow();
        steps(&mut game, 240);
        let lane = Totals::of(game.meter().samples()).kbps(Accounting::PayloadAndUdp);
        let shadow = game.shadow().unwrap().unwrap();
        let is_own = |rung: &&ShadowRung| rung.rung.name == name;
        let shadow = shadow.rungs().iter().find(is_own).unwrap().mean_kbps();
        println!("{name}: {lane:.1} kbps");
        assert!((lane - shadow).abs() < 1e-9, "{name}: {lane} {shadow}");
    }
}
