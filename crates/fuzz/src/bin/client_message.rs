//! Decodes bytes as a client message. Encoding a decoded message must give the same bytes. A server accepts or
//! refuses it. Requested stages are sent if the scene supports them; otherwise sending fails and the sender still
//! works.

#![no_main]

use std::time::Duration;

use cubewire_codec::Plan;
use cubewire_fuzz::{CONTRACT, PAIR_CUBES, pair, quantized, send};
use cubewire_protocol::{ClientMessage, Hello, PacketBudget, Request, ServerSession};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(message) = ClientMessage::decode(bytes) else {
        return;
    };
    assert_eq!(ClientMessage::decode(&message.encode()), Some(message));
    let mut session = ServerSession::new(Duration::ZERO);
    let is_welcome = session.on_message(&CONTRACT, message).is_ok();
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
