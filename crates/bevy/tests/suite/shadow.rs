//! The live ladder of a game's connection.

use cubewire_bevy::shadow::LiveLadder;
use cubewire_protocol::record::Accounting;

use super::*;

#[test]
fn a_live_ladder_measures_every_rung_of_the_schema() {
    let mut net = lossy(0.02, 5);
    let client = connect(&mut net);
    let plan = net.server.world().resource::<Protocol>().plan().clone();
    insert(&mut net, client, Measure::default());
    insert(&mut net, client, LiveLadder::of_game(&plan));
    let mut bodies = Vec::new();
    for tick in 0..300 {
        play(&mut net, &mut bodies, tick);
        net.tick();
        let mut connection = net.server.world_mut().entity_mut(client);
        let mut ladder = connection.get_mut::<LiveLadder>().unwrap();
        ladder.finish().unwrap();
    }
    let connection = net.server.world().entity(client);
    let ladder = connection.get::<LiveLadder>().unwrap();
    let record = &connection.get::<Measure>().unwrap().record;
    let newest = record.newest_tick().unwrap();
    assert_eq!(ladder.age_ticks(newest), Some(0));
    assert_eq!(ladder.share(), 1.0);

    let rungs = ladder.rows();
    let names: Vec<_> = rungs.iter().map(|row| row.of.name).collect();
    assert_eq!((names[0], *names.last().unwrap()), ("no-velocity", "predicted"));
    let cost = |name: &str| {
        let mut rungs = rungs.iter();
        rungs.find(|row| row.of.name == name).unwrap().kbps(0).unwrap()
    };
    assert!(cost("no-velocity") > cost("position"));
    assert!(cost("position") > cost("delta"));
    assert!(cost("delta") > cost("predicted"));
    // The models of arithmetic coding adapt from packet to packet, and the connection started before the ladder.
    let stages = record.samples().back().unwrap().stages;
    let own = ladder.kbps_until(stages, None).unwrap();
    let sent = record.kbps(Accounting::PayloadAndUdp);
    assert!((own / sent - 1.0).abs() < 0.02, "{own} {sent}");
    assert!(connection.contains::<ReplicationSender>());
}
