//! Shared code of the fuzz targets and of the program that writes their seeds.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::schema::{
    self, Axis, Field, FieldForm, Kind, Levels, Range, Schema, Shape, Slots, Support,
};
use cubewire_codec::{
    Baseline, Baselines, BodyState, Coverage, Decoder, Encoder, Inputs, Life, Limits, Origin,
    Packet, Plan, QuantizedSnapshot, Sequence, Simulated, Snapshot, Stages,
};
use cubewire_protocol::renet_guard::{RELIABLE_CHANNEL, UNRELIABLE_CHANNEL};
use cubewire_protocol::{
    BaselineChoice, ClientConnection, Contract, RateControl, ServerConnection, SnapshotReceiver,
    SnapshotSender, Welcome, connect,
};
use glam::{Quat, Vec3};
use renet::{ChannelConfig, ConnectionConfig, RenetClient, SendType};

/// Number of cubes in the test world.
pub const CUBES: usize = 50;

/// Number of ticks that the test world is sent on each rung.
pub const TICKS: u16 = 12;

/// Stages with unusual parameters.
const UNUSUAL: &str = "orientation=smallest-three-9+velocity=omitted+position=quantized-4096\
                       +delta=relative-indices-1-2+relative-position=two-ranges-18-18\
                       +relative-orientation=two-ranges-1-10+changed-flags=separate";

/// Returns every rung, and one with unusual parameters.
pub fn rungs() -> impl Iterator<Item = Rung> {
    let unusual = Rung {
        name: "unusual",
        stages: UNUSUAL.parse().expect("they are legal"),
        ..ladder::CHANGED_FLAGS
    };
    ladder::all().chain([unusual])
}

/// Returns a world. Of every four cubes, one rests, one falls, one slides and one spins.
pub fn world(cubes: usize, tick: u16) -> Snapshot {
    let time = f32::from(tick) / 60.0;
    let cube = |index: usize| {
        let mut cube = BodyState {
            position: Vec3::new((index % 30) as f32, (index / 30) as f32, 0.2),
            ..BodyState::default()
        };
        match index % 4 {
            1 => {
                cube.position.z += 3.0 - 10.0 * time * time;
                cube.linear_velocity.z = -20.0 * time;
            }
            2 => {
                cube.position.x += 4.0 * time;
                cube.linear_velocity.x = 4.0;
                cube.interacting = true;
            }
            3 => cube.orientation = Quat::from_rotation_z(0.5 + 3.0 * time),
            _ => {}
        }
        cube
    };
    Snapshot { bodies: (0..cubes).map(cube).collect() }
}

/// A decoder with the snapshots that it stores and the packets that contained them.
pub struct Exchange {
    /// Has the initial state.
    pub decoder: Decoder,
    /// Snapshots by sequence number: [`TICKS`] for each of the [`rungs`], then [`TICKS`] for each rung with partial
    /// packets.
    pub held: Vec<Baseline>,
    /// The packet of each snapshot in `held`.
    pub packets: Vec<Vec<u8>>,
}

/// Sends the test world on every rung, in complete and in partial packets. The first two packets of a rung have no
/// baseline. The others use the snapshot two ticks earlier, and if the rung has additional references, also the two
/// before it.
pub fn exchange() -> Exchange {
    let stages = rungs().map(|rung| rung.stages);
    let snapshot = |tick, stages| quantized(CUBES, tick + 1, stages);
    exchange_of(Plan::cubes(), world(CUBES, 0), stages, snapshot, |_| (None, &[]))
}

/// Returns a schema with two kinds of bodies, living slots, and a field of every form.
pub fn living() -> Schema {
    let kind = |name: &'static str, shape| Kind { name: name.into(), shape };
    let field = |name: &'static str, form| Field { name: name.into(), form };
    let [min, max] = [-7, 100];
    let fuel = FieldForm::Float { min: 0.0, max: 1.0, step: 0.125 };
    let across = Range::new(-20.0, 44.0, 100.0);
    Schema {
        name: "living".into(),
        ticks_per_second: 60,
        up: Axis::Y,
        position: [across, Range::new(0.0, 32.0, 100.0), across],
        component_bits: 11,
        levels: Levels::Odd,
        anchor: None,
        kinds: vec![kind("ball", Shape::Ball(0.3)), kind("crate", Shape::Box([0.2, 0.5, 0.3]))]
            .into(),
        fields: vec![
            field("on", FieldForm::Flag),
            field("off", FieldForm::Flag),
            field("health", FieldForm::Int { min, max }),
            field("fuel", fuel),
            field("heading", FieldForm::Angle { bits: 10 }),
            field("target", FieldForm::Body),
        ]
        .into(),
        world: schema::World { gravity: 9.81, floor: Some(0.0), max_speed: 30.0, linear: None },
        slots: Slots::Living { max: 50 },
        support: Support::ALL,
        seats: 2,
    }
}

