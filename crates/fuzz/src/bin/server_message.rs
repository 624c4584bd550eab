//! Decodes bytes as a server message. Encoding a decoded message must give the same bytes. A receiver starts from a
//! welcome and handles a tick.

#![no_main]

use std::time::Duration;

use cubewire_codec::Limits;
use cubewire_fuzz::{CONTRACT, TICK, pair};
use cubewire_protocol::{ClientEvent, ClientSession, ServerMessage, SnapshotReceiver};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { max_bodies: 1000 };
    let Some(message) = ServerMessage::decode(bytes) else {
        return;
    };
    let again = message.encode();
    assert_eq!(ServerMessage::decode(&again).as_ref(), Some(&message));
    if let ServerMessage::Tick(tick) = message {
        let (_, mut receiver) = pair();
        receiver.sync_tick(TICK, tick);
        receiver.advance_playout(2 * TICK, Some(TICK));
    }
    let heard = ClientSession::default().on_message(&CONTRACT, message, limits);
    if let Ok(ClientEvent::Welcome(welcome)) = heard {
        let now = Duration::from_secs(1);
        let mut receiver = SnapshotReceiver::new(*welcome, limits, now, now).unwrap();
        receiver.advance_playout(2 * now, Some(now));
    }
});
