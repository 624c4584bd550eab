//! Writes `seeds`: valid inputs of every target, which the fuzzer starts from. The folder is not in the repository.
//!
//! ```text
//! cargo run --example seeds        (in crates/fuzz)
//! ```

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use cubewire_codec::Fingerprint;
use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::schema::{CUBES, Slots};
use cubewire_codec::{Plan, QuantizedSnapshot, Sequence, Stages, encode_initial, ladder};
use cubewire_fuzz::{
    TICKS, WHOLE_SLICE, exchange, exchange_living, exchange_simulated, living, pair, put_message,
    renet, rungs, send, world,
};
use cubewire_link::PRESETS;
use cubewire_physics::WorldState;
use cubewire_protocol::renet_guard::{RELIABLE_CHANNEL, UNRELIABLE_CHANNEL};
use cubewire_protocol::{
    Ack, BaselineChoice, ClientMessage, Contract, Feedback, Request, ServerMessage, Settings,
};
// The compiler flags make every program of this package call functions of this library.
use libfuzzer_sys as _;

/// Name of a target and an input for it.
type Seed = (&'static str, Vec<u8>);

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let seeds =
        [packets(), messages(), renet_guard(), bevy_postcard(), handshake(), texts()].concat();
    for (number, (target, bytes)) in seeds.into_iter().enumerate() {
        fs::create_dir_all(folder.join(target))?;
        fs::write(folder.join(target).join(number.to_string()), bytes)?;
    }
    Ok(())
}

/// Packets without a baseline, with one, with a second one that is merged, and with earlier references.
fn packets() -> Vec<Seed> {
    let packets = exchange().packets;
    let of_rungs = packets.chunks(TICKS.into());
    let decode =
        of_rungs.flat_map(|packets| [0, 2, 3, 11].map(|tick| ("decode", packets[tick].clone())));
    let simulated = exchange_simulated().packets.into_iter();
    let living = exchange_living().packets.into_iter().step_by(3);
    decode
        .chain(simulated.map(|packet| ("simulated", packet)))
        .chain(living.map(|packet| ("scene", packet)))
        .collect()
}

/// An exchange of packets and acks, with losses.
fn messages() -> Vec<Seed> {
    let (mut sender, _) = pair();
    let (mut packets, mut messages) = (Vec::new(), Vec::new());
    for tick in 1..=16 {
        send(&mut sender, tick);
        if tick % 5 > 0 {
            put_message(1, &sender.packet().bytes, &mut packets);
        }
        let feedback = match tick {
            7 => Feedback::MissingBaseline(Sequence(3)),
            9 => Feedback::Desync(Sequence(4)),
            _ => Feedback::Ack(Ack { newest: Sequence(tick as u16), earlier: 0b110 }),
        };
        sender.on_message(&feedback.encode()).expect("the message was encoded");
        put_message(0, &feedback.encode(), &mut messages);
    }
    // Packets of 30 bytes; each time the second packet in flight arrives.
    let merged = [[0, 30, 1 << 2], [1, 30, 3 << 2 | 2], [16, 60, 1 << 2]].as_flattened().repeat(20);
    vec![("receive", packets), ("feedback", messages), ("merge", merged)]
}

/// Packets of a renet end that sends and receives messages on both channels. Some messages have several slices, and
/// some packets are lost.
fn renet_guard() -> Vec<Seed> {
    let tick = Duration::from_millis(16);
    let mut ends = [renet(), renet()];
    let mut seed = Vec::new();
    for number in 0..30 {
        for end in &mut ends {
            let length = if number == 9 { 3700 } else { 40 * number + 1 };
            end.send_message(RELIABLE_CHANNEL, vec![1; length]);
            end.update(tick);
        }
        let length = if number % 5 == 1 { 2500 } else { 30 };
        ends[0].send_message(UNRELIABLE_CHANNEL, vec![2; length]);
        let [theirs, ours] = ends.each_mut().map(|end| end.get_packets_to_send());
        for packet in &theirs {
            let head = packet.len().checked_sub(1202);
            match head.filter(|_| matches!(packet[0], 2 | 3)) {
                Some(length) => put_message(WHOLE_SLICE, &packet[..length], &mut seed),
                // This format cannot hold longer packets.
                None if packet.len() < 500 => put_message(4, packet, &mut seed),
                None => {}
            }
            if number % 7 != 3 {
                ends[1].process_packet(packet);
            }
        }
        for packet in &ours {
            ends[0].process_packet(packet);
        }
    }
    vec![("renet_guard", seed)]
}

/// Postcard values: a conjunction of a negation and a list, a named value, counts, a value that is too deep and one
/// with too many elements.
fn bevy_postcard() -> Vec<Seed> {
    let values: [&[u8]; 5] = [
        &[2, 1, 0, 3, 2, 0, 5, 0],
        &[4, 1, b'a', 1, 1, 0],
        &[6, 1, 7, 2, 1, 2],
        &[1; 100],
        &[5, 0xFF, 0xFF, 3],
    ];
    values.map(|value| ("bevy_postcard", value.to_vec())).to_vec()
}

