//! Records of a connection, which are kept only on request.

use cubewire_bevy::{ByteBudget, Measure, ReplicationReceiver, ReplicationSender, Server};
use cubewire_codec::BitKind;
use cubewire_protocol::record::ArrivalCounts;

use super::*;

/// Whether the server and the client list the bits of their packets.
fn are_itemized(net: &TestNet, client: Entity, server: Entity) -> [bool; 2] {
    let peer = net.server.world().get::<ReplicationSender>(client).unwrap();
    let replication = net.clients[0].world().get::<ReplicationReceiver>(server).unwrap();
    let sent = &peer.sender().unwrap().packet().ledger;
    let received = replication.receiver().unwrap().decoder().ledger();
    [sent.items().is_some(), received.is_some()]
}

#[test]
fn both_ends_measure_the_same_packets_and_nothing_while_nobody_looks() {
    let mut net = lossy(0.0, 5);
    net.add_client();
    net.run_until(|net| net.count::<Connected>(0) == 1);
    let client = client_entity(&mut net);
    let server = all::<Server>(&mut net.clients[0])[0];
    insert(&mut net, client, ByteBudget::kbps(512));
    let mut bodies = Vec::new();
    let mut run = |net: &mut TestNet, ticks: std::ops::Range<usize>| {
        for tick in ticks {
            play(net, &mut bodies, tick);
            net.tick();
        }
    };
    run(&mut net, 0..40);
    assert_eq!(are_itemized(&net, client, server), [false; 2]);

    let before = stats(&net);
    insert(&mut net, client, Measure::default());
    let mut connection = net.clients[0].world_mut().entity_mut(server);
    connection.insert(Measure::default());
    run(&mut net, 40..140);
    assert_eq!(are_itemized(&net, client, server), [true; 2]);
    let after = stats(&net);
    let sent = net.server.world().get::<Measure>(client).unwrap();
    let received = net.clients[0].world().get::<Measure>(server).unwrap();
    let [sent, received] = [sent, received].map(Measure::record);
    assert_eq!(sent.samples().len(), 100);
    let totals = sent.totals();
    let bytes = totals.payload_bytes as u64;
    assert_eq!(bytes, after.snapshot_bytes - before.snapshot_bytes);
    assert_eq!(totals.snapshots, 100);
    for sample in sent.samples().iter().chain(received.samples()) {
        let payload = sample.payload_bytes();
        let packets = sample.snapshots.iter();
        let bits: f64 = packets.map(|packet| packet.ledger.total()).sum();
        assert!((bits - 8.0 * payload as f64).abs() < 1e-6, "{sample:?}");
        let wire_bytes = sample.traffic.wire_bytes;
        assert!(wire_bytes == 0 || wire_bytes > payload);
    }
    let budgets = sent.samples().iter().map(|sample| sample.budget_kbps);
    assert!(budgets.eq([Some(512); 100]));
    // A round trip of 60 ms, plus the wait for the next tick at each end.
    let acked = sent.packets().filter_map(|packet| packet.acked_after_ticks);
    let acked: Vec<_> = acked.collect();
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
    run(&mut net, 140..150);
    assert_eq!(are_itemized(&net, client, server), [false; 2]);
}

#[test]
fn what_is_lost_is_never_acked() {
    let mut net = lossy(0.3, 6);
    net.add_client();
    net.run_until(|net| net.count::<Connected>(0) == 1);
    let client = client_entity(&mut net);
    insert(&mut net, client, Measure::default());
    let mut bodies = Vec::new();
    for tick in 0..900 {
        play(&mut net, &mut bodies, tick);
        net.tick();
    }
    let measure = net.server.world().get::<Measure>(client).unwrap();
    let record = measure.record();
    assert_eq!(record.samples().len(), 900);
    let settled = record.packets().take(500);
    let lost = settled.filter(|packet| packet.acked_after_ticks.is_none());
    let lost = lost.count();
    // Of 500 packets, 30 % are lost.
    assert!((110..190).contains(&lost), "{lost} are not acked");
    let counts = ArrivalCounts::of(record, record.samples().iter().take(500));
    assert_eq!(counts.0, [500 - lost, 0, lost]);
}
