//! Bytes decode as a world state at the start of the scene that encodes to the same bytes, or give an error. Bytes also decode as
//! the state of a player's cube, from which a client predicts, and as the input of a tick, or give none.

#![no_main]

use std::sync::LazyLock;

use cubewire_codec::QuantizedSnapshot;
use cubewire_physics::{
    Input, OwnState, PredictionBase, Predictor, World, WorldState, initial_snapshot,
};
use libfuzzer_sys::fuzz_target;

static INITIAL: LazyLock<QuantizedSnapshot> =
    LazyLock::new(|| World::new().quantized().expect("every number is finite"));

fuzz_target!(|bytes: &[u8]| {
    if let Ok(state) = WorldState::from_bytes(&INITIAL, bytes) {
        assert_eq!(WorldState::from_bytes(&INITIAL, &state.to_bytes()), Ok(state));
    }
    if let Some(input) = Input::from_bytes(bytes) {
        assert_eq!(&input.to_bytes()[..bytes.len()], bytes);
    }
    if let Some(own) = OwnState::from_bytes(bytes) {
        assert_eq!(OwnState::from_bytes(&own.to_bytes()), Some(own));
        let (snapshot, mut predictor) = (initial_snapshot(1), Predictor::new(0));
        let base = PredictionBase { tick: 9, snapshot: &snapshot, earlier: (7, &snapshot), own };
        predictor.confirm(&base, [].into_iter());
        predictor.restart(None);
        (0..3).for_each(|_| predictor.advance(Default::default()));
        assert!(predictor.cubes().all(|(_, cube, _)| cube.position.is_finite()));
    }
});