/// Messages of the handshake and requests.
fn handshake() -> Vec<Seed> {
    let baseline = BaselineChoice::Smallest;
    let request = |stages, send_interval_ticks, budget_kbps| Request {
        number: 7,
        settings: Settings { stages, send_interval_ticks, baseline, budget_kbps },
    };
    let contract = Contract::new(Plan::cubes(), String::new());
    let granted = request(ladder::DELTA.stages, 2, Some(48));
    let mut seeds = vec![
        ("server_message", ServerMessage::Granted(granted).encode()),
        ("server_message", ServerMessage::Tick(600).encode()),
        ("server_message", ServerMessage::Declined { number: 7, reason: "no" }.encode()),
        ("server_message", ServerMessage::Refused("full").encode()),
        ("client_message", ClientMessage::Hello(contract.hello()).encode()),
        ("client_message", ClientMessage::Left("bye").encode()),
        ("world_state", WorldState::initial(1).to_bytes()),
    ];
    for rung in rungs() {
        let request = request(rung.stages, 6, Some(64));
        seeds.push(("client_message", ClientMessage::Request(request).encode()));
    }
    // Requests with every readable combination of stages, including combinations that cannot be sent.
    let mut drawn = 0_u8;
    let readable = Stages::every_readable(|most| {
        drawn = drawn.wrapping_mul(5).wrapping_add(7);
        drawn % most
    });
    for stages in readable.step_by(401) {
        let request = request(stages, 1, None);
        seeds.push(("client_message", ClientMessage::Request(request).encode()));
    }
    for cubes in [0, 1, 5] {
        let mut initial = Vec::new();
        encode_initial(&world(cubes, 7), &mut initial).expect("the world is finite");
        seeds.push(("initial", initial.clone()));
        let welcome = ServerMessage::Welcome {
            tick: 1 << (8 * cubes),
            fingerprint: Fingerprint::shipped(),
            seats: 1,
            initial: initial.into(),
        };
        seeds.push(("server_message", welcome.encode()));
    }
    seeds
}

fn texts() -> Vec<Seed> {
    let stages = rungs().map(|rung| ("stages", rung.stages.to_string()));
    let conditions = PRESETS.iter().map(|preset| {
        let text = preset.conditions.to_text();
        ("conditions", text.expect("no preset is a trace"))
    });
    let others = [
        ("conditions", "4g+cut+duplicate=0.25"),
        ("trace", "sent_ms,delay_ms\n0,48.5\n16.7,51.2\n33.3,\n50,49.9\n"),
        ("trace", "sent_ms,delay_ms\n1763900000000,60000"),
        ("trace", "# of the office\r\nsent_ms , delay_ms\r\n0, 50\r\n\r\n# lost\r\n10,\r\n"),
        ("trace", "sent_ms,delay_ms\n\"0\",\"1e1\"\n\"1\n\",2\n"),
        // Changes of a model's numbers: in the hashes, in the weights, and behind them.
        ("model", "\0\0\x09\x01\0"),
        ("model", "\0\0(\x7F\x7F\0\x01(\0\x7F"),
        ("model", "\0\x09\x09\x7F\x7F\x09\x09\x09\x7F\0"),
    ];
    let others = others.map(|(target, text)| (target, text.to_owned()));
    let schemas = [CUBES, living()].map(|schema| ("schema", schema.encode()));
    let texts = stages.chain(conditions).chain(others);
    let compressed = zstd::bulk::compress(&recording(), 19).expect("the recording is small");
    texts
        .map(|(target, text)| (target, text.into_bytes()))
        .chain(schemas)
        .chain([("recording", compressed), ("recording", described())])
        .collect()
}

/// A recording with a schema and two slots. The second slot has a body from the first frame on.
fn described() -> Vec<u8> {
    let mut schema = living();
    let fields = schema.fields.to_mut();
    fields.retain(|field| ["on", "target"].contains(&&*field.name));
    schema.component_bits = 8;
    schema.slots = Slots::Living { max: 2 };
    let schema = schema.encode();
    let mut bytes = format!("cubewire recording 3\n{}\n", schema.len()).into_bytes();
    bytes.extend(schema);
    for tick in 0..8 {
        bytes.extend([0, 1, 0, 7, 3, 0, 127, 0, 127, 0, 127, 0]);
        bytes.extend([-5, tick, 60, 1, 2].into_iter().flat_map(i32::to_le_bytes));
    }
    bytes
}

/// Six frames of the initial state and two further frames, in the contest's format.
fn recording() -> Vec<u8> {
    let precision = ladder::POSITION.stages.precision();
    let mut frame = QuantizedSnapshot::new(Plan::cubes(), precision);
    let mut bytes = Vec::new();
    for tick in [0; 6].into_iter().chain([1, 2]) {
        frame.quantize(&world(901, tick), precision).expect("the world is finite");
        for cube in 0..frame.len() {
            let SmallestThree { largest, components: [a, b, c] } = frame.smallest_three(cube);
            let orientation = [u16::from(largest), a, b, c].map(i32::from);
            let interacting = [i32::from(frame.is_interacting(cube))];
            let words = [&orientation[..], &frame.position(cube), &interacting].concat();
            bytes.extend(words.into_iter().flat_map(i32::to_le_bytes));
        }
    }
    bytes
}
