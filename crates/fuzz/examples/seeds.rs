//! Writes the seeds: valid inputs of every target, from which the fuzzer starts. They are part of the repository, and
//! the same with every run.
//!
//! ```text
//! cargo run --example seeds        (in crates/fuzz)
//! ```

use std::path::Path;
use std::{fs, io};

use cubewire_codec::entropy::Fingerprint;
use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::{QuantizedSnapshot, Sequence, encode_initial, ladder};
use cubewire_fuzz::{TICKS, exchange, exchange_simulated, pair, put_message, rungs, send, world};
use cubewire_link::PRESETS;
use cubewire_physics::WorldState;
use cubewire_protocol::{
    Ack, BaselineChoice, FallbackReason, Feedback, Request, RequestAck, Welcome,
};
// For what the compiler's flags have every program of this package call.
use libfuzzer_sys as _;

fn main() -> io::Result<()> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    if seeds.exists() {
        fs::remove_dir_all(&seeds)?;
    }
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = seeds.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };

    // Without a baseline, with one, and with earlier references.
    let packets = exchange().packets;
    for (rung, packets) in rungs().zip(packets.chunks(TICKS.into())) {
        for tick in [0, 2, 11] {
            write("decode", &format!("{}-{tick}", rung.name), &packets[tick])?;
        }
    }
    let packets = exchange_simulated().packets;
    for (tick, packet) in packets.iter().enumerate() {
        write("simulated", &format!("{tick}"), packet)?;
    }
    write("world_state", "initial", &WorldState::initial().to_bytes())?;
    for cubes in [0, 1, 5] {
        let mut initial = Vec::new();
        encode_initial(&world(cubes, 7), &mut initial).expect("the world is finite");
        write("initial", &format!("{cubes}-cubes"), &initial)?;
        let welcome = Welcome {
            ticks_per_second: 60,
            tick: 1 << (8 * cubes),
            // Not of the shipped model, so that the seeds stay as they are.
            fingerprint: Fingerprint {
                model: 0x0123_4567_89AB_CDEF,
                arithmetic: cubes as u64,
            },
            initial: world(cubes, 7),
        };
        let welcome = welcome.encode().expect("the world is finite");
        write("welcome", &format!("{cubes}-cubes"), &welcome)?;
    }
    for rung in rungs() {
        let request = Request {
            number: Sequence(7),
            stages: rung.stages,
            send_interval_ticks: 6,
            baseline: BaselineChoice::Smallest,
            fallback: (rung == ladder::PREDICTED_POSITION).then_some(FallbackReason::Model),
        };
        write("request", rung.name, &request.encode())?;
        write("stages", rung.name, rung.stages.to_string().as_bytes())?;
    }
    let ack = RequestAck {
        number: Sequence(7),
        tick: 600,
        send_interval_ticks: 2,
        baseline: BaselineChoice::Newest,
    };
    write("request_ack", "ack", &ack.encode())?;
    write_exchange(&write)?;

    // Places in the hashes, the weights, the probabilities, the errors and the table.
    let changes: [&[u8]; 3] = [
        &[0, 0, 9, 1, 0],
        &[0, 0, 40, 0xFF, 0x7F, 0, 1, 40, 0x00, 0x80],
        &[0, 9, 9, 0xFF, 0xFF, 9, 9, 9, 0x7F, 0x80],
    ];
    for (number, change) in changes.into_iter().enumerate() {
        write("model", &format!("change-{number}"), change)?;
    }
    for preset in &PRESETS {
        let text = preset.conditions.to_text().expect("no preset is a trace");
        write("conditions", preset.name, text.as_bytes())?;
        let text = format!("{}+cut+duplicate=0.25", preset.name);
        write(
            "conditions",
            &format!("{}-cut", preset.name),
            text.as_bytes(),
        )?;
    }
    let traces = [
        (
            "plain",
            "sent_ms,delay_ms\n0,48.5\n16.7,51.2\n33.3,\n50,49.9\n",
        ),
        ("one", "sent_ms,delay_ms\n1763900000000,60000"),
        (
            "comments",
            "# of the office\r\nsent_ms , delay_ms\r\n0, 50\r\n\r\n# lost\r\n10,\r\n",
        ),
        ("quoted", "sent_ms,delay_ms\n\"0\",\"1e1\"\n\"1\n\",2\n"),
    ];
    for (name, text) in traces {
        write("trace", name, text.as_bytes())?;
    }
    let compressed = zstd::bulk::compress(&recording(), 19)?;
    write("recording", "eight-frames.bin.zst", &compressed)
}

/// An exchange of packets and acks, of which some are lost.
fn write_exchange(write: &impl Fn(&str, &str, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let (mut sender, _) = pair();
    let (mut packets, mut messages) = (Vec::new(), Vec::new());
    for tick in 1..=16 {
        send(&mut sender, tick);
        if tick % 5 > 0 {
            put_message(1, &sender.packet().bytes, &mut packets);
        }
        let feedback = match tick {
            7 => Feedback::MissingBaseline(Sequence(3)),
            9 => Feedback::NotSimulated(Sequence(4)),
            _ => Feedback::Ack(Ack {
                newest: Sequence(tick as u16),
                earlier: 0b110,
            }),
        };
        sender
            .on_message(&feedback.encode())
            .expect("the message was encoded");
        put_message(0, &feedback.encode(), &mut messages);
    }
    write("receive", "packets", &packets)?;
    write("feedback", "acks", &messages)
}

/// Six frames of the initial state and two more, as the lab reads them.
fn recording() -> Vec<u8> {
    let precision = ladder::POSITION.stages.precision();
    let ticks = [0; 6].into_iter().chain([1, 2]);
    let frames = ticks.map(|tick| {
        let mut frame = QuantizedSnapshot::new(precision);
        let state = world(901, tick);
        frame
            .quantize(&state, precision)
            .expect("the world is finite");
        frame
    });
    let mut bytes = Vec::new();
    for frame in frames {
        for cube in 0..frame.len() {
            let SmallestThree {
                largest,
                components: [a, b, c],
            } = frame.smallest_three(cube);
            let orientation = [u16::from(largest), a, b, c].map(i32::from);
            let interacting = [i32::from(frame.is_interacting(cube))];
            let words = [&orientation[..], &frame.position(cube), &interacting].concat();
            bytes.extend(words.into_iter().flat_map(i32::to_le_bytes));
        }
    }
    bytes
}
