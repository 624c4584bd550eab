//! Any bytes are a state of the scene where it starts, which is written as it was read, or an error.

#![no_main]

use std::sync::LazyLock;

use cubewire_codec::{Plan, QuantizedSnapshot, ladder};
use cubewire_physics::{World, WorldState};
use libfuzzer_sys::fuzz_target;

static INITIAL: LazyLock<QuantizedSnapshot> = LazyLock::new(|| {
    let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), ladder::SIMULATED.stages.precision());
    World::new()
        .quantize_into(&mut snapshot)
        .expect("every number is finite");
    snapshot
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(state) = WorldState::from_bytes(&INITIAL, bytes) {
        assert_eq!(
            WorldState::from_bytes(&INITIAL, &state.to_bytes()),
            Ok(state)
        );
    }
});
