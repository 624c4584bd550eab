//! Any bytes are a state of the scene that is written as it was read, or an error.

#![no_main]

use cubewire_physics::WorldState;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(state) = WorldState::from_bytes(bytes) {
        assert_eq!(WorldState::from_bytes(&state.to_bytes()), Ok(state));
    }
});
