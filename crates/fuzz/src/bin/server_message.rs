//! Decodes bytes as a server message. Encoding a decoded message must give the same bytes. A receiver starts from a
//! welcome and handles a tick.

#![no_main]

use std::sync::Arc;

use cubewire_fuzz::{CONTRACT, TICK, connection};
use cubewire_protocol::{ClientConnection, ServerMessage};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(message) = ServerMessage::decode(bytes) else {
        return;
    };
    let again = message.encode();
    assert_eq!(ServerMessage::decode(&again).as_ref(), Some(&message));
    let (_, welcomed) = connection();
    for mut client in [welcomed, ClientConnection::new(Arc::clone(&CONTRACT))] {
        let _ = client.on_message(TICK, bytes);
        if let Some(receiver) = client.receiver_mut() {
            receiver.advance_playout(2 * TICK, Some(TICK));
        }
    }
});
