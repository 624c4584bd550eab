//! renet handles the packets that its guard accepts, and can still send. netcode only gets complete datagrams.

#![no_main]

use std::time::Duration;

use cubewire_fuzz::{WHOLE_SLICE, messages, renet, whole_slice};
use cubewire_protocol::netcode::{is_from_client, is_from_server, is_request, sequence, token};
use cubewire_protocol::renet_guard::{
    MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES, RELIABLE_CHANNEL, RenetGuard, UNRELIABLE_CHANNEL,
    acked,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (mut renet, mut guard) = (renet(), RenetGuard::new());
    for length in [300, 3000] {
        renet.send_message(RELIABLE_CHANNEL, vec![7; length]);
    }
    let mut now = Duration::ZERO;
    for (before, packet) in messages(bytes) {
        let passed = Duration::from_millis(u64::from(before >> 2) * 40);
        now += passed;
        renet.update(passed);
        renet.get_packets_to_send();
        let ranges: Vec<_> = acked(packet).collect();
        assert!(ranges.is_sorted_by(|newer, older| newer.start() > older.end()));
        let has_number = is_from_server(packet);
        assert!(!has_number || sequence(packet).is_some());
        let has_token = is_from_client(packet, now) && is_request(packet);
        assert!(!has_token || token(packet).is_some());
        let packet = match before & WHOLE_SLICE {
            0 => packet.to_vec(),
            _ => whole_slice(packet),
        };
        // A refused packet changes neither the guard nor renet.
        if guard.check(&packet).is_ok() {
            renet.process_packet(&packet);
        }
        if before & 2 == 0 {
            for (channel, max) in
                [(UNRELIABLE_CHANNEL, MAX_UNRELIABLE_BYTES), (RELIABLE_CHANNEL, MAX_RELIABLE_BYTES)]
            {
                while let Some(message) = renet.receive_message(channel) {
                    assert!((1..=max).contains(&message.len()));
                }
            }
        }
    }
    renet.update(Duration::from_secs(4));
    renet.send_message(UNRELIABLE_CHANNEL, vec![1; 10]);
    assert!(renet.is_disconnected() || !renet.get_packets_to_send().is_empty());
});
