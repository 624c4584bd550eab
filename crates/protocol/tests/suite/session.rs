//! Hello, welcome, requests and grants of both ends, and invalid messages.

use std::time::Duration;

use cubewire_codec::ladder::{ARITHMETIC, DELTA, PREDICTED, PREDICTED_POSITION};
use cubewire_codec::{BodyState, Coverage, Fingerprint, Limits, Plan, Snapshot};
use cubewire_protocol::{
    BaselineChoice, ClientEvent, ClientMessage, ClientSession, Contract, FallbackReason, Hello,
    Request, ServerEvent, ServerMessage, ServerSession, SessionError, Settings,
};
use proptest::collection::vec;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn contract() -> Contract {
    Contract::new(Plan::cubes(), String::new())
}

fn initial() -> Snapshot {
    Snapshot { bodies: vec![BodyState::default(); 2] }
}

pub(crate) fn settings() -> Settings {
    Settings {
        stages: PREDICTED.stages,
        send_interval_ticks: 2,
        baseline: BaselineChoice::Smallest,
        budget_kbps: Some(256),
    }
}

fn hello(server: &mut ServerSession, client: &Contract) -> Result<ServerEvent, String> {
    let message = ClientMessage::Hello(client.hello()).encode();
    server.on_message(&contract(), ClientMessage::decode(&message).unwrap())
}

/// Returns a server session that has accepted a client.
fn open() -> ServerSession {
    let mut server = ServerSession::new(Duration::ZERO);
    assert_eq!(hello(&mut server, &contract()), Ok(ServerEvent::Welcome));
    server
}

fn welcome(server: &mut ServerSession, tick: u64) -> ServerMessage<'static> {
    let welcome = server.welcome(&contract(), Duration::ZERO, tick, &initial());
    welcome.unwrap()
}

fn request(
    server: &mut ServerSession,
    number: u16,
    settings: Settings,
) -> Result<ServerEvent, String> {
    let message = ClientMessage::Request(Request { number, settings });
    server.on_message(&contract(), message)
}

/// Passes a message to the client.
fn heard(
    client: &mut ClientSession,
    message: ServerMessage<'_>,
    limits: Limits,
) -> Result<ClientEvent, SessionError> {
    client.on_message(&contract(), message, limits)
}

fn welcomed() -> ClientSession {
    let mut client = ClientSession::default();
    let contract = contract();
    assert!(client.hello(&contract).is_some() && client.hello(&contract).is_none());
    let heard = heard(&mut client, welcome(&mut open(), 5), Limits::default());
    let Ok(ClientEvent::Welcome(welcome)) = heard else {
        panic!("{heard:?}");
    };
    assert_eq!((welcome.tick, welcome.initial), (5, initial()));
    assert!(client.is_welcomed());
    client
}

#[test]
fn settings_are_requested_and_granted() {
    let (mut server, mut client) = (open(), welcomed());
    assert_eq!(server.grant(Duration::ZERO, settings()), None);
    let asked = client.request(settings()).unwrap();
    assert_eq!(client.request(settings()), None);
    let heard_of = server.on_message(&contract(), asked);
    assert_eq!(heard_of, Ok(ServerEvent::Settings(settings())));
    let less = Settings { budget_kbps: Some(48), ..settings() };
    let granted = server.grant(SECOND, less).unwrap();
    assert_eq!(heard(&mut client, granted.clone(), Limits::default()), Ok(ClientEvent::Answer));
    assert_eq!(client.granted(), Some(less));
    // The requested settings are granted.
    let same = server.grant(5 * SECOND, settings()).unwrap();
    heard(&mut client, same, Limits::default()).unwrap();
    assert_eq!(client.granted(), None);
    assert!(server.grant(7 * SECOND, less).is_some());
    // A grant changes at most once a second, and is not repeated.
    assert_eq!(server.grant(9 * SECOND, less), None);
    assert!(server.grant(9 * SECOND, settings()).is_some());
    assert_eq!(server.grant(SECOND * 19 / 2, less), None);
    assert!(server.grant(10 * SECOND, less).is_some());
    // The answer to the first request does not apply to the second.
    let other = client.request(less).unwrap();
    assert_ne!(other, asked);
    assert_eq!(heard(&mut client, granted, Limits::default()), Ok(ClientEvent::Answer));
    assert_eq!(client.granted(), None);
    server.on_message(&contract(), other).unwrap();
    assert!(server.grant(10 * SECOND, less).is_some());
}

