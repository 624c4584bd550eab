//! What viewers over UDP are sent: as much as they ask for, and no more than gets through.

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::SenderSettings;
use cubewire_bevy::renet::Key;
use cubewire_link::Conditions;

use crate::udp::{agreeing, lanes, narrow, seconds, server, set_link, step, udp, viewer, viewers};

fn ask(viewer: &mut HeadlessViewer, kbps: Option<u32>) {
    let mut lane = viewer.app.world_mut().entity_mut(viewer.lane);
    lane.get_mut::<SenderSettings>().unwrap().budget = kbps;
}

/// What the only viewer asks for and is given, as the server says.
fn budgets(game: &HeadlessGame) -> [Option<u32>; 2] {
    let budget = viewers(game).budgets.first().expect("there is a viewer");
    [budget.asked_kbps, budget.given_kbps]
}

/// What the viewer knows to be given, if it is less than it asks for.
fn granted(viewer: &HeadlessViewer) -> Option<u32> {
    viewer.connection().granted?.budget
}

#[test]
fn a_viewer_is_sent_no_more_than_it_asks_for() {
    let mut game = server(Key::LOOPBACK, 8);
    let mut viewer = viewer(&game, "changed-flags");
    ask(&mut viewer, Some(64));
    seconds(&mut game, &mut viewer, 1);
    let within = seconds(&mut game, &mut viewer, 4);
    println!("decoded, and kbit sent, in each second: {within:?}");
    assert!(within.iter().all(|&(_, kbits)| (40..=64).contains(&kbits)));
    assert_eq!(lanes(&mut game)[0].1.budget, Some(64));
    assert_eq!((budgets(&game), granted(&viewer)), ([Some(64); 2], None));
    assert!(agreeing(&game, &viewer) > 60);

    ask(&mut viewer, None);
    seconds(&mut game, &mut viewer, 1);
    let without = seconds(&mut game, &mut viewer, 3);
    assert!(without.iter().all(|&(decoded, _)| decoded == 60));
    assert_eq!((budgets(&game), granted(&viewer)), ([None; 2], None));
    assert!(agreeing(&game, &viewer) > 200);

    ask(&mut viewer, Some(32));
    seconds(&mut game, &mut viewer, 1);
    game.app.world_mut().write_message(AppExit::Success);
    step(&mut game, &mut [&mut viewer], 1);
    assert_eq!(udp(&game).connected(), 0);
    assert_eq!(
        budgets(&game),
        [Some(32); 2],
        "the server says it at its end"
    );
}

#[test]
fn a_budget_is_used_where_a_frame_has_several_ticks() {
    let mut game = server(Key::LOOPBACK, 8);
    let mut viewer = viewer(&game, "changed-flags");
    ask(&mut viewer, Some(64));
    seconds(&mut game, &mut viewer, 1);
    for ticks in [2, 3] {
        for app in [&mut game.app, &mut viewer.app] {
            app.insert_resource(TimeUpdateStrategy::FixedTimesteps(ticks));
        }
        // Each is as many seconds as a frame has ticks.
        let sent = seconds(&mut game, &mut viewer, 5);
        println!("decoded, and kbit sent in the last second: {sent:?}");
        // What the ticks of a frame send is charged after the frame.
        assert!(sent.iter().all(|&(_, kbits)| (32..=76).contains(&kbits)));
    }
    agreeing(&game, &viewer);
}

#[test]
fn over_a_narrow_way_a_viewer_is_given_what_gets_through_until_the_way_is_wide() {
    let mut game = server(Key::LOOPBACK, 8);
    let mut viewer = viewer(&game, "changed-flags");
    seconds(&mut game, &mut viewer, 1);
    set_link(&mut viewer, narrow());
    seconds(&mut game, &mut viewer, 10);
    let sent = seconds(&mut game, &mut viewer, 10);
    println!("decoded, and kbit sent, in each second: {sent:?}");
    let kbits = sent.iter().map(|second| second.1).sum::<usize>();
    assert!((1200..2000).contains(&kbits), "{kbits}");
    assert!(sent.iter().all(|&(decoded, _)| decoded > 20));
    let [asked, given] = budgets(&game);
    assert_eq!(asked, None);
    assert!(given.is_some_and(|kbps| kbps < 400), "{given:?}");
    assert!(granted(&viewer).is_some_and(|kbps| kbps < 400));

    set_link(&mut viewer, Conditions::PERFECT);
    seconds(&mut game, &mut viewer, 45);
    assert_eq!((budgets(&game), granted(&viewer)), ([None; 2], None));
    agreeing(&game, &viewer);
}

#[test]
fn over_a_way_that_loses_some_a_viewer_is_given_what_it_asks_for() {
    let mut game = server(Key::LOOPBACK, 8);
    let mut viewer = viewer(&game, "changed-flags");
    ask(&mut viewer, Some(128));
    set_link(&mut viewer, "loss=0.05".parse().unwrap());
    seconds(&mut game, &mut viewer, 5);
    for _ in 0..15 {
        let [(_, kbits)] = seconds(&mut game, &mut viewer, 1)[..] else {
            panic!("a second");
        };
        assert!(kbits > 100, "{kbits}");
        assert_eq!(budgets(&game), [Some(128); 2]);
    }
    agreeing(&game, &viewer);
}

#[test]
fn snapshots_that_have_to_be_whole_are_sent_less_often_over_a_narrow_way() {
    let mut game = server(Key::LOOPBACK, 8);
    let mut viewer = viewer(&game, "uncompressed");
    seconds(&mut game, &mut viewer, 1);
    set_link(&mut viewer, "bandwidth=1500000/256000".parse().unwrap());
    seconds(&mut game, &mut viewer, 25);
    let sent = seconds(&mut game, &mut viewer, 10);
    println!("decoded, and kbit sent, in each second: {sent:?}");
    let decoded: u64 = sent.iter().map(|second| second.0).sum();
    assert!(decoded > 20, "{decoded}");
    let kbits = sent.iter().map(|second| second.1).sum::<usize>();
    assert!(kbits < 20_000, "{kbits}");
    agreeing(&game, &viewer);
}
