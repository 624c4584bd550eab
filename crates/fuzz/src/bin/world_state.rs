//! Bytes decode as a world state at the start of the scene that encodes to the same bytes, or give an error.

#![no_main]

use std::sync::LazyLock;

use cubewire_codec::QuantizedSnapshot;
use cubewire_physics::{World, WorldState};
use libfuzzer_sys::fuzz_target;

static INITIAL: LazyLock<QuantizedSnapshot> =
    LazyLock::new(|| World::new().quantized().expect("every number is finite"));

fuzz_target!(|bytes: &[u8]| {
    if let Ok(state) = WorldState::from_bytes(&INITIAL, bytes) {
        assert_eq!(WorldState::from_bytes(&INITIAL, &state.to_bytes()), Ok(state));
    }
});
