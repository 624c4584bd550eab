//! Cost and contents of acks.

use cubewire::replication::{LinkSettings, Sample, Totals};
use cubewire_bevy::udp::Key;

use crate::common::{game, steps};
use crate::udp::{lanes, server, step, viewer};

#[derive(Debug)]
struct Acks {
    kbps: f64,
    /// Mean age of the baselines, ticks.
    baseline_age: f64,
}

fn acks(samples: &[Sample]) -> Acks {
    let totals = Totals::of(samples);
    let packets = samples.iter().flat_map(|sample| &sample.snapshots);
    let ages: Vec<_> =
        packets.filter_map(|packet| packet.reference_age_ticks()).map(f64::from).collect();
    Acks {
        kbps: totals.kbps_of(totals.traffic.ack_bytes),
        baseline_age: ages.iter().sum::<f64>() / ages.len() as f64,
    }
}

/// Measures the acks of the last four of six seconds.
fn acks_over(lane: &str) -> Acks {
    let mut game = game("katamari", lane);
    steps(&mut game, 360);
    assert_eq!((game.check().wrong, game.meter().refused), (0, 0));
    acks(&game.meter().newest(240).cloned().collect::<Vec<_>>())
}

#[test]
fn acks_are_little_more_than_headers_and_baselines_are_a_round_trip_old() {
    let default = acks_over("changed-flags");
    assert_eq!(default.baseline_age, 6.0);
    // The headers alone take 13.4 kbit/s.
    assert!((16.0..20.0).contains(&default.kbps), "{default:?}");
    let perfect = acks_over("changed-flags,link:perfect");
    assert_eq!(perfect.baseline_age, 1.0);
    // Snapshots that arrive together are acked together.
    let article = acks_over("changed-flags,link:article");
    assert!(article.baseline_age < 7.0, "{article:?}");
    assert!(article.kbps < default.kbps, "{article:?}");
}

#[test]
fn fewer_snapshots_need_fewer_acks() {
    let acks = acks_over("changed-flags,rate:10");
    assert_eq!(acks.baseline_age, 6.0);
    assert!(acks.kbps < 3.5, "{acks:?}");
}

#[test]
fn a_lost_ack_costs_no_baseline_that_the_next_ack_does_not_give_back() {
    // A snapshot and its ack arrive in one of four cases, so the newest acked snapshot is three ticks older.
    let acks = acks_over("changed-flags,link:latency=50ms+loss=0.5");
    assert!((8.0..10.0).contains(&acks.baseline_age), "{acks:?}");
}

#[test]
fn over_udp_the_server_learns_of_the_network_from_acks() {
    let mut game = server(Key::LOOPBACK, 2);
    let mut good = viewer(&game, "changed-flags");
    let mut bad = viewer(&game, "changed-flags");
    let lane = bad.lane;
    let mut link = bad.app.world_mut().get_mut::<LinkSettings>(lane).unwrap();
    link.conditions = "latency=50ms+loss=0.1".parse().unwrap();
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
