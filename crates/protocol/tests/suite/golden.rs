//! Golden messages, which `WIRE.md` names. This writes them again:
//!
//! ```sh
//! cargo test -p cubewire-protocol --test suite -- --ignored write_the_golden
//! ```

use cubewire_codec::ladder::{CHANGED_FLAGS, PREDICTED};
use cubewire_codec::{BodyState, Fingerprint, Limits, Plan, Sequence, Snapshot};
use cubewire_protocol::{
    Ack, BaselineChoice, FallbackReason, Feedback, PROTOCOL_VERSION, Request, RequestAck, Welcome,
};

const GOLDEN: &str = include_str!("../golden.txt");
const WIRE: &str = include_str!("../../../codec/WIRE.md");

fn welcome() -> Welcome {
    Welcome {
        plan: Plan::cubes(),
        tick: 0x0001_0203_0405,
        fingerprint: Fingerprint::shipped(),
        initial: Snapshot {
            bodies: vec![BodyState::default()],
        },
    }
}

fn feedback() -> [Feedback; 3] {
    [
        Feedback::Ack(Ack {
            newest: Sequence(0x1234),
            earlier: 0x8000_0001,
        }),
        Feedback::MissingBaseline(Sequence(0xFFFE)),
        Feedback::Desync(Sequence(258)),
    ]
}

fn requests() -> [Request; 2] {
    let request = Request {
        number: Sequence(7),
        stages: PREDICTED.stages,
        send_interval_ticks: 2,
        baseline: BaselineChoice::Smallest,
        fallback: None,
        budget_kbps: Some(256),
    };
    let without = Request {
        stages: CHANGED_FLAGS.stages,
        baseline: BaselineChoice::Newest,
        fallback: Some(FallbackReason::Arithmetic),
        budget_kbps: None,
        ..request
    };
    [request, without]
}

fn request_ack() -> RequestAck {
    RequestAck {
        number: Sequence(7),
        tick: 1000,
        send_interval_ticks: 3,
        baseline: BaselineChoice::Newest,
        budget_kbps: Some(200),
    }
}

fn document() -> String {
    let mut text = "Messages: see crates/codec/WIRE.md.\n\n".to_owned();
    let mut line = |name: &str, bytes: &[u8]| {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("{name}: {hex}\n");
    };
    line("welcome", &welcome().encode().unwrap());
    for (name, feedback) in ["ack", "missing baseline", "desync"]
        .into_iter()
        .zip(feedback())
    {
        line(name, &feedback.encode());
    }
    for request in requests() {
        line("request", &request.encode());
    }
    line("request ack", &request_ack().encode());
    text
}

/// The bytes in the file of that name.
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
    let version = format!("`PROTOCOL_VERSION` {PROTOCOL_VERSION}, ");
    assert!(WIRE.contains(&version), "{version}");
}

#[test]
fn messages_of_the_file_are_read() {
    let limits = Limits::default();
    assert_eq!(
        Welcome::decode(&golden("welcome")[0], limits),
        Ok(welcome())
    );
    for (name, feedback) in ["ack", "missing baseline", "desync"]
        .into_iter()
        .zip(feedback())
    {
        assert_eq!(Feedback::decode(&golden(name)[0]), Ok(feedback));
    }
    for (bytes, request) in golden("request").iter().zip(requests()) {
        assert_eq!(Request::decode(bytes), Ok(request));
    }
    let ack = RequestAck::decode(&golden("request ack")[0]);
    assert_eq!(ack, Ok(request_ack()));
}

#[test]
#[ignore = "writes what the others compare with"]
fn write_the_golden_messages() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");
    std::fs::write(path, document()).unwrap();
}
