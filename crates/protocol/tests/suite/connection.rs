//! Hello, welcome, requests and grants of both ends, invalid messages and datagrams, and shared packets.

use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::ladder::{ARITHMETIC, CHANGED_FLAGS, DELTA, PREDICTED, PREDICTED_POSITION};
use cubewire_codec::schema::Schema;
use cubewire_codec::{BodyState, Coverage, Fingerprint, Plan, Sequence, Snapshot};
use cubewire_protocol::{
    Ack, BaselineChoice, ClientConnection, ClientEvent, ClientMessage, Contract, FallbackReason,
    Feedback, Hello, RateControl, Request, ServerConnection, ServerEvent, ServerMessage,
    SessionError, Settings, connect,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::pair::ends;

const SECOND: Duration = Duration::from_secs(1);

fn contract() -> Contract {
    Contract::new(Plan::cubes(), String::new()).with_input_channels(2)
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

fn server() -> ServerConnection {
    ServerConnection::new(contract().into(), RateControl::Off, Duration::ZERO)
}

fn client() -> ClientConnection {
    ClientConnection::new(contract().into())
}

/// Returns both ends after the welcome at tick 5.
fn connected() -> (ServerConnection, ClientConnection) {
    ends(&contract().into(), RateControl::Off, Duration::ZERO, 5, &initial())
}

/// Passes a message to the client.
fn tell(
    client: &mut ClientConnection,
    message: &ServerMessage<'_>,
) -> Result<ClientEvent<'static>, SessionError> {
    client.on_message(SECOND, message.encode().leak())
}

/// Passes the only message of the server to the client, and returns it.
fn pass_on(server: &mut ServerConnection, client: &mut ClientConnection) -> Option<Vec<u8>> {
    let message = server.poll_message()?;
    assert_eq!(server.poll_message(), None);
    assert_eq!(client.on_message(SECOND, &message), Ok(ClientEvent::Answer));
    Some(message)
}

/// Passes the client's request to the server.
fn ask(client: &mut ClientConnection, server: &mut ServerConnection, settings: Settings) {
    client.request(settings);
    let asked = client.poll_message().unwrap();
    assert_eq!(server.on_message(&asked), Ok(ServerEvent::Request(settings)));
}

#[test]
fn settings_are_requested_and_granted() {
    let (mut server, mut client) = connected();
    server.set_settings(settings());
    server.grant(Duration::ZERO);
    assert_eq!(server.poll_message(), None);
    ask(&mut client, &mut server, settings());
    client.request(settings());
    assert_eq!(client.poll_message(), None);
    let less = Settings { budget_kbps: Some(48), ..settings() };
    let mut granted_at = |server: &mut ServerConnection, now, settings| {
        server.set_settings(settings);
        server.grant(now);
        pass_on(server, &mut client).map(|message| (message, client.granted()))
    };
    let (first, granted) = granted_at(&mut server, SECOND, less).unwrap();
    assert_eq!(granted, Some(less));
    // The requested settings are granted.
    assert_eq!(granted_at(&mut server, 5 * SECOND, settings()).unwrap().1, None);
    assert!(granted_at(&mut server, 7 * SECOND, less).is_some());
    // A grant changes at most once a second, and is not repeated.
    assert_eq!(granted_at(&mut server, 9 * SECOND, less), None);
    assert!(granted_at(&mut server, 9 * SECOND, settings()).is_some());
    assert_eq!(granted_at(&mut server, SECOND * 19 / 2, less), None);
    assert!(granted_at(&mut server, 10 * SECOND, less).is_some());
    // The answer to the first request does not apply to the second.
    client.request(less);
    let other = client.poll_message().unwrap();
    assert_eq!(client.on_message(SECOND, &first), Ok(ClientEvent::Answer));
    assert_eq!((client.answer(), client.granted()), (None, None));
    server.on_message(&other).unwrap();
    server.grant(10 * SECOND);
    assert!(pass_on(&mut server, &mut client).is_some());
}

#[test]
fn a_declined_request_has_a_reason_and_can_be_repeated() {
    let (mut server, mut client) = connected();
    server.decline("nothing was asked");
    assert_eq!(server.poll_message(), None);
    ask(&mut client, &mut server, settings());
    let reason = "é".repeat(2000);
    server.decline(&reason);
    server.decline(&reason);
    // Settings in use are no answer any more.
    server.set_settings(settings());
    server.grant(SECOND);
    let declined = pass_on(&mut server, &mut client).unwrap();
    assert_eq!(client.answer(), Some(Err(&reason[..2 * 1000])));
    assert_eq!(client.granted(), None);
    // An answer to the first request does not answer the second.
    client.request(settings());
    assert_eq!(client.on_message(SECOND, &declined), Ok(ClientEvent::Answer));
    assert_eq!(client.answer(), None);
    server.on_message(&client.poll_message().unwrap()).unwrap();
    server.grant(SECOND);
    pass_on(&mut server, &mut client).unwrap();
    assert_eq!(client.answer(), Some(Ok(settings())));
}

#[test]
fn settings_that_no_server_can_use_are_declined() {
    let answer = |change: &dyn Fn(&mut Settings)| {
        let (mut server, mut client) = connected();
        let mut wanted = settings();
        change(&mut wanted);
        client.request(wanted);
        let asked = client.poll_message().unwrap();
        let event = server.on_message(&asked).unwrap();
        if event == ServerEvent::Request(wanted) {
            return Ok(());
        }
        assert_eq!(event, ServerEvent::Declined);
        pass_on(&mut server, &mut client).unwrap();
        Err(client.answer().unwrap().unwrap_err().to_owned())
    };
    for kbps in [None, Some(16), Some(1024)] {
        assert_eq!(answer(&|it| it.budget_kbps = kbps), Ok(()));
    }
    for kbps in [0, 15, 1025, u32::MAX] {
        let reason = format!("a budget of {kbps} kbps is outside 16..=1024");
        assert_eq!(answer(&|it| it.budget_kbps = Some(kbps)), Err(reason));
    }
    let reason = "the send interval is 0 ticks".to_owned();
    assert_eq!(answer(&|it| it.send_interval_ticks = 0), Err(reason));
    let partial = DELTA.stages.with_coverage(Coverage::Partial).unwrap();
    assert!(answer(&|it| it.stages = partial).is_err());
}

#[test]
fn messages_out_of_turn_end_the_connection() {
    let contract = contract();
    let hello = ClientMessage::Hello(contract.hello()).encode();
    let request = ClientMessage::Request(Request { number: 1, settings: settings() }).encode();
    for message in [&request[..], &[1, 2]] {
        assert!(server().on_message(message).is_err());
    }
    assert!(connected().0.on_message(&hello).is_err());
    let granted = ServerMessage::Granted(Request { number: 0, settings: settings() });
    let declined = ServerMessage::Declined { number: 0, reason: "no" };
    let welcome = welcome(5);
    let out_of_turn = Err(SessionError::OutOfTurn);
    for message in [&ServerMessage::Tick(1), &granted, &declined] {
        assert_eq!(tell(&mut client(), message), out_of_turn);
    }
    for message in [&welcome, &granted, &declined] {
        assert_eq!(tell(&mut connected().1, message), out_of_turn);
    }
    assert_eq!(client().on_message(SECOND, &[1, 2]), out_of_turn);
    assert_eq!(client().on_message(SECOND, &[]), Err(SessionError::Malformed));
    assert_eq!(tell(&mut connected().1, &ServerMessage::Tick(9)), Ok(ClientEvent::Tick(9)));
    let reason = "é".repeat(2000);
    let refused = tell(&mut connected().1, &ServerMessage::Refused(&reason));
    assert_eq!(refused, Err(SessionError::Refused(reason[..2 * 1000].to_owned())));
    let farewell = ServerConnection::farewell(&reason);
    assert_eq!(connected().1.on_message(SECOND, &farewell), refused);
    let mut server = connected().0;
    let farewell = ClientConnection::farewell("bored\nclient 7 has left");
    let left = server.on_message(&farewell);
    assert_eq!(left, Err("the client has left: bored client 7 has left".to_owned()));
    assert!(server.has_left());
}

#[test]
fn messages_of_the_app_pass_after_the_welcome() {
    let (mut server, mut client) = connected();
    assert_eq!(server.on_message(&[1, 255]), Ok(ServerEvent::Message(&[1, 255])));
    assert_eq!(client.on_message(SECOND, &[0]), Ok(ClientEvent::Message(&[0])));
}

fn welcome(tick: u64) -> ServerMessage<'static> {
    let mut server = server();
    let contract = contract();
    server.on_message(&ClientMessage::Hello(contract.hello()).encode()).unwrap();
    server.welcome(Duration::ZERO, tick, &initial()).unwrap();
    let bytes = server.poll_message().unwrap();
    match ServerMessage::decode(&bytes) {
        Some(ServerMessage::Welcome { tick, fingerprint, seats, initial }) => {
            let initial = initial.into_owned().into();
            ServerMessage::Welcome { tick, fingerprint, seats, initial }
        }
        message => panic!("{message:?}"),
    }
}

