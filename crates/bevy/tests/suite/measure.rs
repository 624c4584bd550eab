//! What is measured of a connection while somebody looks.

use cubewire_bevy::{ByteBudget, Measure, MeasuredTick, Peer, Server, Session};
use cubewire_codec::BitKind;

use super::*;

/// Whether the ends list the bits of their packets.
fn are_itemized(net: &TestNet, client: Entity, server: Entity) -> [bool; 2] {
    let peer = net.server.world().get::<Peer>(client).unwrap();
    let session = net.clients[0].world().get::<Session>(server).unwrap();
    let sent = &peer.sender().unwrap().packet().ledger;
    let received = session.receiver().unwrap().decoder().ledger();
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
    let sum = |of: &Measure, what: fn(&MeasuredTick) -> usize| -> usize {
        of.ticks().iter().map(what).sum()
    };
    assert_eq!(sent.ticks().len(), 100);
    let bytes = sum(sent, |tick| tick.payload_bytes);
    assert_eq!(bytes as u64, after.snapshot_bytes - before.snapshot_bytes);
    assert_eq!(sum(sent, |tick| tick.packets), 100);
    for tick in sent.ticks().iter().chain(received.ticks()) {
        let bits = 8.0 * tick.payload_bytes as f64;
        assert!((tick.ledger.total() - bits).abs() < 1e-6, "{tick:?}");
        assert!(tick.wire_bytes == 0 || tick.wire_bytes > tick.payload_bytes);
    }
    assert!(
        sent.ticks()
            .iter()
            .all(|tick| tick.budget_kbps == Some(512))
    );
    // 30 ms each way, and the waits for ticks.
    let acked = sent.ticks().iter().filter_map(|tick| tick.acked_after);
    let acked: Vec<_> = acked.collect();
    assert!(acked.len() > 90, "{} acks", acked.len());
    assert!(
        acked.iter().all(|ticks| (4..=6).contains(ticks)),
        "{acked:?}"
    );
    // What the client has last was sent two to four ticks before.
    let packets = received.packets();
    assert_eq!(packets.len(), Measure::PACKETS);
    assert!(packets.iter().is_sorted_by_key(|packet| packet.0));
    let (tick, last) = packets.back().unwrap();
    let sent_then = sent.ticks().iter().find(|sent| sent.tick == *tick).unwrap();
    assert_eq!(sent_then.payload_bytes, last.bytes.len());
    assert_eq!(sent_then.bodies, last.sent_bodies);
    for (kind, bits) in BitKind::ALL.map(|kind| (kind, last.ledger.kind(kind))) {
        assert!((bits - sent_then.ledger.kind(kind)).abs() < 1e-6, "{kind}");
    }

    net.server
        .world_mut()
        .entity_mut(client)
        .remove::<Measure>();
    let mut connection = net.clients[0].world_mut().entity_mut(server);
    connection.remove::<Measure>();
    run(&mut net, 140..150);
    assert_eq!(are_itemized(&net, client, server), [false; 2]);
}

#[test]
fn what_is_lost_is_never_acked_and_what_is_old_is_forgotten() {
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
    assert_eq!(measure.ticks().len(), 660);
    let settled = measure.ticks().iter().take(500);
    let lost = settled.filter(|tick| tick.acked_after.is_none()).count();
    // Of 500, three in ten.
    assert!((110..190).contains(&lost), "{lost} are not acked");
}