/// Sends a scene with this schema on every rung that it supports.
pub fn exchange_living() -> Exchange {
    let plan = Plan::new(living()).unwrap();
    let stages = rungs().filter_map(|rung| plan.legal(*rung.stages).ok());
    let stages: Vec<_> = stages.collect();
    exchange_of(
        Arc::clone(&plan),
        Snapshot::default(),
        stages,
        |tick, stages| {
            let mut current = QuantizedSnapshot::new(Arc::clone(&plan), stages.precision());
            current.clear_slots(CUBES);
            for (slot, body) in world(CUBES, tick).bodies.iter().enumerate() {
                let age = usize::from(tick) + slot;
                // Each slot is empty for two of seven ticks.
                if age % 7 > 1 {
                    let life = Life { kind: (slot % 2) as u8, generation: (age / 7) as u8 };
                    let fields = plan.schema().fields.iter().enumerate();
                    let values: Vec<u32> = fields
                        .map(|(index, field)| (age * index) as u32 % (field.form.max() + 1))
                        .collect();
                    current.put(slot, life, body, &values).unwrap();
                }
            }
            current
        },
        |_| (None, &[]),
    )
}

/// Sends a scene and returns the receiving end. `simulated` gives the inputs for a receiver that simulates, and a
/// state chunk.
fn exchange_of(
    plan: Arc<Plan>,
    initial: Snapshot,
    stages: impl IntoIterator<Item = Stages>,
    snapshot: impl Fn(u16, Stages) -> QuantizedSnapshot,
    simulated: impl Fn(u16) -> (Option<Inputs>, &'static [u8]),
) -> Exchange {
    let mut encoder = Encoder::new(Arc::clone(&plan), initial.clone(), Limits::default()).unwrap();
    let decoder = Decoder::new(plan, initial, Limits::default()).unwrap();
    let (mut held, mut packets) = (Vec::<Baseline>::new(), Vec::new());
    let stages: Vec<Stages> = stages.into_iter().collect();
    let partial = stages.iter().filter_map(|stages| stages.with_coverage(Coverage::Partial).ok());
    for stages in stages.iter().copied().chain(partial) {
        let first = held.len();
        for tick in 0..TICKS {
            let before = |ticks: usize| held[first..].iter().rev().nth(ticks - 1);
            let current = snapshot(tick, stages);
            let carried: Vec<bool> =
                (0..current.len()).map(|slot| (slot + usize::from(tick)) % 3 == 0).collect();
            let merged: Vec<&Baseline> = before(3).into_iter().collect();
            let (inputs, state_chunk) = simulated(tick);
            let references = Baselines {
                baseline: before(2),
                additional: [before(3), before(4)],
                simulated: Simulated { inputs: inputs.as_ref(), state_chunk },
                merged: &merged,
                carried: &carried,
            };
            let (mut packet, mut kept) = (Packet::default(), Baseline::default());
            encoder
                .encode(
                    Sequence(held.len() as u16),
                    stages,
                    &current,
                    references,
                    &mut packet,
                    Some(&mut kept),
                )
                .unwrap();
            held.push(kept);
            packets.push(packet.bytes);
        }
    }
    Exchange { decoder, held, packets }
}

/// Returns the result of the receiver's simulation of the test world.
pub fn simulated(sequence: Sequence) -> Option<QuantizedSnapshot> {
    Some(quantized(CUBES, sequence.0, ladder::SIMULATED.stages))
}

/// Sends the test world on the rung `simulated`. Uses every kind of origin in turn, and sometimes no inputs.
pub fn exchange_simulated() -> Exchange {
    let snapshot = |tick, stages| quantized(CUBES, tick, stages);
    let stages = [ladder::SIMULATED.stages];
    let plan = Plan::cubes().with_seats(3).expect("a scene can have three seats");
    exchange_of(plan, world(CUBES, 0), stages, snapshot, |tick| {
        let origin = match tick {
            0..4 => Some(Origin::FromSceneStart(tick as u8 + 1)),
            4..6 => Some(Origin::Continued(2)),
            6..9 => Some(Origin::Restored(7)),
            _ => None,
        };
        let inputs = origin.and_then(|origin| {
            let inputs: Vec<u8> = (0..origin.age()).flat_map(|tick| [tick / 3, 0, tick]).collect();
            Inputs::new(origin, &inputs)
        });
        (inputs, &[7; 9][..usize::from(tick % 2) * 9])
    })
}

/// Number of cubes in the world of [`pair`].
pub const PAIR_CUBES: usize = 8;

/// Contract between a client and a server of the cube scene.
pub static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| {
    let contract = Contract::new(Plan::cubes(), String::new());
    Arc::new(contract.with_input_channels(2).with_tick_inputs())
});

