//! Golden messages, which `WIRE.md` refers to. This command writes them again:
//!
//! ```sh
//! cargo test -p cubewire-protocol --test suite -- --ignored write_the_golden
//! ```

use std::time::Duration;

use cubewire_codec::ladder::CHANGED_FLAGS;
use cubewire_codec::{BodyState, Plan, Sequence, Snapshot, encode_initial};
use cubewire_protocol::{
    Ack, BaselineChoice, ClientConnection, ClientEvent, ClientMessage, Contract, Feedback,
    PROTOCOL_VERSION, Request, ServerMessage, Settings,
};

use crate::connection::settings;

const GOLDEN: &str = include_str!("../golden.txt");
const WIRE: &str = include_str!("../../../codec/WIRE.md");

fn contract() -> Contract {
    Contract::new(Plan::cubes(), "input u8\n".to_owned())
}

fn initial() -> Snapshot {
    Snapshot { bodies: vec![BodyState::default()] }
}

fn of_client(contract: &Contract) -> [(&'static str, ClientMessage<'_>); 4] {
    let without = Settings {
        stages: CHANGED_FLAGS.stages,
        baseline: BaselineChoice::Newest,
        budget_kbps: None,
        ..settings()
    };
    let request = |number, settings| ClientMessage::Request(Request { number, settings });
    [
        ("hello", ClientMessage::Hello(contract.hello())),
        ("request", request(7, settings())),
        ("request", request(300, without)),
        ("left", ClientMessage::Left("bored")),
    ]
}

fn of_server() -> [(&'static str, ServerMessage<'static>); 5] {
    let mut bytes = Vec::new();
    encode_initial(&initial(), &mut bytes).unwrap();
    let welcome = ServerMessage::Welcome {
        tick: 0x0001_0203_0405,
        fingerprint: contract().fingerprint,
        seats: 1,
        initial: bytes.into(),
    };
    let granted = Request {
        number: 7,
        settings: Settings {
            send_interval_ticks: 3,
            baseline: BaselineChoice::Newest,
            budget_kbps: Some(200),
            ..settings()
        },
    };
    [
        ("welcome", welcome),
        ("refused", ServerMessage::Refused("full")),
        ("granted", ServerMessage::Granted(granted)),
        ("tick", ServerMessage::Tick(1000)),
        ("declined", ServerMessage::Declined { number: 7, reason: "no" }),
    ]
}

fn feedback() -> [Feedback; 3] {
    [
        Feedback::Ack(Ack { newest: Sequence(0x1234), earlier: 0x8000_0001 }),
        Feedback::MissingBaseline(Sequence(0xFFFE)),
        Feedback::Desync(Sequence(258)),
    ]
}

fn document() -> String {
    let mut text = "Messages: see crates/codec/WIRE.md.\n\n".to_owned();
    let mut line = |name: &str, bytes: &[u8]| {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("{name}: {hex}\n");
    };
    for (name, message) in of_client(&contract()) {
        line(name, &message.encode());
    }
    for (name, message) in of_server() {
        line(name, &message.encode());
    }
    for (name, feedback) in ["ack", "missing baseline", "desync"].into_iter().zip(feedback()) {
        line(name, &feedback.encode());
    }
    text
}

/// Returns the messages with a name in the golden file.
fn golden(name: &str) -> Vec<Vec<u8>> {
    let lines = GOLDEN.lines().filter_map(|line| line.split_once(": "));
    let named = lines.filter(|(of, _)| *of == name).map(|(_, hex)| {
        let byte = |pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        hex.as_bytes().chunks(2).map(byte).collect()
    });
    named.collect()
}

#[test]
fn messages_are_written_as_in_the_file() {
    assert_eq!(document(), GOLDEN);
    let version = format!("`PROTOCOL_VERSION` {PROTOCOL_VERSION} in a hello");
    assert!(WIRE.contains(&version), "{version}");
}

#[test]
fn messages_of_the_file_are_read() {
    let contract = contract();
    for (name, message) in of_client(&contract) {
        let lines = golden(name);
        assert!(lines.iter().any(|bytes| ClientMessage::decode(bytes) == Some(message)), "{name}");
    }
    for (name, message) in of_server() {
        assert_eq!(ServerMessage::decode(&golden(name)[0]), Some(message));
    }
    let mut client = ClientConnection::new(contract.into());
    let welcome = &golden("welcome")[0];
    let heard = client.on_message(Duration::ZERO, welcome);
    assert_eq!(heard, Ok(ClientEvent::Welcome { bodies: 1 }));
    for (name, feedback) in ["ack", "missing baseline", "desync"].into_iter().zip(feedback()) {
        assert_eq!(Feedback::decode(&golden(name)[0]), Ok(feedback));
    }
}

#[test]
#[ignore = "writes what the others compare with"]
fn write_the_golden_messages() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");
    std::fs::write(path, document()).unwrap();
}