#[test]
fn a_welcome_is_within_limits() {
    let mut client = client();
    let far = (1 << 48) + 1;
    assert_eq!(tell(&mut client, &welcome(far)), Err(SessionError::Tick(far)));
    let ServerMessage::Welcome { tick, fingerprint, seats, initial } = welcome(5) else {
        unreachable!()
    };
    let initial = [&initial[..], &[0]].concat().into();
    let longer = ServerMessage::Welcome { tick, fingerprint, seats, initial };
    assert!(matches!(tell(&mut client, &longer), Err(SessionError::Initial(_))));
    for (seats, is_legal) in [(0, false), (5, false), (255, false), (4, true)] {
        let mut client = self::client();
        let ServerMessage::Welcome { tick, fingerprint, initial, .. } = welcome(5) else {
            unreachable!()
        };
        let heard =
            tell(&mut client, &ServerMessage::Welcome { tick, fingerprint, seats, initial });
        assert_eq!(heard.is_ok(), is_legal, "{heard:?}");
    }
    assert_eq!(tell(&mut client, &welcome(far - 1)), Ok(ClientEvent::Welcome { bodies: 2 }));
}

#[test]
fn a_silent_client_is_overdue() {
    let (hello, request) = (ServerConnection::PATIENCE, ServerConnection::REQUEST_PATIENCE);
    let check = |server: &mut ServerConnection, now| server.check(now, 0, 0);
    let mut silent = server();
    assert_eq!(check(&mut silent, hello), Ok(()));
    assert_eq!(check(&mut silent, hello + SECOND), Err("no hello from the client".to_owned()));
    let (mut server, mut client) = connected();
    ask(&mut client, &mut server, settings());
    server.decline("not today");
    for (mut server, reason) in [
        (connected().0, "no request from the client"),
        (server, "no request from the client that can be granted"),
    ] {
        assert_eq!(check(&mut server, request), Ok(()));
        assert_eq!(check(&mut server, request + SECOND), Err(reason.to_owned()));
    }
    let mut server = connected().0;
    server.set_settings(settings());
    assert_eq!(check(&mut server, 100 * SECOND), Ok(()));
    assert_eq!(server.check(SECOND, 300, 300), Ok(()));
    assert!(server.check(SECOND, 301, 300).unwrap_err().contains("301 bytes"));
}

