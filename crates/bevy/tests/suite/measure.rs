//! Records of a connection, which are kept only on request.

use cubewire_bevy::shadow::LiveLadder;
use cubewire_codec::BitKind;
use cubewire_protocol::record::{ArrivalCounts, Totals};

use super::*;

/// Whether the server and the client list the bits of their packets.
fn are_itemized(net: &TestNet, client: Entity, server: Entity) -> [bool; 2] {
    let sent = &snapshot_sender(net, client).packet().ledger;
    let receiver = at_client::<ReplicationReceiver>(net, server).receiver();
    let received = receiver.unwrap().decoder().ledger();
    [sent.items().is_some(), received.is_some()]
}

#[test]
fn both_ends_measure_the_same_packets_and_nothing_while_nobody_looks() {
    let mut net = lossy(0.0, 5);
    let client = connect(&mut net);
    let server = all::<Server>(&mut net.clients[0])[0];
    insert(&mut net, client, ByteBudget::kbps(512));
    let mut bodies = Vec::new();
    play_ticks(&mut net, &mut bodies, 0..40);
    assert_eq!(are_itemized(&net, client, server), [false; 2]);

    let before = stats(&net);
    insert(&mut net, client, Measure::default());
    let mut connection = net.clients[0].world_mut().entity_mut(server);
    connection.insert(Measure::default());
    play_ticks(&mut net, &mut bodies, 40..140);
    assert_eq!(are_itemized(&net, client, server), [true; 2]);
    let after = stats(&net);
    let [sent, received] = [at_server::<Measure>(&net, client), at_client(&net, server)]
        .map(|measure| &measure.record);
    assert_eq!(sent.samples().len(), 100);
    let totals = sent.totals();
    let bytes = totals.payload_bytes as u64;
    assert_eq!(bytes, after.snapshot_bytes - before.snapshot_bytes);
    assert_eq!(totals.snapshots, 100);
    for sample in sent.samples().iter().chain(received.samples()) {
        let payload = Totals::of([sample]).payload_bytes;
        let packets = sample.snapshots.iter();
        let bits: f64 = packets.map(|packet| packet.ledger.total()).sum();
        assert!((bits - 8.0 * payload as f64).abs() < 1e-6, "{sample:?}");
        let wire_bytes = sample.traffic.wire_bytes;
        assert!(wire_bytes == 0 || wire_bytes > payload);
    }
    let budgets = sent.samples().iter().map(|sample| sample.budget_kbps);
    assert!(budgets.eq([Some(512); 100]));
    // A round trip of 60 ms, plus the wait for the next tick at each end.
    let acked: Vec<_> = sent.packets().filter_map(|packet| packet.acked_after_ticks).collect();
    assert!(acked.len() > 90, "{} acks", acked.len());
    assert!(acked.iter().all(|ticks| (4..=6).contains(ticks)), "{acked:?}");
    // The client's newest packet was sent two to four ticks ago.
    assert_eq!(received.packets().count(), received.totals().snapshots);
    assert!(received.packets().is_sorted_by_key(|packet| packet.tick));
    let last = received.packets().next_back().unwrap();
    let sent_then = &sent.at(last.tick).unwrap().snapshots[0];
    assert_eq!(sent_then.payload_bytes, last.payload_bytes);
    assert_eq!(sent_then.sent_bodies, last.sent_bodies);
    assert_eq!((sent_then.stages, sent_then.header), (last.stages, last.header));
    for (kind, bits) in BitKind::ALL.map(|kind| (kind, last.ledger.kind(kind))) {
        assert!((bits - sent_then.ledger.kind(kind)).abs() < 1e-6, "{kind}");
    }
    let details = [sent_then, last].map(|packet| packet.detail.as_ref().unwrap());
    assert_eq!(details[0].bytes(), details[1].bytes());

    net.server.world_mut().entity_mut(client).remove::<Measure>();
    let mut connection = net.clients[0].world_mut().entity_mut(server);
    connection.remove::<Measure>();
    play_ticks(&mut net, &mut bodies, 140..150);
    assert_eq!(are_itemized(&net, client, server), [false; 2]);
}

#[test]
fn what_is_lost_is_never_acked() {
    let mut net = lossy(0.3, 6);
    let client = connect(&mut net);
    insert(&mut net, client, Measure::default());
    let mut bodies = Vec::new();
    play_ticks(&mut net, &mut bodies, 0..900);
    let record = &at_server::<Measure>(&net, client).record;
    assert_eq!(record.samples().len(), 900);
    let settled = record.packets().take(500);
    let lost = settled.filter(|packet| packet.acked_after_ticks.is_none()).count();
    // Of 500 packets, 30 % are lost.
    assert!((110..190).contains(&lost), "{lost} are not acked");
    let counts = ArrivalCounts::of(record, record.samples().iter().take(500));
    assert_eq!(counts.0, [500 - lost, 0, lost]);
}

#[test]
fn a_record_goes_on_at_the_next_connection() {
    let mut net = lossy(0.0, 5);
    let client = connect(&mut net);
    let ladder = LiveLadder::of_game(net.server.world().resource::<Protocol>().plan());
    insert(&mut net, client, (Measure::default(), ladder));
    let mut bodies = Vec::new();
    play_ticks(&mut net, &mut bodies, 0..300);
    let moved = server(&mut net).entity_mut(client).take::<(Measure, LiveLadder)>().unwrap();
    net.reconnect(0);
    net.run_until(|net| count::<Connected>(&mut net.server) == 1);
    net.run_until(|net| net.count::<Connected>(0) == 1);
    let client = client_entity(&mut net);
    insert(&mut net, client, moved);
    play_ticks(&mut net, &mut bodies, 300..400);
    let record = &at_server::<Measure>(&net, client).record;
    assert_eq!(record.newest_tick(), Some(stats(&net).tick));
    assert!(record.samples().len() > 400);
    // Another server, with lower ticks and another protocol.
    let moved = server(&mut net).entity_mut(client).take::<(Measure, LiveLadder)>().unwrap();
    let mut other = TestNet::new(|app| _ = poses(app, Shape::ball(0.5)));
    let client = connect(&mut other);
    insert(&mut other, client, moved);
    let body = spawn(&mut other, "crate", Vec3::X, ());
    for x in 0..60 {
        put(&mut other, body, Vec3::X * x as f32);
        other.tick();
    }
    let newest = stats(&other).tick;
    let mut ladder = server(&mut other).get_mut::<LiveLadder>(client).unwrap();
    ladder.finish().unwrap();
    assert!(ladder.age_ticks(newest).is_some_and(|age| age < 60));
}
