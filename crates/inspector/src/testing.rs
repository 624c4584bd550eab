//! Packets for tests.

use cubewire_codec::{
    BitLedger, BodyState, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence, Snapshot,
    Stages,
};

/// Returns a packet of ten cubes: the first has moved slightly, the second far, and the third has turned.
pub(crate) fn packet_of(stages: Stages) -> Packet {
    let cube =
        |x: usize| BodyState { position: [x as f32, 1.0, 2.0].into(), ..BodyState::default() };
    let mut world = Snapshot { bodies: (0..10).map(cube).collect() };
    let mut encoder = Encoder::new(Plan::cubes(), world.clone(), Limits::default()).unwrap();
    world.bodies[0].position.x += 0.01;
    world.bodies[1].position.x += 10.0;
    // 0.3 radians about x.
    world.bodies[2].orientation = glam::Quat::from_rotation_x(0.3);
    let mut current = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    current.quantize(&world, stages.precision()).unwrap();
    let mut packet = Packet { ledger: BitLedger::itemized(), ..Packet::default() };
    encoder.encode(Sequence(7), stages, &current, None, &mut packet, None).unwrap();
    packet
}