#[test]
fn what_has_ended_stays_so() {
    let (mut server, mut client) = connected();
    server.set_settings(settings());
    client.push_input(0, vec![1]);
    let reason = server.on_message(&ClientConnection::farewell("bye")).unwrap_err();
    assert!(server.has_left());
    assert_eq!(server.check(SECOND, 0, 0), Err(reason.clone()));
    assert_eq!(server.on_datagram(6, &client.datagrams()[0]), Err(reason.clone()));
    assert_eq!(server.on_message(&ClientMessage::Hello(contract().hello()).encode()), Err(reason));
}

#[test]
fn calls_in_another_order_lose_nothing() {
    let (mut server, mut client) = (server(), client());
    server.welcome(Duration::ZERO, 5, &initial()).unwrap();
    assert!(!server.is_welcomed() && server.poll_message().is_none(), "before the hello");
    assert_eq!(server.on_message(&client.poll_message().unwrap()), Ok(ServerEvent::Hello));
    client.request(settings());
    let request = client.poll_message().unwrap();
    assert_eq!(server.on_message(&request), Ok(ServerEvent::Request(settings())));
    server.set_settings(settings());
    assert_eq!(server.settings(), None);
    for tick in [5, 6] {
        server.welcome(Duration::ZERO, tick, &initial()).unwrap();
    }
    assert_eq!(server.settings(), Some(settings()));
    server.grant(SECOND);
    let told =
        [(); 3].map(|()| server.poll_message().map(|told| client.on_message(SECOND, told.leak())));
    let [welcome, granted] = [ClientEvent::Welcome { bodies: 2 }, ClientEvent::Answer].map(Ok);
    assert_eq!(told, [Some(welcome), Some(granted), None]);
}

