//! What the targets and the program that writes their seeds have in common.

use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::schema::{
    self, Axis, Field, FieldForm, Kind, Levels, Range, Schema, Shape, Slots,
};
use cubewire_codec::{
    Baseline, Baselines, BodyState, Coverage, Decoder, Encoder, Inputs, Life, Limits, Origin,
    Packet, Plan, QuantizedSnapshot, Sequence, Simulated, Snapshot, Stages,
};
use cubewire_protocol::renet_guard::{RELIABLE_CHANNEL, UNRELIABLE_CHANNEL};
use cubewire_protocol::{BaselineChoice, SnapshotReceiver, SnapshotSender, Welcome};
use glam::{Quat, Vec3};
use renet::{ChannelConfig, ConnectionConfig, RenetClient, SendType};

/// Cubes of the small world that packets show.
pub const CUBES: usize = 50;

/// Ticks for which the small world is sent on a rung.
pub const TICKS: u16 = 12;

/// Usual unless a packet says otherwise.
const UNUSUAL: &str = "orientation=smallest-three-9+velocity=omitted+position=quantized-4096\
                       +delta=relative-indices-1-2+relative-position=two-ranges-18-18\
                       +relative-orientation=two-ranges-1-10+changed-flags=separate";

/// Every rung, and stages with unusual parameters.
pub fn rungs() -> impl Iterator<Item = Rung> {
    let unusual = Rung {
        name: "unusual",
        stages: UNUSUAL.parse().expect("they are legal"),
        ..ladder::CHANGED_FLAGS
    };
    ladder::all().chain([unusual])
}

/// A world in which one of four cubes rests, one falls, one slides and one spins.
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
    Snapshot {
        bodies: (0..cubes).map(cube).collect(),
    }
}

/// A receiver, what it holds, and the packets that brought it there.
pub struct Exchange {
    /// Knows the initial state.
    pub decoder: Decoder,
    /// Snapshots by sequence, [`TICKS`] for each of the [`rungs`], and then for each that has partial packets.
    pub held: Vec<Baseline>,
    /// The packet of each.
    pub packets: Vec<Vec<u8>>,
}

/// Sends the small world on every rung, in complete and in partial packets. The first two of each name no baseline; the
/// others name the snapshot two ticks before, and where there is a use for them the two before that.
pub fn exchange() -> Exchange {
    let stages = rungs().map(|rung| rung.stages);
    let snapshot = |tick, stages| quantized(CUBES, tick + 1, stages);
    exchange_of(Plan::cubes(), world(CUBES, 0), stages, snapshot, |_| {
        (None, &[])
    })
}

/// A scene of two kinds of bodies, which come and go and have further fields of every form.
pub fn living() -> Schema {
    let kind = |name: &'static str, shape| Kind {
        name: name.into(),
        shape,
    };
    let field = |name: &'static str, form| Field {
        name: name.into(),
        form,
    };
    let [min, max] = [-7, 100];
    let fuel = FieldForm::Float {
        min: 0.0,
        max: 1.0,
        step: 0.125,
    };
    let across = Range::new(-20.0, 44.0, 100.0);
    Schema {
        name: "living".into(),
        ticks_per_second: 60,
        up: Axis::Y,
        position: [across, Range::new(0.0, 32.0, 100.0), across],
        component_bits: 11,
        levels: Levels::Odd,
        anchor: None,
        kinds: vec![
            kind("ball", Shape::Ball(0.3)),
            kind("crate", Shape::Box([0.2, 0.5, 0.3])),
        ]
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
        world: schema::World {
            gravity: 9.81,
            floor: Some(0.0),
            max_speed: 30.0,
            linear: None,
        },
        slots: Slots::Living { max: 50 },
    }
}

