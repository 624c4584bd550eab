//! Budgets of viewers over UDP: a viewer gets as much as it asks for, but not more than the network delivers.

use bevy::prelude::*;
use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::{LaneSettings, PacketRecord, SenderSettings, spawn_lane};
use cubewire_codec::Coverage;

use crate::udp::{agreeing, lanes, sender, server, set_link, step, udp, viewer, viewer_budgets};

/// Returns the budgets that the only viewer asked for and was given, as the server shows them.
fn budgets(game: &HeadlessGame) -> [Option<u32>; 2] {
    let budget = viewer_budgets(game).first().expect("there is a viewer");
    [budget.asked_kbps, budget.given_kbps]
}

/// Returns the viewer's granted budget if it is less than it asked for.
fn granted(viewer: &HeadlessViewer) -> Option<u32> {
    viewer.connection().granted?.budget
}

/// Returns the budget in the viewer's newest sample, which its graph draws.
fn drawn(viewer: &HeadlessViewer) -> Option<u32> {
    viewer.meter().samples().back()?.budget_kbps
}

/// For each second, returns the number of decoded snapshots and the kilobits sent.
fn seconds(
    game: &mut HeadlessGame,
    viewer: &mut HeadlessViewer,
    count: usize,
) -> Vec<(u64, usize)> {
    let mut decoded = viewer.meter().received;
    let each = |_| {
        step(game, &mut [viewer], 60);
        let before = std::mem::replace(&mut decoded, viewer.meter().received);
        let (_, _, samples) = lanes(game).remove(0);
        let bytes: usize = samples.iter().rev().take(60).map(|s| s.traffic.wire_bytes).sum();
        (decoded - before, bytes * 8 / 1000)
    };
    (0..count).map(each).collect()
}

#[test]
fn a_viewer_is_sent_no_more_than_it_asks_for() {
    let mut game = server(8);
    let mut viewer = viewer(&game, "changed-flags");
    sender(&mut viewer).budget = Some(64);
    seconds(&mut game, &mut viewer, 1);
    let within = seconds(&mut game, &mut viewer, 4);
    println!("decoded, and kbit sent, in each second: {within:?}");
    assert!(within.iter().all(|&(_, kbits)| (40..=64).contains(&kbits)));
    assert_eq!(lanes(&mut game)[0].1.budget, Some(64));
    assert_eq!((budgets(&game), granted(&viewer)), ([Some(64); 2], None));
    assert_eq!(drawn(&viewer), Some(64));
    assert!(agreeing(&game, &viewer) > 60);
    // Partial packets and a late first packet do not count as a switch of stages.
    let samples = viewer.meter().samples();
    let stages = SenderSettings::default().stages;
    let is_partial = |packet: &PacketRecord| packet.stages.coverage() == Coverage::Partial;
    let mut packets = samples.iter().flat_map(|sample| &sample.snapshots);
    assert!(packets.any(is_partial));
    assert!(samples.iter().all(|sample| sample.stages == stages));

    sender(&mut viewer).budget = None;
    seconds(&mut game, &mut viewer, 1);
    let without = seconds(&mut game, &mut viewer, 3);
    assert!(without.iter().all(|&(decoded, _)| decoded == 60));
    assert_eq!((budgets(&game), granted(&viewer)), ([None; 2], None));
    assert!(agreeing(&game, &viewer) > 200);

    sender(&mut viewer).budget = Some(32);
    seconds(&mut game, &mut viewer, 1);
    let local = spawn_lane(game.app.world_mut(), LaneSettings::default()).unwrap();
    game.app.world_mut().write_message(AppExit::Success);
    step(&mut game, &mut [&mut viewer], 1);
    assert_eq!(udp(&game).connected(), 0);
    let local = game.app.world().get_entity(local);
    assert!(local.is_ok(), "a lane in this process is left to be read");
    assert_eq!(budgets(&game), [Some(32); 2], "the server says it at its end");
}

#[test]
fn over_a_narrow_way_a_viewer_is_given_what_gets_through_until_the_way_is_wide() {
    let mut game = server(8);
    let mut viewer = viewer(&game, "changed-flags");
    seconds(&mut game, &mut viewer, 1);
    // A snapshot with an old baseline takes eight datagrams, more than the queue holds, and one with a recent baseline
    // takes one.
    set_link(&mut viewer, "bandwidth=200000/6000");
    seconds(&mut game, &mut viewer, 10);
    let sent = seconds(&mut game, &mut viewer, 10);
    println!("decoded, and kbit sent, in each second: {sent:?}");
    let kbits = sent.iter().map(|second| second.1).sum::<usize>();
    assert!((1200..2000).contains(&kbits), "{kbits}");
    assert!(sent.iter().all(|&(decoded, _)| decoded > 15));
    let [asked, given] = budgets(&game);
    assert_eq!(asked, None);
    assert!(given.is_some_and(|kbps| kbps < 400), "{given:?}");
    assert!(granted(&viewer).is_some_and(|kbps| kbps < 400));
    assert!(drawn(&viewer).is_some_and(|kbps| kbps < 400));

    set_link(&mut viewer, "perfect");
    seconds(&mut game, &mut viewer, 45);
    assert_eq!((budgets(&game), granted(&viewer)), ([None; 2], None));
    agreeing(&game, &viewer);
}