#[test]
fn a_fallback_is_a_rung_that_the_scene_has() {
    let mut schema = Schema::clone(Plan::cubes().schema());
    // `predicted-position` needs equal steps.
    schema.position[1].steps_per_unit /= 2.0;
    let own = Contract::new(Plan::new(schema).unwrap(), String::new());
    let mut other = own.clone();
    other.fingerprint.model = !own.fingerprint.model;
    let mut server = ServerConnection::new(own.into(), RateControl::Off, Duration::ZERO);
    let mut client = ClientConnection::new(other.into());
    connect(&mut client, &mut server, Duration::ZERO, 5, &initial()).unwrap();
    server.set_settings(Settings { stages: ARITHMETIC.stages, ..settings() });
    assert_eq!(server.settings().unwrap().stages, CHANGED_FLAGS.stages);
}

#[test]
fn every_input_of_many_channels_arrives() {
    // Short inputs of all channels, and inputs that together are too long for one item of each.
    for (channels, inputs, bytes) in [(255, 1, 1), (15, 8, 6), (1, 8, 0), (255, 8, 40)] {
        let contract =
            Arc::new(Contract::new(Plan::cubes(), String::new()).with_input_channels(channels));
        let (mut server, mut client) =
            ends(&contract, RateControl::Off, Duration::ZERO, 5, &initial());
        for channel in 0..channels {
            (0..inputs).for_each(|input| client.push_input(channel, vec![input; bytes]));
        }
        let mut arrived = vec![0; channels];
        for datagram in client.datagrams() {
            for (channel, input) in server.on_datagram(6, &datagram).unwrap().inputs {
                assert_eq!(input, vec![arrived[channel]; bytes]);
                arrived[channel] += 1;
            }
        }
        assert_eq!(arrived, vec![inputs; channels]);
        assert_eq!(server.invalid_datagrams(), 0);
    }
}

#[test]
fn the_tick_is_told_after_a_pause_only() {
    let tick_at = |server: &mut ServerConnection, ms: u32, tick| {
        server.on_tick(Duration::from_millis(1) * ms, tick);
        server.poll_message()
    };
    let told = |tick| Some(ServerMessage::Tick(tick).encode());
    let mut server = connected().0;
    assert_eq!(tick_at(&mut server, 1000, 6), None);
    // Frames without a tick.
    assert_eq!(tick_at(&mut server, 1500, 6), None);
    assert_eq!(tick_at(&mut server, 2001, 6), None);
    assert_eq!(tick_at(&mut server, 2001, 7), told(7));
    assert_eq!(tick_at(&mut server, 2017, 8), None);
    // This client was welcomed during a pause.
    assert_eq!(tick_at(&mut connected().0, 1001, 6), told(6));
    let mut silent = self::server();
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
        let (mut server, mut client) = (server(), ClientConnection::new(other.into()));
        connect(&mut client, &mut server, Duration::ZERO, 5, &initial()).unwrap();
        assert_eq!((server.fallback(), client.fallback()), (reason, reason));
        let instead = reason.map(|_| PREDICTED_POSITION.stages);
        for (stages, instead) in [(ARITHMETIC.stages, instead), (DELTA.stages, None)] {
            assert_eq!(server.stages_instead_of(stages), instead);
            server.set_settings(Settings { stages, ..settings() });
            assert_eq!(server.settings().unwrap().stages, instead.unwrap_or(stages));
        }
    }
    let instead = FallbackReason::instead_of(ARITHMETIC.stages);
    assert_eq!(instead, Some(PREDICTED_POSITION.stages));
    assert_eq!(FallbackReason::instead_of(PREDICTED_POSITION.stages), None);
}