#[test]
fn a_declined_request_has_a_reason_and_can_be_repeated() {
    let (mut server, mut client) = (open(), welcomed());
    assert_eq!(server.decline("nothing was asked"), None);
    let asked = client.request(settings()).unwrap();
    server.on_message(&contract(), asked).unwrap();
    let reason = "é".repeat(2000);
    let declined = server.decline(&reason).unwrap();
    assert_eq!(server.decline(&reason), None);
    // Settings in use are no answer any more.
    assert_eq!(server.grant(SECOND, settings()), None);
    let answer = heard(&mut client, declined.clone(), Limits::default());
    assert_eq!(answer, Ok(ClientEvent::Answer));
    assert_eq!(client.answer(), Some(Err(&reason[..2 * 1000])));
    assert_eq!(client.granted(), None);
    // An answer to the first request does not answer the second.
    let again = client.request(settings()).unwrap();
    heard(&mut client, declined, Limits::default()).unwrap();
    assert_eq!(client.answer(), None);
    server.on_message(&contract(), again).unwrap();
    let granted = server.grant(SECOND, settings()).unwrap();
    heard(&mut client, granted, Limits::default()).unwrap();
    assert_eq!(client.answer(), Some(Ok(settings())));
}

#[test]
fn requests_that_cannot_be_served_are_refused_with_the_reason() {
    let with = |change: &dyn Fn(&mut Settings)| {
        let mut wanted = settings();
        change(&mut wanted);
        request(&mut open(), 1, wanted).map_err(|reason| {
            let reason = reason.strip_prefix("invalid request: ");
            reason.unwrap().to_owned()
        })
    };
    for kbps in [None, Some(16), Some(1024)] {
        assert!(with(&|it| it.budget_kbps = kbps).is_ok());
    }
    for kbps in [0, 15, 1025, u32::MAX] {
        let reason = format!("a budget of {kbps} kbps is outside 16..=1024");
        assert_eq!(with(&|it| it.budget_kbps = Some(kbps)), Err(reason));
    }
    let reason = "the send interval is 0 ticks".to_owned();
    assert_eq!(with(&|it| it.send_interval_ticks = 0), Err(reason));
    let partial = DELTA.stages.with_coverage(Coverage::Partial).unwrap();
    assert!(with(&|it| it.stages = partial).is_err());
}

#[test]
fn what_is_out_of_turn_ends_the_session() {
    let mut silent = ServerSession::new(Duration::ZERO);
    assert!(request(&mut silent, 1, settings()).is_err());
    assert!(hello(&mut open(), &contract()).is_err());
    let granted = ServerMessage::Granted(Request { number: 0, settings: settings() });
    let declined = ServerMessage::Declined { number: 0, reason: "no" };
    let welcome = welcome(&mut open(), 5);
    let limits = Limits::default();
    let out_of_turn = Err(SessionError::OutOfTurn);
    for message in [ServerMessage::Tick(1), granted.clone(), declined.clone()] {
        let heard = heard(&mut ClientSession::default(), message, limits);
        assert_eq!(heard, out_of_turn);
    }
    for message in [welcome, granted, declined] {
        assert_eq!(heard(&mut welcomed(), message, limits), out_of_turn);
    }
    assert_eq!(heard(&mut welcomed(), ServerMessage::Tick(9), limits), Ok(ClientEvent::Tick(9)));
    let reason = "é".repeat(2000);
    let heard = heard(&mut welcomed(), ServerMessage::Refused(&reason), limits);
    assert_eq!(heard, Err(SessionError::Refused(reason[..2 * 1000].to_owned())));
    let left = open().on_message(&contract(), ClientMessage::Left("bored\nclient 7 has left"));
    assert_eq!(left, Err("the client has left: bored client 7 has left".to_owned()));
}

#[test]
fn a_welcome_is_within_limits() {
    let welcome = |tick| welcome(&mut open(), tick);
    let mut client = ClientSession::default();
    let few = Limits { max_bodies: 1 };
    assert!(matches!(heard(&mut client, welcome(5), few), Err(SessionError::Initial(_))));
    let far = (1 << 48) + 1;
    let error = heard(&mut client, welcome(far), Limits::default());
    assert_eq!(error, Err(SessionError::Tick(far)));
    assert!(heard(&mut client, welcome(far - 1), Limits::default()).is_ok());
}

#[test]
fn a_client_that_says_nothing_is_overdue() {
    let patience = ServerSession::PATIENCE;
    let mut server = ServerSession::new(SECOND);
    assert!(!server.is_overdue(SECOND + patience));
    assert!(server.is_overdue(SECOND * 2 + patience));
    hello(&mut server, &contract()).unwrap();
    assert!(server.is_open() && !server.is_overdue(100 * SECOND));
}

