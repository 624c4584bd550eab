//! Any bytes are a welcome, with which a receiver can begin and which is written as the same bytes, or an error.

#![no_main]

use std::time::Duration;

use cubewire_codec::Limits;
use cubewire_protocol::{SnapshotReceiver, Welcome};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { max_bodies: 1000 };
    if let Ok(welcome) = Welcome::decode(bytes, limits) {
        assert_eq!(welcome.encode().unwrap(), bytes);
        let now = Duration::from_secs(1);
        let mut receiver = SnapshotReceiver::new(welcome, limits, now, now).unwrap();
        receiver.advance_playout(2 * now, Some(now));
    }
});
