//! Bytes decode as an initial state that encodes to the same bytes, or give an error.

#![no_main]

use cubewire_codec::{Limits, decode_initial, encode_initial};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(initial) = decode_initial(bytes, Limits { max_bodies: 1000 }) {
        let mut again = Vec::new();
        encode_initial(&initial, &mut again).unwrap();
        assert_eq!(again, bytes);
    }
});