#[test]
fn the_tick_is_told_after_a_pause_only() {
    let mut server = open();
    let _ = welcome(&mut server, 7);
    let tick_at = |server: &mut ServerSession, ms: u32, tick| {
        server.on_tick(Duration::from_millis(1) * ms, tick)
    };
    assert_eq!(tick_at(&mut server, 1000, 8), None);
    // Frames without a tick.
    assert_eq!(tick_at(&mut server, 1500, 8), None);
    assert_eq!(tick_at(&mut server, 2001, 8), None);
    assert_eq!(tick_at(&mut server, 2001, 9), Some(ServerMessage::Tick(9)));
    assert_eq!(tick_at(&mut server, 2017, 10), None);
    // This client was welcomed during a pause.
    let mut late = open();
    let _ = welcome(&mut late, 7);
    assert_eq!(tick_at(&mut late, 1001, 8), Some(ServerMessage::Tick(8)));
    let mut silent = ServerSession::new(Duration::ZERO);
    assert_eq!(tick_at(&mut silent, 0, 1), None);
    assert_eq!(tick_at(&mut silent, 9000, 2), None);
}

#[test]
fn ends_with_different_fingerprints_do_without_arithmetic_coding() {
    let own = Fingerprint::shipped();
    let (model, arithmetic) = (!own.model, !own.arithmetic);
    for (fingerprint, reason) in [
        (own, None),
        (Fingerprint { model, ..own }, Some(FallbackReason::Model)),
        (Fingerprint { arithmetic, ..own }, Some(FallbackReason::Arithmetic)),
        (Fingerprint { model, arithmetic }, Some(FallbackReason::Model)),
    ] {
        let mut other = contract();
        other.fingerprint = fingerprint;
        let mut server = ServerSession::new(Duration::ZERO);
        hello(&mut server, &other).unwrap();
        assert_eq!(server.fallback(), reason);
        let welcome = welcome(&mut server, 5);
        let mut client = ClientSession::default();
        client.on_message(&other, welcome, Limits::default()).unwrap();
        assert_eq!(client.fallback(), reason);
        let instead = reason.map(|_| PREDICTED_POSITION.stages);
        for (stages, instead) in [(ARITHMETIC.stages, instead), (DELTA.stages, None)] {
            assert_eq!(server.stages_instead_of(&contract(), stages), instead);
        }
    }
    let instead = FallbackReason::instead_of(ARITHMETIC.stages);
    assert_eq!(instead, Some(PREDICTED_POSITION.stages));
    assert_eq!(FallbackReason::instead_of(PREDICTED_POSITION.stages), None);
}

#[test]
fn damaged_messages_are_refused() {
    let contract = contract();
    let asked = ClientMessage::Request(Request { number: 7, settings: settings() });
    for message in [ClientMessage::Hello(contract.hello()), asked] {
        let mut bytes = message.encode();
        assert_eq!(ClientMessage::decode(&bytes), Some(message));
        for length in 0..bytes.len() {
            assert_eq!(ClientMessage::decode(&bytes[..length]), None);
        }
        bytes.push(0);
        assert_eq!(ClientMessage::decode(&bytes), None);
    }
    let bytes = asked.encode();
    // Kind, number, and the length of the header.
    let [_, 7, length, ref rest @ ..] = *bytes else {
        panic!("{bytes:?}");
    };
    let header = usize::from(length);
    let refused = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[3 + at] = byte;
        assert_eq!(ClientMessage::decode(&bytes), None, "{at} {byte}");
    };
    assert_eq!(rest.len(), header + 5);
    // A sequence number in the header, a named baseline, unknown stages, and padding that is not 0.
    refused(1, 1);
    refused(2, 0);
    refused(header - 1, 0xFF);
    refused(header - 1, 1);
    // An unknown baseline choice, and a malformed budget.
    refused(header + 1, 2);
    refused(header + 2, 2);
}

proptest! {
    #[test]
    fn any_bytes_are_messages_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        let limits = Limits { max_bodies: 901 };
        if let Some(message) = ClientMessage::decode(&bytes) {
            let again = message.encode();
            prop_assert_eq!(ClientMessage::decode(&again), Some(message));
            let mut server = ServerSession::new(Duration::ZERO);
            let _ = server.on_message(&contract(), message);
            let _ = open().on_message(&contract(), message);
        }
        if let Some(message) = ServerMessage::decode(&bytes) {
            let again = message.encode();
            prop_assert_eq!(ServerMessage::decode(&again), Some(message.clone()));
            let _ = heard(&mut ClientSession::default(), message.clone(), limits);
            let _ = heard(&mut welcomed(), message, limits);
        }
    }

    #[test]
    fn any_hello_is_welcome_or_refused_with_a_short_reason(
        version in any::<u16>(),
        schema in vec(any::<u8>(), 0..200),
        registered in any::<String>(),
        is_close in any::<bool>(),
    ) {
        let contract = contract();
        let hello = match is_close {
            true => Hello { registered: &registered, ..contract.hello() },
            false => Hello { version, schema: &schema, registered: &registered, ..contract.hello() },
        };
        let mut server = ServerSession::new(Duration::ZERO);
        match server.on_message(&contract, ClientMessage::Hello(hello)) {
            Ok(asked) => prop_assert!(asked == ServerEvent::Welcome && registered.is_empty()),
            Err(reason) => prop_assert!(!server.is_open() && reason.len() < 2000),
        }
    }
}
