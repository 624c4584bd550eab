//! Cost and contents of acks.

use cubewire::replication::{PacketRecord, Totals};

use crate::common::{game, steps};
use crate::udp::{lanes, server, set_link, step, viewer};

/// Returns the mean age of baselines, ticks, and the kbit/s of acks in the last four of six seconds.
fn acks_over(lane: &str) -> (f64, f64) {
    let mut game = game("katamari", lane);
    steps(&mut game, 360);
    assert_eq!((game.check().wrong, game.meter().refused), (0, 0));
    let totals = Totals::of(game.meter().newest(240));
    let packets = game.meter().newest(240).flat_map(|sample| &sample.snapshots);
    let ages: Vec<_> = packets.filter_map(PacketRecord::reference_age_ticks).collect();
    let age = ages.iter().copied().map(f64::from).sum::<f64>() / ages.len() as f64;
    (age, totals.kbps_of(totals.traffic.ack_bytes))
}

#[test]
fn acks_are_little_more_than_headers_and_baselines_are_a_round_trip_old() {
    let (age, kbps) = acks_over("changed-flags");
    assert_eq!(age, 6.0);
    // The headers alone take 13.4 kbit/s.
    assert!((16.0..20.0).contains(&kbps), "{kbps}");
    let (perfect_age, _) = acks_over("changed-flags,link:perfect");
    assert_eq!(perfect_age, 1.0);
    // Snapshots that arrive together are acked together.
    let (article_age, article_kbps) = acks_over("changed-flags,link:article");
    assert!(article_age < 7.0 && article_kbps < kbps, "{article_age}, {article_kbps}");
    // Fewer snapshots need fewer acks.
    let (seldom_age, seldom_kbps) = acks_over("changed-flags,rate:10");
    assert!(seldom_age == 6.0 && seldom_kbps < 3.5, "{seldom_age}, {seldom_kbps}");
    // The next ack repeats a lost one. A snapshot and its ack arrive in one of four cases, so the newest acked
    // snapshot is three ticks older.
    let (lossy_age, _) = acks_over("changed-flags,link:latency=50ms+loss=0.5");
    assert!((8.0..10.0).contains(&lossy_age), "{lossy_age}");
}

#[test]
fn over_udp_the_server_learns_of_the_network_from_acks() {
    let mut game = server(2);
    let mut good = viewer(&game, "changed-flags");
    let mut bad = viewer(&game, "changed-flags");
    set_link(&mut bad, "latency=50ms+loss=0.1");
    step(&mut game, &mut [&mut good, &mut bad], 600);
    let mut served = lanes(&mut game);
    served.sort_by_key(|(peer, ..)| peer.round_trip);
    let [(good, ..), (bad, ..)] = &served[..] else {
        panic!("two viewers");
    };
    assert!(good.loss_fraction < 0.01, "{good:?}");
    assert!(good.round_trip.as_millis() < 40, "{good:?}");
    // A packet also counts as lost if its ack is lost, but the next ack repeats it.
    assert!((0.05..0.2).contains(&bad.loss_fraction), "{bad:?}");
    let round_trip = bad.round_trip.as_millis();
    assert!((100..150).contains(&round_trip), "{bad:?}");
}
