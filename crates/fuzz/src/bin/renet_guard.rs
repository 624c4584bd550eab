//! A channel survives any datagrams, and still says what it has to. What netcode is passed is complete.

#![no_main]

use std::time::Duration;

use cubewire_fuzz::messages;
use cubewire_protocol::netcode::{is_from_client, is_from_server, is_request, sequence, token};
use cubewire_protocol::{MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES, MessageChannel};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (mut end, mut now) = (MessageChannel::default(), Duration::ZERO);
    end.send_reliable(&[7; 300]).expect("it is short");
    for (before, datagram) in messages(bytes) {
        now += Duration::from_millis(u64::from(before) * 4);
        end.flush(now, usize::MAX, 28);
        let has_number = is_from_server(datagram);
        assert!(!has_number || sequence(datagram).is_some());
        let has_token = is_from_client(datagram, now) && is_request(datagram);
        assert!(!has_token || token(datagram).is_some());
        // What is none is an error, and the next is taken.
        let _ = end.on_datagram(now, datagram);
        while let Some(message) = end.poll_reliable() {
            assert!(message.len() <= MAX_RELIABLE_BYTES);
        }
        while let Some(message) = end.poll_unreliable() {
            assert!(message.len() <= MAX_UNRELIABLE_BYTES);
        }
    }
    end.send_unreliable(vec![1; 10]).expect("it is short");
    assert!(!end.flush(now, 0, 0).is_empty());
});