/// Sends such a scene on every rung that it has.
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
                // Each is away for two ticks of seven.
                if age % 7 > 1 {
                    let life = Life {
                        kind: (slot % 2) as u8,
                        generation: (age / 7) as u8,
                    };
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

/// `simulated` says what a receiver simulates, and gives it a state chunk.
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
    let partial = stages
        .iter()
        .filter_map(|stages| stages.with_coverage(Coverage::Partial).ok());
    for stages in stages.iter().copied().chain(partial) {
        let first = held.len();
        for tick in 0..TICKS {
            let before = |ticks: usize| held[first..].iter().rev().nth(ticks - 1);
            let current = snapshot(tick, stages);
            let carried: Vec<bool> = (0..current.len())
                .map(|slot| (slot + usize::from(tick)) % 3 == 0)
                .collect();
            let merged: Vec<&Baseline> = before(3).into_iter().collect();
            let (inputs, state_chunk) = simulated(tick);
            let references = Baselines {
                baseline: before(2),
                additional: [before(3), before(4)],
                simulated: Simulated {
                    inputs: inputs.as_ref(),
                    state_chunk,
                },
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
    Exchange {
        decoder,
        held,
        packets,
    }
}

/// What a receiver simulates of the small world.
pub fn simulated(sequence: Sequence) -> Option<QuantizedSnapshot> {
    Some(quantized(CUBES, sequence.0, ladder::SIMULATED.stages))
}

/// Sends the small world on the rung that simulates it, from origins of every kind in turn, and now and then from none.
pub fn exchange_simulated() -> Exchange {
    let snapshot = |tick, stages| quantized(CUBES, tick, stages);
    let stages = [ladder::SIMULATED.stages];
    exchange_of(Plan::cubes(), world(CUBES, 0), stages, snapshot, |tick| {
        let origin = match tick {
            0..4 => Some(Origin::FromSceneStart(tick as u8 + 1)),
            4..6 => Some(Origin::Continued(2)),
            6..9 => Some(Origin::Restored(7)),
            _ => None,
        };
        let inputs = origin.and_then(|origin| {
            let inputs: Vec<u8> = (0..origin.age()).map(|tick| tick / 3).collect();
            Inputs::new(origin, &inputs)
        });
        (inputs, &[7; 9][..usize::from(tick % 2) * 9])
    })
}

/// Cubes of the world that a sender and a receiver of [`pair`] exchange.
pub const PAIR_CUBES: usize = 8;

/// The time from tick to tick.
pub const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// Both ends of the protocol, at tick 0.
pub fn pair() -> (SnapshotSender, SnapshotReceiver) {
    let initial = world(PAIR_CUBES, 0);
    let limits = Limits {
        max_bodies: PAIR_CUBES,
    };
    let welcome = Welcome {
        plan: Plan::cubes(),
        tick: 0,
        initial: initial.clone(),
    };
    let sender = SnapshotSender::new(Plan::cubes(), initial, limits).unwrap();
    let receiver = SnapshotReceiver::new(welcome, limits, 6 * TICK, Duration::ZERO).unwrap();
    (sender, receiver)
}

/// A world after a tick, as stages have it.
pub fn quantized(cubes: usize, tick: u16, stages: Stages) -> QuantizedSnapshot {
    let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    snapshot
        .quantize(&world(cubes, tick), stages.precision())
        .unwrap();
    snapshot
}

/// Sends the world of a tick on the rung with the most state.
pub fn send(sender: &mut SnapshotSender, tick: u64) {
    let stages = ladder::PREDICTED.stages;
    let snapshot = quantized(PAIR_CUBES, tick as u16, stages);
    let sent = sender.send(tick, stages, &snapshot, BaselineChoice::Newest);
    sent.unwrap();
}

/// Several messages in one input: a byte each for what to do before it and, times two and plus the lowest bit of the
/// former, for its length.
pub fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[before, half], rest) = bytes.split_first_chunk()?;
        let length = usize::from(half) * 2 + usize::from(before & 1);
        let (message, rest) = rest.split_at(length.min(rest.len()));
        bytes = rest;
        Some((before >> 1, message))
    })
}

/// Appends a message as [`messages`] reads it.
pub fn put_message(before: u8, message: &[u8], bytes: &mut Vec<u8>) {
    let half = u8::try_from(message.len() / 2).unwrap();
    bytes.extend([before << 1 | (message.len() & 1) as u8, half]);
    bytes.extend(message);
}

/// An end of a connection of renet, with the channels that its guard expects.
pub fn renet() -> RenetClient {
    let channel = |channel_id, send_type| ChannelConfig {
        channel_id,
        max_memory_usage_bytes: 1 << 20,
        send_type,
    };
    let reliable = SendType::ReliableOrdered {
        resend_time: Duration::from_millis(300),
    };
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

/// Bit of the byte before a message. If it is set, [`whole_slice`] completes the message: a whole slice is too long for
/// [`messages`].
pub const WHOLE_SLICE: u8 = 1;

/// Appends 1200 bytes and their number to the head of a slice.
pub fn whole_slice(head: &[u8]) -> Vec<u8> {
    [head, &[0x44, 0xB0], &[7; 1200]].concat()
}