#[test]
fn inputs_arrive_once_and_in_order() {
    let (mut server, mut client) = connected();
    assert_eq!(client.datagrams(), [[0; 0]; 0]);
    let mut received = Vec::new();
    for tick in 0..40_u8 {
        if tick < 30 {
            client.push_input(0, vec![tick]);
        }
        if tick % 10 == 3 {
            client.push_input(1, vec![100 + tick; 2]);
        }
        for datagram in client.datagrams() {
            // Seven of eight are lost, and each is received twice.
            for _ in 0..if tick % 8 == 7 { 2 } else { 0 } {
                let inputs = server.on_datagram(9, &datagram).unwrap().inputs;
                received.extend(inputs.iter().map(|(channel, input)| (*channel, input[0])));
            }
        }
    }
    let of = |channel| received.iter().filter(move |input| input.0 == channel).map(|input| input.1);
    assert!(of(0).eq(0..30) && of(1).eq([103, 113, 123, 133]), "{received:?}");
}

#[test]
fn a_client_may_send_sixteen_invalid_datagrams() {
    let ack = |newest| Feedback::Ack(Ack { newest: Sequence(newest), earlier: 0 }).encode();
    let mut channel = client();
    for invalid in [ack(7), vec![9], vec![], [ack(7), ack(8)].concat(), vec![3, 2, 1, 1, 0]] {
        let (mut server, _) = connected();
        assert!(channel.datagrams().is_empty());
        let invalid_count = u32::from(!invalid.is_empty());
        for count in 1..=ServerConnection::MAX_INVALID {
            assert!(server.on_datagram(9, &invalid).is_ok());
            assert_eq!(server.invalid_datagrams(), count * invalid_count);
        }
        assert_eq!(server.on_datagram(9, &invalid).is_err(), !invalid.is_empty(), "{invalid:?}");
    }
    // Datagrams before the welcome are ignored, and not counted.
    let mut silent = server();
    for _ in 0..100 {
        assert!(silent.on_datagram(0, &[9]).is_ok());
    }
}

#[test]
fn a_frame_has_a_bounded_number_of_inputs() {
    let (mut server, mut client) = connected();
    let mut received = 0;
    for _ in 0..700 {
        for input in 0..8 {
            client.push_input(0, vec![input]);
        }
        for datagram in client.datagrams() {
            received += server.on_datagram(9, &datagram).unwrap().inputs.len();
        }
    }
    assert_eq!(received, ServerConnection::MAX_ITEMS);
    server.check(SECOND, 0, 0).unwrap();
    client.push_input(0, vec![0]);
    assert_eq!(server.on_datagram(9, &client.datagrams()[0]).unwrap().inputs.len(), 1);
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
    // The session's first byte, kind, number, and the length of the header.
    let [255, _, 7, length, ref rest @ ..] = *bytes else {
        panic!("{bytes:?}");
    };
    let header = usize::from(length);
    let refused = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[4 + at] = byte;
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
    fn any_bytes_are_messages_or_refused(bytes in vec(any::<u8>(), 0..200), is_session in any::<bool>()) {
        let first: &[u8] = if is_session { &[255] } else { &[] };
        let bytes = [first, &bytes].concat();
        if let Some(message) = ClientMessage::decode(&bytes) {
            let again = message.encode();
            prop_assert_eq!(ClientMessage::decode(&again), Some(message));
        }
        if let Some(message) = ServerMessage::decode(&bytes) {
            let again = message.encode();
            prop_assert_eq!(ServerMessage::decode(&again), Some(message));
        }
        let (mut open, mut welcomed) = connected();
        for server in [&mut open, &mut server()] {
            let _ = server.on_message(&bytes);
            let _ = server.on_datagram(9, &bytes);
        }
        for client in [&mut welcomed, &mut client()] {
            let _ = client.on_message(SECOND, &bytes);
            let _ = client.on_datagram(SECOND, &bytes);
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
        let mut server = server();
        match server.on_message(&ClientMessage::Hello(hello).encode()) {
            Ok(event) => prop_assert!(event == ServerEvent::Hello && registered.is_empty()),
            Err(reason) => prop_assert!(!server.is_welcomed() && reason.len() < 2000),
        }
    }
}