/// Returns both ends of a connection after the welcome.
pub fn connection() -> (ServerConnection, ClientConnection) {
    let contract = || Arc::clone(&CONTRACT);
    let mut server = ServerConnection::new(contract(), RateControl::Off, Duration::ZERO);
    let mut client = ClientConnection::new(contract());
    connect(&mut client, &mut server, Duration::ZERO, 0, &world(PAIR_CUBES, 0)).unwrap();
    (server, client)
}

/// Duration of a tick.
pub const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);

pub fn pair() -> (SnapshotSender, SnapshotReceiver) {
    let initial = world(PAIR_CUBES, 0);
    let limits = Limits { max_bodies: PAIR_CUBES };
    let welcome = Welcome { plan: Plan::cubes(), tick: 0, initial: initial.clone() };
    let sender = SnapshotSender::new(Plan::cubes(), initial, limits).unwrap();
    let receiver = SnapshotReceiver::new(welcome, limits, 6 * TICK, Duration::ZERO).unwrap();
    (sender, receiver)
}

/// Returns the world after a tick, quantized for stages.
pub fn quantized(cubes: usize, tick: u16, stages: Stages) -> QuantizedSnapshot {
    let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    snapshot.quantize(&world(cubes, tick), stages.precision()).unwrap();
    snapshot
}

/// Sends the world of a tick on the rung with the most state.
pub fn send(sender: &mut SnapshotSender, tick: u64) {
    let stages = ladder::PREDICTED.stages;
    let snapshot = quantized(PAIR_CUBES, tick as u16, stages);
    let sent = sender.send(tick, stages, &snapshot, BaselineChoice::Newest);
    sent.unwrap();
}

/// Splits an input into messages. Each has a head of two bytes: `before << 1 | length & 1`, then `length >> 1`.
/// `before` tells the target what to do before the message.
pub fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[before, half], rest) = bytes.split_first_chunk()?;
        let length = usize::from(half) * 2 + usize::from(before & 1);
        let (message, rest) = rest.split_at(length.min(rest.len()));
        bytes = rest;
        Some((before >> 1, message))
    })
}

/// Appends a message in the format of [`messages`].
pub fn put_message(before: u8, message: &[u8], bytes: &mut Vec<u8>) {
    let half = u8::try_from(message.len() / 2).unwrap();
    bytes.extend([before << 1 | (message.len() & 1) as u8, half]);
    bytes.extend(message);
}

/// Returns one end of a renet connection, with the channels that the guard expects.
pub fn renet() -> RenetClient {
    let channel = |channel_id, send_type| ChannelConfig {
        channel_id,
        max_memory_usage_bytes: 1 << 20,
        send_type,
    };
    let reliable = SendType::ReliableOrdered { resend_time: Duration::from_millis(300) };
    let channels = vec![
        channel(UNRELIABLE_CHANNEL, SendType::Unreliable),
        channel(RELIABLE_CHANNEL, reliable),
    ];
    let mut renet = RenetClient::new(ConnectionConfig {
        available_bytes_per_tick: 1 << 20,
        server_channels_config: channels.clone(),
        client_channels_config: channels,
    });
    renet.set_connected();
    renet
}

/// Bit in the byte before a message. If set, [`whole_slice`] extends the message to a whole slice, which is too long
/// for [`messages`].
pub const WHOLE_SLICE: u8 = 1;

/// Appends the length 1200 and 1200 bytes to the head of a slice.
pub fn whole_slice(head: &[u8]) -> Vec<u8> {
    [head, &[0x44, 0xB0], &[7; 1200]].concat()
}
