//! Any bytes are a request ack, which is written as the same bytes and whose tick a receiver survives, or an error.

#![no_main]

use cubewire_fuzz::{TICK, pair};
use cubewire_protocol::RequestAck;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(ack) = RequestAck::decode(bytes) {
        assert_eq!(ack.encode(), bytes);
        let (_, mut receiver) = pair();
        receiver.sync_tick(TICK, ack.tick);
        receiver.advance_playout(2 * TICK, Some(TICK));
    }
});
