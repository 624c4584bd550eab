//! The states of the examples in `examples.txt`, and the inputs of the *simulated* examples.

use cubewire_codec::ladder::SIMULATED;
use cubewire_codec::{
    BodyState, Inputs, Origin, Plan, QuantizedSnapshot, Sequence, Simulated, Snapshot,
};
use glam::{Quat, Vec3};

use crate::lane::Lane;

/// The initial state and the four other states.
pub(crate) fn example_states() -> (Snapshot, [(Sequence, Snapshot); 4]) {
    let bodies = [Vec3::new(0.0, 0.0, 4.0), Vec3::new(2.0, 0.0, 0.5), Vec3::new(4.0, 0.0, 0.5)];
    let initial = Snapshot {
        bodies: bodies.map(|position| BodyState { position, ..BodyState::default() }).into(),
    };
    let mut states = [1000, 1006, 1012, 1018].map(|tick| (Sequence(tick), initial.clone()));
    let flown = [
        (Vec3::new(0.25, -0.5, 4.0), 0.0),
        (Vec3::new(0.5, -1.0, 3.875), -2.0),
        (Vec3::new(0.75, -1.5, 3.5), -4.0),
        (Vec3::new(1.0, -2.0, 2.9375), -6.0),
    ];
    for (turn, ((_, state), (position, fall))) in states.iter_mut().zip(flown).enumerate() {
        state.bodies[0] = BodyState {
            position,
            orientation: match turn {
                0 => Quat::from_xyzw(0.6, 0.0, 0.0, 0.8),
                _ => Quat::from_xyzw(0.48, 0.36, 0.0, 0.8),
            },
            linear_velocity: Vec3::new(2.5, -5.0, fall),
            interacting: true,
        };
        state.bodies[1].position.x = [2.0, 2.25, 2.5, 2.5][turn];
        state.bodies[1].linear_velocity.x = [0.0, 2.5, 2.5, 0.0][turn];
        state.bodies[1].interacting = turn > 0;
        state.bodies[2].interacting = true;
    }
    (initial, states)
}

/// Sends an example of the rung *simulated*.
pub(crate) fn send_example(
    lane: &mut Lane,
    sequence: Sequence,
    state: &Snapshot,
    baseline: Option<Sequence>,
) {
    let inputs = match sequence.0 {
        1000 => Inputs::new(Origin::FromSceneStart(3), &[0, 1, 1]),
        1006 => Inputs::new(Origin::Continued(6), &[1; 6]),
        1012 => Inputs::new(Origin::Continued(6), &[1, 1, 1, 1, 9, 9]),
        _ => None,
    };
    let simulated = Simulated {
        inputs: inputs.as_ref(),
        state_chunk: match sequence.0 {
            1018 => &[0xC0, 0xDE],
            _ => &[],
        },
    };
    let precision = SIMULATED.stages.precision();
    let mut current = QuantizedSnapshot::new(Plan::cubes(), precision);
    current.quantize(state, precision).unwrap();
    let numbered = (sequence, SIMULATED.stages);
    lane.send_simulated(numbered, &current, [baseline, None, None], simulated);
}
