//! Decodes bytes as a client message. Encoding a decoded message must give the same bytes. A server accepts or
//! refuses it. Requested stages are sent if the scene supports them; otherwise sending fails and the sender still
//! works. A welcomed client may send any bytes, too.

#![no_main]

use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::Plan;
use cubewire_fuzz::{CONTRACT, PAIR_CUBES, connection, pair, quantized, send};
use cubewire_protocol::{
    ClientMessage, Hello, PacketBudget, RateControl, Request, ServerConnection,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    welcomed(bytes);
    let Some(message) = ClientMessage::decode(bytes) else {
        return;
    };
    assert_eq!(ClientMessage::decode(&message.encode()), Some(message));
    let contract = Arc::clone(&CONTRACT);
    let mut server = ServerConnection::new(contract, RateControl::Off, Duration::ZERO);
    let is_welcome = server.on_message(bytes).is_ok();
    let ours = CONTRACT.hello();
    // A client with another fingerprint is welcome, without arithmetic coding.
    let is_like_ours = match message {
        ClientMessage::Hello(hello) => {
            let fingerprint = hello.fingerprint;
            hello == Hello { fingerprint, ..ours }
        }
        ClientMessage::Request(_) | ClientMessage::Left(_) => false,
    };
    assert_eq!(is_welcome, is_like_ours);
    let ClientMessage::Request(Request { settings, .. }) = message else {
        return;
    };
    let stages = settings.stages;
    let is_sendable = Plan::cubes().check_complete(stages).is_ok();
    let (mut sender, _) = pair();
    for tick in 1..=2 {
        let current = quantized(PAIR_CUBES, tick as u16, stages);
        let sent = sender.send(2 * tick, stages, &current, settings.baseline);
        assert_eq!(sent.is_ok(), is_sendable, "{stages:?}");
        let packet_budget = PacketBudget { bytes: 30, ..PacketBudget::default() };
        let sent = sender.send_within(2 * tick + 1, stages, &current, packet_budget);
        assert!(sent.is_ok() || !is_sendable, "{stages:?}");
    }
    send(&mut sender, 9);
});

/// Passes the bytes to a server that has welcomed the client, as a message and as a datagram.
fn welcomed(bytes: &[u8]) {
    let (mut server, _) = connection();
    if let Err(reason) = server.on_message(bytes) {
        assert!(!reason.is_empty());
    }
    if let Ok(received) = server.on_datagram(9, bytes) {
        assert!(received.acks.len() + received.inputs.len() <= ServerConnection::MAX_ITEMS);
    }
}
