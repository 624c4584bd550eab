//! Any bytes are a request, which is written as the same bytes, or an error.

#![no_main]

use cubewire_protocol::Request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(request) = Request::decode(bytes) {
        assert_eq!(request.encode(), bytes);
    }
});
